"""`ThreadedEngine`: real workers; who waits for what, and what a wait tells."""

from __future__ import annotations

import contextlib
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from threadpoolctl import ThreadpoolController

import mxprof_nb.runtime as mx
from mxprof_nb.errors import EngineError
from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine import (
    Operator,
    Variable,
    blas,
    default,
    default_engine,
)
from mxprof_nb.runtime.engine.blas import BlasThreads
from mxprof_nb.runtime.engine.pace import SWITCH_INTERVAL_S
from mxprof_nb.runtime.engine.threaded import ThreadedEngine

nd = mx.nd

#: One for all tests here: the workers of an engine live as long as the process.
ENGINE = ThreadedEngine(workers=2, device="test")


def nothing(operator: Operator) -> None:
    """An operator that does nothing."""


class Held:
    """An operator that runs until it is let go."""

    def __init__(self, reads: Any = (), writes: Any = ()) -> None:
        self.running, self._go = threading.Event(), threading.Event()
        self.number = ENGINE.push(Operator(self._run, reads, writes))

    def _run(self, operator: Operator) -> None:
        self.running.set()
        assert self._go.wait(60)

    def let_go(self) -> None:
        self._go.set()


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    return thread, results


def test_waiting_for_what_is_not_in_use_does_not_block():
    assert ENGINE.wait_for(Variable()) == (0, 0, 0)
    assert ENGINE.wait_for(Variable(), to_write=True) == (0, 0, 0)
    assert ENGINE.wait_all() == (0, 0, 0)


def test_a_wait_ends_with_the_write_and_tells_whose_it_was():
    variable = Variable()
    held = Held(writes=[variable])
    thread, results = in_thread(lambda: ENGINE.wait_for(variable))
    while not variable.queue:
        pass  # until it waits
    held.let_go()
    thread.join()
    ((begin, end, released_by),) = results
    assert 0 < begin <= end
    assert released_by == held.number


def test_waiting_to_read_does_not_wait_for_readers_and_waiting_to_write_does():
    variable = Variable()
    held = Held(reads=[variable])
    held.running.wait()
    assert ENGINE.wait_for(variable) == (0, 0, 0)
    thread, results = in_thread(lambda: ENGINE.wait_for(variable, to_write=True))
    while not variable.queue:
        pass
    assert not results
    held.let_go()
    thread.join()
    assert results[0][2] == held.number


def test_a_wait_does_not_wait_for_what_is_queued_after_it():
    variable = Variable()
    first = Held(writes=[variable])
    thread, results = in_thread(lambda: ENGINE.wait_for(variable))
    while not variable.queue:
        pass
    second = Held(writes=[variable])
    first.let_go()
    thread.join()
    assert results[0][2] == first.number
    assert ENGINE.pending == 1
    second.let_go()
    ENGINE.wait_all()


def test_waiting_for_everything_tells_which_operator_finished_last():
    held = Held()
    thread, results = in_thread(ENGINE.wait_all)
    while not ENGINE._idle_waits:
        pass
    held.let_go()
    thread.join()
    ((begin, end, last),) = results
    assert 0 < begin <= end
    assert last == held.number


def test_observing_ends_after_its_time_with_work_still_pending():
    held = Held()
    assert not ENGINE.observe(0.001)
    assert not ENGINE.observe(0)
    assert ENGINE.pending == 1
    held.let_go()
    assert ENGINE.observe()
    assert ENGINE.pending == 0


def test_many_threads_can_wait_at_once():
    held = Held()
    waiting = [in_thread(ENGINE.wait_all) for _ in range(4)]
    while len(ENGINE._idle_waits) < 4:
        pass
    held.let_go()
    for thread, results in waiting:
        thread.join()
        assert results[0][2] == held.number


def test_independent_operators_run_at_the_same_time():
    meeting = threading.Barrier(2)

    def meet(operator: Operator) -> None:
        meeting.wait(60)

    for _ in range(2):
        ENGINE.push(Operator(meet, writes=[Variable()]))
    assert ENGINE.observe()
    assert ENGINE.untold() == []


def test_readers_of_one_variable_run_at_the_same_time():
    meeting, variable = threading.Barrier(2), Variable()

    def meet(operator: Operator) -> None:
        meeting.wait(60)

    ENGINE.push(Operator(nothing, writes=[variable]))
    for _ in range(2):
        ENGINE.push(Operator(meet, reads=[variable]))
    assert ENGINE.observe()
    assert ENGINE.untold() == []


def test_many_threads_can_queue_at_once():
    counts = dict.fromkeys(range(4), 0)
    variables = [Variable() for _ in counts]

    def queue(thread: int) -> None:
        def count(operator: Operator) -> None:
            counts[thread] += 1

        for _ in range(500):
            ENGINE.push(Operator(count, writes=[variables[thread]]))

    threads = [threading.Thread(target=queue, args=(number,)) for number in counts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ENGINE.wait_all()
    assert counts == dict.fromkeys(range(4), 500)


def test_the_switch_interval_of_the_interpreter_is_restored():
    nd.waitall()
    before = sys.getswitchinterval()
    held = Held()
    assert sys.getswitchinterval() == pytest.approx(min(before, SWITCH_INTERVAL_S))
    held.let_go()
    ENGINE.wait_all()
    assert sys.getswitchinterval() == pytest.approx(before)


def test_an_interval_that_the_program_sets_meanwhile_is_kept():
    before = sys.getswitchinterval()
    try:
        held = Held()
        sys.setswitchinterval(0.004)
        held.let_go()
        ENGINE.wait_all()
        assert sys.getswitchinterval() == pytest.approx(0.004)
    finally:
        sys.setswitchinterval(before)


# An interrupt in the middle of queueing


class Interrupting(Variable):
    """A variable that is hit by Ctrl-C when it is asked the n-th question."""

    questions: int

    def __getattribute__(self, name: str) -> Any:
        if name == "writing":
            left = object.__getattribute__(self, "questions") - 1
            object.__setattr__(self, "questions", left)
            if left == 0:
                raise KeyboardInterrupt
        return object.__getattribute__(self, name)


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("writes", [False, True])
def test_an_operator_whose_queueing_is_interrupted_leaves_no_trace(busy, writes):
    first, second = Variable(), Variable()
    interrupting = Interrupting()
    interrupting.questions = 1
    held = Held(writes=[first]) if busy else None
    pending = ENGINE.pending
    reads = [first, first] if writes else [first, first, interrupting]
    written = [second, interrupting] if writes else [second]
    operator = Operator(nothing, reads, written)
    with pytest.raises(KeyboardInterrupt):
        ENGINE.push(operator)
    assert ENGINE.pending == pending
    assert (first.readers, bool(first.queue), first.writing) == (0, False, busy)
    assert (second.readers, bool(second.queue), second.writing) == (0, False, False)
    interrupting.questions = -1
    ENGINE.push(operator)  # as if it had never been tried
    if held:
        held.let_go()
    ENGINE.wait_all()
    assert operator.state == "finished"


# The engine of the process


def test_there_is_one_engine_however_many_threads_ask_first(monkeypatch):
    asking = threading.Barrier(3)
    made: list[object] = []

    def make(name: str) -> object:
        with contextlib.suppress(threading.BrokenBarrierError):
            asking.wait(0.1)  # would let all of them get this far
        made.append(object())
        return made[-1]

    monkeypatch.setattr(default, "_make", make)
    monkeypatch.setattr(default, "engine", None)
    threads = [in_thread(default_engine) for _ in range(3)]
    for thread, _ in threads:
        thread.join()
    assert len(made) == 1
    assert all(results == made for _, results in threads)


@pytest.mark.parametrize("given", ["0", "two", "-1", "1.5", " "])
def test_a_number_of_workers_that_is_none_is_refused(monkeypatch, given):
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", given)
    with pytest.raises(EngineError, match=r"MXNET_CPU_WORKER_NTHREADS=.* no number of workers"):
        default._workers()


@pytest.mark.parametrize(("given", "expected"), [("1", 1), ("5", 5), ("", 2)])
def test_the_number_of_workers_can_be_chosen(monkeypatch, given, expected):
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", given)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert default._workers() == expected


def test_a_machine_with_one_core_gets_one_worker(monkeypatch):
    monkeypatch.delenv("MXNET_CPU_WORKER_NTHREADS", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert default._workers() == 1


# Memory


def test_memory_is_given_back_with_the_last_array():
    x = nd.ones((10, 10))
    y = x[2:] + 1
    y.wait_to_read()
    chunks = [weakref.ref(a.chunk) for a in (x, y)]
    view = y[0]
    nd.waitall()
    del x, y
    assert chunks[0]() is None
    assert chunks[1]() is not None
    del view
    assert chunks[1]() is None


def test_a_queued_operator_keeps_its_inputs_and_no_longer(gate):
    x = nd.ones(3)
    gate.hold(x)
    y = x + 1
    kept = weakref.ref(x.chunk)
    del x
    assert kept() is not None
    gate.open()
    assert y.asnumpy().tolist() == [2, 2, 2]
    default_engine().observe()
    assert kept() is None


def test_while_recording_memory_is_given_back_by_a_worker_and_counted():
    recording = RECORDER.start()
    x = nd.ones(256) + 1
    x.wait_to_read()
    kept = weakref.ref(x.chunk)
    del x
    default_engine().observe()
    recording.stop()
    assert kept() is None
    operators = [row for block in recording.blocks for row in block.operators.tolist()]
    assert sum(row[6] for row in operators) == 0
    assert sorted(row[6] for row in operators) == [-1024, -1024, 1024, 1024]


# BLAS threads


class Library:
    """What threadpoolctl says of one BLAS library."""

    def __init__(self, threads: int) -> None:
        self.num_threads = threads

    def set_num_threads(self, threads: int) -> None:
        self.num_threads = threads


def test_products_share_the_cores_and_the_program_gets_its_own_back(monkeypatch):
    library = Library(8)
    monkeypatch.setattr(blas, "_blas_libraries", lambda: [library])
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    shared = BlasThreads()
    for token, threads in enumerate((8, 4, 2), start=1):
        shared.begin(token)
        assert library.num_threads == threads
    for token, threads in ((2, 4), (3, 8), (1, 8)):
        shared.end(token)
        assert library.num_threads == threads


def test_a_product_that_ends_twice_or_never_began_does_no_harm(monkeypatch):
    library = Library(8)
    monkeypatch.setattr(blas, "_blas_libraries", lambda: [library])
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    shared = BlasThreads()
    shared.end("never begun")
    shared.begin("one")
    shared.begin("two")
    for _ in range(2):
        shared.end("two")
    assert library.num_threads == 8
    shared.end("one")
    assert library.num_threads == 8


def test_products_never_use_more_threads_than_the_program_would(monkeypatch):
    library = Library(2)
    monkeypatch.setattr(blas, "_blas_libraries", lambda: [library])
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    shared = BlasThreads()
    shared.begin(0)
    assert library.num_threads == 2
    for token in range(1, 9):
        shared.begin(token)
    assert library.num_threads == 1
    for token in range(9):
        shared.end(token)
    assert library.num_threads == 2


def test_the_program_keeps_its_threads_after_products_on_several_workers():
    """The real libraries: workers of whichever thread must be able to restore the setting."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    before = [library.num_threads for library in libraries]
    assert before
    array = mx.nd.ones((300, 300))
    for _ in range(20):
        for _ in range(9):
            mx.nd.dot(array, array)
        mx.nd.waitall()
        assert [library.get_num_threads() for library in libraries] == before


# Whoever strikes while the books are open


class Striking(Variable):
    """A variable whose use calls a function, as a finaliser or signal handler would be called."""

    __slots__ = ("strike",)

    strike: Callable[[], Any] | None

    @property
    def queue(self) -> Any:
        strike, self.strike = self.strike, None
        if strike is not None:
            strike()
        return None

    @queue.setter
    def queue(self, value: Any) -> None: ...


def _ignore(result: object) -> None: ...


def struck(strike: Callable[[], Any]) -> Operator:
    variable = Striking()
    variable.strike = strike
    return Operator(nothing, reads=[variable])


def test_a_finaliser_that_queues_while_this_thread_is_queueing_is_served_afterwards():
    done: list[str] = []
    late = Operator(lambda operator: done.append("late"), writes=[Variable()])
    ENGINE.push(struck(lambda: ENGINE.push(late)))
    ENGINE.wait_all()
    assert done == ["late"]
    assert late.number


def test_a_finaliser_that_waits_while_this_thread_is_queueing_is_refused():
    held, told = Held(writes=[variable := Variable()]), []

    def wait() -> None:
        for attempt in (lambda: ENGINE.wait_for(variable), ENGINE.wait_all):
            with pytest.raises(EngineError, match="finaliser or signal handler"):
                attempt()
            told.append(True)

    ENGINE.push(struck(wait))
    held.let_go()
    ENGINE.wait_all()
    assert told == [True, True]


def test_a_worker_that_would_wait_is_refused_instead_of_hanging():
    variable, told = Variable(), []

    def wait(operator: Operator) -> None:
        for attempt in (lambda: ENGINE.wait_for(variable), ENGINE.wait_all):
            try:
                attempt()
            except EngineError as error:
                told.append("cannot wait for others" in str(error))

    ENGINE.push(Operator(wait, writes=[variable]))
    ENGINE.wait_all()
    assert told == [True, True]


def test_a_worker_goes_on_with_what_it_let_go_but_not_past_what_is_ready_for_longer():
    engine = ThreadedEngine(workers=1, device="single")
    order: list[str] = []
    go, chain = threading.Event(), Variable()
    engine.push(Operator(lambda operator: _ignore(go.wait(60)), writes=[chain]))
    engine.push(Operator(lambda operator: order.append("chained"), writes=[chain]))
    engine.push(Operator(lambda operator: order.append("ready"), writes=[Variable()]))
    go.set()
    engine.wait_all()
    assert order == ["ready", "chained"]

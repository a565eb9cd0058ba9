"""Which workers run what, and in which order: devices, copies, priorities."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from types import BuiltinMethodType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import Operator, default_engine, get_type, set_type
from mxprof_nb.runtime.engine.lane import Lane, ranking
from mxprof_nb.runtime.engine.python_lane import PythonLane
from mxprof_nb.runtime.engine.state import PYTHON_LANE
from mxprof_nb.trace import Meta, Trace

engine = mx.engine


class Blocked:
    """All workers of a device, kept busy until the block ends."""

    def __init__(self, ctx: mx.Context, workers: int | None = None) -> None:
        self._go = threading.Event()
        there = threading.Barrier((workers or default_engine().workers) + 1)  # type: ignore[union-attr]

        def hold() -> None:
            there.wait(60)
            assert self._go.wait(60)

        for _ in range(there.parties - 1):
            engine.push(hold, ctx=ctx)
        there.wait(60)

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None:
        self._go.set()


@pytest.fixture
def one_worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", "1")
    before = get_type()
    set_type("ThreadedEnginePerDevice")
    yield
    monkeypatch.undo()
    set_type(before)


def recorded(program: Any) -> Trace:
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta())


def tracks_of(trace: Trace, name: str) -> set[str]:
    frame, tracks = trace.frame(), trace.frame("tracks")
    return set(tracks.thread[frame[frame.name == name].track])


def test_no_interrupt_can_strike_while_an_operator_is_handed_to_a_lane():
    """A Ctrl-C strikes where a function written in Python begins; what is in C is one step."""
    mx.nd.ones(2, ctx=mx.cpu(1)).copyto(mx.cpu(0)).wait_to_read()
    engine: Any = default_engine()
    engine._open(PYTHON_LANE)
    assert {type(lane) for lane in engine.lanes.values()} == {Lane, PythonLane}
    assert all(isinstance(lane.put, BuiltinMethodType) for lane in engine.lanes.values())


def test_a_device_works_while_all_workers_of_another_are_busy():
    with Blocked(mx.cpu(0)):
        there = mx.nd.ones((2, 2), ctx=mx.cpu(1)) + 1
        assert there.asnumpy().tolist() == [[2, 2], [2, 2]]


def test_each_device_has_tracks_of_its_own():
    def program() -> None:
        for ctx in (mx.cpu(0), mx.cpu(1)):
            mx.nd.exp(mx.nd.ones((2,), ctx=ctx)).wait_to_read()

    trace = recorded(program)
    names = tracks_of(trace, "exp")
    assert {name.rsplit(" ", 1)[0] for name in names} == {"cpu/0 worker", "cpu/1 worker"}
    devices = trace.frame("tracks").set_index("thread").device
    assert all(devices[name] == name.split(" ")[0] for name in names)


def test_copies_run_beside_the_work_of_their_device():
    source = mx.nd.ones((3,))
    mx.nd.waitall()
    kept = []

    def program() -> None:
        with Blocked(mx.cpu(0)):
            for ctx in (mx.cpu(0), mx.cpu(1)):
                kept.append(source.copyto(ctx))
                kept[-1].wait_to_read()

    trace = recorded(program)
    assert tracks_of(trace, "CopyCPU2CPU") == {"cpu/0 copy"}
    assert trace.frame("tracks").set_index("thread").role["cpu/0 copy"] == "copy"
    assert [array.ctx for array in kept] == [mx.cpu(0), mx.cpu(1)]


def test_the_shared_engine_runs_all_devices_and_copies_on_the_same_workers():
    before = get_type()
    set_type("ThreadedEngine")
    try:
        trace = recorded(
            lambda: mx.nd.exp(mx.nd.ones((2,), ctx=mx.cpu(1))).copyto(mx.cpu(0)).wait_to_read()
        )
        assert get_type() == "ThreadedEngine"
    finally:
        set_type(before)
    names = tracks_of(trace, "exp") | tracks_of(trace, "CopyCPU2CPU")
    assert {name.rsplit(" ", 1)[0] for name in names} == {"cpu worker"}


def test_of_what_is_ready_the_more_important_runs_first(one_worker):
    order: list[int] = []
    with Blocked(mx.cpu(0)):
        for priority in (0, -1, 2, 0, 5, -7, 2):
            engine.push(partial(order.append, priority), priority=priority)
    mx.nd.waitall()
    assert order == [5, 2, 2, 0, 0, -1, -7]


def test_importance_does_not_break_dependencies(one_worker):
    order: list[str] = []
    var = engine.Var()
    with Blocked(mx.cpu(0)):
        engine.push(lambda: order.append("write"), writes=[var])
        engine.push(lambda: order.append("read"), reads=[var], priority=9)
        engine.push(lambda: order.append("other"))
    mx.nd.waitall()
    assert order.index("write") < order.index("read")


def nothing(operator: Operator) -> None:
    """What operators of these tests do."""


@given(st.lists(st.one_of(st.none(), st.integers(-2, 2)), max_size=40))
def test_a_lane_gives_the_most_important_of_what_it_holds_and_the_oldest_of_those(
    steps: list[int | None],
):
    """None stands for taking one, a number for handing one over with that priority."""
    lane = Lane([], "cpu/0", "worker", lambda lane, place: None)
    held: list[Operator] = []

    def take() -> None:
        expected = min(held, key=lambda one: (-one.priority, one.number))
        assert lane.take() is expected
        held.remove(expected)

    for number, step in enumerate(steps, 1):
        if step is not None:
            operator = Operator(nothing)
            operator.number, operator.priority = number, step
            held.append(operator)
            lane.submit(operator)
        elif held:
            take()
    while held:
        take()
    assert lane.ranked == []


def test_a_with_block_makes_a_device_current_for_its_thread():
    seen = []
    with mx.cpu(1):
        assert mx.current_context() is mx.cpu(1)
        with mx.cpu(2):
            assert mx.nd.ones((1,)).ctx == mx.cpu(2)
        thread = threading.Thread(target=lambda: seen.append(mx.current_context()))
        thread.start()
        thread.join()
        assert mx.nd.ones((1,)).ctx == mx.cpu(1)
    assert [mx.current_context(), *seen] == [mx.cpu(0)] * 2


def test_a_token_that_a_ctrl_c_kept_back_is_put_back_and_one_too_many_does_no_harm():
    lane = Lane([], "cpu/0", "worker", lambda lane, place: None)
    urgent, usual = Operator(nothing), Operator(nothing)
    urgent.number, urgent.priority, usual.number = 1, 3, 2
    lane.ranked.append(ranking(urgent))  # and no token
    lane.nudge()
    lane.nudge()
    assert lane.take() is urgent
    lane.nudge()
    lane.submit(usual)
    assert lane.take() is usual

"""`mx.engine.Var` and `push`, the limit of the queue, and the choice of an engine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.analysis import sync_waits
from mxprof_nb.errors import EngineError, OperatorError
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.trace import Meta

engine = mx.engine


def test_functions_run_in_the_order_that_their_variables_demand():
    var = engine.Var("log")
    done: list[int] = []
    for n in range(20):
        engine.push(partial(done.append, n), writes=[var])
    var.wait_to_read()
    assert done == list(range(20))
    assert repr(var) == "Var('log')"


def test_readers_run_side_by_side():
    var, meeting = engine.Var(), threading.Barrier(2)
    for _ in range(2):
        engine.push(lambda: meeting.wait(60), reads=[var])
    mx.nd.waitall()


def test_what_is_read_and_written_is_written():
    var = engine.Var()
    engine.push(lambda: None, reads=[var, var], writes=[var, var])
    var.wait_to_read()
    assert (var.readers, var.writing) == (0, False)


def test_a_failure_reaches_what_depends_on_it_names_the_line_and_is_repaired_by_a_write():
    a, b, c = (engine.Var(name) for name in "abc")
    ran: list[str] = []

    def break_down() -> None:
        raise ValueError("out of paper")

    engine.push(break_down, writes=[a])
    engine.push(lambda: ran.append("b"), reads=[a], writes=[b])
    engine.push(lambda: ran.append("c"), writes=[c])
    c.wait_to_read()
    for failed in (a, b, a):
        with pytest.raises(OperatorError, match=r"break_down.*out of paper") as caught:
            failed.wait_to_read()
        assert "engine.push(break_down, writes=[a])" in str(caught.value)
    assert ran == ["c"]
    engine.push(lambda: ran.append("a"), writes=[a])
    a.wait_to_read()
    assert ran == ["c", "a"]


def test_what_changes_a_value_that_failed_fails_with_it():
    a, ran = engine.Var(), []
    engine.push(lambda: 1 / 0, writes=[a])
    engine.push(lambda: ran.append(1), reads=[a], writes=[a])
    with pytest.raises(OperatorError, match="division by zero"):
        a.wait_to_read()
    assert ran == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((3,), "function must be callable, not int"),
        ((print, ["x"]), "engine.Var objects, not str"),
        ((print, [], [mx.nd]), "engine.Var objects, not module"),
        ((print, engine.Var()), r"reads must be a list, e.g. reads=.var."),
        ((print, [mx.nd.ones((1,))]), "cannot use arrays"),
    ],
)
def test_what_cannot_be_queued_is_refused_at_once(arguments, told):
    with pytest.raises(TypeError, match=told):
        engine.push(*arguments)


def test_a_device_given_by_name_is_refused():
    with pytest.raises(TypeError, match="ctx must be a context"):
        engine.push(print, ctx="cpu(1)")  # type: ignore[arg-type]


def test_a_profile_shows_functions_with_their_names_lines_and_waits():
    var = engine.Var()
    go = threading.Event()
    recording = RECORDER.start()
    engine.push(lambda: go.wait(60), writes=[var], name="slow")  # this line
    threading.Timer(0.01, go.set).start()
    var.wait_to_read()
    recording.stop()
    trace = freeze(recording, Meta())
    frame = trace.frame()
    slow = frame[frame.name == "slow"].iloc[0]
    assert trace.frame("sites").text[slow.site].endswith("# this line")
    wait = frame[frame.name == "WaitForVar"].iloc[0]
    assert wait.correlation == slow.correlation
    assert set(frame[frame.domain == "MXNET_C_API"].name.astype(str)) == {
        "MXEnginePushSync",
        "MXNDArrayWaitToRead",
    }


@pytest.fixture
def limit() -> Iterator[int]:
    before = engine.set_queue_limit(10)
    yield 10
    engine.set_queue_limit(before)


def test_who_runs_ahead_is_held_back_until_half_of_the_queue_is_done(limit):
    go, highest = threading.Event(), 0
    var = engine.Var()
    engine.push(lambda: go.wait(60), writes=[var])
    threading.Timer(0.02, go.set).start()
    recording = RECORDER.start()
    for _ in range(3 * limit):
        engine.push(lambda: None, writes=[var])
        highest = max(highest, default_engine().pending)
    mx.nd.waitall()
    recording.stop()
    assert highest <= limit
    trace = freeze(recording, Meta())
    assert (trace.frame().name == "WaitForRoom").sum() >= 1
    waits = sync_waits(trace).frame
    assert waits.waited_for_name.str.startswith("room in the queue").any()


def test_functions_that_queue_others_are_never_held_back(limit):
    done: list[int] = []

    def spread() -> None:
        for n in range(3 * limit):
            engine.push(partial(done.append, n))

    engine.push(spread)
    mx.nd.waitall()
    while default_engine().pending:
        mx.nd.waitall()
    assert sorted(done) == list(range(3 * limit))


def test_a_limit_below_one_is_refused():
    with pytest.raises(ValueError, match="set_queue_limit\\(0\\)"):
        engine.set_queue_limit(0)
    assert engine.set_queue_limit(100_000) == 100_000  # MXNet has none; a listed difference


@pytest.mark.parametrize("name", ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def test_the_engine_is_chosen_in_code_and_what_was_queued_is_finished(name):
    before, go, done = engine.get_type(), threading.Event(), []
    engine.push(lambda: done.append(go.wait(60)))
    threading.Timer(0.01, go.set).start()
    engine.set_type(name)
    try:
        assert engine.get_type() == name
        assert done == [True]
        assert (mx.nd.ones((2,)) + 1).asnumpy().tolist() == [2, 2]
        engine.push(lambda: done.append(True))
        mx.nd.waitall()
        assert len(done) == 2
    finally:
        engine.set_type(before)


def test_an_engine_is_used_again_so_that_changing_it_leaves_no_threads():
    before = engine.get_type()
    for name in ("ThreadedEngine", before):
        engine.set_type(name)
    threads = threading.active_count()
    for name in ("ThreadedEngine", before) * 3:
        engine.set_type(name)
    assert threading.active_count() == threads


def test_an_engine_that_does_not_exist_is_refused_with_the_closest_name():
    with pytest.raises(EngineError, match="Did you mean 'NaiveEngine'"):
        engine.set_type("NativeEngine")

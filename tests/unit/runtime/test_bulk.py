"""Bulking: several operators queued and run as one, with the same values and the same order."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.errors import OperatorError
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import ThreadedEngine, default_engine
from mxprof_nb.runtime.engine.bulk import SIZES
from mxprof_nb.trace import Meta, Trace

nd, engine = mx.nd, mx.engine


@pytest.fixture(autouse=True)
def single():
    yield
    engine.set_bulk_size(0)


def recorded(program: Any) -> Trace:
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta())


def operators(trace: Trace) -> list[str]:
    frame = trace.frame()
    return frame[frame.category == "operator"].sort_values("start_ns").name.astype(str).tolist()


def test_a_bulk_is_one_event_on_the_timeline():
    x = nd.ones((2,))
    nd.waitall()

    def program() -> None:
        y = x
        with engine.bulk(4):
            for _ in range(6):
                y = y + 1
        assert y.asnumpy().tolist() == [7, 7]

    assert operators(recorded(program)) == ["ImperativeBulk", "ImperativeBulk"]


def test_the_members_of_a_bulk_lie_inside_it_under_their_names():
    x = nd.ones((2,))
    nd.waitall()

    def program() -> None:
        with engine.bulk(3):
            y = nd.exp(x + 1) * 2
        y.wait_to_read()

    trace = recorded(program)
    frame = trace.frame()
    members = frame[frame.domain == "bulk"].sort_values("start_ns")
    assert members.name.astype(str).tolist() == ["_plus_scalar", "exp", "_mul_scalar"]
    assert set(members.category) == {"kernel"}, "the bulk is what counts as an operator"
    bulk = frame.index[frame.name == "ImperativeBulk"][0]
    assert members.parent.tolist() == [bulk] * 3
    assert members.correlation.isna().all()


def test_each_call_leads_to_its_bulk_and_the_bulk_to_the_line_it_began_on():
    x = nd.ones((2,))
    nd.waitall()

    def program() -> None:
        with engine.bulk(3):
            y = x + 1  # here
            y = y + 2
        y.wait_to_read()

    trace = recorded(program)
    frame = trace.frame()
    bulk = frame[frame.name == "ImperativeBulk"].iloc[0]
    calls = frame[frame.name == "MXImperativeInvokeEx"]
    assert calls.correlation.tolist() == [bulk.correlation] * 2
    assert trace.frame("sites").text[bulk.site] == "y = x + 1  # here"
    assert (trace.frame("flows").kind == "launch").sum() == 2


def test_memory_of_a_bulk_is_counted_operator_by_operator():
    x = nd.ones((10, 10))
    nd.waitall()

    def program() -> None:
        with engine.bulk(8):
            y = ((x + 1) + 2) + 3
        y.wait_to_read()

    counters = recorded(program).frame("counters")
    memory = counters[counters.name.astype(str) == "Memory: cpu/0"].value.tolist()
    assert max(memory) == 1200  # a bulk keeps what it makes to its end, as in MXNet
    assert memory[-1] in (0, 400)  # y is gone or not


def test_reading_a_value_hands_the_bulk_over():
    with engine.bulk(100):
        x = nd.ones((2,)) + 1
        assert default_engine().pending
        assert x.asnumpy().tolist() == [2, 2]
        y = x + 1
        nd.waitall()
        assert default_engine().pending == 0
    assert y.asnumpy().tolist() == [3, 3]


def test_a_size_is_of_one_thread_and_the_block_restores_it():
    assert engine.set_bulk_size(5) == 0
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(engine.set_bulk_size(0)))
    thread.start()
    thread.join()
    assert seen == [0]
    with engine.bulk(7):
        assert engine.set_bulk_size(1) == 7
    assert engine.set_bulk_size(0) == 5
    with pytest.raises(ValueError, match="set_bulk_size\\(-1\\)"):
        engine.set_bulk_size(-1)


def test_a_size_ends_with_its_thread():
    seen: list[int] = []
    for _ in range(3):  # the system gives the number of a thread that has ended to the next
        thread = threading.Thread(target=lambda: seen.append(engine.set_bulk_size(9)))
        thread.start()
        thread.join()
    assert seen == [0, 0, 0]
    assert not SIZES


def test_what_another_thread_has_begun_and_this_one_needs_goes_first():
    begun, read = threading.Event(), threading.Event()
    made: list[Any] = []

    def begin() -> None:
        engine.set_bulk_size(100)
        made.append(nd.ones((2,)) + 1)
        begun.set()
        read.wait(60)
        engine.set_bulk_size(0)

    thread = threading.Thread(target=begin)
    thread.start()
    begun.wait(60)
    try:
        assert (made[0] * 2).asnumpy().tolist() == [4, 4]
        with engine.bulk(3):
            doubled = made[0] * 2
        assert doubled.asnumpy().tolist() == [4, 4]
    finally:
        read.set()
        thread.join()


def test_a_failure_in_a_bulk_reaches_its_dependants_and_nobody_else():
    with engine.bulk(10):
        good = nd.ones((2,)) + 1
        bad = nd.random.normal(scale=-1, shape=(2,))
        worse = bad + good
        also_good = good * 3
    assert also_good.asnumpy().tolist() == [6, 6]
    for failed in (bad, worse):
        with pytest.raises(OperatorError, match="_random_normal"):
            failed.asnumpy()
    nd.waitall()  # told already


def test_work_for_another_lane_ends_the_bulk_and_order_holds():
    with engine.bulk(100):
        x = nd.ones((2,)) + 1
        there = x.copyto(mx.cpu(1))
        x += 1
        more = there + 1
        x[:] = x * 2
    assert [a.asnumpy().tolist() for a in (x, there, more)] == [[6, 6], [2, 2], [3, 3]]


def test_what_comes_after_a_bulk_that_was_queued_but_not_forgotten_is_not_lost():
    used = default_engine()
    assert isinstance(used, ThreadedEngine)
    with engine.bulk(10):
        first = nd.ones((2,)) + 1
        (bulk,) = used._bulks._of.values()
        with used.lock:  # as if Ctrl-C had struck in the middle of handing it over
            bulk.close()
            if used.state.queue(bulk):
                used._submit_bulk(bulk)
        second = first + 40
        assert second.asnumpy().tolist() == [42, 42]


def test_the_size_is_restored_also_where_the_engine_was_changed_inside():
    before = engine.get_type()
    try:
        with engine.bulk(10):
            engine.set_type("NaiveEngine")
    finally:
        engine.set_type(before)
    assert engine.set_bulk_size(0) == 0


def test_aggregate_statistics_keep_operators_apart_as_long_as_they_are_kept(fresh_profiler):
    x = nd.ones((2,))
    nd.waitall()

    def names() -> list[str]:
        def program() -> None:
            with engine.bulk(2):
                (x + 1) * 2

        return operators(recorded(program))

    mx.profiler.set_config(profile_all=True, aggregate_stats=True)
    assert names() == ["ImperativeBulk"]
    mx.profiler.set_state("run")
    assert names() == ["_plus_scalar", "_mul_scalar"]
    mx.profiler.pause()
    assert names() == ["ImperativeBulk"]
    mx.profiler.resume()
    assert names() == ["_plus_scalar", "_mul_scalar"]
    mx.profiler.set_state("stop")
    assert names() == ["ImperativeBulk"]


@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.sampled_from("+=*vr"), st.integers(0, 2), st.integers(0, 2))),
)
@settings(max_examples=60)
def test_values_do_not_depend_on_the_size_of_bulks(size: int, program: list[Any]):
    arrays = [nd.array([n + 1.0, 2.0]) for n in range(3)]
    model = [np.array([n + 1.0, 2.0], np.float32) for n in range(3)]
    with engine.bulk(size):
        for action, at, other in program:
            if action == "+":
                arrays[at] += arrays[other]
                model[at] = model[at] + model[other]
            elif action == "=":
                arrays[at] = arrays[other] + 1
                model[at] = model[other] + 1
            elif action == "*":
                arrays[at] = arrays[at] * 0.5
                model[at] = model[at] * np.float32(0.5)
            elif action == "v":
                arrays[at][0:1] = arrays[other][1:2]
                model[at] = model[at].copy()
                model[at][0] = model[other][1]
            else:
                assert arrays[at].asnumpy().tolist() == model[at].tolist()
    assert [a.asnumpy().tolist() for a in arrays] == [m.tolist() for m in model]

"""Spans, marks, counters and steps, from the program to the tables of its trace."""

from __future__ import annotations

import asyncio
import math
import threading

import numpy as np
import pytest

import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.analysis import step_breakdown
from mxprof_nb.errors import MarkError
from mxprof_nb.record import RECORDER, RecordConfig
from mxprof_nb.trace import Trace


def told(trace: Trace) -> list[tuple[str, str, str]]:
    frame = trace.frame("events")
    frame = frame[frame["category"] == "user"]
    return list(frame[["name", "domain", "kind"]].itertuples(index=False, name=None))


def test_each_mark_is_in_the_profile_with_its_line():
    with mp.profile() as p:
        with mp.span("load"):
            mp.mark("here")
        mp.counter("loss", 0.5)
        mp.counter("loss", np.float32(0.25))
    assert told(p.trace) == [("load", "user", "span"), ("here", "user", "instant")]
    lines = p.events["line"].tolist()
    assert lines[1] == lines[0] + 1, "the span has the line of its `with`"
    assert p.counters["value"].tolist() == [0.5, 0.25]
    assert p.counters["name"].tolist() == ["loss", "loss"]
    assert list(p.tables) == ["Spans", "Counters"]


def test_marks_are_recorded_whatever_else_is_left_out():
    nothing = RecordConfig(operators=False, api=False, memory=False, sites=False)
    with mp.profile(config=nothing) as p, mp.step(7), mp.span("load"):
        mp.mark("here")
    assert [name for name, *_ in told(p.trace)] == ["step", "load", "here"]
    assert p.events["line"].isna().all()


def test_a_decorated_function_is_a_span_of_each_call_and_otherwise_the_same():
    @mp.span("double")
    def double(number: int, *, times: int = 2) -> int:
        """Multiply."""
        return number * times

    with mp.profile() as p:
        assert double(3) == 6
        assert double(3, times=5) == 15
    assert told(p.trace) == [("double", "user", "span")] * 2
    assert (double.__name__, double.__doc__) == ("double", "Multiply.")


def test_coroutines_that_run_at_the_same_time_are_spans_that_may_overlap():
    @mp.span("wait")
    async def wait() -> str:
        await asyncio.sleep(0.001)
        return "done"

    async def both() -> list[str]:
        return list(await asyncio.gather(wait(), wait()))

    with mp.profile() as p:
        assert asyncio.run(both()) == ["done", "done"]
    assert told(p.trace) == [("wait", "user", "async")] * 2
    starts, ends = p.trace.events.start_ns, p.trace.events.end_ns
    assert starts[1] < ends[0]


def test_a_span_ends_with_the_error_that_leaves_it():
    with mp.profile() as p:
        with pytest.raises(ZeroDivisionError), mp.span("broken"):
            1 / 0  # noqa: B018
        with pytest.raises(ZeroDivisionError):
            mp.span("called")(lambda: 1 / 0)()
    assert [name for name, *_ in told(p.trace)] == ["broken", "called"]


def test_one_span_may_be_used_again_and_within_itself():
    again = mp.span("again")
    with mp.profile() as p:
        with again, again:
            pass
        with again:
            pass
    assert len(told(p.trace)) == 3
    assert p.trace.events.parent.tolist() == [-1, 0, -1]


def test_spans_of_several_threads_stand_on_tracks_of_their_own():
    def work() -> None:
        with mp.span("work"):
            pass

    with mp.profile() as p:
        thread = threading.Thread(target=work, name="helper")
        thread.start()
        thread.join()
        work()
    assert set(p.events["track_name"]) == {"helper", threading.current_thread().name}


def test_without_anybody_who_records_nothing_is_kept():
    assert not RECORDER.on
    before = len(RECORDER.buffer().user)
    with mp.step(1), mp.span("load"):
        mp.mark("here")
        mp.counter("loss", 1.0)
    assert len(RECORDER.buffer().user) == before


def test_what_a_step_queues_has_its_number_though_it_runs_later():
    x = mx.nd.ones((200, 200))
    x.wait_to_read()
    with mp.profile() as p:
        for number in range(3):
            with mp.step(number):
                y = mx.nd.dot(x, x)
            (y + 1).wait_to_read()
    frame = p.events
    products = frame[(frame["name"] == "dot") & (frame["category"] == "operator")]
    assert products["step"].tolist() == [0, 1, 2]
    sums = frame[(frame["name"] != "dot") & (frame["category"] == "operator")]
    assert sums["step"].isna().all(), "queued between the steps"
    found = step_breakdown(p).columns
    assert found["operators"].tolist() == [1, 1, 1]
    assert p.tables["Steps"]["count"].tolist() == [3]


def test_steps_survive_being_written_and_read(tmp_path):
    x = mx.nd.ones((20, 20))
    with mp.profile() as p, mp.step(2):
        mx.nd.dot(x, x).wait_to_read()
    again = mp.load(p.save(tmp_path / "steps.json"))
    assert step_breakdown(again).frame.equals(step_breakdown(p).frame)


@pytest.mark.parametrize("make", [mp.span, mp.mark])
@pytest.mark.parametrize("name", ["", None, 3])
def test_a_name_is_a_text(make, name):
    with pytest.raises(MarkError, match="the name is a text"):
        make(name)


@pytest.mark.parametrize("value", ["1", None, 1j])
def test_a_counter_takes_numbers_only(value):
    with pytest.raises(MarkError, match="is no number"):
        mp.counter("loss", value)


def test_a_counter_refuses_what_no_float_holds():
    with mp.profile() as p, pytest.raises(MarkError, match="64-bit float"):
        mp.counter("loss", 10**400)
    assert "loss" not in set(p.counters["name"])


def test_a_counter_may_hold_what_is_not_finite():
    with mp.profile() as p:
        mp.counter("loss", math.inf)
    assert p.counters["value"].tolist() == [math.inf]


@pytest.mark.parametrize("number", [-1, 2**31, 1.5, "1", None])
def test_a_step_has_a_whole_number(number):
    with pytest.raises(MarkError, match="whole number from 0"):
        mp.step(number)


def test_a_generator_is_refused_with_what_to_do_instead():
    with pytest.raises(MarkError, match="Use `with` inside it"):

        @mp.span("pieces")
        def pieces():
            yield 1


def test_the_reprs_say_what_they_are():
    assert (repr(mp.span("load")), repr(mp.step(3))) == ("span('load')", "step(3)")


def test_one_span_serves_several_threads_at_a_time():
    shared, inside, left = mp.span("shared"), threading.Event(), threading.Event()

    def work() -> None:
        with shared:
            inside.set()
            left.wait(10)

    with mp.profile() as p:
        thread = threading.Thread(target=work, name="helper")
        with shared:
            thread.start()
            inside.wait(10)
        left.set()
        thread.join()
    frame = p.events.set_index("track_name")
    helper, ours = frame.loc["helper"], frame.drop("helper").iloc[0]
    assert ours.start_ns < helper.start_ns, "each has the begin of its own"
    assert ours.start_ns + ours.dur_ns < helper.start_ns + helper.dur_ns

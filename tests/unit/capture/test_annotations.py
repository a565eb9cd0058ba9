"""What the one who ran the code adds to a trace."""

from __future__ import annotations

import itertools

import pytest

from mxprof_nb.backends.annotations import Repetition, annotated, with_earlier_work
from mxprof_nb.record.clock import SYSTEM
from mxprof_nb.record.lines import LineLog
from mxprof_nb.trace import Cost, Meta, Trace, TraceBuilder


def recorded(begin: int, *queued: int) -> Trace:
    """Operators of 10 ns, each run 5 ns after it was queued; moments by the system's clock."""
    origin = SYSTEM.epoch_of(begin)
    meta = Meta(origin_epoch_ns=origin, window_ns=(0, 10**9), cost=Cost(400, 4, 100.0))
    builder = TraceBuilder(meta)
    host = builder.track("MainThread", role="host")
    worker = builder.track("cpu/0 worker 1", role="worker")
    for moment in queued:
        builder.event("call", track=host, start_ns=moment - begin, dur_ns=2, category="api")
        builder.event(
            "dot", track=worker, start_ns=moment + 5 - begin, dur_ns=10, category="operator",
            queued_ns=moment - begin,
        )  # fmt: skip
    return builder.build()


# Far enough apart that the two clocks, read one after the other, do not confuse them.
MS = 1_000_000


def repetitions(begin: int) -> list[Repetition]:
    moments = [begin + number * 100 * MS for number in range(5)]
    pairs = itertools.pairwise(moments)
    return [Repetition(low, high, number < 2) for number, (low, high) in enumerate(pairs)]


def test_events_get_the_number_of_the_repetition_that_asked_for_them():
    begin = SYSTEM.now()
    trace = recorded(begin, *(begin + (50 + 100 * number) * MS for number in range(4)))
    found = annotated(trace, repetitions(begin), None, "", begin + 400 * MS)
    frame = found.frame("events")
    assert frame.step[frame.name == "dot"].tolist() == [1, 2]
    assert frame.step[frame.name == "call"].tolist() == [1, 2]
    assert frame.name.tolist().count("warm-up") == 2
    assert found.window_ns[0] == pytest.approx(200 * MS, abs=20 * MS)
    assert found.meta.cost == Cost(200, 2, 100.0), "half of the events were left out"
    assert found.meta.history == trace.meta.history


def test_lines_stand_on_a_track_of_their_own_with_their_text():
    begin = SYSTEM.now()
    moments = iter([begin + 10 * MS, begin + 30 * MS])
    log = LineLog("cell", now=lambda: next(moments))
    assert log.hit(1)
    assert log.hit(2)
    found = annotated(recorded(begin), [], log, "a = 1\n  b = 2", begin + 60 * MS)
    frame = found.frame("events")
    assert frame.name.tolist() == ["line 1", "line 2"]
    assert frame.line.tolist() == [1, 2]
    assert frame.dur_ns.tolist() == [20 * MS, 30 * MS]
    assert set(frame.track_name) == {"cell lines"}
    assert found.frame("sites").text.tolist() == ["a = 1", "b = 2"]
    assert found.meta.cost is not None
    assert found.meta.cost.records == 6


def test_a_line_that_was_switched_off_is_told():
    log = LineLog("cell", most=1)
    log.hit(3)
    log.hit(3)
    found = annotated(recorded(SYSTEM.now()), [], log, "", SYSTEM.now())
    assert "Line 3 of the cell ran more than 1 times" in str(found.health)


def test_a_trace_without_a_known_time_is_left_as_it_is():
    trace = TraceBuilder().build()
    log = LineLog("cell")
    log.hit(1)
    assert annotated(trace, [], log, "", SYSTEM.now()) is trace


def queued_at(*times: int) -> Trace:
    builder = TraceBuilder(Meta(window_ns=(100, 200)))
    worker = builder.track("cpu/0 worker 1", role="worker")
    for time in times:
        builder.event(
            "dot", track=worker, start_ns=150, dur_ns=1, category="operator", queued_ns=time
        )
    return builder.build()


def test_operators_queued_before_the_profile_are_marked_and_told():
    found = with_earlier_work(queued_at(50, 120), knows_queue=False)
    assert found.events.earlier.tolist() == [1, -1]
    assert "1 operator was queued before this profile began" in str(found.health)


def test_an_operator_without_a_queue_time_is_earlier_only_where_all_others_have_one():
    assert with_earlier_work(queued_at(-1, 120), knows_queue=False).health.ok
    found = with_earlier_work(queued_at(-1, -1), knows_queue=True)
    assert found.events.earlier.tolist() == [1, 1]
    assert "2 operators were" in str(found.health)

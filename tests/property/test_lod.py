"""Laws of the level of detail: they hold for any events, any window and any cap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.lod import TimelineIndex, View, index, step_line
from mxprof_nb.trace import Trace, TraceBuilder

EVENT = st.tuples(st.integers(0, 3), st.integers(0, 60), st.integers(0, 25))
EVENTS = st.lists(EVENT, min_size=1, max_size=60)
WINDOW = st.tuples(st.integers(-5, 70), st.integers(0, 90)).map(lambda w: (w[0], w[0] + w[1]))
CAP = st.sampled_from([1, 3, 5, 9, 20, 100])
WIDTH = st.sampled_from([1, 3, 10, 1000])

ORIGIN = 2_000
# Long rows of neighbours, so that runs are the rule: (gap before, duration) of each event.
NEIGHBOURS = st.lists(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=12, max_size=40),
    min_size=1,
    max_size=4,
)


def neighbours(tracks: list[list[tuple[int, int]]]) -> list[tuple[int, int, int]]:
    """Lay the events of each track one after the other, around a large power of two."""
    events = []
    for track, pairs in enumerate(tracks):
        time = ORIGIN
        for gap, duration in pairs:
            events.append((track, time + gap, duration))
            time += gap + duration
    return events


def trace_of(events: list[tuple[int, int, int]]) -> Trace:
    builder = TraceBuilder()
    roles = ("worker", "host", "copy", "worker")
    tracks = [builder.track(f"track {k}", role=role) for k, role in enumerate(roles)]
    for track, start, duration in events:
        builder.event("e", track=tracks[track], start_ns=start, dur_ns=duration)
    return builder.build()


def touching(trace: Trace, begin: int, end: int) -> np.ndarray:
    """The same window by its definition, event by event."""
    end = max(end, begin + 1)
    start, stop = trace.events.start_ns, trace.events.end_ns
    return (start < end) & ((stop > begin) | (start >= begin))


def rows_of(index: TimelineIndex, view: View) -> list[int]:
    return [
        int(row)
        for first, count in zip(view.first, view.count, strict=True)
        for row in index.rows(first, count)
    ]


@given(EVENTS)
def test_events_of_one_lane_never_overlap_and_none_is_lost(events):
    trace = trace_of(events)
    index = TimelineIndex(trace)
    assert sorted(index.order.tolist()) == list(range(len(trace)))
    for lane in range(len(index.lanes)):
        rows = index.order[index.first[lane] : index.first[lane + 1]]
        assert (trace.events.track[rows] == index.lanes.track[lane]).all()
        assert (trace.events.start_ns[rows][1:] >= trace.events.end_ns[rows][:-1]).all()


@given(EVENTS, WINDOW, CAP, WIDTH)
def test_the_cap_holds_and_counts_and_busy_time_are_conserved(events, window, cap, width):
    trace = trace_of(events)
    view = TimelineIndex(trace).view(*window, width_px=width, max_marks=cap)
    begin, end = window[0], max(window[1], window[0] + 1)
    inside = touching(trace, *window)
    start, stop = trace.events.start_ns[inside], trace.events.end_ns[inside]
    assert len(view) <= cap
    assert view.count.sum() == inside.sum()
    assert view.busy_ns.sum() == (np.minimum(stop, end) - np.maximum(start, begin)).clip(0).sum()
    assert (view.busy_ns >= 0).all()


@given(EVENTS, WINDOW, st.sampled_from([9, 20, 100]), WIDTH)
def test_marks_share_no_event_and_long_ones_stay_single(events, window, cap, width):
    trace = trace_of(events)
    index = TimelineIndex(trace)
    view = index.view(*window, width_px=width, max_marks=max(cap, len(index.lanes)))
    rows = rows_of(index, view)
    assert len(set(rows)) == len(rows)
    assert set(rows) == set(np.flatnonzero(touching(trace, *window)).tolist())
    single = set(view.row[view.single].tolist())
    for row in rows:
        if trace.events.dur_ns[row] >= max(view.resolution_ns, 1):
            assert row in single
    for first, count, row in zip(view.first, view.count, view.row, strict=True):
        of_mark = index.rows(first, count)
        assert row in of_mark
        assert trace.events.dur_ns[row] == trace.events.dur_ns[of_mark].max()


@given(NEIGHBOURS, WINDOW, st.integers(0, 12), st.sampled_from([2, 7, 30, 1000]))
def test_runs_keep_the_cap_long_events_wide_gaps_and_use_all_marks(tracks, window, spare, width):
    trace = trace_of(neighbours(tracks))
    window = (window[0] + ORIGIN, window[1] + ORIGIN)
    index = TimelineIndex(trace)
    cap = len(index.lanes) + spare
    view = index.view(*window, width_px=width, max_marks=cap)
    start, end = trace.events.start_ns, trace.events.end_ns
    inside = int(touching(trace, *window).sum())
    assert len(view) <= cap
    assert view.count.sum() == inside
    pixel = max(-(-(view.window_ns[1] - view.window_ns[0]) // width), 1)
    if view.resolution_ns > pixel:
        assert len(view) == cap, "every cut that is left is made"
    for first, count in zip(view.first, view.count, strict=True):
        rows = index.rows(first, count)
        if count > 1:
            assert view.resolution_ns > 0
            assert trace.events.dur_ns[rows].max() < max(view.resolution_ns, 1)
            assert (start[rows][1:] - end[rows][:-1]).max() < view.resolution_ns


@given(EVENTS, WINDOW, WIDTH)
def test_what_fits_is_never_merged(events, window, width):
    trace = trace_of(events)
    total = max(int(touching(trace, *window).sum()), 1)
    view = TimelineIndex(trace).view(*window, width_px=width, max_marks=total)
    assert view.single.all()
    assert view.complete


@given(EVENTS, WINDOW, CAP)
def test_lanes_too_many_for_one_axis_of_keys_are_searched_one_by_one(events, window, cap):
    trace = trace_of(events)
    usual = TimelineIndex(trace).view(*window, max_marks=cap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "MAX_KEY", 0)
        alone = TimelineIndex(trace).view(*window, max_marks=cap)
    for name in ("lane", "start_ns", "end_ns", "first", "count", "busy_ns", "row"):
        assert np.array_equal(getattr(usual, name), getattr(alone, name)), name


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(-5, 5)), min_size=1, max_size=80),
    WINDOW,
    st.sampled_from([4, 8, 40]),
)
def test_a_thinned_step_line_keeps_the_extremes(samples, window, points):
    samples.sort(key=lambda sample: sample[0])
    time = np.array([t for t, _ in samples])
    value = np.array([float(v) for _, v in samples])
    begin, end = window
    x, y = step_line(time, value, begin, end, max_points=points)
    held = value[(time > begin) & (time <= end)].tolist()
    held += value[time <= begin][-1:].tolist()
    assert len(x) <= max(points, 4) + 2
    assert (np.diff(x) >= 0).all()
    assert len(held) == 0 or (y.min(), y.max()) == (min(held), max(held))

"""Laws of the plots: areas, counts and widths add up to what the trace holds."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mxprof_nb.analysis.intervals import depth_over_time
from mxprof_nb.trace import Meta, Trace, TraceBuilder
from mxprof_nb.view import plots
from mxprof_nb.view.plots.levels import _in_bins

times = st.integers(0, 60)
rows = st.lists(
    st.tuples(
        st.integers(0, 2),  # track: two workers and a host
        times,
        st.integers(0, 25),  # duration
        st.sampled_from(["dot", "sum", "<b>exp</b>"]),
        st.sampled_from(["operator", "copy", "api", "sync", "engine"]),
        st.integers(-1, 10),  # how long it stood in the queue, -1 for not known
    ),
    max_size=20,
)
windows = st.none() | st.tuples(times, times).filter(lambda pair: pair[0] < pair[1])
few = settings(max_examples=60, deadline=None)


def built(rows) -> Trace:
    builder = TraceBuilder(Meta(window_ns=(0, 100)))
    tracks = [builder.track(f"worker {n}", role="worker") for n in range(2)]
    tracks.append(builder.track("MainThread", role="host"))
    for track, start, dur, name, category, queued in rows:
        builder.event(name, track=tracks[track], start_ns=start, dur_ns=dur, category=category,
                      queued_ns=-1 if queued < 0 else max(start - queued, 0))  # fmt: skip
    return builder.build()


def ranged(window):
    return {} if window is None else {"begin_ns": window[0], "end_ns": window[1]}


def ancestors(trace: Trace, row: int) -> list[int]:
    found = []
    while (row := int(trace.events.parent[row])) >= 0:
        found.append(row)
    return found


def work(trace: Trace, window) -> list[int]:
    """Rows of operators and copies that touch a window; where there are none, of other work."""
    events = trace.events
    chosen = events.is_category("operator", "copy")
    if not chosen.any():
        chosen = ~events.is_category("sync", "engine")
    low, high = window or (-(10**9), 10**9)
    return [
        row
        for row in np.flatnonzero(chosen).tolist()
        if events.start_ns[row] < high and (events.end_ns[row] > low or events.start_ns[row] >= low)
    ]


def value_at(line, time: float) -> float:
    """The value of a drawn step line at a time."""
    place = int(np.searchsorted(np.asarray(line.x), time, side="right")) - 1
    return float(line.y[place])


@few
@given(rows, windows)
def test_the_level_at_every_moment_is_the_number_of_operators_that_run_and_that_wait(rows, window):
    trace = built(rows)
    events = trace.events
    figure = plots.concurrency(trace, **ranged(window))
    chosen = work(trace, window)
    if not chosen:
        assert not figure.data
        assert "in this range" in figure.layout.annotations[0].text
        return
    low, high = window or (0, 100)
    chosen = [row for row in chosen if events.track[row] < 2] or chosen  # what workers ran
    outer = [row for row in chosen if not set(ancestors(trace, row)) & set(chosen)]
    running = next(line for line in figure.data if line.name == "running")
    waiting = [line for line in figure.data if line.name == "queued, not started"]
    queued = [row for row in chosen if events.queued_ns[row] >= 0]
    assert bool(waiting) == bool(queued)
    for moment in range(low, high):
        alive = sum(events.start_ns[r] <= moment < events.end_ns[r] for r in outer)
        assert value_at(running, moment) == alive
        for line in waiting:
            stands = sum(events.queued_ns[r] <= moment < events.start_ns[r] for r in queued)
            assert value_at(line, moment) == stands
    area = float((np.diff(running.x) * np.asarray(running.y)[:-1]).sum())
    lengths = np.clip(events.end_ns[outer], low, high) - np.clip(events.start_ns[outer], low, high)
    assert area == lengths.sum(), "the area is the busy time"


@few
@given(st.lists(st.tuples(times, st.integers(0, 25)), max_size=20), st.integers(1, 9))
def test_means_of_parts_keep_the_area_and_the_band_its_ends(intervals, parts):
    start = np.array([begin for begin, _ in intervals], dtype=np.int64)
    end = start + np.array([length for _, length in intervals], dtype=np.int64)
    time, count = depth_over_time(start, end, window=(0, 70))
    edges = np.unique(np.linspace(0, 70, parts + 1).astype(np.int64))
    mean, low, high = _in_bins(time, count, edges)
    for k, (begin, stop) in enumerate(pairwise(edges.tolist())):
        levels = [int(((start <= t) & (t < end)).sum()) for t in range(begin, stop)]
        assert mean[k] == pytest.approx(np.mean(levels))
        assert (low[k], high[k]) == (min(levels), max(levels))


@few
@given(rows, windows)
def test_heights_of_the_histogram_add_up_to_the_operators(rows, window):
    trace = built(rows)
    figure = plots.durations(trace, **ranged(window))
    lengths = [int(trace.events.dur_ns[row]) for row in work(trace, window)]
    points = lengths.count(0)
    if points == len(lengths):
        assert not figure.data
        return
    (bars,) = figure.data
    assert sum(bars.y) + points == len(lengths)
    assert (f"{points:,} of them without length" in figure.layout.title.subtitle.text) == (
        points > 0
    )
    for (low, high), height in zip(bars.customdata, bars.y, strict=True):
        assert height == sum(low <= length < high for length in lengths if length)


@few
@given(rows, windows, st.integers(1, 12))
def test_boxes_of_the_flame_add_up_to_the_one_around_them(rows, window, most):
    trace = built([(2, *row[1:]) for row in rows])
    figure = plots.flame(trace, max_boxes=most, **ranged(window))
    low, high = window or (-(10**9), 10**9)
    events, own = trace.events, Counter[tuple[str, ...]]()
    for row in range(len(trace)):
        children = np.flatnonzero(events.parent == row)
        begin, end = int(events.start_ns[row]), int(events.end_ns[row])
        covered = {t for c in children for t in range(events.start_ns[c], events.end_ns[c])}
        alone = sum(low <= t < high and t not in covered for t in range(begin, end))
        above = [row, *ancestors(trace, row)][::-1]
        own[tuple(trace.strings[int(events.name[r])] for r in above)] += alone
    if not sum(own.values()):
        assert not figure.data
        return
    (boxes,) = figure.data
    width = dict(zip(boxes.ids, boxes.values, strict=True))
    inside = Counter[str]()
    for box, parent in zip(boxes.ids, boxes.parents, strict=True):
        inside[parent] += width[box]
    assert inside[""] == sum(own.values())
    assert all(inside[box] <= width[box] for box in width), "a box holds those in it"
    assert sum(box.startswith("path") for box in boxes.ids) <= most
    if most >= len({path[:k] for path in own for k in range(1, len(path) + 1)}):
        wide = Counter[tuple[str, ...]]()
        for path, alone in own.items():
            for k in range(1, len(path) + 1):
                wide[path[:k]] += alone
        drawn = [width[box] for box in boxes.ids if box.startswith("path")]
        assert sorted(filter(None, drawn)) == sorted(filter(None, wide.values()))


@few
@given(rows, windows, st.integers(1, 4))
def test_bars_of_the_top_operators_add_up_to_all(rows, window, most):
    trace = built(rows)
    figure = plots.top_operators(trace, most=most, **ranged(window))
    low, high = window or (-(10**9), 10**9)
    events = trace.events
    total = sum(
        max(min(int(events.end_ns[r]), high) - max(int(events.start_ns[r]), low), 0)
        for r in work(trace, window)
    )
    if not total:
        assert not figure.data
        return
    whole, alone = figure.data
    assert sum(whole.x) == total, "in ns, which fits such short ones"
    assert len(whole.x) <= most + 1
    assert all(0 <= own <= length for own, length in zip(alone.x, whole.x, strict=True))

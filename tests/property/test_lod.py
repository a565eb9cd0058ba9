"""Laws of the level of detail: they hold for any events, any window and any cap."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.lod import TimelineIndex, View, boundaries, folds, intervals, raster
from mxprof_nb.lod import view as view_module
from mxprof_nb.trace import Trace, TraceBuilder

EVENT = st.tuples(st.integers(0, 3), st.integers(0, 60), st.integers(0, 25))
SCATTERED = st.lists(EVENT, min_size=1, max_size=60)
WINDOW = st.tuples(st.integers(-5, 90), st.integers(0, 130)).map(lambda w: (w[0], w[0] + w[1]))
CAP = st.sampled_from([1, 3, 5, 9, 20, 100])
WIDTH = st.sampled_from([1, 3, 10, 1000])

#: Times of a trace need not begin near 0.
ORIGIN = 2**20 - 40
# Long rows of neighbours, so that runs are the rule: (gap before, duration) of each event.
NEIGHBOURS = st.lists(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=12, max_size=40),
    min_size=1,
    max_size=4,
)
LANES = st.sets(st.integers(0, 9), min_size=1)


def neighbours(tracks: list[list[tuple[int, int]]]) -> list[tuple[int, int, int]]:
    """Lay the events of each track one after the other."""
    events = []
    for track, pairs in enumerate(tracks):
        time = 0
        for gap, duration in pairs:
            events.append((track, time + gap, duration))
            time += gap + duration
    return events


# Many that are shorter than a pixel, so that runs are long enough for a grid.
DENSE = st.lists(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), min_size=5, max_size=20).map(
        lambda pairs: pairs * 4
    ),
    min_size=1,
    max_size=2,
)
EVENTS = st.one_of(SCATTERED, NEIGHBOURS.map(neighbours), DENSE.map(neighbours))


def trace_of(events: list[tuple[int, int, int]]) -> Trace:
    builder = TraceBuilder()
    roles = ("worker", "host", "copy", "worker")
    tracks = [builder.track(f"track {k}", role=role) for k, role in enumerate(roles)]
    for track, start, duration in events:
        builder.event("e", track=tracks[track], start_ns=start + ORIGIN, dur_ns=duration)
    return builder.build()


class Drawn:
    """A view of some events, and what it should stand for by definition, event by event."""

    def __init__(self, events, window, cap, width, lanes=None, cells=100_000) -> None:
        self.trace = trace_of(events)
        self.index = TimelineIndex(self.trace)
        self.begin, self.end = window[0] + ORIGIN, max(window[1], window[0] + 1) + ORIGIN
        known = set(range(len(self.index.lanes)))
        self.lanes = sorted(known if lanes is None else known & lanes)
        self.view: View = self.index.view(
            self.begin,
            window[1] + ORIGIN,
            width_px=width,
            max_marks=cap,
            max_cells=cells,
            lanes=None if lanes is None else np.array(self.lanes, dtype=np.int64),
        )
        self.pixel = -(-(self.end - self.begin) // width)
        start, stop = self.trace.events.start_ns, self.trace.events.end_ns
        inside = (start < self.end) & ((stop > self.begin) | (start >= self.begin))
        self.lane = np.empty(len(self.trace), dtype=np.int64)
        for lane in range(len(self.index.lanes)):
            first, stop_at = self.index.first[lane : lane + 2]
            self.lane[self.index.order[first:stop_at]] = lane
        self.rows = np.flatnonzero(inside & np.isin(self.lane, self.lanes))
        self.start, self.stop = start, stop
        self.busy = np.maximum(np.minimum(stop, self.end) - np.maximum(start, self.begin), 0)

    @property
    def marked(self) -> list[int]:
        """The rows behind the marks."""
        return [
            int(row)
            for first, count in zip(self.view.first, self.view.count, strict=True)
            for row in self.index.rows(first, count)
        ]

    def pixels(self, start, stop, pixel: int) -> set[int]:
        """The pixels that a bar covers; one without length covers that of its place."""
        begin, end = max(int(start), self.begin), min(int(stop), self.end)
        last = max(end - 1, begin)
        return set(range((begin - self.begin) // pixel, (last - self.begin) // pixel + 1))


@contextmanager
def limits(**values):
    """Set limits of the search so low that a few events reach them."""
    places = {
        "MAX_KEY": (intervals, folds),
        "MANY_LANES": (intervals,),
        "GATHERED": (boundaries,),
        "MAX_ROWS": (folds, raster),
        "GRID_PX": (view_module,),
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            for module in places[name]:
                patch.setattr(module, name, value)
        yield


@given(EVENTS)
def test_events_of_one_lane_never_overlap_and_none_is_lost(events):
    trace = trace_of(events)
    index = TimelineIndex(trace)
    assert sorted(index.order.tolist()) == list(range(len(trace)))
    for lane in range(len(index.lanes)):
        rows = index.order[index.first[lane] : index.first[lane + 1]]
        assert (trace.events.track[rows] == index.lanes.track[lane]).all()
        assert (trace.lane[rows] == index.lanes.sub_lane[lane]).all()
        assert (trace.events.start_ns[rows][1:] >= trace.events.end_ns[rows][:-1]).all()


@given(EVENTS, WINDOW, CAP, WIDTH, st.none() | LANES, st.sampled_from([1, 7, 60, 32_000]))
def test_the_cap_holds_and_every_lane_keeps_its_count_and_busy_time(
    events, window, cap, width, lanes, cells
):
    drawn = Drawn(events, window, cap, width, lanes, cells)
    view = drawn.view
    assert len(view) <= cap
    assert (view.busy_ns >= 0).all()
    rows = [(lane, np.array([lane])) for lane in drawn.lanes]
    if len(view.raster):
        assert view.raster.count.size <= max(cells, len(view.raster))
        assert (view.raster.count >= 0).all()
        assert (view.raster.busy_ns >= 0).all()
        rows = [(k, view.raster.lanes_of(k)) for k in range(len(view.raster))]
        assert set(np.concatenate([lanes for _, lanes in rows]).tolist()) == set(
            drawn.lane[drawn.rows].tolist()
        )
    for row, members in rows:
        marks = np.isin(view.lane, members)
        count, busy = view.count[marks].sum(), view.busy_ns[marks].sum()
        if len(view.raster):
            count += view.raster.count[row].sum()
            busy += view.raster.busy_ns[row].sum()
        mine = drawn.rows[np.isin(drawn.lane[drawn.rows], members)]
        assert count == len(mine)
        assert busy == drawn.busy[mine].sum()


@given(EVENTS, WINDOW, CAP, WIDTH, st.none() | LANES)
def test_the_pixels_covered_are_those_of_drawing_every_event(events, window, cap, width, lanes):
    drawn = Drawn(events, window, cap, width, lanes)
    view = drawn.view
    covered: dict[int, set[int]] = {lane: set() for lane in drawn.lanes}
    for lane, start, stop in zip(view.lane, view.start_ns, view.end_ns, strict=True):
        covered[int(lane)] |= drawn.pixels(start, stop, drawn.pixel)
    if len(view.raster):
        assert (np.diff(view.raster.edges_ns)[:-1] == drawn.pixel).all()
        for row, lane in enumerate(view.raster.lane.tolist()):
            covered[lane] |= set(np.flatnonzero(view.raster.covered[row]).tolist())
    wanted: dict[int, set[int]] = {lane: set() for lane in drawn.lanes}
    for row in drawn.rows.tolist():
        wanted[int(drawn.lane[row])] |= drawn.pixels(drawn.start[row], drawn.stop[row], drawn.pixel)
    assert covered == wanted


@given(EVENTS, WINDOW, CAP, WIDTH, st.sampled_from([0, 3, 131_072]))
def test_long_events_are_marks_of_their_own_the_longest_first(events, window, cap, width, gathered):
    with limits(GATHERED=gathered):
        drawn = Drawn(events, window, cap, width)
    view, long = drawn.view, drawn.trace.events.dur_ns
    single = set(view.row[view.single].tolist())
    assert len(set(drawn.marked)) == len(drawn.marked)
    left = [row for row in drawn.rows.tolist() if row not in single]
    for row in left:
        assert long[row] < view.resolution_ns
    if view.mode == "layers":
        assert set(drawn.marked) == single
        wide = [row for row in left if long[row] >= drawn.pixel]
        if wide:
            assert len(view) == cap, "none is left while there is room"
            assert long[wide].max() <= long[list(single)].min()
    elif view.mode == "runs":
        assert all(long[row] < drawn.pixel for row in left)
    else:
        assert not left


@given(EVENTS, WINDOW, st.integers(1, 9), st.integers(-2, 9))
def test_runs_are_the_answer_exactly_where_they_fit(events, window, pixel, spare):
    width = -(-max(window[1] - window[0], 1) // pixel)
    everything = Drawn(events, window, 1_000, width)
    needed = 0
    for lane in everything.lanes:
        rows = everything.rows[everything.lane[everything.rows] == lane]
        rows = rows[np.lexsort((everything.stop[rows], everything.start[rows]))]
        start, stop = everything.start[rows], everything.stop[rows]
        long = stop - start
        strength = np.maximum(start[1:] - stop[:-1], np.maximum(long[1:], long[:-1]))
        needed += int((strength >= everything.pixel).sum()) + bool(len(rows))
    cap = max(needed + spare, 1)
    with limits(GRID_PX=1_000):
        view = Drawn(events, window, cap, width).view
    wanted = "rows" if len(everything.rows) <= cap else "runs" if needed <= cap else "layers"
    assert view.mode == wanted
    if wanted == "runs":
        assert len(view) == needed


@given(DENSE, st.integers(0, 30), st.integers(4, 9), st.integers(3, 12))
def test_spare_marks_cut_long_runs_on_a_grid_and_keep_every_event_once(tracks, begin, pixel, cap):
    window = (begin, begin + 100)
    with limits(GRID_PX=1):
        drawn = Drawn(neighbours(tracks), window, cap, -(-100 // pixel))
    view = drawn.view
    assert len(view) <= cap
    assert (view.count >= 1).all()
    if view.mode == "runs":
        assert sorted(drawn.marked) == drawn.rows.tolist()


@given(EVENTS, WINDOW, WIDTH)
def test_what_runs_through_the_whole_window_is_a_mark_whatever_lies_in_it(events, window, width):
    drawn = Drawn([*events, (2, -100, 400), (2, -90, 380)], window, 2, width)
    through = {row for row in drawn.rows.tolist() if drawn.trace.events.dur_ns[row] >= 380}
    assert len(through) == 2
    assert through <= set(drawn.view.row[drawn.view.single].tolist())


@given(EVENTS, WINDOW, WIDTH)
def test_what_fits_is_never_merged(events, window, width):
    drawn = Drawn(events, window, 1, width)
    view = drawn.index.view(
        drawn.begin, drawn.end, width_px=width, max_marks=max(len(drawn.rows), 1)
    )
    assert view.single.all()
    assert view.complete
    assert sorted(view.row.tolist()) == drawn.rows.tolist()


@given(EVENTS, WINDOW, CAP, WIDTH, st.booleans())
def test_lanes_too_many_for_one_axis_of_keys_are_searched_one_by_one(
    events, window, cap, width, halved
):
    usual = Drawn(events, window, cap, width).view
    with limits(MAX_KEY=0, **({"MANY_LANES": 0} if halved else {})):
        alone = Drawn(events, window, cap, width).view
    with limits(MANY_LANES=0):
        assert np.array_equal(Drawn(events, window, cap, width).view.first, usual.first)
    for name in ("lane", "start_ns", "end_ns", "first", "count", "busy_ns", "row"):
        assert np.array_equal(getattr(usual, name), getattr(alone, name)), name
    assert np.array_equal(usual.raster.count, alone.raster.count)
    assert np.array_equal(usual.raster.busy_ns, alone.raster.busy_ns)


@given(EVENTS, WINDOW, WIDTH, st.sampled_from([1, 2, 3]), st.booleans(), st.none() | LANES)
def test_folded_lanes_add_up_to_their_members(events, window, width, rows, one_axis, lanes):
    plain = Drawn(events, window, 1, width, lanes).view
    with limits(MAX_ROWS=rows, **({} if one_axis else {"MAX_KEY": 0})):
        view = Drawn(events, window, 1, width, lanes).view
    assert bool(len(view.raster)) == bool(len(plain.raster))
    assert len(view.raster) <= rows
    for row in range(len(view.raster)):
        mine = np.isin(plain.raster.lane, view.raster.lanes_of(row))
        assert np.array_equal(view.raster.count[row], plain.raster.count[mine].sum(axis=0))
        assert np.array_equal(view.raster.busy_ns[row], plain.raster.busy_ns[mine].sum(axis=0))


@given(EVENTS, WINDOW, st.sets(st.integers(0, 9), min_size=2), st.integers(1, 12))
def test_groups_of_any_lanes_hold_exactly_what_their_lanes_do_in_every_cell(
    events, window, bounds, columns
):
    index = TimelineIndex(trace_of(events))
    heads = np.unique(np.minimum(sorted(bounds), len(index.lanes)))
    first, stop = heads[:-1][::2], heads[1:][::2]  # every other one, so that lanes are left out
    begin, end = window[0] + ORIGIN - index.begin_ns, window[1] + ORIGIN - index.begin_ns
    edges = np.linspace(begin, max(end, begin + 1), columns + 1).astype(np.int64)
    count, busy = index.folded(first, stop).cells(edges)
    assert count.shape == busy.shape == (len(first), columns)
    for group, lanes in enumerate(zip(first, stop, strict=True)):
        rows = index.order[index.first[lanes[0]] : index.first[lanes[1]]]
        start = index._events.start_ns[rows] - index.begin_ns
        ends = start + index._events.dur_ns[rows]
        for cell, (a, b) in enumerate(pairwise(edges.tolist())):
            assert count[group, cell] == ((start >= a) & (start < b)).sum()
            assert (
                busy[group, cell] == np.maximum(np.minimum(ends, b) - np.maximum(start, a), 0).sum()
            )

"""Laws of what is asked about a view: what was found, what stands behind a mark, what is where."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.lod import Links, TimelineIndex
from mxprof_nb.lod.view import SAMPLES
from mxprof_nb.trace import TraceBuilder
from tests.property.test_lod import CAP, WIDTH, WINDOW, limits

EVENT = st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 25), st.sampled_from("abc"))
EVENTS = st.lists(EVENT, min_size=1, max_size=60)


def trace_of(events, flows=()):
    builder = TraceBuilder()
    tracks = [builder.track(f"track {k}", role="worker") for k in range(3)]
    for track, start, duration, name in events:
        builder.event(name, track=tracks[track], start_ns=start, dur_ns=duration)
    for source, target in flows:
        builder.flow(source % len(events), target % len(events), "launch")
    return builder.build()


def inside(trace, begin, end):
    """Time that each event covers within a window."""
    start, stop = trace.events.start_ns, trace.events.end_ns
    return np.maximum(np.minimum(stop, end) - np.maximum(start, begin), 0)


def shares(found_ns, busy_ns, found, count):
    return found_ns / busy_ns if busy_ns else found / max(count, 1)


@given(EVENTS, WINDOW, CAP, WIDTH, st.lists(st.booleans(), min_size=60), st.sampled_from([2, 200]))
def test_what_was_found_is_counted_in_every_mark_and_cell(
    events, window, cap, width, chosen, rows_at_most
):
    trace = trace_of(events)
    index = TimelineIndex(trace)
    mask = np.array(chosen[: len(trace)])
    matches = index.match(mask)
    assert len(matches) == mask.sum()
    with limits(MAX_ROWS=rows_at_most):
        view = index.view(*window, width_px=width, max_marks=cap)
        matched = matches.within(view)
    covered = inside(trace, *view.window_ns)
    for mark in range(len(view)):
        rows = index.rows(view.first[mark], view.count[mark])
        hits = rows[mask[rows]]
        assert matched.count[mark] == len(hits)
        wanted = shares(covered[hits].sum(), view.busy_ns[mark], len(hits), len(rows))
        assert matched.busy_share[mark] == wanted
    assert matched.cell_count.shape == matched.cell_share.shape == view.raster.count.shape
    marks = np.zeros(len(trace), dtype=bool)
    marks[view.row] = True
    lane_rows = [index.order[index.first[k] : index.first[k + 1]] for k in range(len(index.lanes))]
    for row in range(len(view.raster)):
        rows = np.concatenate([lane_rows[lane] for lane in view.raster.lanes_of(row)])
        rows = rows[mask[rows] & ~marks[rows]]
        for column in range(len(view.raster.edges_ns) - 1):
            begin, end = view.raster.edges_ns[column : column + 2]
            start = trace.events.start_ns[rows]
            began = (start >= begin) & (start < end)
            if column == 0:
                began |= (start < begin) & (trace.events.end_ns[rows] > begin)
            assert matched.cell_count[row, column] == began.sum()
            wanted = shares(
                inside(trace, begin, end)[rows].sum(),
                view.raster.busy_ns[row, column],
                began.sum(),
                view.raster.count[row, column],
            )
            assert matched.cell_share[row, column] == wanted


@given(EVENTS, WINDOW, CAP, WIDTH)
def test_the_composition_of_a_mark_is_exact_and_its_sample_is_one_of_it(events, window, cap, width):
    trace = trace_of(events)
    index = TimelineIndex(trace)
    view = index.view(*window, width_px=width, max_marks=cap)
    for mark in range(len(view)):
        rows = index.rows(view.first[mark], view.count[mark])
        assert view.row[mark] in rows
        made_of = index.composition(view, mark)
        assert made_of.count.sum() == view.count[mark]
        assert made_of.busy_ns.sum() == view.busy_ns[mark]
        assert (np.diff(made_of.busy_ns) <= 0).all()
        for name, count in zip(made_of.name, made_of.count, strict=True):
            assert count == (trace.events.name[rows] == name).sum()
        assert view.sampled[mark] == (len(rows) > SAMPLES)
        if not view.sampled[mark]:
            of_name = {
                name: trace.events.dur_ns[rows][trace.events.name[rows] == name].sum()
                for name in set(trace.events.name[rows].tolist())
            }
            assert of_name[trace.events.name[view.row[mark]]] == max(of_name.values())


@given(EVENTS, WINDOW, WIDTH)
def test_the_composition_of_a_cell_is_all_that_touches_it(events, window, width):
    trace = trace_of(events)
    index = TimelineIndex(trace)
    view = index.view(*window, width_px=width, max_marks=1)
    start, stop = trace.events.start_ns, trace.events.end_ns
    for row in range(len(view.raster)):
        (lane,) = view.raster.lanes_of(row)
        mine = index.order[index.first[lane] : index.first[lane + 1]]
        for column in range(len(view.raster.edges_ns) - 1):
            begin, end = view.raster.edges_ns[column : column + 2]
            touching = (start[mine] < end) & ((stop[mine] > begin) | (start[mine] >= begin))
            made_of = index.composition_of_cell(view, row, column)
            assert made_of.count.sum() == touching.sum()
            assert made_of.busy_ns.sum() == inside(trace, begin, end)[mine].sum()


@given(EVENTS, st.integers(-5, 100), st.sampled_from([1, 2, 9]), st.sampled_from([0, 131_072]))
def test_a_place_is_the_longest_event_at_its_pixel_else_the_nearest(events, time, pixel, gathered):
    trace = trace_of(events)
    index = TimelineIndex(trace)
    start, stop = trace.events.start_ns, trace.events.end_ns
    begin = time - pixel // 2
    for lane in range(len(index.lanes)):
        mine = index.order[index.first[lane] : index.first[lane + 1]]
        with limits(GATHERED=gathered):
            picked = index.pick(lane, time, pixel_ns=pixel)
        touching = (start[mine] < begin + pixel) & ((stop[mine] > begin) | (start[mine] >= begin))
        away = np.maximum(np.maximum(start[mine] - time, time - stop[mine]), 0)
        if touching.any():
            assert picked in mine[touching]
            assert trace.events.dur_ns[picked] == trace.events.dur_ns[mine[touching]].max()
        elif away.min() <= 3 * pixel:
            assert away[mine.tolist().index(picked)] == away.min()
        else:
            assert picked == -1


@given(
    EVENTS,
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=40),
    st.sets(st.integers(0, 59)),
)
def test_links_of_events_are_the_flows_that_name_them(events, flows, wanted):
    trace = trace_of(events, flows)
    rows = np.array(sorted(row for row in wanted if row < len(trace)), dtype=np.int64)
    links = Links(trace)
    assert len(links) == len(trace.flows)
    source, target = np.isin(trace.flows.source, rows), np.isin(trace.flows.target, rows)
    assert sorted(links.effects(rows).tolist()) == np.flatnonzero(source).tolist()
    assert sorted(links.causes(rows).tolist()) == np.flatnonzero(target).tolist()
    assert links.around(rows).tolist() == np.flatnonzero(source | target).tolist()


@given(EVENTS, WINDOW, CAP, WIDTH)
def test_the_mark_of_an_event_is_the_one_that_holds_it(events, window, cap, width):
    index = TimelineIndex(trace_of(events))
    view = index.view(*window, width_px=width, max_marks=cap)
    found = view.mark_of(np.arange(len(index)))
    for position, mark in enumerate(found.tolist()):
        held = (view.first <= position) & (position < view.first + view.count)
        assert held.any() == (mark >= 0)
        assert mark < 0 or held[mark]

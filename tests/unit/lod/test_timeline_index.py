from __future__ import annotations

import numpy as np

from mxprof_nb.lod import TimelineIndex
from mxprof_nb.trace import TraceBuilder
from mxprof_nb.trace.schema import CATEGORIES, ROLES
from tests.traces import dot_cell, many


def test_hosts_stand_above_workers_and_waits_below_the_call_that_waits():
    trace = dot_cell()
    index = TimelineIndex(trace)
    names = [trace.strings[trace.tracks.name[track]] for track in index.lanes.track]
    assert names == ["MainThread", "MainThread", "cpu/0 worker 1", "cpu/0 worker 2"]
    assert index.lanes.sub_lane.tolist() == [0, 1, 0, 0]
    assert [ROLES[role] for role in index.lanes.role] == ["host", "host", "worker", "worker"]


def test_a_hundred_thousand_events_become_a_few_marks_above_a_raster():
    trace = many(100_000, tracks=8)
    view = TimelineIndex(trace).view(*trace.window_ns)
    assert view.mode == "layers"
    assert 300 < len(view) <= 1000
    assert view.raster.count.shape == (8, 1000)
    assert view.count.sum() + view.raster.count.sum() == len(trace)
    assert view.busy_ns.sum() + view.raster.busy_ns.sum() == trace.events.dur_ns.sum()
    assert 0 < view.raster.share.max() <= 1


def test_neighbours_without_gaps_become_one_run():
    builder = TraceBuilder()
    worker = builder.track("worker", role="worker")
    for k in range(5_000):
        name = "rare" if k % 10 == 0 else "usual"
        builder.event(name, track=worker, start_ns=k * 3, dur_ns=2, category="operator")
    trace = builder.build()
    index = TimelineIndex(trace)
    view = index.view(*trace.window_ns, width_px=200, max_marks=10)
    assert view.mode == "runs"
    assert view.count.sum() == 5_000
    assert {trace.strings[trace.events.name[row]] for row in view.row} == {"usual"}
    assert view.sampled.all()
    made_of = index.composition(view, 0)
    assert trace.strings[made_of.name[0]] == "usual"
    assert made_of.count.tolist() == [614, 69], "one in ten is rare"


def test_a_run_has_the_colour_of_the_category_that_covers_most_whatever_the_names():
    builder = TraceBuilder()
    host = builder.track("host", role="host")
    for k in range(60):
        category = "sync" if k % 4 == 0 else "api"
        name = "wait" if k % 4 == 0 else f"call {k}"
        builder.event(name, track=host, start_ns=k * 10, dur_ns=9, category=category)
    trace = builder.build()
    view = TimelineIndex(trace).view(*trace.window_ns, width_px=2, max_marks=3)
    assert view.mode == "runs"
    assert {CATEGORIES[code] for code in view.category} == {"api"}


def test_what_was_merged_before_is_separate_after_zooming():
    trace = many(600, tracks=2)
    index = TimelineIndex(trace)
    whole = index.view(*trace.window_ns, width_px=30, max_marks=100)
    assert whole.mode == "runs"
    (merged, *_) = np.flatnonzero((whole.count > 1) & (whole.count < 50)).tolist()
    inside = set(index.rows(whole.first[merged], whole.count[merged]).tolist())
    near = index.view(int(whole.start_ns[merged]), int(whole.end_ns[merged]), max_marks=100)
    assert near.complete
    assert inside & set(near.row.tolist())


def test_a_parent_stays_when_zoomed_far_inside_it():
    builder = TraceBuilder()
    track = builder.track("host", role="host")
    builder.event("parent", track=track, start_ns=0, dur_ns=10**12)
    for k in range(5_000):
        builder.event("child", track=track, start_ns=k * 10**8, dur_ns=10**7)
    trace = builder.build()
    view = TimelineIndex(trace).view(300_000_000_000, 300_000_000_100)
    assert "parent" in [trace.strings[trace.events.name[row]] for row in view.row]


def test_instants_at_the_edges_follow_half_open_ends():
    builder = TraceBuilder()
    track = builder.track("host", role="host")
    builder.event("before", track=track, start_ns=0, dur_ns=10)
    builder.event("at begin", track=track, start_ns=10, kind="instant")
    builder.event("at end", track=track, start_ns=20, kind="instant")
    trace = builder.build()
    index = TimelineIndex(trace)
    assert [trace.strings[trace.events.name[r]] for r in index.view(10, 20).row] == ["at begin"]
    assert len(index.view(20, 20)) == 1, "an empty window is one tick long"
    assert len(index.view(1_000, 2_000)) == 0, "past the end nothing is found"


def test_more_lanes_than_marks_still_keep_the_cap_and_the_sums():
    trace = many(4_000, tracks=50)
    view = TimelineIndex(trace).view(*trace.window_ns, max_marks=7)
    assert len(view) == 7
    assert view.raster.count.shape == (50, 500)
    assert view.count.sum() + view.raster.count.sum() == len(trace)


def test_more_lanes_than_a_screen_has_rows_are_folded_and_chosen_ones_too():
    trace = many(9_000, tracks=450)
    index = TimelineIndex(trace)
    assert len(index.lanes) == 450
    before = index.nbytes
    whole = index.view(*trace.window_ns)
    assert whole.raster.count.shape == (200, 143)
    assert index.nbytes <= before + 33 * len(trace) + 10_000
    chosen = index.view(*trace.window_ns, lanes=np.arange(100, 400))
    assert len(chosen.raster) == 200
    assert {len(chosen.raster.lanes_of(row)) for row in range(200)} == {1, 2}
    for view, lanes in ((whole, range(450)), (chosen, range(100, 400))):
        members = [view.raster.lanes_of(row) for row in range(200)]
        assert np.concatenate(members).tolist() == list(lanes)
        events = sum(index.first[lane + 1] - index.first[lane] for lane in lanes)
        assert view.count.sum() + view.raster.count.sum() == events


def test_a_group_of_lanes_that_all_rest_is_no_row():
    builder = TraceBuilder()
    tracks = [builder.track(f"worker {k}", role="worker") for k in range(800)]
    for k, track in enumerate(tracks):
        for start in range(0, 50, 10):
            late = 1_000 if 100 <= k < 120 else 0
            builder.event("e", track=track, start_ns=start + late, dur_ns=5)
    index = TimelineIndex(builder.build())
    view = index.view(0, 40, max_marks=10)
    assert len(view.raster) == 195
    assert view.count.sum() + view.raster.count.sum() == 780 * 4
    assert view.raster.covered.any(axis=1).all()


def test_events_that_run_across_one_another_are_laid_out_and_all_others_keep_their_depth():
    builder = TraceBuilder()
    tracks = [builder.track(f"host {k}", role="host") for k in range(3)]
    for k in range(40):
        builder.event("outer", track=tracks[0], start_ns=k * 100, dur_ns=80)
        builder.event("inner", track=tracks[0], start_ns=k * 100 + 10, dur_ns=20)
        builder.event("across", track=tracks[1], start_ns=k * 100, dur_ns=150 if k % 8 else 90)
    trace = builder.build()
    index = TimelineIndex(trace)
    assert index.lanes.track.tolist() == [0, 0, 1, 1]
    lane = np.repeat(np.arange(4), np.diff(index.first))
    assert (trace.lane[index.order] == index.lanes.sub_lane[lane]).all()


def test_a_memory_of_eighty_bytes_an_event_is_enough():
    trace = many(50_000, tracks=4)
    assert TimelineIndex(trace).nbytes <= 40 * len(trace)


def test_only_the_lanes_asked_for_are_shown():
    trace = many(1_000, tracks=5)
    view = TimelineIndex(trace).view(*trace.window_ns, lanes=np.array([3, 1]))
    assert set(view.lane.tolist()) == {1, 3}


def test_a_trace_without_events_has_no_lanes_and_no_marks():
    trace = TraceBuilder().build()
    index = TimelineIndex(trace)
    assert len(index) == 0
    assert len(index.view(0, 100)) == 0


def test_panning_moves_no_cut_on_the_grid():
    trace = many(60_000, tracks=2, waits=False)
    index = TimelineIndex(trace)
    begin, end = trace.window_ns
    width = (end - begin) // 4
    here = index.view(begin + width, begin + 2 * width, width_px=100, max_marks=600)
    there = index.view(
        begin + width + width // 10, begin + 2 * width + width // 10, width_px=100, max_marks=600
    )
    assert here.mode == there.mode == "runs"
    common = set(here.first.tolist()) & set(there.first.tolist())
    assert len(common) > 0.6 * len(here)


def test_a_cut_on_the_grid_is_not_made_where_it_would_break_the_cap():
    builder = TraceBuilder()
    for k in range(3):
        track = builder.track(f"worker {k}", role="worker")
        for start in range(2**20 - 50, 2**20 + 50, 5):
            builder.event("e", track=track, start_ns=start, dur_ns=3)
    trace = builder.build()
    assert len(TimelineIndex(trace).view(*trace.window_ns, width_px=2, max_marks=4)) <= 4

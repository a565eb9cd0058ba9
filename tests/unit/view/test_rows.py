"""Which rows a timeline has, what they are called, and how groups of them fold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.trace import Trace, TraceBuilder
from mxprof_nb.trace.schema import ROLES
from mxprof_nb.view.groups import ALL, CLOSED, FIRST_ROWS, MOST_ROWS, OPEN
from mxprof_nb.view.picture import picture
from mxprof_nb.view.rows import Layout
from mxprof_nb.view.scene import LEAST_ROW_PX, Scene, Stage
from tests.traces import many


def threads(n: int, role: str = "host", devices: int = 0, depth: int = 1, beside: int = 0) -> Trace:
    """Tracks of one role, each with a nest of calls; ``beside`` of them are copy lanes."""
    builder = TraceBuilder()
    for k in range(n):
        device = f"gpu/{k % devices}" if devices else None
        name = f"{device} worker {k}" if device else f"thread {k}"
        named = "copy" if k >= n - beside else role
        track = builder.track(name, role=named, device=device, order=k)
        for level in range(depth):
            builder.event("f", track=track, start_ns=level, dur_ns=100 * depth - 2 * level)
    return builder.build()


def names(layout: Layout | Scene) -> list[str]:
    return [row.name for row in layout.rows]


def key(layout: Layout, name: str) -> str:
    return next(row.key for row in layout.rows if row.name == name)


def test_groups_stand_in_order_each_under_its_name_and_devices_stand_together():
    builder = TraceBuilder()
    for role in reversed(ROLES):
        for k in range(2):
            device = f"cpu/{k}" if role in ("worker", "copy") else None
            for n in range(2):
                track = builder.track(f"{role} {k}{n}", role=role, device=device, order=n)
                builder.event("e", track=track, start_ns=0, dur_ns=10)
    stage = Stage(builder.build())
    layout = stage.arranged({row.key: ALL for row in stage.rows}).layout
    assert [row.name for row in layout.rows if row.head] == [
        "steps and marks",
        "lines of the cell",
        "host threads",
        "workers",
        "cpu/0 workers",
        "cpu/1 workers",
        "copy lanes",
        "cpu/0 copy lanes",
        "cpu/1 copy lanes",
        "streams",
        "data loading",
        "counters",
    ]
    assert names(layout)[:5] == ["steps and marks", "mark 00", "mark 10", "mark 01", "mark 11"]
    workers = names(layout)[names(layout).index("cpu/0 workers") :]
    assert workers[:3] == ["cpu/0 workers", "worker 00", "worker 01"]


def test_a_click_on_a_groups_name_folds_it_and_another_unfolds_it():
    stage = Stage(threads(5))
    layout = stage.arranged().layout
    assert names(layout) == ["host threads", *(f"thread {k}" for k in range(5))]
    head = layout.rows[0]
    assert head.head
    assert head.open
    folded = stage.arranged({head.key: CLOSED}).layout
    assert names(folded) == ["5 host threads"]
    assert not folded.rows[0].open
    assert not len(folded.drawn)
    assert names(stage.arranged({head.key: OPEN}).layout) == names(layout)


def test_workers_are_grouped_by_device_and_say_it_once():
    layout = Stage(threads(6, "worker", devices=2)).arranged().layout
    assert names(layout) == [
        "workers",
        "gpu/0 workers",
        "worker 0",
        "worker 2",
        "worker 4",
        "gpu/1 workers",
        "worker 1",
        "worker 3",
        "worker 5",
    ]


def test_five_thousand_tracks_fit_a_screen_at_first_and_each_can_be_reached():
    stage = Stage(threads(5_000, "worker"))
    layout = stage.arranged().layout
    assert names(layout)[:3] == ["workers", "thread 0 to 249", "thread 250 to 499"]
    assert len(layout.rows) == 21
    assert stage.scene().height * LEAST_ROW_PX < 320
    opened: dict[str, int] = {}
    for name in ("thread 4750 to 4999", "thread 4900 to 4911", "thread 4911"):
        if name != "thread 4911":
            opened[key(stage.arranged(opened).layout, name)] = OPEN
    layout = stage.arranged(opened).layout
    assert "thread 4911" in names(layout)
    assert len(layout.rows) < 60


def test_no_more_rows_than_anybody_can_tell_apart_are_opened_and_that_is_said():
    stage = Stage(threads(5_000, "worker"))
    head = stage.rows[0].key
    scene = stage.scene(folds={head: ALL})
    assert 150 < len(scene.rows) <= MOST_ROWS + 20
    assert scene.notes == ("At most 200 rows are drawn: close a group to open another.",)


def test_what_a_person_opens_closes_no_other_group():
    stage = Stage(threads(100, "host", depth=3, beside=3))
    before = names(stage.arranged().layout)
    inner = next(row for row in stage.rows if "to" in row.name)
    after = names(stage.arranged({inner.key: OPEN}).layout)
    assert set(before) - set(after) == {inner.name} or set(before) <= set(after)
    assert len(after) > len(before)


def test_deep_calls_show_their_outer_levels_and_how_many_are_deeper():
    stage = Stage(threads(1, depth=40))
    layout = stage.arranged().layout
    assert names(layout)[0] == "host · thread 0"
    assert names(layout)[-1] == "32 deeper levels"
    assert len(layout.rows) == 9
    whole = stage.arranged({layout.rows[-1].key: ALL}).layout
    assert len(whole.rows) == 40
    closed = stage.arranged({layout.rows[0].key: CLOSED}).layout
    assert names(closed) == ["host · thread 0"]
    assert closed.drawn.tolist() == [0], "its outermost calls stay bars"


def test_equal_threads_are_opened_together_or_not_at_all():
    rows = Stage(threads(8, depth=6)).rows
    assert [row.name for row in rows] == ["host threads", *(f"thread {k}" for k in range(8))]
    assert {row.open for row in rows[1:]} == {False}


def test_full_names_and_ids_are_told_to_whoever_points_at_a_row():
    builder = TraceBuilder()
    long = "a thread of a very long name"
    track = builder.track(
        long, role="host", process="train.py", thread="worker", pid_text="77", tid_text="1234"
    )
    for start in range(3):
        builder.event("e", track=track, start_ns=start, dur_ns=1)
    (row,) = Stage(builder.build()).rows
    assert row.name == "host · a threa…ng name"
    assert row.title.startswith(long)
    for told in (
        "process train.py",
        "thread worker",
        "process id 77",
        "thread id 1234",
        "3 events",
    ):
        assert told in row.title


TRACKS = st.lists(
    st.tuples(st.sampled_from(["host", "worker", "copy"]), st.integers(0, 2), st.integers(1, 12)),
    min_size=1,
    max_size=70,
)


@given(TRACKS, st.data())
def test_whatever_is_opened_every_lane_has_one_row_and_nothing_is_lost(tracks, data):
    builder = TraceBuilder()
    for k, (role, device, depth) in enumerate(tracks):
        track = builder.track(f"{role} {k}", role=role, device=f"d/{device}")
        for level in range(depth):
            builder.event("e", track=track, start_ns=level, dur_ns=100 - 2 * level)
    stage = Stage(builder.build())
    folds: dict[str, int] = {}
    for _ in range(3):
        keys = sorted({row.key for row in stage.arranged(folds).layout.rows} - {""})
        if keys:
            folds[data.draw(st.sampled_from(keys))] = data.draw(
                st.sampled_from([CLOSED, OPEN, ALL])
            )
        layout = stage.arranged(folds).layout
        lanes = len(stage.index.lanes)
        covered = np.zeros(lanes, dtype=int)
        covered[layout.drawn] += 1
        for first, stop in zip(layout.first, layout.stop, strict=True):
            covered[first:stop] += 1
        assert (covered == 1).all()
        assert (np.diff(layout.y) >= 0).all()
        shown = [row.lanes for row in layout.rows if not row.head]
        assert [lane for lanes in shown for lane in range(*lanes)] == list(range(lanes))
        assert (np.diff([row.y for row in layout.rows]) > 0.6).all()
        scene = stage.scene(folds=folds)
        drawn = sum(len(bars.y) for bars in scene.bars)
        inside = stage.index.first[layout.stop] - stage.index.first[layout.first]
        assert drawn + inside.sum() == len(stage.trace)
        inner = [
            (layout.y[first - 1] == y if first else False)
            for first, y in zip(layout.first, layout.joined_y, strict=True)
        ]
        seen = {y for heat in scene.heat for y in heat.y[heat.percent.any(axis=1)].tolist()}
        assert seen == set(layout.joined_y[~np.array(inner, dtype=bool)].tolist())


def test_a_closed_group_shows_how_busy_it_was_and_what_a_search_found_in_it():
    builder = TraceBuilder()
    for k in range(4):
        track = builder.track(f"worker {k}", role="worker")
        builder.event("dot" if k else "exp", track=track, start_ns=25 * k, dur_ns=25)
    stage = Stage(builder.build())
    closed = {stage.rows[0].key: CLOSED}
    (heat,) = stage.scene(folds=closed).heat
    assert heat.folded
    assert set(heat.percent[0, :-1].tolist()) == {25}, "one of four; the last cell is the very end"
    found = stage.index.match(stage.trace.events.name == stage.trace.strings.code("exp"))
    (heat,) = stage.scene(folds=closed, found=found).heat
    assert heat.percent[0, 0] == 25
    assert heat.percent[0, -2] == 0


def test_a_click_on_a_closed_group_finds_the_longest_event_there():
    stage = Stage(threads(4, depth=2))
    layout = stage.arranged().layout
    folds = {layout.rows[0].key: CLOSED}
    row = stage.pick(50, 0.0, pixel_ns=1, folds=folds)
    assert stage.trace.events.dur_ns[row] == stage.trace.events.dur_ns.max()
    assert stage.scene(folds=folds, selected=row).outline is not None


def test_the_still_picture_has_the_same_rows_and_says_what_grey_means():
    drawing = picture(many(3_000, tracks=60)).svg()
    for row in Stage(many(3_000, tracks=60)).rows:
        assert f">{row.name}</text>" in drawing
    assert "closed groups" in drawing


@pytest.mark.parametrize("tracks", [1, 26, 27, 300])
def test_the_rows_at_first_are_few(tracks):
    assert len(Stage(threads(tracks, "worker")).rows) <= FIRST_ROWS


def test_threads_of_long_names_that_differ_at_their_end_do_not_look_alike():
    builder = TraceBuilder()
    for k in range(60):
        track = builder.track(f"user thread of the pool {k}", role="host")
        builder.event("e", track=track, start_ns=k, dur_ns=1)
    stage = Stage(builder.build())
    rows = stage.arranged().layout.rows
    assert len({row.name for row in rows}) == len(rows)
    assert rows[1].name == "user thread…pool 0 + 2"
    opened = stage.arranged({rows[1].key: OPEN}).layout.rows
    assert "user thread of… pool 1" in {row.name for row in opened}


def test_a_row_of_calls_and_spans_is_not_called_waits_because_one_of_them_waited():
    builder = TraceBuilder()
    track = builder.track("MainThread", role="host")
    outer = builder.event("step", track=track, start_ns=0, dur_ns=100, category="user")
    for start, category in ((0, "api"), (50, "sync")):
        builder.event("e", track=track, start_ns=start, dur_ns=9, category=category, parent=outer)
    rows = Stage(builder.build()).rows
    assert [row.name for row in rows] == ["host · MainThread", ""]


def test_thousands_of_events_at_once_on_one_track_are_opened_in_a_few_steps():
    builder = TraceBuilder()
    track = builder.track("requests", role="host")
    for start in range(9_000):
        builder.event("request", track=track, start_ns=start, dur_ns=10_000)
    stage = Stage(builder.build())
    opened: dict[str, int] = {}
    last = stage.rows[-1]
    while last.lanes != (8_999, 9_000):
        assert len(opened) < 5
        opened[last.key] = OPEN
        last = stage.arranged(opened).layout.rows[-1]
    assert last.title.startswith("requests, level 9000")


def test_threads_that_began_out_of_turn_are_not_named_as_a_range():
    builder = TraceBuilder()
    for number in (*range(30), 59, *range(30, 59)):
        track = builder.track(f"thread {number}", role="worker")
        builder.event("e", track=track, start_ns=0, dur_ns=1)
    named = names(Stage(builder.build()).arranged().layout)
    assert "thread 27 to 29" in named
    assert "thread 59 + 2" in named

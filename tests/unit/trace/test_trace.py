from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mxprof_nb.errors import TraceError
from mxprof_nb.trace import Cost, Meta, TraceBuilder, schema
from tests.traces import dot_cell


@pytest.fixture
def nested():
    """One track: a 0-100 holds b 10-50 holds c 20-30; d 60-70; an instant at 65."""
    builder = TraceBuilder(Meta(title="nested"))
    track = builder.track("MainThread", role="host")
    rows = [("a", 0, 100), ("b", 10, 40), ("c", 20, 10), ("d", 60, 10)]
    events = [builder.event(n, track=track, start_ns=s, dur_ns=d) for n, s, d in rows]
    builder.event("mark", track=track, start_ns=65, kind="instant", category="user")
    builder.flow(events[0], events[2])
    builder.flow(events[2], events[3], "program")
    for time in (0, 50, 100):
        builder.counter("n", track=track, time_ns=time, value=time)
    return builder.build()


def names(trace):
    return [trace.strings[int(code)] for code in trace.events.name]


def test_the_window_is_the_span_of_all_rows_when_none_is_set(nested):
    assert nested.window_ns == (0, 100)
    assert nested.span_ns == 100
    builder = TraceBuilder()
    track = builder.track("memory", role="counter")
    builder.counter("bytes", track=track, time_ns=5, value=1)
    builder.counter("bytes", track=track, time_ns=9, value=1)
    assert builder.build().window_ns == (5, 9)
    builder.event("dot", track=track, start_ns=7, dur_ns=10)
    assert builder.build().window_ns == (5, 17)
    assert TraceBuilder().build().window_ns == (0, 0)


def test_self_time_leaves_out_the_children(nested):
    assert nested.self_ns.tolist() == [50, 30, 10, 10, 0]


def test_take_keeps_order_in_time_and_renumbers_what_refers_to_rows(nested):
    taken = nested.take([3, 0, 2, 2])
    assert names(taken) == ["a", "c", "d"]
    assert taken.events.parent.tolist() == [-1, 0, 0]
    assert list(zip(taken.flows.source.tolist(), taken.flows.target.tolist(), strict=True)) == [
        (0, 1),
        (1, 2),
    ]


def test_take_accepts_masks_and_slices(nested):
    assert names(nested.take(nested.events.dur_ns > 20)) == ["a", "b"]
    assert names(nested.take(slice(-2, None))) == ["d", "mark"]
    assert len(nested.take([])) == 0


def test_taking_everything_changes_nothing_but_the_history(nested):
    whole = nested.take(slice(None))
    for table in schema.TABLES:
        for column, values in getattr(nested, table).columns():
            assert np.array_equal(getattr(getattr(whole, table), column.name), values)
    assert whole.meta.history == ("take(5 rows)",)


def test_a_flow_is_dropped_with_either_end(nested):
    assert len(nested.take([0, 1]).flows) == 0
    assert len(nested.take([2, 3]).flows) == 1


def test_the_parent_becomes_the_nearest_ancestor_that_is_kept(nested):
    without_b = nested.take([0, 2, 3])
    assert without_b.events.parent.tolist() == [-1, 0, 0]
    assert nested.take([2, 3]).events.parent.tolist() == [-1, -1]


def test_between_keeps_events_that_touch_the_range_whole(nested):
    part = nested.between(30, 60)
    assert names(part) == ["a", "b"]  # c ends at 30, d begins at 60: both outside
    assert part.events.dur_ns.tolist() == [100, 40]
    assert part.window_ns == (30, 60)
    assert part.counters.time_ns.tolist() == [50]


def test_recording_a_part_cost_a_part(nested):
    trace = replace(nested, meta=replace(nested.meta, cost=Cost(1_000, 10, 100.0)))
    assert trace.between(30, 60).meta.cost == Cost(400, 4, 100.0), "two of five events"
    assert trace.between(-1, 101).meta.cost == trace.meta.cost
    assert trace.between(500, 600).meta.cost == Cost(0, 0, 100.0)
    assert nested.between(30, 60).meta.cost is None


def test_between_at_an_instant_finds_it_and_what_runs(nested):
    assert names(nested.between(65, 66)) == ["a", "d", "mark"]
    assert names(nested.between(66, 70)) == ["a", "d"]


def test_between_twice_is_between_the_narrower_range(nested):
    once = nested.between(12, 25)
    twice = nested.between(5, 90).between(12, 25)
    assert names(once) == names(twice)
    assert once.events.parent.tolist() == twice.events.parent.tolist()
    assert once.window_ns == twice.window_ns
    assert twice.meta.history == ("between(5, 90)", "between(12, 25)")


def test_between_backwards_says_what_to_do(nested):
    with pytest.raises(TraceError, match="swap them"):
        nested.between(5, 4)


def test_where_selects_by_texts_and_numbers_of_several_columns():
    trace = dot_cell()
    assert set(names(trace.where(category="operator"))) == {
        "_random_uniform",
        "dot",
        "Convolution",
    }
    assert names(trace.where(category=["operator", "sync"], name="dot")) == ["dot"]
    assert len(trace.where(name="never ran")) == 0
    assert len(trace.where()) == len(trace)
    first = int(trace.events.correlation[trace.events.correlation >= 0][0])
    assert set(trace.where(correlation=first).events.correlation.tolist()) == {first}


def test_where_keeps_the_window_and_tells_the_history():
    trace = dot_cell()
    chosen = trace.where(name="dot")
    assert chosen.window_ns == trace.window_ns
    assert chosen.meta.history == ("where(name='dot')",)


def test_where_suggests_the_column_and_the_value_that_was_meant(nested):
    with pytest.raises(TraceError, match=r"Did you mean 'name'\?"):
        nested.where(nmae="a")
    with pytest.raises(TraceError, match=r"Did you mean 'operator'\?"):
        nested.where(category="operators")


def test_tables_cannot_be_changed(nested):
    with pytest.raises(ValueError, match="read-only"):
        nested.events.start_ns[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        nested.lane[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        nested.take([0, 1]).events.dur_ns[0] = 1


def test_a_frame_has_texts_for_codes_and_na_for_null():
    trace = dot_cell()
    frame = trace.frame()
    assert frame["name"].dtype == "category"
    assert frame["name"].astype(str).tolist() == names(trace)
    assert frame["start_ns"].tolist() == trace.events.start_ns.tolist()
    assert frame["parent"].dtype == "Int32"
    assert frame["parent"].isna().tolist() == (trace.events.parent < 0).tolist()
    known = trace.events.site >= 0
    assert frame["line"].isna().tolist() == (~known).tolist()
    assert frame["line"].dropna().tolist() == trace.sites.line[trace.events.site[known]].tolist()
    assert frame["track_name"].astype(str).iloc[0] == "MainThread"


def test_a_frame_may_be_changed_and_is_new_each_time(nested):
    frame = nested.frame()
    frame.loc[0, "start_ns"] = 77
    assert nested.frame().loc[0, "start_ns"] == 0


@pytest.mark.parametrize("table", list(schema.TABLES))
def test_every_table_has_a_frame_with_the_declared_columns(table):
    frame = dot_cell().frame(table)
    declared = [column.name for column in schema.TABLES[table].columns]
    assert list(frame.columns)[: len(declared)] == declared
    assert isinstance(frame, pd.DataFrame)
    empty = TraceBuilder().build().frame(table)
    assert list(empty.columns) == list(frame.columns)
    assert len(empty) == 0


def test_tracks_of_one_name_do_not_break_the_frame():
    builder = TraceBuilder()
    for _ in range(2):
        track = builder.track("worker", role="worker")
        builder.event("dot", track=track, start_ns=0, dur_ns=1)
    assert builder.build().frame()["track_name"].tolist() == ["worker", "worker"]


def test_a_frame_of_no_table_suggests_the_one_that_was_meant(nested):
    with pytest.raises(TraceError, match=r"Did you mean 'events'\?"):
        nested.frame("event")


def test_steps_are_the_distinct_numbers_that_were_marked():
    builder = TraceBuilder()
    track = builder.track("t", role="host")
    for start, step in enumerate([3, -1, 1, 3]):
        builder.event("s", track=track, start_ns=start, step=step)
    assert builder.build().steps().tolist() == [1, 3]


def test_the_repr_is_one_line_whatever_the_trace_holds(nested):
    assert repr(nested) == (
        "<Trace 'nested': 5 events on 1 tracks, 3 counter samples, 0.000 ms, clean>"
    )
    assert repr(nested.events) == "<EventTable: 5 rows>"

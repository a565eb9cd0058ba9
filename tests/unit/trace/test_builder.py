import numpy as np
import pytest

from mxprof_nb.errors import EmptyTraceError, SchemaError
from mxprof_nb.trace import Meta, TraceBuilder, concat


@pytest.fixture
def builder():
    builder = TraceBuilder()
    builder.track("MainThread", role="host")
    return builder


def names(trace):
    return [trace.strings[int(code)] for code in trace.events.name]


def test_events_are_sorted_by_start_the_longer_first(builder):
    for name, start, dur in [("c", 5, 1), ("b", 0, 2), ("a", 0, 9)]:
        builder.event(name, track=0, start_ns=start, dur_ns=dur)
    assert names(builder.build()) == ["a", "b", "c"]


def test_equal_intervals_keep_the_order_of_adding(builder):
    for name in "xyz":
        builder.event(name, track=0, start_ns=3, dur_ns=4)
    assert names(builder.build()) == ["x", "y", "z"]


def test_flows_follow_their_events_when_rows_are_sorted(builder):
    late = builder.event("late", track=0, start_ns=10, dur_ns=1)
    early = builder.event("early", track=0, start_ns=0, dur_ns=1)
    builder.flow(early, late)
    trace = builder.build()
    assert (trace.flows.source.tolist(), trace.flows.target.tolist()) == ([0], [1])


def test_rows_and_blocks_may_be_mixed(builder):
    first = builder.event("a", track=0, start_ns=1, dur_ns=1)
    block = builder.add_events(
        start_ns=[2, 3],
        dur_ns=1,
        kind=0,
        name=builder.string("b"),
        category=0,
        domain=builder.string(""),
        track=0,
    )
    last = builder.event("c", track=0, start_ns=4, dur_ns=1)
    assert (first, block.tolist(), last) == (0, [1, 2], 3)
    assert names(builder.build()) == ["a", "b", "b", "c"]


def test_asynchronous_events_have_no_parent_and_are_none(builder):
    builder.event("outer", track=0, start_ns=0, dur_ns=10, kind="async")
    builder.event("span", track=0, start_ns=1, dur_ns=5)
    builder.event("inner", track=0, start_ns=2, dur_ns=2, kind="async")
    builder.event("mark", track=0, start_ns=3, kind="instant")
    assert builder.build().events.parent.tolist() == [-1, -1, -1, 1]


def test_events_of_another_track_are_no_parents(builder):
    other = builder.track("worker", role="worker")
    builder.event("outer", track=0, start_ns=0, dur_ns=10)
    builder.event("inner", track=other, start_ns=1, dur_ns=2)
    assert builder.build().events.parent.tolist() == [-1, -1]


def test_a_site_is_added_once_and_repeated_lines_may_be_added_as_columns(builder):
    assert builder.site("f.py", 3, "g", "x") == builder.site("f.py", 3, "g", "x") == 0
    code = builder.string("f.py")
    rows = builder.add_sites(file=code, line=[3, 3], function=code, text=-1)
    assert rows.tolist() == [1, 2]
    assert builder.build().sites.line.tolist() == [3, 3, 3]


@pytest.mark.parametrize(
    ("column", "value", "rule"),
    [
        ("dur_ns", -1, "a duration is 0 or more"),
        ("track", 1, "a row below 1"),
        ("track", -1, "a row below 1"),
        ("site", 0, "a row below 0"),
        ("arg", 7, "a row below 0"),
    ],
)
def test_an_event_that_breaks_a_rule_is_named_by_column_and_value(builder, column, value, rule):
    builder.event("good", track=0, start_ns=0)
    builder.event("bad", **{"track": 0, "start_ns": 0, column: value})
    with pytest.raises(SchemaError, match=rule) as caught:
        builder.build()
    assert (caught.value.table, caught.value.column, caught.value.row) == ("events", column, 1)
    assert repr(value) in str(caught.value)


def test_an_instant_has_no_duration(builder):
    builder.event("mark", track=0, start_ns=0, dur_ns=3, kind="instant")
    with pytest.raises(SchemaError, match="an instant has none"):
        builder.build()


@pytest.mark.parametrize("end", ["source", "target"])
def test_a_flow_to_nowhere_is_refused(builder, end):
    builder.event("only", track=0, start_ns=0)
    builder.flow(**({"source": 0, "target": 0} | {end: 1}))
    with pytest.raises(SchemaError) as caught:
        builder.build()
    assert (caught.value.table, caught.value.column) == ("flows", end)


def test_a_counter_on_no_track_is_refused(builder):
    builder.counter("bytes", track=4, time_ns=0, value=1)
    with pytest.raises(SchemaError, match="counters"):
        builder.build()


def test_counters_are_sorted_by_time_and_keep_order_on_ties(builder):
    for time, value in [(5, 1), (2, 2), (5, 3)]:
        builder.counter("n", track=0, time_ns=time, value=value)
    assert builder.build().counters.value.tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"start_ns": [0.5]}, "must fit int64"),
        ({"start_ns": ["0"]}, "numbers are required"),
        ({"track": [2**40]}, "must fit int32"),
        ({"start_ns": [1, 2], "dur_ns": [1, 2, 3]}, "all columns must have 3 rows"),
        ({"colour": [1]}, "known columns are"),
        ({"start_ns": None}, "the column is required"),
    ],
)
def test_columns_that_do_not_fit_are_refused_when_they_are_added(builder, columns, rule):
    good = {"start_ns": [0], "dur_ns": 1, "kind": 0, "name": 0, "category": 0, "domain": 0}
    chosen = {**good, "track": 0, **columns}
    with pytest.raises(SchemaError, match=rule):
        builder.add_events(**{name: value for name, value in chosen.items() if value is not None})


def test_what_was_handed_over_can_be_changed_afterwards_without_harm(builder):
    start = np.array([1, 2, 3])
    builder.add_events(
        start_ns=start, dur_ns=1, kind=0, name=builder.string("a"), category=0, domain=0, track=0
    )
    start[:] = 99
    assert builder.build().events.start_ns.tolist() == [1, 2, 3]


def test_notes_on_health_are_kept_in_order(builder):
    builder.note("capped", 3, "3 events were left out.")
    builder.note("no_end", 1, "1 event had no end.")
    trace = builder.build()
    assert not trace.health.ok
    assert str(trace.health) == "3 events were left out. 1 event had no end."


def one_event(origin, start, **meta):
    builder = TraceBuilder(Meta(origin_epoch_ns=origin, **meta))
    track = builder.track(f"thread of {origin}", role="host")
    site = builder.site("f.py", 1, "f")
    event = builder.event(
        f"at {start}", track=track, start_ns=start, dur_ns=5, site=site, queued_ns=start - 1
    )
    builder.flow(event, event)
    builder.counter("n", track=track, time_ns=start, value=1)
    builder.note("code", 1, f"note of {origin}")
    return builder.build()


def test_concat_puts_traces_on_one_time_line_by_their_origins():
    joined = concat([one_event(1_000, 10, title="one"), one_event(1_100, 10, title="two")])
    assert joined.events.start_ns.tolist() == [10, 110]
    assert joined.events.queued_ns.tolist() == [9, 109]
    assert joined.counters.time_ns.tolist() == [10, 110]
    assert joined.events.track.tolist() == [0, 1]
    assert joined.flows.target.tolist() == [0, 1]
    assert joined.meta.origin_epoch_ns == 1_000
    assert joined.meta.history == ("concat(one, two)",)
    assert [note.message for note in joined.health.notes] == ["note of 1000", "note of 1100"]


def test_concat_takes_times_as_common_where_an_origin_is_unknown():
    joined = concat([one_event(-1, 10), one_event(1_100, 20)])
    assert joined.events.start_ns.tolist() == [10, 20]
    assert joined.meta.origin_epoch_ns == -1


def test_concat_of_nothing_says_that_there_is_nothing():
    with pytest.raises(EmptyTraceError, match="at least one"):
        concat([])

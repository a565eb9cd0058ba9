"""Laws of busy time and of the tables that add durations up."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.analysis import busy_by_track, busy_ns, domain_tables, op_summary, union_ns
from mxprof_nb.trace import Meta, TraceBuilder

times = st.integers(-20, 40)
rows = st.lists(
    st.tuples(
        st.integers(0, 2),  # track
        times,
        st.integers(0, 15),  # duration
        st.sampled_from(["dot", "sum", "exp"]),
        st.sampled_from(["operator", "mine"]),
        st.sampled_from(["span", "async", "instant"]),
    ),
    max_size=25,
)
windows = st.none() | st.tuples(times, times).map(lambda pair: (min(pair), max(pair)))


def built(rows, shift=0):
    builder = TraceBuilder(Meta())
    tracks = [builder.track(f"worker {n}", role="worker") for n in range(3)]
    for track, start, dur, name, domain, kind in rows:
        builder.event(
            name,
            track=tracks[track],
            start_ns=start + shift,
            dur_ns=0 if kind == "instant" else dur,
            kind=kind,
            domain=domain,
        )
    return builder.build()


def units(start, end, window):
    low, high = window or (-1000, 1000)
    return {
        unit
        for b, e in zip(start.tolist(), end.tolist(), strict=True)
        for unit in range(max(b, low), min(e, high))
    }


@given(rows, windows)
def test_busy_time_counts_what_is_covered_once(rows, window):
    trace = built(rows)
    start, end = trace.events.start_ns, trace.events.end_ns
    assert union_ns(start, end, window=window) == len(units(start, end, window))
    assert busy_ns(trace, window=window) == len(units(start, end, window))
    per_track = busy_by_track(trace, window=window)
    for track in range(3):
        mine = trace.events.track == track
        assert per_track[track] == len(units(start[mine], end[mine], window))
        assert per_track[track] == busy_ns(trace, mine, window=window)


@given(rows)
def test_busy_and_idle_time_add_up_to_the_span(rows):
    trace = built(rows)
    start, end = trace.events.start_ns, trace.events.end_ns
    idle = set(range(*trace.window_ns)) - units(start, end, None)
    assert busy_ns(trace) + len(idle) == trace.span_ns


@given(rows, windows)
def test_the_summary_agrees_with_a_loop_over_the_events(rows, window):
    trace = built(rows)
    low, high = window or (-1000, 1000)
    expected: dict[tuple[str, str], list[int]] = {}
    for _, start, dur, name, domain, kind in rows:
        end = start + dur
        if kind != "instant" and start < high and (end > low or start >= low):
            inside = min(end, high) - max(start, low)
            expected.setdefault((name, domain), []).append(inside)
    table = op_summary(trace, window=window)
    columns = table.columns
    found = list(zip(columns["name"], columns["domain"], strict=True))
    assert sorted(found) == sorted(expected)
    assert sorted(columns["total_ns"], reverse=True) == columns["total_ns"].tolist()
    whole = sum(sum(durations) for durations in expected.values())
    for place, key in enumerate(found):
        durations = sorted(expected[key])
        assert columns["count"][place] == len(durations) == len(table.rows[place])
        assert columns["total_ns"][place] == sum(durations)
        assert columns["min_ns"][place] == durations[0]
        assert columns["max_ns"][place] == durations[-1]
        assert columns["mean_ns"][place] == sum(durations) / len(durations)
        assert columns["p90_ns"][place] == np.percentile(durations, 90, method="higher")
        assert columns["share"][place] == (sum(durations) / whole if whole else 0)
        assert {trace.strings[int(code)] for code in trace.events.name[table.rows[place]]} == {
            key[0]
        }


@given(rows)
def test_self_times_add_up_to_busy_time_where_nothing_overlaps(rows):
    """One track per event: nothing can overlap, whatever the times are."""
    builder = TraceBuilder()
    for number, (_, start, dur, name, domain, _) in enumerate(rows):
        track = builder.track(f"worker {number}", role="worker")
        builder.event(name, track=track, start_ns=start, dur_ns=dur, domain=domain)
        builder.event(f"in {name}", track=track, start_ns=start, dur_ns=dur // 2, domain=domain)
    trace = builder.build()
    assert op_summary(trace).columns["self_ns"].sum() == busy_by_track(trace).sum()


@given(rows.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_the_tables_do_not_depend_on_the_order_of_the_rows(both):
    tables, others = (domain_tables(built(rows)) for rows in both)
    assert list(tables) == list(others)
    for title, table in tables.items():
        # Of two equal intervals the first becomes the parent, so self times may change places.
        kept = table.frame.drop(columns="self_ns")
        assert kept.equals(others[title].frame.drop(columns="self_ns"))


@given(rows, st.integers(-(2**40), 2**40))
def test_the_tables_do_not_depend_on_the_origin(rows, shift):
    tables, moved = domain_tables(built(rows)), domain_tables(built(rows, shift))
    assert list(tables) == list(moved)
    assert all(table.frame.equals(moved[title].frame) for title, table in tables.items())


@given(rows)
def test_the_tables_do_not_depend_on_the_names_of_the_tracks(rows):
    trace = built(rows)
    strange = TraceBuilder()
    for row in range(3):
        strange.track(f"renamed {2 - row}", role="worker")
    for track, start, dur, name, domain, kind in rows:
        strange.event(
            name,
            track=track,
            start_ns=start,
            kind=kind,
            domain=domain,
            dur_ns=0 if kind == "instant" else dur,
        )
    renamed = replace(strange.build(), meta=trace.meta)
    tables, others = domain_tables(trace), domain_tables(renamed)
    assert all(table.frame.equals(others[title].frame) for title, table in tables.items())

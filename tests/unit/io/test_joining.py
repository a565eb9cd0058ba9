"""Files of two profilers on one time line."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mxprof_nb.errors import AlignmentError, EmptyTraceError
from mxprof_nb.io import load
from mxprof_nb.io.joining import aligned, joined
from mxprof_nb.trace import Meta, Trace, TraceBuilder
from tests.nvidia_files import Tables, global_pid, global_tid, nsys_database, versioned

#: Operators of the made database, as MXNet's clock saw them: 5,000 ns later, the second 40 late.
OPERATORS = [("Convolution", 6_090, 70), ("_backward_Convolution", 6_345, 90), ("sum", 6_500, 5)]


def dump(operators: list[tuple[str, int, int]] = OPERATORS) -> bytes:
    """Return a Chrome trace of operators, as MXNet dumps them."""
    events = [
        {"ph": "X", "name": name, "cat": "operator", "ts": start / 1000, "dur": length / 1000,
         "pid": 0, "tid": 0}
        for name, start, length in operators
    ]  # fmt: skip
    return json.dumps({"traceEvents": events}).encode()


def rows(trace: Trace) -> set[tuple[object, ...]]:
    """Return the events without their numbers."""
    frame = trace.frame()
    columns = ["start_ns", "dur_ns", "name", "category", "track_name", "queued_ns"]
    return set(frame[columns].astype(str).itertuples(index=False, name=None))


def links(trace: Trace) -> set[tuple[str, str, int]]:
    """Return the flows by the names of their ends, and where they end."""
    name, start = trace.events.name, trace.events.start_ns
    pairs = zip(trace.flows.source.tolist(), trace.flows.target.tolist(), strict=True)
    return {
        (trace.strings[name[one]], trace.strings[name[two]], int(start[two])) for one, two in pairs
    }


def later(trace: Trace, ns: int) -> Trace:
    """Return a trace whose clock began earlier."""
    builder = TraceBuilder.joining([trace], [ns])
    builder.meta = replace(trace.meta, window_ns=None)
    return builder.build()


def test_operators_and_kernels_lie_on_one_time_line() -> None:
    trace = load([dump(), nsys_database()])
    frame = trace.frame()
    operator = frame[(frame["name"] == "Convolution") & (frame["category"] == "operator")].iloc[0]
    kernel = frame[frame["name"] == "conv_forward(float*)"].iloc[0]
    assert kernel["start_ns"] - operator["start_ns"] == 110
    assert trace.window_ns[0] == 0


def test_a_backward_convolution_of_one_file_leads_to_its_kernels_of_the_other() -> None:
    trace = load([dump(), nsys_database()])
    operators = {row for row in range(len(trace)) if trace.events.category[row] == 0}
    found = {
        (trace.strings[trace.events.name[source]], trace.strings[trace.events.name[target]])
        for source, target in zip(
            trace.flows.source.tolist(), trace.flows.target.tolist(), strict=True
        )
        if source in operators
    }
    assert found == {
        ("Convolution", "conv_forward(float*)"),
        ("_backward_Convolution", "conv_data(float*)"),
        ("_backward_Convolution", "conv_weight(float*)"),
    }


def test_the_residual_is_stated() -> None:
    trace = load([dump(), nsys_database()])
    (note,) = [note for note in trace.health.notes if note.code == "joined"]
    assert note.count == 2
    assert "by 2 ranges of equal name and order" in note.message
    assert "differ by 40 ns in the median and 40 ns at most" in note.message


def test_one_range_seen_late_does_not_move_the_rest() -> None:
    names = ["a", "b", "c", "d", "e"]
    one = _ranges("NVTX", [(name, 100 * at) for at, name in enumerate(names)])
    seen = [(name, 100 * at + 7_000 + (900 if name == "c" else 0)) for at, name in enumerate(names)]
    found = aligned(one, _ranges("operator", seen))
    assert found is not None
    assert (found.shift_ns, found.median_ns, found.largest_ns) == (-7_000, 0, 900)


def _ranges(domain: str, spans: list[tuple[str, int]], title: str = "") -> Trace:
    builder = TraceBuilder(Meta(title=title or domain))
    track = builder.track("thread", role="host")
    for name, start in spans:
        category = "user" if domain == "NVTX" else "operator"
        builder.event(name, track=track, start_ns=start, dur_ns=5, category=category, domain=domain)
    return builder.build()


@pytest.mark.parametrize("shift", [-10, -1, 1, 10**15])
def test_shifting_one_file_does_not_matter(shift: int) -> None:
    traces = load(dump()), load(nsys_database())
    plain = joined(traces)
    for moved in ((later(traces[0], shift), traces[1]), (traces[0], later(traces[1], shift))):
        other = joined(moved)
        assert rows(other) == rows(plain)
        assert links(other) == links(plain)
        assert other.health == plain.health


def test_the_order_of_files_does_not_matter() -> None:
    one, other = load(dump()), load(nsys_database())
    first, second = joined([one, other]), joined([other, one])
    assert rows(first) == rows(second)
    assert links(first) == links(second)
    assert first.meta.origin_epoch_ns == second.meta.origin_epoch_ns
    assert set(first.health.notes) == set(second.health.notes)


def test_three_files_are_joined_by_what_pairs_of_them_share() -> None:
    base = _ranges("NVTX", [("a", 0), ("b", 10), ("x", 50)])
    left = _ranges("operator", [("a", 1_000), ("b", 1_010)], "left")
    right = _ranges("operator", [("x", 9_050), ("y", 9_070)], "right")
    for order in ([base, left, right], [right, left, base]):
        trace = joined(order)
        starts = trace.frame().groupby("name", observed=True)["start_ns"].agg(list).to_dict()
        assert starts == {"a": [0, 0], "b": [10, 10], "x": [50, 50], "y": [70]}


def test_names_that_are_not_equally_frequent_are_not_used_and_told() -> None:
    one = _ranges("NVTX", [("a", 0), ("b", 10), ("b", 20)])
    trace = joined([one, _ranges("operator", [("a", 100), ("b", 120)])])
    (note,) = [note for note in trace.health.notes if note.code == "uneven_ranges"]
    assert "b" in note.message
    assert trace.frame().query("name == 'a'")["start_ns"].tolist() == [0, 0]


def test_files_without_common_ranges_are_an_error_that_says_why() -> None:
    with pytest.raises(AlignmentError, match=r"has operators and calls Pooling; .*Convolution"):
        load([dump([("Pooling", 5, 5)]), nsys_database()])


def test_files_without_common_ranges_are_joined_by_clocks_that_they_know() -> None:
    one = load(dump([("Pooling", 5, 5)]))
    epoch = 1_700_000_000_000_001_000
    one = replace(one, meta=replace(one.meta, origin_epoch_ns=epoch))
    trace = joined([one, load(nsys_database())])
    frame = trace.frame().set_index("name")
    assert frame.loc["Pooling", "start_ns"] == 1_005
    assert "clocks" in {note.code for note in trace.health.notes}


def test_correlations_of_two_files_do_not_meet() -> None:
    tables: Tables = versioned("3.24.14")
    process, thread = global_pid(5), global_tid(5, 5)
    tables.add("NVTX_EVENTS", "start end eventType text globalTid", [(0, 9, 59, "step", thread)])
    tables.add(
        "CUPTI_ACTIVITY_KIND_KERNEL", "start end correlationId globalPid", [(1, 2, 1, process)]
    )
    other = load(tables.content())
    trace = joined([load(nsys_database()), other])
    kernels = trace.where(category="kernel").events.correlation
    known = kernels[kernels >= 0]
    assert len(np.unique(known)) == len(known) - 1  # the two kernels of one graph


def test_one_file_in_a_list_is_that_file() -> None:
    assert load([nsys_database()]) == load(nsys_database())


def test_files_without_ranges_are_joined_as_before() -> None:
    trace = load([dump(), dump([("Pooling", 5, 5)])])
    assert len(trace) == 4
    with pytest.raises(EmptyTraceError):
        load([])


def piece(*operators: tuple[str, int, int, int], named: bool = True) -> bytes:
    """Return a dump of MXNet of (name, start, length, thread): each operator stands there twice."""
    head = {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "cpu/0"}}
    events: list[dict[str, object]] = [head] if named else []
    for pid, phases in ((0, "BE"), (4, "be")):
        for name, start, length, tid in operators:
            for phase, at in zip(phases, (start, start + length), strict=True):
                more = {"id": 7} if pid else {}
                event = {"ph": phase, "name": name, "cat": "operator", "ts": at, "pid": pid}
                events.append({**event, "tid": tid, **more})
    return json.dumps({"traceEvents": events}).encode()


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_a_thread_of_fragments_of_one_stream_is_one_track(turned: bool, named: bool) -> None:
    """An operator of another thread may begin before the first fragment ends."""
    first = [("dot", 10, 5, 1), ("exp", 17, 5, 1), ("dot", 11, 5, 2)]
    second = [("dot", 18, 5, 2), ("exp", 30, 5, 1)]
    fragments = [piece(*first), piece(*second, named=named)]
    trace = load(tuple(fragments[::-1] if turned else fragments))
    whole = load(piece(*first, *second))
    assert rows(trace) == rows(whole)
    assert len(trace) == len(whole) == 5
    assert len(trace.tracks) == len(whole.tracks)
    assert trace.health.ok


def test_threads_of_dumps_that_overlap_in_time_stay_apart() -> None:
    trace = load([piece(("dot", 10, 5, 1)), piece(("exp", 12, 9, 1))])
    assert len(trace) == 2
    assert len(set(trace.events.track.tolist())) == 2


YEAR = 365 * 24 * 3600 * 10**9


def test_files_whose_clocks_count_from_different_moments_are_said_to_lie_apart() -> None:
    since_1970 = load(dump([("Pooling", 56 * YEAR, 5)]))
    trace = joined([load(dump()), since_1970])
    assert "begins 56 years after" in str(trace.health)
    assert "clocks count from different moments" in str(trace.health)
    assert not joined([load(dump()), load(dump())]).health.notes


def test_files_of_different_days_are_said_to_be_of_different_runs() -> None:
    one = load(dump([("Pooling", 5, 5)]))
    one = replace(one, meta=replace(one.meta, origin_epoch_ns=1_700_000_000_000_000_000))
    other = replace(one, meta=replace(one.meta, origin_epoch_ns=one.meta.origin_epoch_ns + YEAR))
    for pair in ([one, other], [other, one], [other, load(nsys_database())]):
        told = str(joined(pair).health)
        assert "begins 365 days after" in told
        assert "different runs" in told


def test_a_real_dump_of_mxnet_is_joined_with_ranges_of_its_operators(shared_dir: Path) -> None:
    path = shared_dir / "traces/gen-mxnet/mx_profile_all_imperative.json"
    dumped = load(path)
    events = dumped.where(category="operator").events
    thread, shift = global_tid(9, 9), 7_000_000 - int(events.start_ns.min())
    tables = versioned("3.24.14")
    late = np.arange(len(events)) % 5  # what pushing a range takes, in ns
    tables.add(
        "NVTX_EVENTS",
        "start end eventType text globalTid endGlobalTid",
        [
            (start + shift + wait, start + shift + length + 5, 60, dumped.strings[name], thread,
             thread)
            for start, length, name, wait in zip(
                events.start_ns.tolist(), events.dur_ns.tolist(), events.name.tolist(),
                late.tolist(), strict=True,
            )
        ],
    )  # fmt: skip
    found = aligned(dumped, load(tables.content()))
    assert found is not None
    assert found.pairs.shape == (2, len(events))
    assert found.shift_ns == -shift - int(np.sort(late)[len(late) // 2])
    assert found.largest_ns == 2
    assert found.uneven == ()

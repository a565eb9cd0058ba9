from dataclasses import replace

import pytest

from mxprof_nb.analysis import overview
from mxprof_nb.trace import Cost, Meta, TraceBuilder
from tests.traces import dot_cell


def test_the_headline_of_the_cell_that_waits_for_dot():
    seen = overview(dot_cell())
    assert seen.wall_ns == 412_000_000
    assert (seen.waits, seen.waited_ns) == (2, 371_200_000)
    assert [name for name, _ in seen.busy] == ["cpu/0 worker 1", "cpu/0 worker 2"]
    assert seen.busy[0][1] > 0.8
    assert seen.cost == Cost(total_ns=300_000, records=1_204, per_record_ns=249.0)
    assert (seen.status, seen.error, seen.pending, seen.health.ok) == ("ok", "", 0, True)


@pytest.fixture
def builder():
    builder = TraceBuilder(Meta(window_ns=(0, 100)))
    builder.track("MainThread", role="host", order=0)
    builder.track("second", role="worker", order=2)
    builder.track("first", role="worker", order=1)
    return builder


def wait(builder, track, start, dur):
    builder.event("WaitForVar", track=track, start_ns=start, dur_ns=dur, category="sync")


def test_waits_inside_waits_count_their_time_once(builder):
    wait(builder, 0, 10, 50)
    wait(builder, 0, 20, 10)
    seen = overview(builder.build())
    assert (seen.waits, seen.waited_ns) == (2, 50)


def test_waits_of_several_host_threads_add_up(builder):
    other = builder.track("Thread-1", role="host")
    wait(builder, 0, 10, 50)
    wait(builder, other, 10, 50)
    assert overview(builder.build()).waited_ns == 100


def test_only_the_profiled_range_counts(builder):
    wait(builder, 0, 90, 50)
    wait(builder, 0, 200, 50)
    builder.event("dot", track=1, start_ns=-50, dur_ns=75, category="operator")
    seen = overview(builder.build())
    assert (seen.waits, seen.waited_ns) == (1, 10)
    assert dict(seen.busy)["second"] == 0.25


def test_workers_are_named_from_top_to_bottom_and_waiting_is_not_work(builder):
    wait(builder, 1, 0, 40)
    builder.event("dot", track=2, start_ns=0, dur_ns=100, category="operator")
    seen = overview(builder.build())
    assert seen.busy == (("first", 1.0), ("second", 0.0))
    assert seen.waits == 0  # a waiting worker holds nobody up


def test_an_empty_trace_has_a_headline_of_zeros():
    seen = overview(TraceBuilder().build())
    assert (seen.wall_ns, seen.waited_ns, seen.waits, seen.busy, seen.events) == (0, 0, 0, (), 0)


def test_a_failed_cell_says_how_it_ended():
    trace = TraceBuilder(Meta(status="error", error="ValueError: no", pending=3)).build()
    seen = overview(trace)
    assert (seen.status, seen.error, seen.pending) == ("error", "ValueError: no", 3)


def test_waits_of_several_host_threads_are_counted_as_threads(builder):
    other = builder.track("Thread-1", role="host")
    for track in (0, other, other):
        wait(builder, track, 10, 50)
    seen = overview(builder.build())
    assert (seen.waiting, seen.waits) == (2, 3)


def returned(ns, *, window=(100, 1_100)):
    """An operator that ends 900 ns after the begin, a wait from 150 to 450, housekeeping last."""
    builder = TraceBuilder(Meta(window_ns=window, returned_ns=ns))
    host, worker = builder.track("MainThread", role="host"), builder.track("w", role="worker")
    builder.event("dot", track=worker, start_ns=200, dur_ns=800, category="operator")
    builder.event("DeleteVariable", track=worker, start_ns=1_050, dur_ns=40, category="engine")
    wait(builder, host, 150, 300)
    return builder.build()


def test_the_first_figure_is_the_time_until_the_code_returned():
    seen = overview(returned(400))
    assert (seen.wall_ns, seen.drained_ns, seen.span_ns) == (300, 900, 1_000)
    assert seen.waited_ns == 250, "what it waited until then"
    assert seen.busy == (("w", 0.84),), "of the whole range"


def test_code_that_outlived_its_work_left_nothing_queued():
    seen = overview(returned(1_020))
    assert (seen.wall_ns, seen.drained_ns) == (920, 0)


@pytest.mark.parametrize("ns", [-1, 1_100, 50])
def test_where_no_return_lies_in_the_range_its_length_is_the_first_figure(ns):
    seen = overview(returned(ns))
    assert (seen.wall_ns, seen.drained_ns, seen.waited_ns) == (1_000, 0, 300)


def test_a_part_of_a_trace_after_the_return_has_its_own_length():
    seen = overview(returned(400).between(500, 700))
    assert (seen.wall_ns, seen.drained_ns) == (200, 0)


def test_workers_are_not_called_idle_where_operators_were_left_out(builder):
    trace = builder.build()
    assert len(overview(trace).busy) == 2
    without = replace(trace.meta, config={"operators": False})
    assert overview(replace(trace, meta=without)).busy == ()

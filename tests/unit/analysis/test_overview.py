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

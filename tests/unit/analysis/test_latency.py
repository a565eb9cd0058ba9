import pytest

from mxprof_nb.analysis import launch_latency
from mxprof_nb.errors import MissingDataError, TraceError
from mxprof_nb.record import RecordConfig
from mxprof_nb.trace import Meta, TraceBuilder
from tests.traces import MS, dot_cell


@pytest.fixture
def builder():
    builder = TraceBuilder()
    builder.track("MainThread", role="host")
    for number in (1, 2):
        builder.track(f"worker {number}", role="worker")
    return builder


def operator(builder, name, start, queued=-1, track=1, **columns):
    return builder.event(
        name, track=track, start_ns=start, dur_ns=5, category="operator", domain="operator",
        queued_ns=queued, **columns,
    )  # fmt: skip


def columns(result, *names):
    return list(zip(*(list(result.columns[name]) for name in names), strict=True))


def test_the_latency_is_the_time_from_the_queue_to_the_start():
    found = launch_latency(dot_cell())
    assert columns(found, "name", "total_ns") == [
        ("dot", 12_400_000),
        ("Convolution", 300_000),
        ("_random_uniform", 100_000),
    ]
    assert dot_cell().events.start_ns[found.rows[0]].tolist() == [1_016 * MS]
    assert found.notes == ()


def test_latencies_of_a_name_are_spread_as_durations_are(builder):
    for latency in range(1, 101):
        operator(builder, "dot", latency * 1000, latency * 1000 - latency)
    found = launch_latency(builder.build()).columns
    assert "self_ns" not in found
    values = {name: found[name][0] for name in ("count", "min_ns", "median_ns", "p90_ns", "p99_ns")}
    assert values == {"count": 100, "min_ns": 1, "median_ns": 51, "p90_ns": 91, "p99_ns": 100}
    assert (found["max_ns"][0], found["mean_ns"][0]) == (100, 50.5)


def test_by_track_each_worker_has_a_row(builder):
    operator(builder, "dot", 10, 4, track=1)
    operator(builder, "exp", 10, 1, track=2)
    found = launch_latency(builder.build(), by="track")
    assert columns(found, "track", "track_name", "total_ns") == [
        (2, "worker 2", 9),
        (1, "worker 1", 6),
    ]


def test_without_a_time_of_queueing_the_call_that_launched_it_tells(builder):
    call = builder.event("cudaLaunchKernel", track=0, start_ns=3, dur_ns=2, category="api")
    kernel = builder.event("gemm", track=1, start_ns=10, dur_ns=5, category="kernel")
    builder.flow(call, kernel, "launch")
    assert columns(launch_latency(builder.build()), "name", "total_ns") == [("gemm", 7)]


def test_work_queued_at_an_unknown_time_or_after_it_began_is_left_out_and_counted(builder):
    operator(builder, "dot", 10, 4)
    operator(builder, "dot", 20)
    operator(builder, "dot", 30, 31)
    found = launch_latency(builder.build())
    assert found.columns["count"].tolist() == [1]
    (note,) = found.notes
    assert note.startswith("2 events are left out: it is not known when")


def test_a_trace_without_times_of_queueing_is_told_who_records_them(builder):
    operator(builder, "dot", 10)
    with pytest.raises(MissingDataError, match=r"moment each operator was queued.*'embedded'"):
        launch_latency(builder.build())
    with pytest.raises(MissingDataError):
        launch_latency(TraceBuilder().build())


def test_a_recording_in_which_no_operator_ran_says_so():
    meta = Meta(backend="embedded", config=RecordConfig().as_dict())
    found = launch_latency(TraceBuilder(meta).build())
    assert (len(found), found.notes) == (0, ("No operators ran.",))


def test_by_step_a_trace_without_steps_is_told_how_to_mark_them(builder):
    operator(builder, "dot", 10, 4)
    with pytest.raises(MissingDataError, match=r"with mxprof_nb\.step\(n\)"):
        launch_latency(builder.build(), by="step")
    operator(builder, "dot", 10, 5, step=3)
    found = launch_latency(builder.build(), by="step")
    assert columns(found, "step", "total_ns") == [(3, 5)]
    assert len(found.notes) == 1


def test_what_is_no_way_to_group_is_answered_with_those_there_are(builder):
    operator(builder, "dot", 10, 4)
    with pytest.raises(TraceError, match=r"Did you mean 'track'\?"):
        launch_latency(builder.build(), by="trak")

import pytest

from mxprof_nb.analysis import op_summary, step_breakdown
from mxprof_nb.errors import MissingDataError
from mxprof_nb.record.steps import number_steps
from mxprof_nb.trace import Meta, TraceBuilder


@pytest.fixture
def builder():
    """A host and two workers."""
    builder = TraceBuilder()
    builder.track("MainThread", role="host")
    for number in (1, 2):
        builder.track(f"worker {number}", role="worker")
    return builder


def step(builder, number, start, dur, track=0):
    builder.event(
        "step", track=track, start_ns=start, dur_ns=dur, category="user", domain="step", step=number
    )


def call(builder, start, number, track=0):
    builder.event(
        "MXImperativeInvokeEx", track=track, start_ns=start, dur_ns=1, category="api",
        correlation=number,
    )  # fmt: skip


def operator(builder, start, dur, number, track=1, queued=-1):
    builder.event(
        "dot", track=track, start_ns=start, dur_ns=dur, category="operator", correlation=number,
        queued_ns=queued,
    )  # fmt: skip


def wait(builder, start, dur):
    builder.event("WaitForVar", track=0, start_ns=start, dur_ns=dur, category="sync")


@pytest.fixture
def two_steps(builder):
    """Steps of 100 and 200 ns; the second operator of the first runs into the second step."""
    step(builder, 0, 0, 100)
    call(builder, 10, 1)
    call(builder, 20, 2)
    operator(builder, 30, 40, 1, track=1)
    operator(builder, 90, 60, 2, track=2)
    wait(builder, 50, 20)
    step(builder, 1, 100, 200)
    call(builder, 110, 3)
    operator(builder, 140, 60, 3, track=1)
    wait(builder, 150, 50)
    return number_steps(builder.build())


def test_what_a_step_queued_is_its_own_whenever_it_ran(two_steps):
    events = two_steps.events
    of_operators = events.step[events.is_category("operator")].tolist()
    assert of_operators == [0, 0, 1]
    assert events.step[events.is_category("sync")].tolist() == [0, 1]


def test_each_step_has_its_time_its_work_its_waits_and_its_idle_time(two_steps):
    found = step_breakdown(two_steps)
    assert {name: values.tolist() for name, values in found.columns.items()} == {
        "step": [0, 1],
        "start_ns": [0, 100],
        "wall_ns": [100, 200],
        "busy_ns": [50, 100],  # 30 to 70 and 90 to 100; 100 to 200
        "idle_ns": [50, 100],
        "host_wait_ns": [20, 50],
        "operators": [2, 1],
        "work_ns": [100, 60],
        "busy_ns: worker 1": [40, 60],
        "busy_ns: worker 2": [10, 50],
    }
    assert found.notes[0] == (
        "Of 2 steps the shortest took 100 ns, the middle one 200 ns, the longest 200 ns, "
        "2.00 times the shortest."
    )
    assert [len(rows) for rows in found.rows] == [6, 4]


def test_of_steps_within_steps_the_innermost_counts(builder):
    step(builder, 1, 0, 100)
    step(builder, 2, 20, 30)
    for start, number in ((10, 1), (30, 2), (60, 3)):
        call(builder, start, number)
    trace = number_steps(builder.build())
    assert trace.events.step[trace.events.is_category("api")].tolist() == [1, 2, 1]


def test_steps_of_one_thread_leave_the_calls_of_another_alone(builder):
    other = builder.track("loader", role="host")
    step(builder, 1, 0, 100)
    call(builder, 10, 1)
    call(builder, 10, 2, track=other)
    trace = number_steps(builder.build())
    assert sorted(trace.events.step.tolist()) == [-1, 1, 1]


def test_where_calls_were_left_out_the_time_of_queueing_decides(builder):
    step(builder, 1, 0, 100)
    operator(builder, 200, 10, 7, queued=50)
    operator(builder, 220, 10, 8, queued=150)
    trace = number_steps(builder.build())
    assert trace.events.step[trace.events.is_category("operator")].tolist() == [1, -1]


def test_a_step_marked_twice_has_its_times_added_up(builder):
    step(builder, 5, 0, 100)
    step(builder, 5, 300, 50)
    found = step_breakdown(number_steps(builder.build())).columns
    assert (found["step"].tolist(), found["wall_ns"].tolist()) == ([5], [150])


def test_numbers_without_spans_last_from_the_first_event_of_the_host_to_the_last(builder):
    builder.event("call", track=0, start_ns=10, dur_ns=5, category="api", step=3)
    builder.event("dot", track=1, start_ns=12, dur_ns=50, category="operator", step=3)
    found = step_breakdown(builder.build()).columns
    assert (found["start_ns"].tolist(), found["wall_ns"].tolist()) == ([10], [5])


def test_a_trace_without_steps_is_told_how_to_mark_them(builder):
    call(builder, 0, 1)
    with pytest.raises(MissingDataError, match=r"with mxprof_nb\.step\(n\)"):
        step_breakdown(builder.build())
    with pytest.raises(MissingDataError, match=r"with mxprof_nb\.step\(n\)"):
        op_summary(builder.build(), by="step")


def test_a_summary_by_step_counts_what_belongs_to_none(builder, two_steps):
    found = op_summary(two_steps, by="step", category="operator")
    assert found.columns["step"].tolist() == [0, 1]
    assert found.columns["total_ns"].tolist() == [100, 60]
    builder.event("dot", track=1, start_ns=500, dur_ns=5, category="operator")
    found = op_summary(number_steps(builder.build()), by="step", category="operator")
    assert found.notes == ("1 event belongs to no step.",)


def test_steps_without_recorded_operators_and_waits_say_that_their_figures_are_none(builder):
    builder.meta = Meta(backend="embedded", config={"operators": False, "api": False})
    step(builder, 0, 0, 100)
    assert step_breakdown(builder.build()).notes == (
        "Operators were not recorded: their number and the busy times are 0.",
        "This trace does not say when the host waited: host_wait_ns is 0.",
    )

import pytest

from mxprof_nb.analysis import longest_own_code
from mxprof_nb.record import RecordConfig
from mxprof_nb.trace import Meta, TraceBuilder


@pytest.fixture
def builder():
    meta = Meta(
        window_ns=(0, 1_000),
        returned_ns=900,
        backend="embedded",
        config=RecordConfig().as_dict(),
    )
    builder = TraceBuilder(meta)
    builder.track("MainThread", role="host")
    return builder


def call(builder, start, dur, *, track=0, category="api"):
    builder.event("call", track=track, start_ns=start, dur_ns=dur, category=category)


def found(builder):
    one = longest_own_code(builder.build())
    assert one is not None
    return (one.begin_ns, one.end_ns, one.before, one.after)


def test_the_longest_time_between_two_calls_is_found(builder):
    call(builder, 10, 20)
    call(builder, 100, 5)
    call(builder, 700, 100)
    assert found(builder) == (105, 700, 1, 2)


def test_time_inside_a_long_call_is_none_whatever_calls_it_makes(builder):
    call(builder, 10, 600)
    call(builder, 20, 5)
    call(builder, 800, 10)
    assert found(builder) == (610, 800, 0, 2)


def test_time_before_the_first_call_and_after_the_last_counts(builder):
    call(builder, 500, 10)
    assert found(builder) == (0, 500, -1, 0)
    call(builder, 100, 5)
    assert found(builder) == (105, 500, 0, 1)
    call(builder, 300, 5)
    assert found(builder) == (510, 900, 2, -1)


def test_time_in_which_another_thread_was_inside_a_call_is_not_ones_own(builder):
    other = builder.track("Thread-1", role="host")
    call(builder, 0, 10)
    call(builder, 10, 800, track=other)
    assert found(builder) == (810, 900, 1, -1)


def test_spans_of_the_program_are_its_own_code_and_waits_are_not(builder):
    call(builder, 0, 10)
    call(builder, 100, 300, category="user")
    call(builder, 600, 300, category="sync")
    assert found(builder) == (10, 600, 0, 2)


def test_without_recorded_calls_nothing_is_known():
    builder = TraceBuilder()
    call(builder, 0, 10, track=builder.track("MainThread", role="host"))
    call(builder, 500, 10)
    assert longest_own_code(builder.build()) is None


def test_without_a_known_return_the_end_of_the_range_is_not_the_codes():
    meta = Meta(window_ns=(0, 1_000), backend="x", config={"api": True})
    builder = TraceBuilder(meta)
    call(builder, 0, 10, track=builder.track("MainThread", role="host"))
    assert longest_own_code(builder.build()) is None

from types import MappingProxyType

import pytest

from mxprof_nb.analysis import sync_waits
from mxprof_nb.errors import MissingDataError
from mxprof_nb.trace import Meta, TraceBuilder
from tests.traces import dot_cell


def rows(result):
    return result.frame.to_dict("records")


def test_each_wait_names_its_call_its_line_and_what_it_waited_for():
    waits = rows(sync_waits(dot_cell()))
    told = [(w["line"], w["text"], w["waited_for_name"], w["queued_line"]) for w in waits]
    assert told == [
        (9, "z.wait_to_read()", "Convolution", 8),
        (7, "y.asnumpy()", "dot", 3),
    ]
    assert [w["dur_ns"] for w in waits] == [204_000_000, 167_200_000]
    assert [w["api_name"] for w in waits] == ["MXNDArrayWaitToRead", "MXNDArraySyncCopyToCPU"]
    assert {w["track_name"] for w in waits} == {"MainThread"}
    assert {w["file"] for w in waits} == {"<cell 4>"}


def test_the_rows_behind_a_wait_are_the_wait_itself():
    trace = dot_cell()
    result = sync_waits(trace)
    assert [found.tolist() for found in result.rows] == result.columns["event"][:, None].tolist()
    for event, cause in zip(result.columns["event"], result.columns["waited_for"], strict=True):
        assert trace.events.is_category("sync")[event]
        assert trace.events.is_category("operator")[cause]


@pytest.fixture
def builder():
    builder = TraceBuilder()
    builder.track("MainThread", role="host")
    builder.track("worker", role="worker")
    return builder


def operator(builder, name, start, dur, **columns):
    return builder.event(
        name, track=1, start_ns=start, dur_ns=dur, category="operator", domain="operator", **columns
    )


def wait(builder, start, dur, **columns):
    return builder.event(
        "WaitForVar", track=0, start_ns=start, dur_ns=dur, category="sync", **columns
    )


def test_without_a_flow_the_correlation_says_what_was_waited_for(builder):
    operator(builder, "dot", 0, 10, correlation=5)
    operator(builder, "sum", 10, 10, correlation=6)
    wait(builder, 2, 18, correlation=6)
    assert rows(sync_waits(builder.build()))[0]["waited_for_name"] == "sum"


def test_of_several_causes_the_one_that_ended_last_is_told(builder):
    causes = [operator(builder, name, 0, dur) for name, dur in (("a", 5), ("b", 9), ("c", 7))]
    waiting = wait(builder, 0, 9)
    for cause in causes:
        builder.flow(cause, waiting, "read_after_write")
    builder.flow(operator(builder, "other", 0, 20), waiting, "launch")
    assert rows(sync_waits(builder.build()))[0]["waited_for_name"] == "b"


def test_a_wait_of_unknown_cause_and_place_says_so(builder):
    wait(builder, 0, 5)
    found = rows(sync_waits(builder.build()))[0]
    assert (found["waited_for"], found["waited_for_name"], found["queued_line"]) == (-1, "", -1)
    assert (found["line"], found["file"], found["text"], found["api_name"]) == (-1, "", "", "")


def test_a_wait_without_a_line_has_that_of_the_nearest_call_around_it(builder):
    outer, inner = builder.site("f.py", 1, "f", "outer()"), builder.site("f.py", 2, "f", "inner()")
    builder.event("outer", track=0, start_ns=0, dur_ns=90, category="api", site=outer)
    builder.event("inner", track=0, start_ns=1, dur_ns=80, category="api", site=inner)
    builder.event("helper", track=0, start_ns=2, dur_ns=70, category="python")
    wait(builder, 3, 5)
    found = rows(sync_waits(builder.build()))[0]
    assert (found["line"], found["text"], found["api_name"]) == (2, "inner()", "inner")


def test_a_wait_that_returned_at_once_is_none(builder):
    wait(builder, 5, 0)
    builder.event("call", track=0, start_ns=0, dur_ns=9, category="api")
    assert sync_waits(builder.build()).notes == ("No waits: the host never blocked.",)


def test_no_waits_is_a_result_and_not_an_error():
    result = sync_waits(TraceBuilder().build())
    assert len(result) == 0
    assert result.notes == ("No waits: the host never blocked.",)
    assert "waited_for_name" in result.frame.columns


def test_a_trace_that_knows_no_calls_does_not_claim_that_nothing_waited(builder):
    operator(builder, "dot", 0, 10)
    assert "is open" in sync_waits(builder.build()).notes[0]


@pytest.mark.parametrize("recorded", [True, False])
def test_waits_that_were_not_recorded_are_missing_data(recorded):
    trace = TraceBuilder(Meta(config=MappingProxyType({"api": recorded}))).build()
    if recorded:
        assert len(sync_waits(trace)) == 0
    else:
        with pytest.raises(MissingDataError, match=r"RecordConfig\(api=True\)"):
            sync_waits(trace)

from types import MappingProxyType

import pytest

from mxprof_nb.analysis import sync_waits
from mxprof_nb.errors import MissingDataError
from mxprof_nb.record import RecordConfig
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


RECORDED = Meta(backend="embedded", config=RecordConfig().as_dict())
NEVER, UNKNOWN = (
    ("No waits: the host never blocked.",),
    ("This trace does not say when the host waited.",),
)


def test_a_wait_that_returned_at_once_is_none():
    builder = TraceBuilder(RECORDED)
    builder.track("MainThread", role="host")
    wait(builder, 5, 0)
    builder.event("call", track=0, start_ns=0, dur_ns=9, category="api")
    assert sync_waits(builder.build()).notes == NEVER


def test_no_waits_is_a_result_and_not_an_error():
    result = sync_waits(TraceBuilder(RECORDED).build())
    assert len(result) == 0
    assert result.notes == NEVER
    assert "waited_for_name" in result.frame.columns


@pytest.mark.parametrize("category", ["operator", "api", "kernel", "user"])
def test_a_trace_of_a_producer_that_records_no_waits_does_not_claim_that_none_were(
    builder, category
):
    builder.event("cudaDeviceSynchronize", track=0, start_ns=0, dur_ns=9, category=category)
    assert sync_waits(builder.build()).notes == UNKNOWN


def test_waits_that_were_taken_out_of_a_trace_are_not_said_to_have_been_none():
    trace = recorded(waits=1)
    assert len(sync_waits(trace)) == 1
    for part in (trace.where(category="api"), trace.take([0])):
        assert sync_waits(part).notes == UNKNOWN
    assert sync_waits(trace.between(0, 1)).notes == NEVER


def test_where_rows_were_lost_waits_may_be_among_them():
    builder = TraceBuilder(RECORDED)
    builder.note("capped", 7, "7 records were left out.")
    assert sync_waits(builder.build()).notes == UNKNOWN


def recorded(waits):
    builder = TraceBuilder(RECORDED)
    builder.track("MainThread", role="host")
    builder.event("call", track=0, start_ns=0, dur_ns=9, category="api")
    for number in range(waits):
        wait(builder, 2 + number, 1)
    return builder.build()


@pytest.mark.parametrize("recorded", [True, False])
def test_waits_that_were_not_recorded_are_missing_data(recorded):
    trace = TraceBuilder(Meta(config=MappingProxyType({"api": recorded}))).build()
    if recorded:
        assert len(sync_waits(trace)) == 0
    else:
        with pytest.raises(MissingDataError, match=r"RecordConfig\(api=True\)"):
            sync_waits(trace)


def test_calls_that_wait_and_did_not_are_counted_and_listed_when_asked_for(builder):
    builder.meta = RECORDED
    site = builder.site("train.py", 3, "<module>", "z.asnumpy()")
    call = {"track": 0, "category": "api", "domain": "MXNET_C_API"}
    builder.event("MXNDArrayWaitToRead", start_ns=0, dur_ns=20, **call)
    wait(builder, 5, 10)
    builder.event("MXNDArraySyncCopyToCPU", start_ns=30, dur_ns=4, site=site, **call)
    builder.event("MXNDArrayGetShapeEx", start_ns=40, dur_ns=1, **call)
    trace = builder.build()
    only = sync_waits(trace)
    assert [row["blocked"] for row in rows(only)] == [True]
    assert only.notes == ("1 call did not block: what was asked for was ready.",)
    blocked, ready = rows(sync_waits(trace, ready=True))
    assert (blocked["api_name"], blocked["dur_ns"]) == ("MXNDArrayWaitToRead", 10)
    assert (ready["api_name"], ready["blocked"], ready["dur_ns"]) == (
        "MXNDArraySyncCopyToCPU",
        False,
        0,
    )
    assert (ready["line"], ready["text"], ready["start_ns"]) == (3, "z.asnumpy()", 30)


def test_of_a_trace_that_does_not_say_when_the_host_waited_no_call_is_said_not_to_have(builder):
    builder.event("MXNDArrayWaitAll", track=0, start_ns=0, dur_ns=4, category="api")
    found = sync_waits(builder.build(), ready=True)
    assert (len(found), found.notes) == (0, UNKNOWN)

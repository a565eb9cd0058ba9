import io
import json
from typing import Literal

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ReadError
from mxprof_nb.io import load
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.trace import Meta, TraceBuilder
from tests.trace_event_format import broken_rules

LAYOUTS: tuple[Literal["own", "mxnet"], ...] = ("own", "mxnet")
NAMES = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "t"}},
]
SLICE = {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 10}
FLOW = {"name": "f", "cat": "flow", "id": 1, "pid": 1, "tid": 1}
ASYNC = {"name": "a", "cat": "c", "id": 1, "pid": 1, "tid": 1}
COUNTER = {"ph": "C", "name": "c", "pid": 1, "ts": 0, "args": {"v": 1}}


def of(*events) -> bytes:
    return json.dumps([*NAMES, *events]).encode()


def test_a_file_by_the_rules_passes():
    content = of(
        SLICE,
        {**SLICE, "ts": 2, "dur": 8},
        {**SLICE, "ts": 10, "dur": 1},
        {**FLOW, "ph": "s", "ts": 1},
        {**FLOW, "ph": "f", "bp": "e", "ts": 10},
        {**ASYNC, "ph": "b", "ts": 5},
        {**ASYNC, "ph": "e", "ts": 50},
        COUNTER,
        {"ph": "i", "s": "t", "name": "m", "pid": 1, "tid": 1, "ts": 3},
    )
    assert broken_rules(content) == []


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([SLICE, {**SLICE, "ts": 5}], "overlaps what is around it"),
        ([{**SLICE, "ph": "Q"}], "no phase 'Q'"),
        ([{**SLICE, "name": 5}], "its name is"),
        ([{**SLICE, "pid": 2**60}], "no whole number that a double holds"),
        ([{**SLICE, "ts": "0"}], "its time is '0'"),
        ([{**SLICE, "dur": -1}], "its duration is"),
        ([{**SLICE, "ts": -1}], "before 0"),
        ([{**NAMES[0], "args": {"name": ""}}], "an empty process_name"),
        ([{**SLICE, "name": "µ"}], "shows six characters"),
        ([{**SLICE, "name": "C:\\"}], "ends in an escaped backslash"),
        ([{**SLICE, "args": []}], "arguments are no object"),
        ([{**SLICE, "tid": 2}], "the thread of 'a' has no name"),
        ([{**COUNTER, "pid": 2}], "the process of 'c' has no name"),
        ([{**SLICE, "ph": "B"}], "never ends"),
        ([{**SLICE, "ph": "E"}], "without a begin"),
        ([{**SLICE, "ph": "B", "ts": 5}, {**SLICE, "ph": "E"}], "not in order of time"),
        ([{**SLICE, "ph": "B"}, {**SLICE, "ph": "E", "name": "b"}], "is ended by 'b'"),
        ([{**ASYNC, "ph": "b", "ts": 1}], "never ends"),
        ([{**ASYNC, "ph": "e", "ts": 1}], "without a begin"),
        ([{**ASYNC, "ph": "b", "ts": 5}, {**ASYNC, "ph": "e", "ts": 1}], "ends before it begins"),
        ([SLICE, {**FLOW, "ph": "s", "ts": 1}], "not begin and end"),
        ([SLICE, {**FLOW, "ph": "s", "ts": 1}, {**FLOW, "ph": "f", "ts": 2}], "slice after"),
        (
            [SLICE, {**FLOW, "ph": "s", "ts": 1}, {**FLOW, "ph": "f", "bp": "e", "ts": 10}],
            "lies in no slice",
        ),
        ([{**COUNTER, "args": {"v": "1"}}], "counter 'c' holds"),
        ([{**COUNTER, "tid": 1}, {**COUNTER, "tid": 2}], "is one for viewers"),
        ([{"ph": "i", "s": "x", "name": "m", "pid": 1, "tid": 1, "ts": 3}], "its scope is 'x'"),
    ],
)
def test_a_broken_rule_is_found(events, told):
    (first, *_) = broken_rules(of(*events))
    assert told in first


def test_a_del_that_is_no_escape_is_found():
    (told,) = broken_rules(of({**SLICE, "name": "DEL"}).replace(b"DEL", b"\x7f"))
    assert "Perfetto gives up" in told


@pytest.mark.parametrize("content", [b"[NaN]", b'{"a": 1, "a": 2}', b"[1,]", b"\xff", b""])
def test_what_is_no_strict_json_is_found(content):
    assert "no strict JSON" in broken_rules(content)[0]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_recorded_program_is_written_by_the_rules(layout):
    recording = RECORDER.start()
    try:
        x = mx.nd.ones((8, 8))
        for _ in range(20):
            x = mx.nd.dot(x, x) * 0.1
        x.asnumpy()
    finally:
        recording.stop()
    file = io.BytesIO()
    write_chrome(freeze(recording, Meta()), file, layout=layout)
    assert len(json.loads(file.getvalue())["traceEvents"]) > 40
    assert broken_rules(file.getvalue()) == []


def test_spans_that_overlap_go_to_threads_of_the_same_name():
    builder = TraceBuilder()
    track = builder.track("stream 7", role="stream", process="GPU")
    for start, dur in ((0, 10), (5, 10), (6, 2), (20, 5), (21, 5)):
        builder.event("kernel", track=track, start_ns=start, dur_ns=dur)
    file = io.BytesIO()
    write_chrome(builder.build(), file)
    events = json.loads(file.getvalue())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names == {1: "stream 7", 2: "stream 7"}
    assert [e["tid"] for e in events if e["ph"] == "X"] == [1, 2, 1, 1, 2]
    assert len({e["pid"] for e in events}) == 1


def test_counters_of_one_name_in_one_process_stay_apart():
    builder = TraceBuilder()
    for name in ("cpu/0", "cpu/1"):
        track = builder.track(name, role="counter", process="p")
        builder.counter("memory", track=track, time_ns=0, value=1.0)
    file = io.BytesIO()
    write_chrome(builder.build(), file)
    events = json.loads(file.getvalue())["traceEvents"]
    assert len({e["id"] for e in events if e["ph"] == "C"}) == 2


FOREIGN = ("catapult", "gen-jax", "gen-torch", "gen-viztracer", "hta", "mxnet",
           "perfetto-difftests", "speedscope")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOREIGN)
def test_traces_of_other_programs_are_rewritten_by_the_rules(shared_dir, folder):
    seen = 0
    for path in sorted((shared_dir / "traces" / folder).rglob("*.json")):
        if path.stat().st_size > 2_000_000:
            continue
        try:
            trace = load(path)
        except ReadError:
            continue
        flows, kind = trace.flows, trace.events.kind
        drawn = (kind[flows.source] == 0) & (kind[flows.target] == 0)
        for layout in LAYOUTS:
            file = io.BytesIO()
            write_chrome(trace, file, layout=layout)
            undrawn = set((np.flatnonzero(~drawn) + 1).tolist())
            assert broken_rules(file.getvalue(), undrawn=undrawn) == [], (path, layout)
        seen += 1
    if not seen:
        pytest.skip("there is no such trace here")

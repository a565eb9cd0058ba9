import io
import json
import subprocess
import sys

import pytest

from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.trace import TraceBuilder
from tests.traces import dot_cell, many


def written(trace):
    file = io.BytesIO()
    write_chrome(trace, file)
    return json.loads(file.getvalue())


def phase(decoded, ph):
    return [event for event in decoded["traceEvents"] if event["ph"] == ph]


def test_a_viewer_finds_names_and_order_of_all_tracks():
    decoded = written(dot_cell())
    said = {(e["name"], e["tid"]): e["args"] for e in phase(decoded, "M")}
    assert said["thread_name", 1] == {"name": "MainThread"}
    assert said["thread_name", 2] == {"name": "cpu/0 worker 1"}
    assert said["thread_sort_index", 3] == {"sort_index": 2}
    assert said["process_name", 1] == {"name": "cell 4"}
    assert decoded["displayTimeUnit"] == "ms"


def test_a_span_is_a_complete_event_with_details_a_person_can_read():
    (dot,) = [event for event in phase(written(dot_cell()), "X") if event["name"] == "dot"]
    assert dot["cat"] == "operator,operator"
    assert dot["dur"] == 171_400
    assert dot["args"]["line"] == "<cell 4>:3: y = mx.nd.dot(x, x)"
    assert dot["args"]["bytes"] == 32_000_000
    assert dot["args"]["queued_ns"] == 1_003_600_000


def test_flow_ids_are_unique_and_ends_bind_to_the_enclosing_slice():
    decoded = written(dot_cell())
    begins, ends = phase(decoded, "s"), phase(decoded, "f")
    assert [e["id"] for e in begins] == [e["id"] for e in ends] == list(range(1, len(begins) + 1))
    assert all(event["bp"] == "e" for event in ends)


def test_an_arrow_leaves_before_it_arrives_wherever_the_slices_allow():
    decoded = written(dot_cell())
    for begin, end in zip(phase(decoded, "s"), phase(decoded, "f"), strict=True):
        assert begin["ts"] <= end["ts"]


def test_a_result_leaves_the_operator_at_its_end_and_a_launch_the_call_at_its_begin():
    builder = TraceBuilder()
    host, worker = builder.track("host", role="host"), builder.track("worker", role="worker")
    call = builder.event("call", track=host, start_ns=1_000, dur_ns=500)
    work = builder.event("dot", track=worker, start_ns=1_200, dur_ns=2_000)
    wait = builder.event("wait", track=host, start_ns=1_600, dur_ns=2_000)
    builder.flow(call, work, "launch")
    builder.flow(work, wait, "read_after_write")
    decoded = written(builder.build())
    assert [event["ts"] for event in phase(decoded, "s")] == [1.0, 3.199]
    assert [event["ts"] for event in phase(decoded, "f")] == [1.2, 3.199]


def test_counters_instants_and_asynchronous_events_have_their_own_phases():
    builder = TraceBuilder()
    track = builder.track("t", role="counter")
    builder.event("mark", track=track, start_ns=1, kind="instant")
    builder.event("load", track=track, start_ns=1, dur_ns=2_500, kind="async")
    builder.counter("bytes", track=track, time_ns=2, value=1.5, unit="B")
    builder.counter("bytes", track=track, time_ns=3, value=float("nan"))
    decoded = written(builder.build())
    assert [event["args"] for event in phase(decoded, "C")] == [{"value": 1.5}, {"value": None}]
    assert phase(decoded, "i")[0]["s"] == "t"
    (begin,), (end,) = phase(decoded, "b"), phase(decoded, "e")
    assert (begin["id"], begin["cat"], begin["name"]) == (end["id"], end["cat"], end["name"])
    assert (begin["ts"], end["ts"]) == (0.001, 2.501)


@pytest.mark.parametrize("size", [49_999, 50_000, 50_001, 100_001])
def test_blocks_join_without_a_gap(size):
    decoded = written(many(size))
    assert len(phase(decoded, "X")) == size


def test_the_text_is_written_in_pieces():
    pieces: list[bytes] = []

    class Pieces(io.BytesIO):
        def write(self, piece):
            pieces.append(bytes(piece))
            return len(piece)

    write_chrome(many(120_000), Pieces())
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 2


def test_writing_needs_neither_pandas_nor_msgspec():
    code = (
        "import sys, io; from mxprof_nb.io.chrome_writer import write_chrome; "
        "from mxprof_nb.trace import TraceBuilder; "
        "write_chrome(TraceBuilder().build(), io.BytesIO()); "
        "print(sorted({'pandas', 'msgspec', 'plotly'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

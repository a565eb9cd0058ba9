"""The law of files: what the Chrome writer wrote, the Chrome reader gives back."""

import io
import json

import numpy as np
from hypothesis import example, given, settings

from mxprof_nb.io import load
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.trace import Trace, TraceBuilder, schema
from tests.property.made_traces import assert_same, traces
from tests.traces import dot_cell


def written(trace: Trace) -> bytes:
    file = io.BytesIO()
    write_chrome(trace, file)
    return file.getvalue()


@given(traces())
@example(dot_cell())
@example(TraceBuilder().build())
def test_reading_what_was_written_gives_the_same_trace(trace):
    assert_same(load(written(trace)), trace)


@given(traces())
@settings(max_examples=40)
def test_what_is_written_is_strict_json_in_utf8_without_the_end_of_a_script(trace):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    text = written(trace).decode()
    decoded = json.loads(text, parse_constant=refuse)
    assert "</" not in text
    assert {event["ph"] for event in decoded["traceEvents"]} <= set("MXibesfC")


@given(traces())
@settings(max_examples=40)
def test_writing_what_was_read_gives_the_same_file(trace):
    first = written(trace)
    assert written(load(first)) == first


@given(traces())
@settings(max_examples=40)
def test_another_program_sees_every_interval_where_it_was(trace):
    """Through Python's own JSON and exact fractions, without our reader."""
    from fractions import Fraction

    def ns(number):
        return Fraction(number) * 1000

    document = json.loads(written(trace), parse_float=Fraction, parse_int=Fraction)
    events, zero = document["traceEvents"], document["mxprof"]["zero_ns"]
    seen = [
        (zero + ns(e["ts"]), zero + ns(e["ts"]) + ns(e.get("dur", 0)), e["name"])
        for e in events
        if e["ph"] in "Xbi"
    ]
    ends = iter([zero + ns(e["ts"]) for e in events if e["ph"] == "e"])
    kinds = [schema.KINDS[code] for code in trace.events.kind]
    for (start, end, name), kind, row in zip(seen, kinds, range(len(trace)), strict=True):
        assert start == trace.events.start_ns[row]
        assert (next(ends) if kind == "async" else end) == trace.events.end_ns[row]
        assert name == trace.strings[int(trace.events.name[row])]


@given(traces())
@settings(max_examples=40)
def test_both_ends_of_a_flow_lie_on_the_tracks_and_in_the_times_of_their_events(trace):
    document = json.loads(written(trace))
    events, zero = document["traceEvents"], document["mxprof"]["zero_ns"]
    slices = [event for event in events if event["ph"] in "Xbi"]
    for point in [event for event in events if event["ph"] in "sf"]:
        row = point["args"]["source" if point["ph"] == "s" else "target"]
        assert (point["pid"], point["tid"]) == (slices[row]["pid"], slices[row]["tid"])
        at = zero + round(point["ts"] * 1000)
        assert abs(at) > 2**50 or trace.events.start_ns[row] <= at <= trace.events.end_ns[row]
    assert np.array_equal(
        [e["args"]["source"] for e in events if e["ph"] == "s"], trace.flows.source
    )

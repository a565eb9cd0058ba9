from __future__ import annotations

import pytest

import mxprof_nb as mp
import mxprof_nb.runtime as mx
from mxprof_nb.analysis import memory_changes
from mxprof_nb.errors import MissingDataError
from mxprof_nb.trace import TraceBuilder
from tests.traces import dot_cell, empty_cell


def test_an_operator_takes_memory_when_it_begins_and_a_call_while_it_runs():
    builder = TraceBuilder()
    host, worker = builder.track("host", role="host"), builder.track("w", role="worker")
    memory = builder.track("Memory: cpu/0", role="counter")
    site = builder.site("f.py", 3, "<module>", "x * 2")

    def event(name: str, track: int, start: int, dur: int, category: str, size: int = -1) -> int:
        return builder.event(
            name,
            track=track,
            start_ns=start,
            dur_ns=dur,
            category=category,
            site=site if category == "operator" else -1,
            arg=builder.arg(bytes=size) if size >= 0 else -1,
        )

    event("MXNDArrayCreateEx", host, 10, 20, "api")
    event("mul", worker, 100, 50, "operator", 64)
    event("in place", worker, 160, 10, "operator", 64)
    event("DeleteVariable", worker, 200, 5, "engine")
    for time, value in ((25, 8), (100, 72), (205, 64), (300, 64)):
        builder.counter("Memory: cpu/0", track=memory, time_ns=time, value=value, unit="B")
    builder.counter("Memory: cpu/0 a:", track=memory, time_ns=100, value=64, unit="B")
    found = memory_changes(builder.build())
    told = [tuple(row) for row in found.frame.drop(columns="event").itertuples(index=False)]
    assert told == [
        (25, "cpu/0", "", 8, "MXNDArrayCreateEx", ""),
        (100, "cpu/0", "a:", 64, "mul", "line 3"),
        (205, "cpu/0", "", -8, "DeleteVariable", ""),
    ]
    assert found.notes == ("1 array from before the profile was given back in it.",)
    assert [rows.tolist() for rows in found.rows] == [[0], [1], [3]]


def test_what_nobody_recorded_has_no_operator():
    builder = TraceBuilder()
    memory = builder.track("Memory: cpu/0", role="counter")
    builder.counter("Memory: cpu/0", track=memory, time_ns=5, value=8, unit="B")
    found = memory_changes(builder.build())
    assert found.frame.operator.tolist() == [""]
    assert found.frame.event.tolist() == [-1]


@pytest.mark.parametrize("trace", [empty_cell(), TraceBuilder().build()])
def test_without_curves_of_memory_it_says_what_is_missing(trace):
    with pytest.raises(MissingDataError, match="memory"):
        memory_changes(trace)


def test_the_curve_of_a_trace_is_the_sum_of_its_changes():
    found = memory_changes(dot_cell()).frame
    assert list(found.columns) == [
        "time_ns",
        "device",
        "scope",
        "bytes",
        "operator",
        "line",
        "event",
    ]
    curve = dot_cell().frame("counters")
    last = curve[curve.unit == "B"].value.iloc[-1]
    assert found.bytes.sum() == last


def test_in_a_recorded_program_every_change_has_its_operator_and_line():
    mx.nd.ones((2,)).sum().wait_to_read()
    with mp.profile() as p:
        x = mx.nd.array([1.0] * 250)
        with mx.profiler.scope("doubled"):
            y = x * 2
        with mx.engine.bulk(2):
            z = (x + 1) * 3
        mx.nd.waitall()
        del y
    found = memory_changes(p.trace).frame
    taken = found[found.bytes > 0]
    assert taken.operator.tolist() == [
        "MXNDArrayCreateEx",
        "_mul_scalar",
        "ImperativeBulk",
        "ImperativeBulk",
    ]
    assert taken.bytes.tolist() == [1000] * 4
    assert taken.scope.tolist() == ["", "doubled:", "", ""]
    assert all("line" in line for line in taken.line)
    given = found[found.bytes < 0]
    assert set(given.operator) == {"DeleteVariable"}
    assert "doubled:" in set(given.scope)
    assert z.shape == (250,)

"""The two forms of `mx.profiler.dumps`, from traces that are made by hand."""

from __future__ import annotations

import json
import math

import pytest

from mxprof_nb.runtime.aggregate import format_json, format_table
from mxprof_nb.trace import Trace, TraceBuilder


def trace() -> Trace:
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    for name, durations in (("short", [1, 2]), ("long", [1_234_567]), ("same", [3])):
        for dur in durations:
            builder.event(name, track=host, start_ns=0, dur_ns=dur, domain="operator", kind="async")
    builder.event("here", track=host, start_ns=5, domain="D,instant_marker", kind="instant")
    mine = builder.track("D", role="counter")
    for time, value in enumerate([5, -1, 2]):
        builder.counter("c", track=mine, time_ns=time, value=value)
    memory = builder.track("Memory: cpu/0", role="counter")
    for time, value in enumerate([64, 128, 0]):
        builder.counter("Memory: cpu/0", track=memory, time_ns=time, value=value, unit="B")
    return builder.build()


def test_the_json_has_the_keys_of_mxnet_and_every_digit():
    assert json.loads(format_json(trace())) == {
        "Time": {
            "D": {
                "c": {"Count": 3, "Total": 0.002, "Min": -0.001, "Max": 0.005, "Avg": 0.002},
            },
            "D,instant_marker": {},
            "operator": {
                "long": dict.fromkeys(("Total", "Min", "Max", "Avg"), 1.234567) | {"Count": 1},
                "short": {"Count": 2, "Total": 3e-6, "Min": 1e-6, "Max": 2e-6, "Avg": 1.5e-6},
                "same": dict.fromkeys(("Total", "Min", "Max", "Avg"), 3e-6) | {"Count": 1},
            },
        },
        "Memory": {
            "Device Storage": {
                "Memory: cpu/0": {"Count": 3, "Min": 0, "Max": 0.128, "Avg": 0.064},
            },
        },
        "Unit": {"Time": "ms", "Memory": "kB"},
    }


@pytest.mark.parametrize(
    ("sort_by", "ascending", "order"),
    [
        ("total", False, ["long", "short", "same"]),
        ("total", True, ["short", "same", "long"]),
        ("count", False, ["short", "same", "long"]),
        ("avg", True, ["short", "same", "long"]),
    ],
)
def test_the_json_has_the_order_of_the_table(sort_by, ascending, order):
    assert list(json.loads(format_json(trace(), sort_by, ascending))["Time"]["operator"]) == order
    body = format_table(trace(), sort_by, ascending).split("\noperator\n")[1]
    assert [line.split()[0] for line in body.splitlines()[3:] if line] == order


def test_statistics_of_nothing_are_json_too():
    empty = {"Time": {}, "Memory": {}, "Unit": {"Time": "ms", "Memory": "kB"}}
    assert json.loads(format_json(TraceBuilder().build())) == empty


def test_what_is_no_finite_number_is_null():
    builder = TraceBuilder()
    mine = builder.track("D", role="counter")
    for time, value in enumerate([math.inf, math.nan]):
        builder.counter("c", track=mine, time_ns=time, value=value)
    row = json.loads(format_json(builder.build()))["Time"]["D"]["c"]
    assert row == {"Count": 2, "Total": None, "Min": None, "Max": None, "Avg": None}


@pytest.mark.filterwarnings("error")
def test_opposite_infinities_have_no_average():
    builder = TraceBuilder()
    mine = builder.track("D", role="counter")
    for time, value in enumerate([math.inf, -math.inf]):
        builder.counter("c", track=mine, time_ns=time, value=value)
    assert json.loads(format_json(builder.build()))["Time"]["D"]["c"]["Avg"] is None


def test_a_name_with_a_line_break_stays_on_its_row():
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    builder.event("two\nlines\t\x1b", track=host, start_ns=0, dur_ns=1, domain="a\nb")
    lines = format_table(builder.build()).splitlines()
    assert "a\\nb" in lines
    assert [line for line in lines if line.startswith("two\\nlines\\t\\x1b ")]

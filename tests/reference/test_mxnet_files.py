"""The files of `mx.profiler` against those that real MXNet 1.9.1 wrote for the same programs."""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.trace import Trace, TraceBuilder
from tests.reference.mxnet_programs import PROGRAMS, Output

#: What the package docstring says of calls and waits: fewer, or a matter of time.
OTHERWISE = (
    "MXNDArrayGetShapeEx",
    "MXNet C API Calls",
    "MXNet C API Concurrency",
    "WaitForVar",
    "WaitForAll",
)
#: Phases that viewers leave out, and what stands for them.
INSTEAD = {"(": "b", ")": "e"}
Record = dict[str, Any]


def phase_of(record: Record) -> str:
    """Return the phase that we give a record."""
    phase: str = record["ph"]
    return INSTEAD.get(phase, phase)


@pytest.fixture(scope="module")
def ours(written_by_us: dict[str, Output]) -> dict[str, list[Record]]:
    """The records that our runtime writes for each program."""
    found = {}
    for name, output in written_by_us.items():
        content = json.loads(output.file)
        assert [*content][1:] == ["traceEvents", "displayTimeUnit"]
        found[name] = content["traceEvents"]
    return found


def theirs(file: Path) -> list[Record]:
    """Return the records of MXNet, which does not escape names."""
    text = file.read_text().replace('quo"te\\n', r"quo\"te\\n")
    content = json.loads(text)
    assert [*content] == ["traceEvents", "displayTimeUnit"]
    records: list[Record] = content["traceEvents"]
    return records


def processes(records: list[Record]) -> dict[int, str]:
    return {e["pid"]: e["args"]["name"] for e in records if e["name"] == "process_name"}


def kinds(records: list[Record]) -> Counter[tuple[str, ...]]:
    """Return how often each kind of record occurs: phase, category, name, process."""
    process = processes(records)
    return Counter(
        (phase_of(e), e["cat"], e["name"][:127], process[e["pid"]])
        for e in records
        if e["ph"] != "M" and e["name"] not in OTHERWISE
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_gives_the_same_records_in_the_same_processes(golden, ours, program):
    expected = kinds(theirs(golden / f"{program}.json"))
    # Stopping what was not started is an error.
    expected = +Counter({kind: n for kind, n in expected.items() if kind[2] != "never_started"})
    for phase in "be":
        expected[phase, "MyDomain", "dbl", "MyDomain"] -= program == "user_objects"
    assert kinds(ours[program]) == +expected


@pytest.mark.parametrize("program", PROGRAMS)
def test_processes_are_named_as_in_mxnet(golden, ours, program):
    def names(records: list[Record]) -> set[str]:
        return {re.sub(r"cpu/\d+", "cpu/N", name) for name in processes(records).values()}

    assert names(ours[program]) - {"engine"} == names(theirs(golden / f"{program}.json"))
    cores = [f"cpu/{number}" for number in range(os.cpu_count() or 1)]
    assert list(processes(ours[program]).values())[: len(cores) + 2] == [
        *cores,
        "cpu pinned/",
        "cpu shared/",
    ]


@pytest.mark.parametrize("program", PROGRAMS)
def test_records_have_the_keys_of_mxnet_in_its_order_and_args_at_the_end(golden, ours, program):
    def keys(
        records: list[Record], without: dict[str, set[str]]
    ) -> dict[str, set[tuple[str, ...]]]:
        found = defaultdict(set)
        for record in records:
            if record["name"] not in ("thread_name", "mxprof"):
                phase = phase_of(record)
                left_out = without.get(phase, set())
                found[phase].add(tuple(key for key in record if key not in left_out))
        return found

    ours_more = {"B": {"args"}, "b": {"args"}, "n": {"id", "args"}}
    expected = keys(theirs(golden / f"{program}.json"), {})
    # A frame is what a task is.
    expected["b"] = {key for key in expected["b"] if "id" in key}
    expected["e"] = {key for key in expected["e"] if "id" in key}
    assert keys(ours[program], ours_more) == expected
    assert all([*e][-1] == "args" for e in ours[program] if e["ph"] in "Bbn" and "args" in e)


def test_markers_reach_as_far_as_in_mxnet(golden, ours):
    def scopes(records: list[Record]) -> list[str]:
        return [record["s"] for record in records if record["ph"] == "n"]

    assert scopes(ours["user_objects"]) == scopes(theirs(golden / "user_objects.json"))


def test_counters_have_the_values_of_mxnet_until_it_wraps_around(golden, ours):
    def values(records: list[Record]) -> list[tuple[str, float]]:
        samples = [e for e in records if e["ph"] == "C" and e["cat"] != "MXNET_C_API"]
        samples.sort(key=lambda e: e["ts"])  # they stand as they were taken off a queue
        return [(e["name"], e["args"][e["name"]] % 2**64) for e in samples]

    for program in PROGRAMS:
        assert values(ours[program]) == values(theirs(golden / f"{program}.json"))


def test_times_are_of_the_same_clock_and_scale(ours):
    stamps = [e["ts"] for e in ours["seed1_trace"] if e["ph"] != "M"]
    assert all(1.7e15 < ts < 4e15 for ts in stamps)  # µs since 1970: after 2023, before 2096
    assert max(stamps) - min(stamps) < 60e6


# The records of MXNet, put into a trace and written by us

OPERATORS = ("operator", "Custom Operator")
SCOPES = {"g": "global", "p": "process", "t": "thread"}


def is_twin(record: Record) -> bool:
    """Whether it is the second record of an operator, under its category."""
    return (
        record["ph"] in "be"
        and record["cat"] in OPERATORS
        and not record["name"].endswith("::pure_python")
    )


def trace_of(records: list[Record]) -> Trace:
    builder = TraceBuilder()
    tracks: dict[Any, int] = {}
    opened: dict[Any, list[int]] = defaultdict(list)
    for record in records:
        phase = phase_of(record)
        if phase == "M" or is_twin(record):
            continue
        name, cat, ns = record["name"], record["cat"], record["ts"] * 1000
        if phase == "C":
            if cat not in tracks:
                tracks[cat] = builder.track(cat, role="counter")
            unit = "B" if name.startswith("Memory: ") else None
            (value,) = record["args"].values()
            builder.counter(name, track=tracks[cat], time_ns=ns, value=value, unit=unit)
            continue
        thread = record["tid"]
        if thread not in tracks:
            tracks[thread] = builder.track(str(thread), role="worker", device="cpu/0")
        key = (phase.upper(), name, cat, thread)
        if phase in "Bb":
            opened[key].append(ns)
            continue
        begun = ns if phase == "n" else opened["B", name, cat, thread].pop()
        raw = json.dumps({"scope": SCOPES[record["s"]]}) if phase == "n" else None
        span = phase == "E" or cat == "MXNET_C_API"
        builder.event(
            name,
            track=tracks[thread],
            start_ns=begun,
            dur_ns=ns - begun,
            kind="instant" if phase == "n" else "span" if span else "async",
            category="operator" if cat in OPERATORS else "user",
            domain=cat,
            arg=builder.arg(raw=raw) if raw else -1,
        )
    return builder.build()


FILES = (
    *("seed1_*.json", "seed2_train.json", "user_objects.json"),
    *("custom_*.json", "bulk/k_*.json"),
)


@pytest.mark.parametrize("pattern", FILES)
def test_from_the_same_events_come_the_same_records(golden, pattern):
    def told(records: list[Record]) -> Counter[tuple[Any, ...]]:
        process = processes(records)
        return Counter(
            (
                phase_of(e),
                e["cat"],
                e["name"],
                process[e["pid"]],
                # MXNet takes the times of an operator's second record a little before or after.
                0 if is_twin(e) else e["ts"],
                e.get("s"),
            )
            for e in records
            if e["ph"] != "M"
        )

    files = sorted(golden.glob(pattern))
    assert files
    for path in files:
        records = theirs(path)
        devices = [name for pid, name in processes(records).items() if pid < 64]
        file = io.BytesIO()
        write_chrome(trace_of(records), file, layout="mxnet", devices=devices)
        ours = json.loads(file.getvalue(), parse_float=lambda text: int(float(text)))
        assert told(ours["traceEvents"]) == told(records), path.name
        assert {*processes(ours["traceEvents"]).values()} == {*processes(records).values()}

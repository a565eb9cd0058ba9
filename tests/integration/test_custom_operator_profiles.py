"""Profiles of operators written in Python, compared with those that real MXNet 1.9.1 wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.custom_operator import PROGRAMS, profiled
from tests.environment import ROOT

#: What may differ, each with its cause.
DIFFERENT = {
    "DeleteVariable": "Python drops arrays elsewhere than MXNet's C++",
    "MyAddOne::ResourceParallelRandomSetSeed": "x + 1 asks for no resource here",
    "MXNDArrayFree": "Python drops arrays elsewhere than MXNet's",
    "SetupExec": "an executor is set up when it is made",
    "MXImperativeInvokeEx": "operators of the gradient are calls of their own",
    "MXNDArrayGetShapeEx": "a query",
    "MXNDArrayGetContext": "a query",
    "MXNDArrayGetDType": "a query",
    "MXNDArrayGetStorageType": "a query",
}
#: Domains that MXNet has not.
OURS = ("engine",)

#: Captured files, with the engine and the flags that they were made with.
CAPTURED = {
    "custom_imp": ("", {}),
    "custom_imp_naive": ("NaiveEngine", {}),
    "custom_imp_nosym": (
        "",
        {"profile_symbolic": False, "profile_memory": False, "profile_api": False},
    ),
    "custom_grad": ("", {}),
    "custom_grad_naive": ("NaiveEngine", {}),
    "custom_sym": ("", {}),
    "custom_sym_naive": ("NaiveEngine", {}),
    "custom_sym_noimp": (
        "",
        {"profile_imperative": False, "profile_memory": False, "profile_api": False},
    ),
}


def program_of(name: str) -> str:
    return PROGRAMS["_".join(name.split("_")[:2])]


@pytest.fixture(scope="module", params=CAPTURED)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, shared_dir: Path
) -> tuple[str, list[dict[str, Any]], list[dict[str, Any]], str]:
    """The name of a captured file, our events and MXNet's, and our table."""
    name = request.param
    engine, flags = CAPTURED[name]
    file = tmp_path_factory.mktemp(name) / "profile.json"
    program = "import mxprof_nb.runtime as mx\n" + profiled(program_of(name), str(file), **flags)
    environment = os.environ | {"MXNET_ENGINE_TYPE": engine, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    golden = json.loads((shared_dir / "golden/mxnet" / f"{name}.json").read_text())
    return name, json.loads(file.read_text())["traceEvents"], golden["traceEvents"], done.stdout


def counts(events: list[dict[str, Any]], phase: str) -> Counter[tuple[str, str]]:
    return Counter(
        (event["cat"], event["name"])
        for event in events
        if event["ph"] == phase and event["cat"] not in OURS and event["name"] not in DIFFERENT
    )


def threads(events: list[dict[str, Any]], phase: str) -> dict[str, set[int]]:
    """Return the threads on which operators and calls of each name began."""
    found: dict[str, set[int]] = {}
    for event in events:
        if event["ph"] == phase:
            found.setdefault(event["name"], set()).add(event["tid"])
    return found


@pytest.mark.parametrize("phase", ["B", "E", "b", "e"])
def test_names_domains_and_counts_are_those_of_mxnet(pair, phase):
    _, ours, theirs, _ = pair
    assert counts(ours, phase) == counts(theirs, phase)


def test_the_code_has_no_copy_under_the_device(pair):
    for events in pair[1:3]:
        begun = {event["name"] for event in events if event["ph"] == "B"}
        assert not {name for name in begun if name.endswith("::pure_python")}


def test_code_and_what_it_calls_are_on_one_thread_and_operators_on_others(pair):
    name, ours, theirs, _ = pair
    for events in (ours, theirs):
        of = threads(events, "b")
        if "MyAddOne::pure_python" not in of:
            assert name == "custom_sym_noimp"
            continue
        code = of["MyAddOne::pure_python"]
        ran = of["MyAddOne::_plus_scalar"]
        assert len(code) == 1
        assert (code == ran) is name.endswith("naive")
        if "MXNDArrayReshape64" in of:
            assert of["MXNDArrayReshape64"] == code


def test_calls_lie_inside_of_the_code_that_made_them(pair):
    for events in pair[1:3]:
        begun: dict[tuple[int, str], list[float]] = {}
        spans: list[tuple[str, int, float, float]] = []
        for event in events:
            key = (event.get("tid"), event["name"])
            if event["ph"] == "b":
                begun.setdefault(key, []).append(event["ts"])
            elif event["ph"] == "e":
                spans.append((event["name"], event["tid"], begun[key].pop(), event["ts"]))
        code = [span for span in spans if span[0].endswith("::pure_python")]
        for name, tid, start, end in spans:
            if name == "MXNDArrayReshape64":
                assert any(
                    tid == other and first <= start and end <= last
                    for _, other, first, last in code
                )


def test_statistics_have_the_rows_of_mxnet(pair, shared_dir: Path):
    name, _, _, printed = pair
    golden = (shared_dir / "golden/mxnet" / f"{name}_dumps.txt").read_text()
    assert rows(printed) == rows(golden)
    if name == "custom_sym_noimp":
        assert "Custom Operator" not in printed


def rows(table: str) -> dict[str, int]:
    """Return the counts of a table in the domain of custom operators."""
    part = table.partition("Custom Operator\n")[2].partition("\n\n")[0]
    found = {}
    for line in part.splitlines()[3:]:
        row = line.split()
        if row[0] not in DIFFERENT:
            found[row[0]] = int(row[1])
    return found

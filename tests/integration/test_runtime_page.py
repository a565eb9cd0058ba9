"""MXNet's page on its runtime and profiler: every program runs as written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.integration.test_mxnet_tutorial import HIDING, counts, run
from tests.unit.runtime.test_seed_names import as_ours, documents

#: Its page lost the indentation; that of each block of these lines, by how the line begins.
INDENTED = (
    ("profiler.set_config(profile_symbolic=True,", "if run:", 4),
    ("profiler.set_state('run')", "profiler.set_state('run')", 8),
    ("model.add(nn.Dense(128", "model.add(nn.Activation", 4),
    ("out = model(", "out.backward()", 4),
)

NAMES = pytest.mark.parametrize("name", ["mxprof_nb.runtime", "mxnet"])


def indented(program: str) -> str:
    """Return the page's first program with its indentation."""
    lines = program.splitlines()
    at = 0
    for first, last, spaces in INDENTED:
        begin = next(n for n in range(at, len(lines)) if lines[n].startswith(first))
        end = next(n for n in range(begin, len(lines)) if lines[n].startswith(last))
        lines[begin : end + 1] = [" " * spaces + line for line in lines[begin : end + 1]]
        at = end + 1
    return "\n".join(lines)


def under(name: str, program: str) -> str:
    """Return a program with the runtime under a name."""
    return HIDING + program if name == "mxnet" else as_ours(program)


@NAMES
def test_the_page_on_the_runtime_runs_whole(name: str, shared_dir: Path, tmp_path: Path):
    first, once, twice = documents(shared_dir / "seeds")[0]
    run(under(name, indented(first)), tmp_path, tmp_path)
    events = json.loads((tmp_path / "test_profiler.json").read_text())["traceEvents"]
    called = {event["name"] for event in events if event.get("cat") == "MXNET_C_API"}
    assert {"MXInvokeCachedOpEx", "MXAutogradBackwardEx", "MXNDArrayWaitAll"} <= called
    assert any(event["name"].startswith("Memory") for event in events if event["ph"] == "C")
    for times, program in ((1, once), (2, twice)):
        table = counts(run(under(name, program), tmp_path, tmp_path))
        assert (table["diag"], table["sum"]) == (times, times)
        assert json.loads((tmp_path / "trace_profile.json").read_text())["traceEvents"]


@pytest.mark.parametrize("kind", ["seed1_model", "seed1_model_agg", "seed1_model_agg_nohyb"])
def test_its_network_has_the_operators_that_real_mxnet_recorded(
    kind: str, shared_dir: Path, tmp_path: Path
):
    program = as_ours(indented(documents(shared_dir / "seeds")[0][0]))
    if "agg" in kind:
        last = "continuous_dump=True)"
        assert last in program
        program = program.replace(last, "continuous_dump=True, aggregate_stats=True)")
    if "nohyb" in kind:
        program = program.replace("model.hybridize()", "")
    run(program, tmp_path, tmp_path)
    ours = operators(tmp_path / "test_profiler.json")
    assert ours == operators(shared_dir / f"golden/mxnet/{kind}.json")
    assert ours["ImperativeBulk"] == (0 if "agg" in kind else 2)


def operators(file: Path) -> Counter[str]:
    """Return how often a file of MXNet's form has each operator, but for dropped arrays."""
    events = json.loads(file.read_text())["traceEvents"]
    return Counter(
        event["name"]
        for event in events
        if event["ph"] == "B" and event["name"] != "DeleteVariable"
    )

"""MXNet's tutorial on its profiler, cell after cell as its page has them, on the digits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environment import ROOT
from tests.unit.runtime.test_seed_names import as_ours, documents

#: What a count may differ in from real MXNet's, each with its cause.
DIFFERENT = {
    "DeleteVariable": "Python drops arrays elsewhere than MXNet's C++",
    "_zeros_without_dtype": "MXNet's Pooling has a hidden second result, whose gradient is zeros",
    "MXNDArrayGetShapeEx": "a query",
    "MXNDArrayGetContext": "a query",
    "MXNDArrayGetDType": "a query",
    "MXNDArrayGetStorageType": "a query",
    "MXNet C API Calls": "counts queries, too",
    "MXNet C API Concurrency": "counts queries, too",
    "MXImperativeInvokeEx": "operators of the gradient are calls of their own (see runtime)",
}
#: Hides an installed MXNet, so that its name is free.
HIDING = """\
import sys
from importlib.machinery import PathFinder
class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "mxnet" else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
import mxprof_nb.runtime
mxprof_nb.runtime.register_as("mxnet")
"""


@pytest.fixture(scope="module")
def cells(shared_dir: Path) -> list[str]:
    """The cells in the order of the page."""
    found = documents(shared_dir / "seeds")[1]
    assert len(found) == 11
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of MXNET_HOME, with the digits in it."""
    folder = tmp_path_factory.mktemp("home")
    environment = os.environ | {"MXNET_HOME": str(folder)}
    subprocess.run(
        [sys.executable, "-m", "mxprof_nb", "digits"],
        check=True,
        env=environment,
        cwd=ROOT,
        capture_output=True,
    )
    return folder


def run(program: str, home: Path, folder: Path) -> str:
    """Run a program in a process of its own; return what it printed."""
    (folder / "tutorial.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-W", "error", "tutorial.py"],
        cwd=folder,
        env=os.environ | {"MXNET_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def counts(table: str) -> dict[str, int]:
    """Return the rows of the last table of statistics, name to count."""
    rows = re.findall(r"^(\S.*?) +(\d+) +[-\d.]+ ", table.rpartition("Profile Statistics")[2], re.M)
    return {name: int(count) for name, count in rows}


@pytest.mark.parametrize("name", ["mxprof_nb.runtime", "mxnet"])
def test_the_tutorial_runs_as_written(name: str, cells: list[str], home: Path, tmp_path: Path):
    program = "\n".join(cells)
    program = HIDING + program if name == "mxnet" else as_ours(program)
    printed = run(program, home, tmp_path)
    assert "Time for converting to numpy" in printed
    last = counts(printed)
    assert last["multi_sgd_update"] >= 2
    # Called once by itself and once by a symbol, as MXNet counts them in this order of cells.
    assert {
        last[f"MyAddOne::{part}"] for part in ("pure_python", "_plus_scalar", "CopyCPU2CPU")
    } == {2}
    assert json.loads((tmp_path / "profile_output.json").read_text())["traceEvents"]


def test_the_profiled_iteration_has_the_rows_that_real_mxnet_has(
    cells: list[str], home: Path, shared_dir: Path, tmp_path: Path
):
    training = [cell for cell in cells if "MyAddOne" not in cell]  # what comes later counts, too
    found = counts(run(as_ours("\n".join(training)), home, tmp_path))
    expected = counts((shared_dir / "golden/mxnet/seed2_train_dumps.txt").read_text())
    assert {n: c for n, c in found.items() if n not in DIFFERENT and n[:6] != "Memory"} == {
        n: c for n, c in expected.items() if n not in DIFFERENT and n[:6] != "Memory"
    }

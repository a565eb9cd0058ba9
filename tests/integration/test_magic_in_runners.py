"""A notebook run by a program: nbclient in this process, papermill with a parameter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode, v4

from tests.environment import missing
from tests.integration.kernel import ROOT

LOAD = "%load_ext mxprof_nb\nimport mxprof_nb.runtime as mx"
PARAMETERS = "size = 2"
PROFILED = "%%mxprofile\na = mx.nd.ones((size, size))\nmx.nd.dot(a, a).asnumpy()[0, 0]"
FAILING = "%%mxprofile\nmx.nd.ones((2, 2)).asnumpy()\nraise ValueError('told')"
BEYOND = "print('must not run')"


def book(*cells: str) -> NotebookNode:
    """A notebook whose cell with parameters is marked for papermill."""
    made = [v4.new_code_cell(cell) for cell in cells]
    for cell in made:
        cell.metadata.tags = ["parameters"] if cell.source == PARAMETERS else []
    kernel = {"name": "python3", "display_name": "Python", "language": "python"}
    node: NotebookNode = v4.new_notebook(cells=made, metadata={"kernelspec": kernel})
    return node


def check_profiled(cell: NotebookNode, value: str) -> None:
    shown, profile = cell.outputs
    assert shown.data["text/plain"] == f"np.float32({value})"
    assert {"text/plain", "text/html", "image/png"} == set(profile.data)
    assert re.search(r" events( · |\n)recording cost ", profile.data["text/plain"])


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in; kernels find the package, and leave nothing elsewhere."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_nbclient_keeps_value_and_profile(surroundings: Path):
    node = book(LOAD, PARAMETERS, PROFILED)
    NotebookClient(node, resources={"metadata": {"path": str(surroundings)}}).execute()
    check_profiled(node.cells[2], "2.0")
    assert not list(surroundings.iterdir()), "no files unless asked"


def test_nbclient_stops_at_an_exception_in_a_profiled_cell(surroundings: Path):
    node = book(LOAD, FAILING, BEYOND)
    client = NotebookClient(node, resources={"metadata": {"path": str(surroundings)}})
    with pytest.raises(CellExecutionError) as stopped:
        client.execute()
    assert (stopped.value.ename, stopped.value.evalue) == ("ValueError", "told")
    assert [output.output_type for output in node.cells[1].outputs] == ["error", "display_data"]
    assert not node.cells[2].outputs


def papermill(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if find_spec("papermill") is None:
        missing("papermill is not installed")
    command = [sys.executable, "-m", "papermill", "in.ipynb", "out.ipynb", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_papermill_sets_a_parameter_of_a_profiled_notebook(surroundings: Path):
    nbformat.write(book(LOAD, PARAMETERS, PROFILED), surroundings / "in.ipynb")
    done = papermill(surroundings, "-p", "size", "3")
    assert done.returncode == 0, done.stderr
    check_profiled(nbformat.read(surroundings / "out.ipynb", as_version=4).cells[-1], "3.0")
    assert sorted(path.name for path in surroundings.iterdir()) == ["in.ipynb", "out.ipynb"]


def test_papermill_stops_at_an_exception_in_a_profiled_cell(surroundings: Path):
    nbformat.write(book(LOAD, FAILING, BEYOND), surroundings / "in.ipynb")
    done = papermill(surroundings)
    assert done.returncode != 0
    assert "ValueError: told" in done.stderr
    last = nbformat.read(surroundings / "out.ipynb", as_version=4).cells[-1]
    assert (last.source, last.outputs) == (BEYOND, [])

"""A notebook run without a person, as nbconvert does it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from tests.integration.kernel import ROOT

CELLS = [
    "%load_ext mxprof_nb\nimport mxprof_nb.runtime as mx",
    "%%mxprofile\na = mx.nd.ones((20, 20))\nmx.nd.dot(a, a).asnumpy()[0, 0]",
    "%%mxprofile\nmx.nd.ones((2, 2)).asnumpy()\nraise ValueError('told')",
    "print('must not run')",
]


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a notebook that was run with the default settings of nbconvert."""
    folder = tmp_path_factory.mktemp("nbconvert")
    book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in CELLS[:2]])
    nbformat.write(book, folder / "book.ipynb")
    assert nbconvert(folder, "--to", "notebook", "--output", "executed.ipynb").returncode == 0
    return folder


def nbconvert(folder: Path, *options: str, book: str = "book.ipynb"):
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
    }
    command = [sys.executable, "-m", "nbconvert", "--execute", *options, book]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def test_the_notebook_keeps_the_static_forms_and_no_widget_state(executed: Path):
    book = nbformat.read(executed / "executed.ipynb", as_version=4)
    value, profile = book.cells[1].outputs
    assert value.data["text/plain"] == "np.float32(20.0)"
    assert {"text/plain", "text/html", "image/png"} <= set(profile.data)
    assert not any("widget" in mime for mime in profile.data)
    assert not book.metadata.get("widgets")
    assert "dot" in profile.data["text/html"]
    assert (executed / "executed.ipynb").stat().st_size < 500_000


def test_the_page_shows_the_profile(executed: Path):
    done = nbconvert(executed, "--to", "html", "--output", "page")
    assert done.returncode == 0, done.stderr
    page = (executed / "page.html").read_text(encoding="utf-8")
    assert "data:image/svg+xml;base64," in page
    assert "host waited" in page
    assert "jupyter.widget-view" not in page


def test_an_exception_in_a_profiled_cell_stops_the_notebook(tmp_path: Path):
    book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in (CELLS[0], *CELLS[2:])])
    nbformat.write(book, tmp_path / "book.ipynb")
    done = nbconvert(tmp_path, "--to", "notebook", "--output", "executed.ipynb")
    assert done.returncode != 0
    assert "ValueError" in done.stderr
    assert "told" in done.stderr
    done = nbconvert(tmp_path, "--to", "notebook", "--output", "executed.ipynb", "--allow-errors")
    assert done.returncode == 0, done.stderr
    outputs = nbformat.read(tmp_path / "executed.ipynb", as_version=4).cells[1].outputs
    assert [output.output_type for output in outputs] == ["error", "display_data"]

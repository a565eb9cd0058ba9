"""Every tutorial runs from its first cell to its last, which checks itself."""

from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_its_last_cell_checks_itself(path: Path, tmp_path: Path) -> None:
    node = executed(nbformat.read(path, as_version=4), tmp_path)
    last = node.cells[-1]
    assert last.cell_type == "code"
    assert "assert " in last.source
    assert printed(last) == "All checks passed.\n"
    told = "".join(cell.source for cell in node.cells)
    left = [file.name for file in tmp_path.iterdir() if file.name not in told]
    assert left == [], "a tutorial leaves nothing behind unless it says so"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_is_committed_without_outputs(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    nbformat.validate(node)
    assert all(not cell.outputs for cell in node.cells if cell.cell_type == "code")

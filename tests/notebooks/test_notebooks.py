"""Every tutorial runs from its first cell to its last, which checks itself."""

from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))

pytestmark = pytest.mark.notebook


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    node: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
    NotebookClient(
        node,
        km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs),
        timeout=300,
        store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return node


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_its_last_cell_checks_itself(path: Path, tmp_path: Path) -> None:
    node = executed(path, tmp_path)
    last = node.cells[-1]
    assert last.cell_type == "code"
    assert "assert " in last.source
    assert last.outputs[-1].text == "All checks passed.\n"
    assert not list(tmp_path.iterdir()), "a tutorial leaves nothing behind unless it says so"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_is_committed_without_outputs(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    nbformat.validate(node)
    assert all(not cell.outputs for cell in node.cells if cell.cell_type == "code")

"""Runs a notebook in a kernel of its own, as nbclient does for a person without a browser."""

from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

__all__ = ["NOTEBOOKS", "executed", "printed"]

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def executed(
    node: nbformat.NotebookNode, folder: Path, *, allow_errors: bool = False
) -> nbformat.NotebookNode:
    """Run all cells in a folder and return the notebook, which has its outputs then."""
    specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
    NotebookClient(
        node,
        km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs),
        timeout=300,
        allow_errors=allow_errors,
        store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return node


def printed(cell: nbformat.NotebookNode) -> str:
    """Return what a cell printed and nothing else; it may come in several pieces."""
    return "".join(output.get("text") or str(output) for output in cell.outputs)

"""Runs a notebook in a kernel of its own, as nbclient does for a person without a browser."""

from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

__all__ = ["NOTEBOOKS", "executed", "printed"]

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


class _ThisPython(AsyncKernelManager):
    """Starts kernels of the Python that runs the tests, whatever else is installed."""

    def __init__(self, **options: Any) -> None:
        specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
        super().__init__(kernel_spec_manager=specs, **options)


def executed(
    node: nbformat.NotebookNode, folder: Path, *, allow_errors: bool = False
) -> nbformat.NotebookNode:
    """Run all cells in a folder and return the notebook, which has its outputs then."""
    # The client ends the kernel, and closes its sockets, of a manager that it made itself.
    NotebookClient(
        node,
        kernel_name="python3",
        kernel_manager_class=_ThisPython,
        timeout=300,
        allow_errors=allow_errors,
        store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return node


def printed(cell: nbformat.NotebookNode) -> str:
    """Return what a cell printed and nothing else; it may come in several pieces."""
    return "".join(output.get("text") or str(output) for output in cell.outputs)

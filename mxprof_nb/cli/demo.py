"""`mxprof-nb demo`: run the first tutorial and show what a profile looks like.

Runs it in a Jupyter kernel of this Python, prints its profiles, and writes report.html and
trace.json. With --lab it opens the tutorial in JupyterLab instead.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mxprof_nb.cli.doctor import pip
from mxprof_nb.errors import MxprofError, WriteError

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["declare", "work"]

NOTEBOOK = "01_first_profile.ipynb"
#: Variable of the notebook whose profile the demo saves.
SAVED = "training"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the verb."""
    parser.add_argument("--lab", action="store_true", help="open the tutorial in JupyterLab")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where to write report.html and trace.json (default: here)",
    )


def work(options: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    notebook = _find_notebook()
    _require("jupyterlab" if options.lab else "nbclient", "ipykernel", "mlxtend")
    return _open_lab(notebook) if options.lab else _run_demo(notebook, options.output)


def _find_notebook() -> Path:
    """Return the tutorial: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / "notebooks", package.parent / "notebooks"):
        if (folder / NOTEBOOK).is_file():
            return folder / NOTEBOOK
    raise MxprofError(
        f"The tutorial {NOTEBOOK} is missing from this installation. "
        "Install the package again, or run the demo from a checkout."
    )


def _require(*modules: str) -> None:
    wanting = [name for name in modules if find_spec(name) is None]
    if wanting:
        are = "is" if len(wanting) == 1 else "are"
        raise MxprofError(
            f"The demo needs {', '.join(wanting)}, which {are} not installed. "
            f"Run: {pip(' '.join(wanting))}"
        )


def _open_lab(notebook: Path) -> int:
    """Open JupyterLab on the tutorial itself; ends with the server."""
    server = subprocess.Popen([sys.executable, "-m", "jupyter", "lab", str(notebook)])
    while True:
        try:
            return server.wait()
        except KeyboardInterrupt:
            pass  # the server heard it, too, and asks whether to stop


def _run_demo(notebook: Path, output: Path) -> int:
    """Run the tutorial, print what its profiled cells show, save one profile in two forms."""
    import nbformat
    from nbclient.exceptions import CellExecutionError

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError.to(str(output), error) from error
    node = nbformat.reads(notebook.read_text(encoding="utf-8"), as_version=4)
    report, trace = (output / "report.html").resolve(), (output / "trace.json").resolve()
    node.cells.append(
        nbformat.v4.new_code_cell(
            f"{SAVED}.save({str(report)!r}); {SAVED}.save({str(trace)!r})", id="save"
        )
    )
    try:
        _execute(node, output)
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        print(f"mxprof-nb: the tutorial {notebook} stopped at the cell above.", file=sys.stderr)
        return 1
    for text in _shown(node):
        print(text)
    print(f"Wrote {report} (open it in a browser)")
    print(f"Wrote {trace} (for chrome://tracing, Perfetto, or mxprof_nb.load)")
    return 0


def _execute(node: NotebookNode, folder: Path) -> None:
    """Run a notebook in a kernel of this very interpreter, with a progress bar."""
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from tqdm.auto import tqdm

    cells = [index for index, cell in enumerate(node.cells) if cell.cell_type == "code"]
    # No kernel folders: a "python3" kernel of another environment must not be taken by accident.
    specs = KernelSpecManager(kernel_dirs=[], ensure_native_kernel=True)
    with tqdm(total=len(cells), desc="Running the tutorial", unit="cell") as bar:

        def finished(cell: Any, cell_index: int, execute_reply: Any) -> None:
            bar.update()

        client = NotebookClient(
            node,
            km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs),
            timeout=600,
            store_widget_state=False,
            extra_arguments=["--IPKernelApp.log_level=ERROR"],  # its remarks are not the demo's
            resources={"metadata": {"path": str(folder)}},
            on_cell_executed=finished,
        )
        client.execute()


def _shown(node: NotebookNode) -> Iterator[str]:
    """Yield headings, printed text, and the text form of every profile, in order."""
    for cell in node.cells:
        if cell.cell_type == "markdown":
            heading = cell.source.splitlines()[0]
            if heading.startswith("#"):
                title = heading.lstrip("# ")
                yield f"\n{title}\n{'=' * len(title)}"
            continue
        if "%%mxprofile" in cell.source:
            # The sentences below it speak of its lines.
            lines = enumerate(cell.source.splitlines(), 1)
            yield "\n" + "\n".join(f"{number:>4}  {line}" for number, line in lines) + "\n"
        for output in cell.outputs:
            if output.output_type == "stream" and output.name == "stdout":
                yield output.text.rstrip("\n")
            elif output.output_type == "display_data" and "text/plain" in output.data:
                yield output.data["text/plain"]

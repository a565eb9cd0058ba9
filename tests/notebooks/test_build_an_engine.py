"""The tutorial that builds an engine: what a learner may change, and what its last cell finds."""

import re
from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "12_build_an_engine")


def changed(old: str, new: str) -> nbformat.NotebookNode:
    """Return the tutorial with one place in its code changed."""
    node: nbformat.NotebookNode = nbformat.read(PATH, as_version=4)
    code = [cell for cell in node.cells if cell.cell_type == "code"]
    (cell,) = (cell for cell in code if old in cell.source)
    assert cell.source.count(old) == 1
    cell.source = cell.source.replace(old, new)
    return node


def with_graph(*lines: str) -> nbformat.NotebookNode:
    """Return the tutorial with a learner's own graph."""
    cell = next(c for c in nbformat.read(PATH, as_version=4).cells if c.id == "graph-code")
    return changed(cell.source, "graph = [" + ", ".join(lines) + "]")


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        pytest.param(
            "variable.writing or variable.readers or variable.queue",
            "variable.writing or variable.queue",
            "your engine, write after read: write began before read had ended, .* also uses a",
            id="write after read",
        ),
        pytest.param(
            "variable.writing or variable.readers or variable.queue",
            "variable.readers or variable.queue",
            "your engine, write after write: ",  # the wait itself may be what came too early
            id="write after write",
        ),
        pytest.param(
            "if variable.writing or variable.queue:",
            "if variable.queue:",
            "your engine, read after write: read began before write had ended, .* also uses a",
            id="read after write",
        ),
        pytest.param(
            "for number in range(1, workers + 1):",
            "for number in range(1, 2):",
            "your engine, read after read: .* could have run side by side, and nothing did",
            id="one worker",
        ),
        pytest.param(
            "            operator.run()\n",
            "            operator.run()\n            operator.run()\n",
            "your engine, read after write: not every operator had run once",
            id="everything twice",
        ),
        pytest.param(
            "        if failure is None:\n",
            "        if True:\n",
            "a dependant of a failure must not run",
            id="dependants of failures",
        ),
        pytest.param(
            "variable.failure = failure\n",
            "pass\n",
            "your engine: waiting for x told ''",
            id="failures forgotten",
        ),
        pytest.param(
            "push=mx.engine.push,",
            "push=lambda f, reads, writes, name: mx.engine.push(f, reads, name=name),",
            "the real engine: predict began before load had ended, .* also uses images",
            id="the real engine",
        ),
    ],
)
def test_the_last_cell_says_what_is_wrong_with_an_engine(
    old: str, new: str, verdict: str, tmp_path: Path
) -> None:
    node = executed(changed(old, new), tmp_path, allow_errors=True)
    (output,) = node.cells[-1].outputs
    assert output.output_type == "error"
    assert output.ename == "AssertionError"
    assert re.search(verdict, output.evalue), output.evalue


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(
            ['("a", "", "x", 20)', '("b", "x", "x", 20)', '("c", "x x", "y y", 20)'], id="chain"
        ),
        pytest.param([f'("{n}", "x", "y{n}", 30)' for n in range(6)], id="readers"),
        pytest.param(['("alone", "", "x", 10)'], id="one"),
    ],
)
def test_other_graphs_pass_the_checks_as_well(lines: list[str], tmp_path: Path) -> None:
    node = executed(with_graph(*lines), tmp_path)
    assert printed(node.cells[-1]) == "All checks passed.\n"


def test_a_graph_that_cannot_be_checked_is_told_so(tmp_path: Path) -> None:
    node = with_graph('("twice", "", "x", 10)', '("twice", "x", "", 10)')
    (output,) = executed(node, tmp_path, allow_errors=True).cells[-1].outputs
    assert output.evalue == "graph: two operators have the same name"

"""The tutorial that builds an engine: what a learner may change, and what its last cell finds."""

import contextlib
import io
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
            "if variable.writing or variable.queue:",
            "if variable.writing:",
            "your engine, read after a write that waits: read_again began before write had ended",
            id="a reader that overtakes a writer",
        ),
        pytest.param(
            "        if writes and variable.readers:\n            return\n",
            "",
            "your engine, write after a read that waited: write_again began before read had ended",
            id="a writer that is let go with readers",
        ),
        pytest.param(
            "list(dict.fromkeys(writes))",
            "list(writes)",
            "your engine: an operator that is given a variable twice, .* waits for itself",
            id="a variable twice",
        ),
        pytest.param(
            "            operator.run()\n"
            "            end = time.perf_counter()\n"
            "            with self.lock:\n",
            "            with self.lock:\n"
            "                operator.run()\n"
            "                end = time.perf_counter()\n",
            "your engine: two operators .* the lock must not be held while an operator runs",
            id="run under the lock",
        ),
        pytest.param(
            "gate.set, reads=[variable])",
            "gate.set, writes=[variable])",
            "your engine: wait_to_read waited for an operator that only reads x",
            id="a wait that writes",
        ),
        pytest.param(
            "gate.set, writes=variables)",
            "gate.set, reads=variables)",
            "your engine: wait_for_all came back while an operator still read x",
            id="a wait for all that reads",
        ),
        pytest.param(
            '    wait_until_run(engine, Operator("wait", gate.set, reads=[variable]), gate)\n',
            "",
            "your engine: wait_to_read came back before a write of x had ended",
            id="no wait",
        ),
        pytest.param(
            "            variable.failure = failure\n",
            "            variable.failure = variable.failure or failure\n",
            "your engine: x has been written since, and still divide failed",
            id="failures for ever",
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


def check_of(graph: object) -> str:
    """Run the cell that checks a learner's graph, and return what it prints."""
    node = nbformat.read(PATH, as_version=4)
    source = next(cell.source for cell in node.cells if cell.id == "graph-check")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(source, "graph-check", "exec"), {"graph": graph})
    return out.getvalue()


ROW = ("load", "", "images", 60)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ([ROW, ("a", "images", 20)], r"row 2, \('a', 'images', 20\): expected \(name, reads, "),
        ([ROW, "load"], r"row 2, 'load': expected \(name, reads, writes, milliseconds\)"),
        ([ROW, (3, "", "x", 20)], "row 2, .*: expected a name in quotes first, not 3"),
        ([ROW, ROW], "row 2, .*: row 1 has the same name"),
        ([("a", ["images"], "x", 20)], r"row 1, .* what it reads as one string.* not \['images'\]"),
        ([("a", "x, y", "z", 20)], "row 1, .* with spaces between the variables, .* not 'x, y'"),
        ([("a", "x", None, 20)], "row 1, .* what it writes as one string.* not None"),
        ([("a", "", " ", 20)], "row 1, .* expected a variable at least"),
        ([("a", "", "x", 5)], "row 1, .* expected 10 to 1000 milliseconds, not 5"),
        ([("a", "", "x", "20")], "row 1, .* expected 10 to 1000 milliseconds, not '20'"),
        ([], "0 rows .* expected a row at least"),
        ([(f"n{n}", "", "x", 1000) for n in range(5)], "5 rows take 5000 ms .* than 4000 ms"),
    ],
)
def test_a_graph_that_cannot_be_run_is_told_which_row_and_what_is_expected(
    graph: object, expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        check_of(graph)


def test_a_variable_that_is_read_and_never_written_is_noted() -> None:
    graph = [ROW, ("a", "image", "x", 20), ("b", "images x", "x", 20)]
    assert check_of(graph) == (
        "Note: a reads image, which nobody writes. Is it spelt as you meant?\n"
    )


def test_the_profile_of_the_real_engine_names_the_line_that_waits(tmp_path: Path) -> None:
    node = nbformat.read(PATH, as_version=4)
    node.cells.append(nbformat.v4.new_code_cell("print(real)"))
    told = printed(executed(node, tmp_path).cells[-1])
    assert re.search(r"Line \d+, mx\.nd\.waitall\(\), waited ", told), told

"""The tutorial on graphs and bulks: what it says to a right answer, and to a wrong one."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "06_hybridize_and_bulk")


@pytest.mark.parametrize(
    ("answer", "told", "checked"),
    [
        ("3", "Right.\n", "All checks passed.\n"),
        ("2", "It is not 2.", "look again at the question"),
    ],
)
def test_an_answer_is_called_what_it_is(answer: str, told: str, checked: str, tmp_path: Path):
    node = nbformat.read(PATH, as_version=4)
    question = next(cell for cell in node.cells if cell.id == "question-1")
    assert question.source.count("\npieces = ...\n") == 1
    question.source = question.source.replace("pieces = ...", f"pieces = {answer}")
    cells = {cell.id: cell for cell in executed(node, tmp_path, allow_errors=True).cells}
    assert printed(cells["question-1"]).startswith(told)
    assert checked in printed(cells["check"])

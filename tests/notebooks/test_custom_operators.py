"""The tutorial on custom operators: what it says to right answers, and to wrong ones."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "07_custom_operators")
RIGHT = """\
def clip(self, is_train, req, in_data, out_data, aux):
    self.assign(out_data[0], req[0], mx.nd.clip(in_data[0], -1, 1))


def clip_backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    self.assign(in_grad[0], req[0], out_grad[0] * (in_data[0].abs() <= 1))
"""


def answered(count: str, exercise: str, folder: Path) -> dict[str, nbformat.NotebookNode]:
    """Run the tutorial with answers in it; return its cells by id."""
    node = nbformat.read(PATH, as_version=4)
    cells = {cell.id: cell for cell in node.cells}
    assert cells["question-1"].source.count("queued_operators = ...") == 1
    cells["question-1"].source = cells["question-1"].source.replace(
        "queued_operators = ...", f"queued_operators = {count}"
    )
    cells["exercise"].source = exercise
    return {cell.id: cell for cell in executed(node, folder, allow_errors=True).cells}


def test_right_answers_are_called_right(tmp_path: Path):
    cells = answered("2", RIGHT, tmp_path)
    assert printed(cells["question-1"]).startswith("Right: ")
    assert printed(cells["exercise-check"]).startswith("Right: ")
    assert printed(cells["check"]) == "All checks passed.\n"


def test_the_answers_that_the_tutorial_gives_are_these():
    answers = next(cell for cell in nbformat.read(PATH, as_version=4).cells if cell.id == "next")
    assert "Question 1: 2," in answers.source
    assert RIGHT in answers.source


def test_wrong_answers_are_told_what_is_wrong(tmp_path: Path):
    cells = answered("3", RIGHT.replace("* (in", "+ (in"), tmp_path)
    assert printed(cells["question-1"]).startswith("Not 3. Count the rows")
    assert "the gradients are" in printed(cells["exercise-check"])
    (error,) = cells["check"].outputs
    assert error.ename == "AssertionError"
    assert "look again at question 1" in error.evalue


def test_an_exercise_that_still_asks_for_values_is_told_how_often(tmp_path: Path):
    asking = RIGHT.replace(
        "mx.nd.clip(in_data[0], -1, 1)", "mx.nd.array(np.clip(in_data[0].asnumpy(), -1, 1))"
    )
    cells = answered("2", asking, tmp_path)
    assert "the code asks for 1. Can it" in printed(cells["exercise-check"])
    assert printed(cells["check"]) == "All checks passed.\n"

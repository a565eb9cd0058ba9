"""The tutorial on memory: what it says to right answers, and to wrong ones."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "05_memory")
RIGHT = """\
def measure(rounds):
    return [layers(batch).asscalar() for _ in range(rounds)]
"""
#: Cells that no answer depends on.
SLOW = ("leak-run", "names-run", "unnamed-run", "copy-run", "place-run", "saved", "check")


def answered(
    numbers: str, exercise: str, folder: Path, *, whole: bool
) -> dict[str, nbformat.NotebookNode]:
    """Run the tutorial with answers in it; return its cells by id."""
    node = nbformat.read(PATH, as_version=4)
    node.cells = [cell for cell in node.cells if whole or cell.id not in SLOW]
    cells = {cell.id: cell for cell in node.cells}
    assert cells["question-1"].source.count("= ..., ...") == 1
    cells["question-1"].source = cells["question-1"].source.replace("..., ...", numbers)
    cells["exercise"].source = exercise
    return {cell.id: cell for cell in executed(node, folder, allow_errors=True).cells}


def test_right_answers_are_called_right(tmp_path: Path):
    cells = answered("2, 2", RIGHT, tmp_path, whole=True)
    assert printed(cells["question-1"]).startswith("Right: ")
    assert printed(cells["exercise-check"]).startswith("Right: the peak is 2 MB")
    assert printed(cells["check"]) == "All checks passed.\n"


def test_the_answers_that_the_tutorial_gives_are_these():
    answers = next(cell for cell in nbformat.read(PATH, as_version=4).cells if cell.id == "next")
    assert "Question 1: 2 and 2." in answers.source
    assert RIGHT in answers.source


def test_wrong_answers_are_told_what_is_wrong(tmp_path: Path):
    wrong = "def measure(rounds):\n    return [0.5] * rounds"
    cells = answered("2, 60", wrong, tmp_path, whole=True)
    assert printed(cells["question-1"]).startswith("Right for 6. With 60 layers,")
    assert printed(cells["exercise-check"]).startswith("There should be 8 losses of ")
    (error,) = cells["check"].outputs
    assert error.ename == "AssertionError"
    assert "look again at question 1" in error.evalue


def test_the_exercise_as_it_is_given_is_told_its_peak(tmp_path: Path):
    node = nbformat.read(PATH, as_version=4)
    given = next(cell for cell in node.cells if cell.id == "exercise").source
    cells = answered("7, 7", given, tmp_path, whole=False)
    assert printed(cells["question-1"]).startswith("Not 7: ")
    assert "Who will call backward()?" in printed(cells["exercise-check"])

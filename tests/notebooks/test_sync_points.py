"""The tutorial on sync points: what it says to right answers, and to wrong ones."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "04_sync_points")
RIGHT = """\
def scale_down(arrays):
    return [mx.nd.broadcast_div(a, mx.nd.maximum(a.max(), 1).reshape((1, 1))) for a in arrays]
"""
#: Cells that take most of the time and that no answer depends on.
SLOW = ("chatty-measured", "quiet-measured", "gain", "check")


def answered(
    line: str, exercise: str, folder: Path, *, whole: bool
) -> dict[str, nbformat.NotebookNode]:
    """Run the tutorial with answers in it; return its cells by id."""
    node = nbformat.read(PATH, as_version=4)
    node.cells = [cell for cell in node.cells if whole or cell.id not in SLOW]
    cells = {cell.id: cell for cell in node.cells}
    assert cells["question-1"].source.count("sync_point = ...") == 1
    cells["question-1"].source = cells["question-1"].source.replace(
        "sync_point = ...", f"sync_point = {line}"
    )
    cells["exercise"].source = exercise
    return {cell.id: cell for cell in executed(node, folder, allow_errors=True).cells}


def test_right_answers_are_called_right(tmp_path: Path):
    cells = answered("6", RIGHT, tmp_path, whole=True)
    assert printed(cells["question-1"]) == "Right.\n"
    assert printed(cells["exercise-check"]).startswith("Right: ")
    assert printed(cells["check"]) == "All checks passed.\n"


def test_the_answers_that_the_tutorial_gives_are_these():
    answers = next(cell for cell in nbformat.read(PATH, as_version=4).cells if cell.id == "next")
    assert "line 6" in answers.source
    assert RIGHT in answers.source


def test_wrong_answers_are_told_what_is_wrong(tmp_path: Path):
    wrong = "def scale_down(arrays):\n    return [array / 2 for array in arrays]"
    cells = answered("4", wrong, tmp_path, whole=True)
    assert printed(cells["question-1"]) == "No value is asked for on line 4.\n"
    assert "should become 0.5 everywhere" in printed(cells["exercise-check"])
    (error,) = cells["check"].outputs
    assert error.ename == "AssertionError"
    assert "look again at question 1" in error.evalue


def test_an_exercise_that_still_asks_for_values_is_told_how_often(tmp_path: Path):
    asking = (
        "def scale_down(arrays):\n"
        "    return [array / max(float(array.max().asscalar()), 1.0) for array in arrays]"
    )
    cells = answered("6", asking, tmp_path, whole=False)
    assert "4 calls still ask for one" in printed(cells["exercise-check"])

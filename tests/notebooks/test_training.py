"""The tutorial on training: what it says to right answers, and to wrong ones."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "03_training")
RIGHT = """\
def loader():
    return gluon.data.DataLoader(SlowDigits(), batch_size=64, num_workers=2)
"""
#: Cells that take most of the time and that no answer depends on.
SLOW = ("data-run", "memory-run", "learn-run", "check")
#: Answers that are right on any machine, however busy it is.
MEASURED = (
    'one_step.tables["Operators"].name.iloc[0]',
    'round(work_of_parts(one_step)["backward"] / work_of_parts(one_step)["forward"])',
)


def answered(
    slowest: str, ratio: str, exercise: str, folder: Path, *, whole: bool
) -> dict[str, nbformat.NotebookNode]:
    """Run the tutorial with answers in it; return its cells by id."""
    node = nbformat.read(PATH, as_version=4)
    node.cells = [cell for cell in node.cells if whole or cell.id not in SLOW]
    cells = {cell.id: cell for cell in node.cells}
    for place, name, answer in (("question-1", "slowest", slowest), ("question-2", "ratio", ratio)):
        assert cells[place].source.count(f"\n{name} = ...\n") == 1
        cells[place].source = cells[place].source.replace(f"{name} = ...", f"{name} = {answer}")
    cells["exercise"].source = exercise
    return {cell.id: cell for cell in executed(node, folder, allow_errors=True).cells}


def test_right_answers_are_called_right(tmp_path: Path):
    cells = answered(*MEASURED, RIGHT, tmp_path, whole=True)
    assert printed(cells["question-1"]).startswith("Right: ")
    assert printed(cells["question-2"]) == "Right.\n"
    assert printed(cells["exercise-check"]).startswith("Right: 2 threads read")
    assert printed(cells["check"]) == "All checks passed.\n"


def test_the_answers_that_the_tutorial_gives_are_these():
    answers = next(cell for cell in nbformat.read(PATH, as_version=4).cells if cell.id == "next")
    assert RIGHT in answers.source


def test_wrong_answers_are_told_what_is_wrong(tmp_path: Path):
    given = next(c for c in nbformat.read(PATH, as_version=4).cells if c.id == "exercise").source
    cells = answered('"_mul_scalar"', "40", given, tmp_path, whole=False)
    assert "_mul_scalar is no. " in printed(cells["question-1"])
    assert "times here" in printed(cells["question-2"])
    assert "See num_workers." in printed(cells["exercise-check"])

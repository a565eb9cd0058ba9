"""The tutorial on files from elsewhere: what it says to right answers, and to wrong ones."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.environment import ROOT
from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "11_files_from_elsewhere")
RIGHT = """\
def work_of(range_name):
    return int(kernel_table.dur_ns[kernel_table.nvtx_range == range_name].sum())
"""
WRONG = """\
def work_of(range_name):
    return int(kernel_table.dur_ns.max())
"""


def answered(
    number: str, implementation: str, exercise: str, folder: Path
) -> dict[str, nbformat.NotebookNode]:
    """Run the tutorial with answers in it; return its cells by id."""
    node = nbformat.read(PATH, as_version=4)
    cells = {cell.id: cell for cell in node.cells}
    answers = {"question-1": ("number", number), "question-2": ("implementation", implementation)}
    for place, (name, answer) in answers.items():
        assert cells[place].source.count(f"\n{name} = ...\n") == 1
        cells[place].source = cells[place].source.replace(f"{name} = ...", f"{name} = {answer}")
    cells["exercise"].source = exercise
    return {cell.id: cell for cell in executed(node, folder, allow_errors=True).cells}


def test_right_answers_are_called_right(tmp_path: Path):
    cells = answered("3", '"jit:avx2"', RIGHT, tmp_path)
    assert printed(cells["question-1"]) == "Right: im2col, gemm, add_bias.\n"
    assert printed(cells["question-2"]).startswith("Right: jit:avx2, for mb16_ic1oc8")
    assert printed(cells["exercise-check"]).startswith("Right: 51,500 ns")
    assert printed(cells["check"]) == "All checks passed.\n"


def test_the_answers_that_the_tutorial_gives_are_these():
    answers = next(cell for cell in nbformat.read(PATH, as_version=4).cells if cell.id == "next")
    assert RIGHT in answers.source
    assert "Question 1: 3. Question 2: `jit:avx2`." in answers.source


@pytest.mark.parametrize(
    ("exercise", "told"), [(None, "See nvtx_range."), (WRONG, "of conv and of relu")]
)
def test_wrong_answers_are_told_what_is_wrong(tmp_path: Path, exercise: str | None, told: str):
    node = nbformat.read(PATH, as_version=4)
    given = next(cell for cell in node.cells if cell.id == "exercise").source
    cells = answered("1", '"jit:avx512"', exercise or given, tmp_path)
    assert "Not 1. Count the rows" in printed(cells["question-1"])
    assert "Look at line_of_convolution" in printed(cells["question-2"])
    assert told in printed(cells["exercise-check"])


def test_the_log_in_the_tutorial_is_part_of_the_recorded_one():
    node = nbformat.read(PATH, as_version=4)
    (cell,) = [cell for cell in node.cells if cell.id == "onednn-log"]
    lines = cell.source.split('"""\\\n')[1].split('\n"""')[0].splitlines()
    recorded = iter((ROOT / "tests/golden/onednn/stamped.log").read_text().splitlines())
    assert len(lines) > 15
    assert all(line in recorded for line in lines), "lines were left out, none was changed"

"""The tutorial of ten questions: what its exercises say to right, wrong and missing answers."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "08_dataframe_analysis")

RIGHT = {
    1: 'len(operators.query("step == 3"))',
    2: "events.query(\"name == 'forward'\").dur_ns.sum()"
    " / events.query(\"domain == 'step'\").dur_ns.sum()",
    3: 'operators.sort_values("start_ns").drop_duplicates("track_name")'
    '.set_index("track_name").name',
}
WRONG = {1: "len(operators)", 2: "1.5", 3: "{'cpu/0 worker 1': 'sleep'}"}


@pytest.mark.parametrize(("answers", "verdict"), [(RIGHT, "right."), (WRONG, "not yet;")])
def test_a_learner_is_told_whether_an_answer_is_right(
    answers: dict[int, str], verdict: str, tmp_path: Path
) -> None:
    node = nbformat.read(PATH, as_version=4)
    cells = {number: next(c for c in node.cells if c.id == f"e{number}-code") for number in answers}
    for number, answer in answers.items():
        assert f"answer_{number} = None" in cells[number].source
        cells[number].source = cells[number].source.replace("None", answer)
    executed(node, tmp_path)
    for number, cell in cells.items():
        assert printed(cell).startswith(f"Exercise {number}: {verdict}")
    assert printed(node.cells[-1]) == "All checks passed.\n"


def test_there_are_ten_questions_and_each_answer_is_checked() -> None:
    cells = {cell.id: cell for cell in nbformat.read(PATH, as_version=4).cells}
    for number in range(1, 11):
        assert cells[f"q{number}"].source.startswith(f"## {number}. ")
        assert "assert " in cells[f"a{number}"].source

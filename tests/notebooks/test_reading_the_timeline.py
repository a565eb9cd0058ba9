"""The tutorial that reads a timeline: what it says to right answers, and to wrong ones."""

import nbformat
import pytest

from tests.notebooks.execution import NOTEBOOKS, executed, printed

pytestmark = pytest.mark.notebook

PATH = next(path for path in NOTEBOOKS if path.stem == "02_reading_the_timeline")
RIGHT = {
    "question-1": "2",
    "question-2": "'ResourceParallelRandomSetSeed'",
    "question-3": "False",
    "question-4": "'then'",
}


def answered(answers: dict[str, str]) -> dict[str, nbformat.NotebookNode]:
    """Return the tutorial with answers in the places of its dots."""
    cells = {cell.id: cell for cell in nbformat.read(PATH, as_version=4).cells}
    for question, answer in answers.items():
        assert cells[question].source.count("...") == 1
        cells[question].source = cells[question].source.replace("...", answer)
    return cells


def run(cells: dict[str, nbformat.NotebookNode], folder, *, allow_errors: bool = False) -> None:
    node = nbformat.v4.new_notebook(cells=list(cells.values()))
    for done in executed(node, folder, allow_errors=allow_errors).cells:
        cells[done.id] = done


def test_the_right_answers_are_called_right(tmp_path):
    cells = answered(RIGHT)
    run(cells, tmp_path)
    assert [printed(cells[question]) for question in RIGHT] == [
        f"Right: {answer}.\n" for answer in RIGHT.values()
    ]
    assert printed(cells["check"]) == "All checks passed.\n"


def test_wrong_answers_get_a_hint_and_the_last_cell_names_them(tmp_path):
    wrong = {
        "question-1": "3",
        "question-2": "'sum'",
        "question-3": "True",
        "question-4": "'first'",
    }
    cells = answered(wrong)
    run(cells, tmp_path, allow_errors=True)
    for question, answer in wrong.items():
        told = printed(cells[question])
        assert told.startswith(f"No, not {answer}. ")
        assert RIGHT[question] not in told, "a hint is not the answer"
    (error,) = cells["check"].outputs
    assert error.ename == "AssertionError"
    assert error.evalue.startswith("look again at: how many calls queue, only in the first run, ")


def test_nobody_must_answer(tmp_path):
    cells = answered({})
    run(cells, tmp_path)
    assert all("three dots" in printed(cells[question]) for question in RIGHT)

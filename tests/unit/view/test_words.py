import pytest

from mxprof_nb.view.words import Words
from tests.traces import dot_cell, many


def rows(trace, category):
    return trace.events.is_category(category).nonzero()[0].tolist()


@pytest.mark.parametrize("trace", [dot_cell(), many(500)])
def test_a_bar_of_a_wait_too_narrow_for_all_still_names_its_line(trace):
    words = Words(trace)
    for row in rows(trace, "sync"):
        *_, place, shortest = words.labels(row)
        assert (place, shortest) == (words.place(row), "wait")


def test_the_labels_of_a_wait_grow_shorter():
    trace = dot_cell()
    assert Words(trace).labels(rows(trace, "sync")[0]) == (
        "line 7 waited 167 ms for dot",
        "waited 167 ms for dot",
        "line 7 waited 167 ms",
        "waited 167 ms",
        "line 7",
        "wait",
    )

import pytest

from mxprof_nb.trace import TraceBuilder
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


def test_lines_and_repetitions_are_labelled_by_their_numbers():
    builder = TraceBuilder()
    marks = builder.track("repetitions", role="mark")
    lines = builder.track("cell lines", role="line")
    builder.event("repetition", track=marks, start_ns=0, dur_ns=2_000_000, step=4)
    site = builder.site("cell", 3, "", "y = x + 1")
    builder.event("line 3", track=lines, start_ns=0, dur_ns=9, category="python", site=site)
    builder.event("line 4", track=lines, start_ns=9, dur_ns=9, category="python")
    words = Words(builder.build())
    assert words.labels(0) == ("repetition 4, 2.00 ms", "repetition 4", "4")
    assert words.labels(1) == ("3: y = x + 1", "3")
    assert words.labels(2) == ("4",)

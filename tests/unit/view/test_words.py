import pytest

from mxprof_nb.trace import TraceBuilder
from mxprof_nb.view.labels import LABEL_PADDING_PX, LEAST_LETTERS, Label, width_px
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


def labels_of(name, **event):
    builder = TraceBuilder()
    track = builder.track("MainThread", role="host")
    site = builder.site("cell", 3, "", "with it:")
    builder.event(name, track=track, start_ns=9, dur_ns=2_000_000, site=site, **event)
    return Words(builder.build()).labels(0)


def test_a_span_says_on_which_line_it_began_and_not_that_it_was_queued():
    assert labels_of("forward", category="user") == (
        "forward 2.00 ms, line 3",
        "forward 2.00 ms",
        "forward",
    )
    assert labels_of("dot", category="operator", queued_ns=0)[0] == "dot 2.00 ms, queued on line 3"


def test_a_step_says_its_number():
    assert labels_of("step", category="user", step=4) == (
        "step 4, 2.00 ms, line 3",
        "step 4, 2.00 ms",
        "step 4",
    )


def test_a_number_at_the_end_of_a_name_is_not_read_with_the_time_after_it():
    assert labels_of("level 12", category="user")[1] == "level 12, 2.00 ms"


@pytest.mark.parametrize(
    "name", ["MXNDARRAYWAITALL", "CopyCPU2GPU", "illicit", "名前が長い", "W" * 99]
)
def test_a_label_ends_within_its_bar_whatever_its_letters(name):
    for room in range(0, 400, 7):
        text = Label(0, room, 0.0, "", (f"{name} 2.00 ms", name)).fit(1.0)
        assert not text or width_px(text) <= room - LABEL_PADDING_PX
        assert not text.endswith("…") or len(text) > LEAST_LETTERS

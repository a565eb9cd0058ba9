from __future__ import annotations

from dataclasses import replace

from mxprof_nb.trace import Meta, TraceBuilder
from mxprof_nb.view.headline import headline, remarks, sentences
from tests.traces import FILE, MS, dot_cell, empty_cell, ended, many


def texts(trace):
    return [str(sentence) for sentence in sentences(trace)]


def test_the_headline_says_it_all_in_one_line():
    assert headline(dot_cell()) == (
        "412 ms · host waited 371 ms (90 %) in 2 waits · worker 1 busy 92 %, worker 2 busy 3 % · "
        "12 events · recording cost 300 µs (0.1 %)"
    )


def test_each_wait_names_its_line_what_it_waited_for_and_who_queued_that():
    assert texts(dot_cell()) == [
        "Line 9, z.wait_to_read(), waited 204 ms for Convolution, queued on line 8.",
        "Line 7, y.asnumpy(), waited 167 ms for dot, queued on line 3.",
    ]
    assert sentences(dot_cell())[1].window_ns == (1_020.2 * MS, 1_187.4 * MS)


def test_a_failed_cell_says_so_first():
    trace = ended("error", "ValueError: bad shape", pending=2)
    assert headline(trace).startswith("failed after 412 ms · ")
    assert texts(trace)[:2] == [
        "The code failed: ValueError: bad shape. The profile shows what ran until then.",
        "2 operators were still queued or running when recording stopped, and may be missing.",
    ]
    assert len(texts(trace)) == 3, "never more than three sentences"


def test_an_interrupted_cell_says_so():
    trace = ended("interrupted", "KeyboardInterrupt", pending=1)
    assert headline(trace).startswith("interrupted after")
    assert "1 operator was still queued" in texts(trace)[1]


def test_a_cell_that_never_called_the_runtime_says_why_it_is_empty():
    assert headline(empty_cell()) == "2.00 ms · host never waited · 0 events"
    assert texts(empty_cell()) == ["Nothing was recorded: no call into a runtime was made."]


def test_a_run_without_length_divides_by_nothing():
    builder = TraceBuilder(Meta(window_ns=(5, 5)))
    builder.event("mark", track=builder.track("MainThread", role="host"), start_ns=5)
    assert headline(builder.build()) == "0 ns · host never waited · 1 event"


def test_waits_of_a_loop_are_summed_up_by_line():
    (sentence,) = texts(many(2_000))
    assert sentence.startswith("Line 1, y = x * 2, waited ")
    assert " waits, the longest for queued work." in sentence


def test_a_line_of_another_file_names_the_file():
    trace = dot_cell(replace(dot_cell().meta, source_file="other.py"))
    assert texts(trace)[0].startswith(f"Line 9 of {FILE}, z.wait_to_read(),")


def test_waits_left_out_of_the_recording_are_not_called_none():
    trace = dot_cell(replace(dot_cell().meta, config={"api": False}))
    assert texts(trace) == ["Waits were not recorded: API calls were left out."]


def test_many_workers_are_summed_up():
    assert "9 of 9 workers busy, most cpu/0 worker" in headline(many(2_000, tracks=10))


def test_what_was_lost_is_announced_and_told():
    builder = TraceBuilder()
    builder.event("x", track=builder.track("w", role="worker"), start_ns=0, dur_ns=5)
    builder.note("capped", 7, "7 events were dropped: max_events was reached.")
    trace = builder.build()
    assert headline(trace).endswith(" · 1 remark below")
    assert remarks(trace) == ("7 events were dropped: max_events was reached.",)

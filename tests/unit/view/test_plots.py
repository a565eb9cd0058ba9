from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mxprof_nb.capture import Profile
from mxprof_nb.errors import TraceError
from mxprof_nb.trace import TraceBuilder
from mxprof_nb.view import plots
from mxprof_nb.view.palette import colours
from mxprof_nb.view.scene import HALF, MAX_LABELS, MAX_LINKS, Stage
from mxprof_nb.view.strip import strip
from tests.traces import MS, dot_cell, empty_cell, many


def named(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def drawn_as(figure, mode):
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == mode]


def test_rows_stand_in_order_with_the_host_above():
    figure = plots.timeline(dot_cell())
    assert list(figure.layout.yaxis.ticktext) == [
        "host · MainThread",
        "waits",
        "cpu/0 worker 1",
        "cpu/0 worker 2",
    ]
    assert list(figure.layout.yaxis.tickvals) == sorted(figure.layout.yaxis.tickvals)
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "the first row is on top"


def test_time_starts_at_zero_in_a_unit_that_fits():
    figure = plots.timeline(dot_cell())
    assert figure.layout.xaxis.range == (0, 412)
    assert figure.layout.xaxis.ticksuffix == " ms"
    (wait,) = named(figure, "wait")
    assert wait.base.tolist() == pytest.approx([20.2, 205.1])
    assert wait.x.tolist() == pytest.approx([167.2, 204.0])


def test_hover_of_a_wait_tells_what_it_waited_for_and_of_an_operator_its_queue():
    figure = plots.timeline(dot_cell())
    (wait,) = named(figure, "wait")
    assert "waited for dot, queued on line 3" in wait.hovertext[0]
    assert "line 7: y.asnumpy()" in wait.hovertext[0]
    dot = next(t for t in named(figure, "operator")[0].hovertext if "<b>dot</b>" in t)
    assert "171 ms, from 16.0 ms" in dot
    assert "12.4 ms in the queue" in dot
    assert "queued on line 3: y = mx.nd.dot(x, x)" in dot


def test_each_operator_is_linked_to_its_call_and_each_wait_to_its_operator():
    figure = plots.timeline(dot_cell())
    (queued,), (released,) = named(figure, "queued"), named(figure, "released")
    assert queued.x[0::5].tolist() == pytest.approx([1.5, 3.6, 201.2]), "from when it was queued"
    assert queued.x[3::5].tolist() == pytest.approx([1.6, 16.0, 201.5]), "to when it started"
    assert released.x[3::5].tolist() == pytest.approx([187.4, 409.1]), "to the end of the wait"
    assert np.isnan(queued.x[4::5]).all()


def test_links_cross_only_in_the_gap_between_host_and_workers():
    stage = Stage(dot_cell())
    bottom_of_host, top_of_workers = stage.rows[1].y + HALF, stage.rows[2].y - HALF
    for links in stage.scene().links:
        crossing = np.sort(links.y[1:3], axis=0)
        assert crossing[0] == pytest.approx(bottom_of_host)
        assert crossing[1] == pytest.approx(top_of_workers)


def test_labels_say_where_it_waited_for_what_and_how_long():
    (labels,) = drawn_as(plots.timeline(dot_cell()), "text")
    assert "line 7 waited 167 ms for dot" in labels.text
    assert "Convolution 208 ms, queued on line 8" in labels.text


def test_labels_know_the_lengths_of_their_bars():
    (labels,) = drawn_as(plots.timeline(dot_cell()), "text")
    place = list(labels.text).index("line 7 waited 167 ms for dot")
    assert labels.customdata[place] == pytest.approx(167.2)


def test_a_row_of_waits_is_named_even_when_the_host_also_did_the_engines_work():
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    for k, (name, category) in enumerate((("WaitForVar", "sync"), ("DeleteVariable", "engine"))):
        builder.event("call", track=host, start_ns=k * 100, dur_ns=90, category="api")
        builder.event(name, track=host, start_ns=k * 100 + 5, dur_ns=50, category=category)
    assert [row.name for row in Stage(builder.build()).rows] == ["host · MainThread", "waits"]


def test_memory_is_a_step_line_on_the_same_time_axis():
    figure = plots.timeline(dot_cell())
    (memory,) = named(figure, "Memory: cpu/0")
    assert memory.line.shape == "hv"
    assert memory.yaxis == "y2"
    assert figure.layout.xaxis.anchor == "y2"
    assert memory.y.max() == 96e6
    assert list(figure.layout.yaxis2.ticktext) == ["", "96.0 MB"], "0 would run into 0 ms"


def test_a_big_trace_stays_within_its_marks_labels_and_few_traces():
    figure = plots.timeline(many(30_000, tracks=6), max_marks=700)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert sum(len(trace.x) for trace in bars) <= 700
    assert len(figure.data) <= 12
    assert all(isinstance(trace.marker.color, str) for trace in bars), "one colour per trace"
    (labels,) = drawn_as(figure, "text")
    assert 0 < len(labels.text) <= MAX_LABELS
    (heat,) = (trace for trace in figure.data if trace.type == "heatmap")
    assert "zoom in" in heat.hovertemplate
    assert 5_000 < sum(len(row) for row in heat.z[::2]) <= 32_000
    assert all(0 <= row.min() <= row.max() <= 100 for row in map(np.asarray, heat.z))
    assert all(np.asarray(row).max() == 0 for row in heat.z[1::2]), "blank between two rows"


def test_runs_say_how_many_events_they_hold_and_that_their_name_is_a_sample():
    builder = TraceBuilder()
    worker = builder.track("worker", role="worker")
    for k in range(2_000):
        builder.event("exp", track=worker, start_ns=k * 3, dur_ns=2, category="operator")
    figure = plots.timeline(builder.build(), max_marks=700)
    merged = [t for d in figure.data if d.type == "bar" for t in d.hovertext if "zoom in" in t]
    assert merged
    assert all(text.endswith("<br>mostly, by a sample: exp") for text in merged)


def test_a_part_shows_what_was_merged():
    trace = many(30_000, tracks=3)
    begin, end = trace.window_ns
    figure = plots.timeline(trace, begin_ns=begin, end_ns=begin + (end - begin) // 200)
    assert not any("zoom in" in t for d in figure.data if d.type == "bar" for t in d.hovertext)
    assert figure.layout.xaxis.range[1] == pytest.approx((end - begin) // 200 / 1e6)


def test_too_many_links_are_cut_to_those_of_the_longest_and_it_is_said():
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    worker = builder.track("worker", role="worker")
    for k in range(300):
        call = builder.event("call", track=host, start_ns=k * 100, dur_ns=50, category="api")
        work = builder.event(
            "work", track=worker, start_ns=k * 100 + 60, dur_ns=1 + k % 30, category="operator"
        )
        builder.flow(call, work)
    scene = Stage(builder.build()).scene()
    (links,) = scene.links
    assert len(links.x0_ns) == MAX_LINKS
    assert scene.notes == (
        f"{MAX_LINKS} of 300 links between calls and operators are drawn, those of the longest; "
        "zoom in for the others.",
    )


def test_instants_are_drawn_as_points():
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    builder.event("mark", track=host, start_ns=50, kind="instant")
    builder.event("span", track=host, start_ns=0, dur_ns=40)
    (points,) = drawn_as(plots.timeline(builder.build()), "markers")
    assert points.x.tolist() == [50]


def test_names_with_tags_are_shown_as_they_are():
    builder = TraceBuilder()
    worker = builder.track("<b>w</b>", role="worker")
    builder.event("<a href='x'>dot</a>", track=worker, start_ns=0, dur_ns=9, category="operator")
    text = plots.timeline(builder.build()).to_json()
    assert "<a href" not in text
    assert "<b>w" not in text


def test_a_trace_without_events_is_an_axis_that_says_so():
    figure = plots.timeline(empty_cell())
    assert [note.text for note in figure.layout.annotations] == ["no events in this range"]
    assert figure.layout.xaxis.range == (0, 2)


def test_both_themes_are_painted_completely():
    for theme in ("light", "dark"):
        figure = plots.timeline(dot_cell(), theme=theme)
        assert '"@' not in figure.to_json()
        assert figure.layout.font.color == colours(theme)["text"]
        ground = colours(theme)["background"]
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == ground


def test_unknown_themes_and_parts_without_length_are_refused():
    with pytest.raises(TraceError, match="no theme 'blue'"):
        plots.timeline(dot_cell(), theme="blue")  # type: ignore[arg-type]
    with pytest.raises(TraceError, match="must end after"):
        plots.timeline(dot_cell(), begin_ns=2 * MS, end_ns=MS)


def test_more_rows_than_fit_are_counted():
    stage = Stage(many(3_000, tracks=60))
    assert len(stage.rows) == 40
    assert stage.scene().notes[0] == "20 more rows not drawn."
    assert stage.scene().row_px < 26


def test_the_overview_adds_up_to_what_the_tables_know():
    trace = dot_cell()
    busy, waited = strip(Stage(trace), 103)
    part = 412 / 103
    assert waited.sum() * part == pytest.approx(167.2 + 204.0)
    assert busy.max() == 1
    assert busy[int(195 / part)] == 0


@pytest.mark.parametrize("name", ["@constructor", "@toString", "@text", "@operator"])
def test_an_event_named_like_a_colour_keeps_its_name(name):
    builder = TraceBuilder()
    builder.event(name, track=builder.track(name, role="worker"), start_ns=0, dur_ns=500)
    figure = plots.timeline(builder.build())
    (labels,) = drawn_as(figure, "text")
    assert labels.text[0].startswith(name)
    assert figure.layout.yaxis.ticktext == (name,)
    assert "@" not in "".join(labels.textfont.color)


def test_a_profile_is_drawn_as_its_trace_is():
    assert plots.timeline(Profile(dot_cell())) == plots.timeline(dot_cell())
    with pytest.raises(TraceError, match="'int' offers none"):
        plots.timeline(5)  # type: ignore[arg-type]


def test_a_part_far_from_the_run_is_brought_nearer():
    whole = plots.timeline(dot_cell(), begin_ns=-(10**30), end_ns=10**30)
    assert named(whole, "wait")
    begin, end = whole.layout.xaxis.range
    assert begin < 0
    assert end > 412
    far: tuple[tuple[Any, Any], ...] = (
        (10**29, 10**30),
        (-(10**30), -(10**29)),
        (float("inf"), None),
    )
    for begin, end in far:
        figure = plots.timeline(dot_cell(), begin_ns=begin, end_ns=end)
        assert figure.layout.annotations[-1].text == "no events in this range"


def test_a_part_or_a_number_of_marks_without_sense_is_refused():
    for most in (0, -5):
        with pytest.raises(TraceError, match="at least 1 bar"):
            plots.timeline(dot_cell(), max_marks=most)
    with pytest.raises(TraceError, match="must end after"):
        plots.timeline(dot_cell(), begin_ns=float("nan"))  # type: ignore[arg-type]


def test_of_many_curves_of_memory_the_highest_are_drawn_and_the_rest_is_said():
    builder = TraceBuilder()
    builder.event("x", track=builder.track("host", role="host"), start_ns=0, dur_ns=100)
    for scope in range(8):
        track = builder.track(f"Memory: cpu/0 s{scope}:", role="counter")
        builder.counter(f"Memory: cpu/0 s{scope}:", track=track, time_ns=5, value=scope, unit="B")
    scene = Stage(builder.build()).scene()
    assert [counter.name[-3:] for counter in scene.counters] == ["s3:", "s4:", "s5:", "s6:", "s7:"]
    assert scene.notes == ("3 more curves of memory not drawn.",)

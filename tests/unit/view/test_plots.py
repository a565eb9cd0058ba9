from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mxprof_nb.capture import Profile
from mxprof_nb.errors import TraceError
from mxprof_nb.lod import find
from mxprof_nb.trace import TraceBuilder
from mxprof_nb.view import plots
from mxprof_nb.view.links import HALF, MAX_LINKS, MAX_WAITS
from mxprof_nb.view.palette import colours
from mxprof_nb.view.plots import marks
from mxprof_nb.view.scene import COUNTERS, MAX_LABELS, Stage
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
        "cpu/0 workers",
        "worker 1",
        "worker 2",
        "1 more counter",
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
    waits, head, worker = stage.rows[1:4]
    assert waits.y < head.y < worker.y, "the name of the workers stands in the gap"
    bottom_of_host, top_of_workers = waits.y + HALF, worker.y - HALF
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


def queued(calls, *, waits=False):
    """Calls that each queue one operator, and perhaps waits that one operator each ended."""
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    worker = builder.track("worker", role="worker")
    for k in range(calls):
        begin = k * 100
        call = builder.event("call", track=host, start_ns=begin, dur_ns=30, category="api")
        work = builder.event(
            "work", track=worker, start_ns=begin + 30, dur_ns=1 + k % 30, category="operator"
        )
        builder.flow(call, work)
        if waits:
            wait = builder.event(
                "wait", track=host, start_ns=begin + 40, dur_ns=25 + k % 30, category="sync"
            )
            builder.flow(work, wait, "read_after_write")
    return Stage(builder.build())


def test_too_many_links_are_left_out_but_for_those_of_the_longest_waits():
    links = {links.kind: links for links in queued(MAX_LINKS // 2, waits=True).scene().links}
    assert links.keys() == {"launch", "wait"}, "as many as can be followed"
    scene = queued(100, waits=True).scene()
    (links,) = scene.links
    assert links.kind == "wait"
    assert len(links.x0_ns) == MAX_WAITS
    assert scene.notes == (
        f"{200 - MAX_WAITS} links between calls and operators are not drawn: too many to follow. "
        "Zoom in, or select a bar to see its own.",
    )
    (near,) = queued(100).scene(0, 400).links
    assert near.x0_ns.tolist() == [30, 130, 230, 330]


def test_the_selected_event_is_outlined_and_its_links_and_those_of_its_neighbours_are_drawn():
    stage = queued(300, waits=True)
    work = next(row for row in range(600, 900) if stage.words.name(row) == "work")
    scene = stage.scene(selected=work)
    begin, end = stage.times(work)
    assert scene.outline is not None
    assert (scene.outline.start_ns, scene.outline.end_ns) == (begin, end)
    links = {links.kind: links for links in scene.links}
    assert sorted(links["selected"].x1_ns.tolist())[0] == begin, "what queued it"
    assert len(links["selected"].x0_ns) == 2
    assert "launch" not in links

    call = work - 1
    links = {links.kind: links for links in stage.scene(selected=call).links}
    assert links["selected"].x1_ns.tolist() == [begin]
    assert len(links["wait"].x0_ns) == MAX_WAITS + 1, "what its operator caused"


def test_an_event_that_caused_very_much_has_links_that_can_be_drawn():
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    worker = builder.track("worker", role="worker")
    call = builder.event("call", track=host, start_ns=0, dur_ns=30, category="api")
    for k in range(5_000):
        work = builder.event("x", track=worker, start_ns=40 + k, dur_ns=1, category="operator")
        builder.flow(call, work)
    (links,) = Stage(builder.build()).scene(selected=call).links
    assert links.kind == "selected"
    assert len(links.x0_ns) == 100


def test_a_place_of_the_picture_leads_to_its_event():
    stage = Stage(dot_cell())
    row = stage.pick(100e6, stage.rows[3].y, pixel_ns=MS / 2)
    assert stage.words.name(row) == "dot"
    assert stage.pick(195e6, stage.rows[3].y, pixel_ns=MS / 2) == -1, "nothing ran"
    assert stage.pick(100e6, stage.rows[2].y, pixel_ns=MS / 2) == -1, "a head, and no row"
    assert stage.pick(100e6, stage.rows[-1].y + 3, pixel_ns=MS / 2) == -1, "no row"
    assert Stage(empty_cell()).pick(0, 0, pixel_ns=1) == -1


def test_what_a_search_did_not_find_is_dimmed_and_has_no_label():
    stage = Stage(dot_cell())
    scene = stage.scene(found=stage.index.match(find(stage.trace, "dot")))
    clear = [bars for bars in scene.bars if not bars.dim]
    assert [(bars.category, len(bars.y)) for bars in clear] == [("operator", 1)]
    assert [label.texts[-1] for label in scene.labels] == ["dot"]
    drawn = marks.figure(scene, stage.span_ns)["data"]
    dimmed = {t["marker"].get("opacity", 1) for t in drawn if t["type"] == "bar"}
    assert dimmed == {1, marks.DIMMED}


def test_the_heatmap_holds_what_was_found():
    stage = Stage(many(30_000, tracks=6))
    (whole,) = stage.scene(max_marks=300).heat
    (none,) = stage.scene(max_marks=300, found=stage.index.match(find(stage.trace, "none"))).heat
    (some,) = stage.scene(max_marks=300, found=stage.index.match(find(stage.trace, "exp"))).heat
    assert none.percent.max() == 0
    assert 0 < some.percent.sum() < whole.percent.sum()


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
    with pytest.raises(TraceError, match="'int' is none"):
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


def test_of_many_curves_of_memory_the_highest_are_drawn_and_the_rest_can_be_unfolded():
    builder = TraceBuilder()
    builder.event("x", track=builder.track("host", role="host"), start_ns=0, dur_ns=100)
    for scope in range(8):
        track = builder.track(f"Memory: cpu/0 s{scope}:", role="counter")
        builder.counter(f"Memory: cpu/0 s{scope}:", track=track, time_ns=5, value=scope, unit="B")
    stage = Stage(builder.build())
    scene = stage.scene()
    assert [counter.name[-3:] for counter in scene.counters] == ["s7:", "s6:"]
    assert (scene.rows[-1].name, scene.rows[-1].key) == ("6 more counters", COUNTERS)
    every = stage.scene(folds={COUNTERS: 1})
    assert len(every.counters) == 8
    assert (every.rows[-1].name, every.rows[-1].open) == ("counters", True)


def test_the_strip_of_a_trace_without_workers_shows_how_busy_the_hosts_were():
    builder = TraceBuilder()
    track = builder.track("python", role="host")
    builder.event("run", track=track, start_ns=0, dur_ns=50, category="python")
    builder.event("end", track=track, start_ns=100, dur_ns=0, category="user")
    busy, _ = strip(Stage(builder.build()), 4)
    assert busy[:2].tolist() == [1.0, 1.0]
    assert busy[2:].tolist() == [0.0, 0.0]


def test_a_counter_of_small_values_is_no_flat_line_at_the_bottom():
    builder = TraceBuilder()
    track = builder.track("counters", role="counter")
    for time, value in ((0, 0.001), (50, 0.0005)):
        builder.counter("learning rate", track=track, time_ns=time, value=value)
    (counter,) = Stage(builder.build()).curves.within(0, 100, every=True)
    assert counter.top == counter.peak == 0.001

from __future__ import annotations

import json

import numpy as np
import pytest

import mxprof_nb as mp
from mxprof_nb.capture import Profile
from mxprof_nb.errors import TraceError
from mxprof_nb.trace import TraceBuilder
from mxprof_nb.view import plots
from mxprof_nb.view.palette import colours
from tests.traces import MS, dot_cell, empty_cell, many

PLOTS = {
    name: getattr(plots, name)
    for name in ("concurrency", "durations", "flame", "memory", "top_operators")
}
every_plot = pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)


@every_plot
def test_a_plot_has_a_title_a_range_and_the_colours_of_its_theme(plot):
    for theme in ("light", "dark"):
        figure = plot(dot_cell(), theme=theme)
        assert figure.layout.title.text
        assert figure.layout.title.subtitle.text.startswith("412 ms")
        assert figure.layout.paper_bgcolor == colours(theme)["background"]
        assert '"@' not in figure.to_json()
        assert figure.data
    part = plot(dot_cell(), begin_ns=1_200 * MS, end_ns=1_300 * MS)
    assert part.layout.title.subtitle.text.startswith("200 to 300 ms of 412 ms")
    assert plot(Profile(dot_cell())) == plot(dot_cell())


@every_plot
def test_where_there_is_nothing_to_see_the_plot_says_so(plot):
    for trace, part in ((empty_cell(), {}), (dot_cell(), {"begin_ns": 9_000 * MS})):
        figure = plot(trace, **part)
        if figure.data:  # memory keeps its last value for ever
            assert plot is plots.memory
            continue
        (note,) = figure.layout.annotations
        assert note.text.endswith("in this range.")
        assert not figure.layout.xaxis.visible


@every_plot
def test_a_theme_or_a_part_without_sense_is_refused(plot):
    with pytest.raises(TraceError, match=r"no theme 'drak'. Did you mean 'dark'"):
        plot(dot_cell(), theme="drak")
    for begin, end in ((5, 5), (7, 5), (float("nan"), None)):
        with pytest.raises(TraceError, match="must end after"):
            plot(dot_cell(), begin_ns=begin, end_ns=end)
    with pytest.raises(TraceError, match="'int' is none"):
        plot(5)
    assert plot(dot_cell(), begin_ns=-(10**30), end_ns=10**30).layout.title.text


@every_plot
def test_a_plot_of_a_million_events_has_few_marks(plot):
    figure = plot(many(1_000_000, tracks=9))
    assert len(figure.to_json()) < 200_000


@every_plot
def test_names_are_texts_whatever_they_hold(plot):
    hostile = "<b>dot</b><a href='https://x.test'>x</a></script>&amp;\udc80"
    builder = TraceBuilder()
    host = builder.track(hostile, role="host")
    worker = builder.track(hostile, role="worker")
    builder.event(hostile, track=host, start_ns=0, dur_ns=400, category="api")
    builder.event(hostile, track=worker, start_ns=500, dur_ns=400, category="operator")
    builder.counter(hostile, track=host, time_ns=5, value=7.0, unit="B")
    text = plot(builder.build()).to_json()
    json.loads(text.encode("utf-8"))
    for tag in ("<b>dot", "<a ", "</script"):
        assert tag not in json.dumps(json.loads(text), ensure_ascii=False)


def test_the_plots_are_reached_by_the_package():
    assert mp.plots.flame is plots.flame
    assert "plots" in dir(mp)


def test_operators_run_one_after_the_other_and_dot_waits_its_turn():
    running, queued = plots.concurrency(dot_cell()).data
    assert (running.name, queued.name) == ("running", "queued, not started")
    changes = dict(zip(np.round(running.x, 1), running.y, strict=True))
    assert changes[1.6] == 1
    assert changes[15.6] == 0
    assert changes[16.0] == 1
    assert changes[187.4] == 0
    place = list(np.round(queued.x, 1)).index(3.6)
    assert queued.hovertext[place] == "1 operator queued, not started<br>from 3.60 ms"
    layout = plots.concurrency(dot_cell()).layout
    assert layout.annotations[0].text == "2 workers"
    assert layout.xaxis.title.text == "time (ms)"


def test_operators_inside_others_do_not_run_twice():
    builder = TraceBuilder()
    worker = builder.track("worker", role="worker")
    for name, start, dur in (("outer", 0, 100), ("inner", 10, 50), ("innermost", 20, 10)):
        builder.event(name, track=worker, start_ns=start, dur_ns=dur, category="operator")
    (running,) = plots.concurrency(builder.build()).data
    assert max(running.y) == 1


def test_memory_has_a_line_in_a_unit_that_fits_and_its_peak_marked():
    line, peak = plots.memory(dot_cell()).data
    assert line.name == "Memory: cpu/0"
    assert line.y.tolist() == [16, 48, 32, 96, 16, 16]
    assert peak.text == ("peak 96.0 MB",)
    assert peak.x[0] == pytest.approx(200.5)
    assert line.hovertext[1] == "<b>Memory: cpu/0</b><br>48.0 MB (48,000,000 B)<br>from 3.10 ms"
    assert plots.memory(dot_cell()).layout.yaxis.title.text == "memory (MB)"


def test_of_many_devices_those_with_the_highest_peaks_are_drawn_and_the_rest_is_said():
    builder = TraceBuilder()
    builder.event("x", track=builder.track("host", role="host"), start_ns=0, dur_ns=100)
    for device in range(9):
        track = builder.track(f"gpu/{device}", role="counter")
        builder.counter("Memory", track=track, time_ns=5, value=1e6 + device, unit="B")
        builder.counter("Memory", track=track, time_ns=6, value=float("nan"), unit="B")
    figure = plots.memory(builder.build())
    names = [line.name for line in figure.data if line.mode == "lines"]
    assert names == [f"Memory (gpu/{device})" for device in range(8, 2, -1)]
    assert "3 lower curves not drawn" in figure.layout.title.subtitle.text
    assert figure.layout.showlegend


def test_waits_lie_within_the_calls_that_made_them():
    (boxes,) = plots.flame(dot_cell()).data
    names = dict(zip(boxes.ids, boxes.labels, strict=True))
    tree = {
        (names[box], names.get(parent, "")): width
        for box, parent, width in zip(boxes.ids, boxes.parents, boxes.values, strict=True)
    }
    assert tree["WaitForVar", "MXNDArrayWaitToRead"] == 204 * MS
    assert tree["WaitForVar", "MXNDArraySyncCopyToCPU"] == 167.2 * MS
    assert tree["MXNDArraySyncCopyToCPU", "MainThread"] == 170 * MS
    assert tree["MXImperativeInvokeEx", "MainThread"] == 2.3 * MS
    place = list(boxes.labels).index("MXImperativeInvokeEx")
    assert "3 times" in boxes.customdata[place]
    assert "total 2.30 ms (2,300,000 ns)" in boxes.customdata[place]
    assert boxes.marker.colors[place] == colours("light")["api"]


def test_narrow_paths_share_a_box_that_says_how_many():
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    for k in range(50):
        builder.event(f"call {k}", track=host, start_ns=k * 1000, dur_ns=10 + k, category="api")
    figure = plots.flame(builder.build(), max_boxes=10)
    (boxes,) = figure.data
    place = list(boxes.labels).index("40 narrower paths")
    assert boxes.values[place] == sum(10 + k for k in range(40))
    assert "40 narrower paths merged" in figure.layout.title.subtitle.text
    with pytest.raises(TraceError, match="at least 1 box"):
        plots.flame(builder.build(), max_boxes=0)


def test_threads_have_boxes_of_their_own_in_one_for_all():
    builder = TraceBuilder()
    for name, dur in (("a", 300), ("b", 100)):
        host = builder.track(name, role="host")
        builder.event("call", track=host, start_ns=0, dur_ns=dur, category="api")
    (boxes,) = plots.flame(builder.build()).data
    parents = dict(zip(boxes.labels, boxes.parents, strict=True))
    values = dict(zip(boxes.labels, boxes.values, strict=True))
    assert (parents["2 threads"], values["2 threads"]) == ("", 400)
    assert (values["a"], values["b"]) == (300, 100)


def test_the_histogram_marks_what_the_tables_say():
    trace = many(20_000)
    figure = plots.durations(trace, name="dot")
    assert figure.layout.title.text == "Durations of dot"
    columns = mp.analysis.op_summary(trace, category="operator").columns
    place = columns["name"].index("dot")
    marked = [line.x0 for line in figure.layout.shapes]
    assert marked == [columns["median_ns"][place], columns["p90_ns"][place]]
    assert sum(figure.data[0].y) == columns["count"][place]
    assert figure.layout.annotations[0].text.startswith("median ")
    with pytest.raises(TraceError, match=r"No operator is called 'dott'. Did you mean 'dot'"):
        plots.durations(trace, name="dott")


def test_bars_of_a_histogram_stand_between_their_edges():
    (bars,) = plots.durations(many(20_000)).data
    middle, width = np.asarray(bars.x), np.asarray(bars.width)
    low, high = np.asarray(bars.customdata).T
    assert (middle - width / 2 == low).all()
    assert (middle + width / 2 == high).all()
    assert (low[1:] >= high[:-1]).all()


def test_a_bar_is_the_total_and_in_it_the_self_time():
    builder = TraceBuilder()
    worker = builder.track("worker", role="worker")
    for name, start, dur in (("outer", 0, 100), ("inner", 10, 50), ("other", 200, 30)):
        builder.event(name, track=worker, start_ns=start, dur_ns=dur, category="operator")
    figure = plots.top_operators(builder.build(), most=2)
    total, own = figure.data
    assert figure.layout.yaxis.ticktext == ("outer", "inner", "1 other name")
    assert total.x.tolist() == [100, 50, 30]
    assert own.x.tolist() == [50, 50, 30]
    assert "total 100 ns (100 ns), 56 %" in total.hovertext[0]
    assert figure.layout.title.subtitle.text == "230 ns · 3 operators, 3 names"
    with pytest.raises(TraceError, match="at least 1 bar"):
        plots.top_operators(builder.build(), most=0)


def test_without_operators_whatever_else_ran_is_shown():
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    builder.event("load", track=host, start_ns=0, dur_ns=100, category="user")
    builder.event("wait", track=host, start_ns=200, dur_ns=100, category="sync")
    figure = plots.top_operators(builder.build())
    assert figure.layout.title.text == "Events by total time"
    assert figure.layout.yaxis.ticktext == ("load",)


def test_what_a_host_track_repeats_of_the_workers_does_not_run_twice():
    builder = TraceBuilder()
    for name, role in (("operator thread 1", "host"), ("cpu/0 thread 1", "worker")):
        track = builder.track(name, role=role)
        builder.event("dot", track=track, start_ns=0, dur_ns=100, category="operator")
    (running,) = plots.concurrency(builder.build()).data
    assert max(running.y) == 1

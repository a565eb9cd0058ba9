"""What is drawn where there is little, too much, or something amiss: each state has its picture."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import OperatorError
from mxprof_nb.lod import find
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.trace import Meta, Trace, TraceBuilder
from mxprof_nb.trace.schema import CATEGORIES
from mxprof_nb.view import report
from mxprof_nb.view.groups import OPEN
from mxprof_nb.view.headline import remarks
from mxprof_nb.view.plots.marks import figure
from mxprof_nb.view.scene import NOTHING_QUEUED, Stage
from tests.traces import MS, dot_cell, empty_cell, ended

HOUR = 3_600 * 1_000 * MS


def recorded(program) -> Trace:
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta())


def in_bulks() -> Trace:
    x = mx.nd.ones((300, 300))
    mx.nd.waitall()

    def program() -> None:
        for _ in range(3):
            with mx.engine.bulk(4):
                y = mx.nd.dot(mx.nd.exp(mx.nd.dot(x, x)), x) + 1
            y.wait_to_read()

    return recorded(program)


def with_a_failure() -> Trace:
    x = mx.nd.ones((300, 300))
    mx.nd.waitall()

    def fail() -> None:
        raise ValueError("the file is empty")

    def program() -> None:
        mx.nd.dot(x, x).wait_to_read()
        var = mx.engine.Var()
        mx.engine.push(fail, writes=[var], name="load")
        with pytest.raises(OperatorError, match="the file is empty"):
            var.wait_to_read()

    return recorded(program)


def one_event() -> Trace:
    builder = TraceBuilder()
    track = builder.track("worker", role="worker")
    builder.event("dot", track=track, start_ns=5, dur_ns=1_000, category="operator")
    return builder.build()


def without_length() -> Trace:
    builder = TraceBuilder(Meta(window_ns=(7, 7)))
    track = builder.track("MainThread", role="host")
    builder.event("mark", track=track, start_ns=7, kind="instant", category="user")
    return builder.build()


def instants() -> Trace:
    builder = TraceBuilder()
    track = builder.track("marks", role="mark")
    for k in range(20):
        builder.event(f"epoch {k}", track=track, start_ns=k * MS, kind="instant", category="user")
    return builder.build()


def of_hours() -> Trace:
    builder = TraceBuilder()
    track = builder.track("worker", role="worker")
    for k in range(30):
        builder.event(
            "step", track=track, start_ns=k * HOUR // 5, dur_ns=HOUR // 6, category="operator"
        )
    return builder.build()


def without_names() -> Trace:
    builder = TraceBuilder()
    for k in range(3):
        track = builder.track("", role="worker", tid_text=str(4_000 + k))
        builder.event("", track=track, start_ns=k * MS, dur_ns=MS, category="operator")
    return builder.build()


def of_many_names(names: int = 100_000) -> Trace:
    builder = TraceBuilder()
    track = builder.track("worker", role="worker")
    builder.add_events(
        start_ns=np.arange(names) * 1_000,
        dur_ns=np.random.default_rng(0).integers(100, 1_000, names),
        kind=0,
        name=np.array(builder.strings([f"name {k}" for k in range(names)])),
        category=0,
        domain=np.array(builder.strings([f"domain {k % 50}" for k in range(names)])),
        track=track,
    )
    return builder.build()


def dropped() -> Trace:
    trace = dot_cell()
    builder = TraceBuilder()
    builder.note("capped", 5_000, "5,000 records beyond the limit were counted and not kept.")
    return replace(trace, health=builder.build().health)


STATES = {
    "no asynchronous work": empty_cell,
    "failed": lambda: ended("error", "ValueError: no"),
    "an operator failed": with_a_failure,
    "interrupted": lambda: ended("interrupted", "KeyboardInterrupt", pending=3),
    "dropped": dropped,
    "without names": without_names,
    "one event": one_event,
    "hours": of_hours,
    "without length": without_length,
    "instants": instants,
    "many names": of_many_names,
    "bulks": in_bulks,
}


def words(trace: Trace) -> list[str]:
    """The texts of the still picture."""
    root = ElementTree.fromstring(report.svg(trace))
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_drawn_within_a_screen_by_few_marks(state):
    stage = Stage(STATES[state]())
    scene = stage.scene()
    drawn = figure(scene, stage.span_ns)
    assert drawn["layout"]["height"] < 480
    assert sum(trace["type"] == "bar" for trace in drawn["data"]) <= 11
    assert scene.marks <= 1_000
    assert scene.end_ns > scene.begin_ns
    assert words(stage.trace)
    assert report.png(stage)[:4] == b"\x89PNG"


def test_a_cell_that_did_nothing_says_so_where_rows_would_be():
    assert "no events" in words(empty_cell())


def test_the_operator_that_failed_is_outlined_and_says_why():
    stage = Stage(with_a_failure())
    (row,) = stage.words.failures
    assert stage.words.name(row) == "load"
    scene = stage.scene()
    (mark,) = scene.failures
    assert (mark.start_ns, mark.end_ns) == stage.times(row)
    hover = next(text for bars in scene.bars for text in bars.hover if "<b>load</b>" in text)
    assert "<b>failed</b>: ValueError: the file is empty" in hover
    drawn = figure(scene, stage.span_ns)
    assert [shape["name"] for shape in drawn["layout"]["shapes"]] == ["failed"]
    assert "failed" in [trace.get("name") for trace in drawn["data"]], "in the legend, too"
    assert "failed" in words(stage.trace)
    near = stage.scene(mark.start_ns, max(mark.end_ns, mark.start_ns + 1))
    texts = [text for label in near.labels for text in label.texts]
    assert "load failed: ValueError: the file is empty" in texts


def test_a_bulk_says_how_many_operators_it_holds_and_unfolds_into_them():
    stage = Stage(in_bulks())
    workers = [row for row in stage.rows if row.role == "worker" and row.key and not row.head]
    assert not any(row.open for row in workers)
    scene = stage.scene()
    texts = {text for label in scene.labels for text in label.texts}
    assert "▸ ImperativeBulk of 4 operators" in texts
    opened = stage.scene(folds={row.key: OPEN for row in workers})
    assert len(opened.rows) == len(scene.rows) + len(workers)
    assert [row.name for row in opened.rows].count("in bulks") == len(workers)
    kernels = sum(len(bars.y) for bars in opened.bars if bars.category == "kernel")
    assert kernels == 12
    texts = {text for label in opened.labels for text in label.texts}
    assert "ImperativeBulk of 4 operators" in texts
    assert "dot" in texts


def test_eleven_kinds_of_events_merged_and_searched_still_are_few_traces():
    builder = TraceBuilder()
    for k, category in enumerate(CATEGORIES):
        track = builder.track(f"thread {k}", role="host")
        for n in range(60):
            start = n * 100 if n % 2 else n * 100 + 90
            builder.event(f"e{n % 3}", track=track, start_ns=start, dur_ns=5, category=category)
    stage = Stage(builder.build())
    found = stage.index.match(find(stage.trace, "e1"))
    assert len(stage.scene(max_marks=400, width_px=60).bars) <= 11
    scene = stage.scene(max_marks=400, width_px=60, found=found)
    assert len(scene.bars) <= 11
    assert {bars.dim for bars in scene.bars} == {True, False}
    assert sum(len(bars.y) for bars in scene.bars) == scene.marks


def test_instants_alone_are_points_on_an_axis_of_their_times():
    stage = Stage(instants())
    (points,) = (
        t for t in figure(stage.scene(), stage.span_ns)["data"] if t.get("mode") == "markers"
    )
    assert len(points["x"]) == 20


def test_a_run_without_length_still_has_an_axis_and_its_mark():
    stage = Stage(without_length())
    scene = stage.scene()
    assert not scene.empty
    assert (scene.begin_ns, scene.end_ns) == (0, 1)


def test_a_track_without_a_name_is_told_by_its_ids():
    rows = [row for row in Stage(without_names()).rows if not row.head]
    assert [row.name for row in rows] == ["4000", "4001", "4002"]
    assert "thread id 4001" in rows[1].title


def test_what_was_dropped_is_said_in_the_remarks():
    assert any("5,000 records" in remark for remark in remarks(dropped()))


def test_the_axis_of_hours_counts_hours():
    stage = Stage(of_hours())
    assert figure(stage.scene(), stage.span_ns)["layout"]["xaxis"]["ticksuffix"] == " h"
    assert {"1 h", "5 h"} <= set(words(stage.trace))
    assert "1.0 h" not in words(stage.trace)


def test_code_that_queued_nothing_is_told_why_there_are_no_workers():
    builder = TraceBuilder(Meta(backend="embedded", config={"api": True, "operators": True}))
    host = builder.track("MainThread", role="host")
    builder.event("MXNDArrayFree", track=host, start_ns=0, dur_ns=50, category="api")
    assert Stage(builder.build()).scene().notes == (NOTHING_QUEUED,)
    assert Stage(dot_cell()).scene().notes == ()
    assert Stage(instants()).scene().notes == (), "nobody knows whether operators were recorded"

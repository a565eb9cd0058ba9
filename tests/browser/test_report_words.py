"""The script of a saved report says what Python says: numbers, words and tables of any range."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from mxprof_nb.trace import Cost, Meta, Trace, TraceBuilder
from mxprof_nb.trace.schema import FLOW_KINDS
from mxprof_nb.view import numbers
from mxprof_nb.view.curves import _queue
from mxprof_nb.view.inspector import inspect
from mxprof_nb.view.picture import ticks
from mxprof_nb.view.scene import Stage
from mxprof_nb.view.tables import LIVE_ROWS, grids
from mxprof_nb.view.words import MEANING_CHARS
from tests.browser.report_page import opened
from tests.traces import dot_cell, ended, many


def tangle() -> Trace:
    """Children that overlap, instants, steps, lines, counters, and arguments of all kinds."""
    random = np.random.default_rng(1)
    builder = TraceBuilder(Meta(cost=Cost(total_ns=1_000, records=300, per_record_ns=400.0)))
    marks, lines = builder.track("steps", role="mark"), builder.track("lines", role="line")
    host, worker = builder.track("host", role="host"), builder.track("w", role="worker")
    site = builder.site("train.py", 7, "step", "y = f(x)")
    for k in range(20):
        builder.event("step", track=marks, start_ns=k * 5_000, dur_ns=5_000, step=k)
        builder.event(f"line {k}", track=lines, start_ns=k * 5_000, dur_ns=4_000, site=site)
        builder.event("tick", track=host, start_ns=k * 4_000, kind="instant", domain="user")
    rows = []
    for _ in range(120):
        start, dur = int(random.integers(0, 100_000)), int(random.integers(0, 9_000))
        arg = builder.arg(bytes=dur, shapes="(3,)", dtype="float32", raw='{"axis": 1}')
        name = str(random.choice(["dot", "exp", "my op"]))
        rows.append(
            builder.event(
                name, track=worker, start_ns=start, dur_ns=dur, kind="async", arg=arg,
                category="operator", domain="operator", queued_ns=start - 300, step=3,
            )
        )  # fmt: skip
    for k in range(30):
        call = builder.event(
            "MXNDArraySyncCopyToCPU", track=host, start_ns=k * 3_000, dur_ns=2_500,
            category="api", domain="MXNET_C_API", site=site if k % 2 else -1,
        )  # fmt: skip
        wait = builder.event(
            "WaitForVar", track=host, start_ns=k * 3_000 + 100, dur_ns=2_000 + k,
            category="sync", domain="operator",
        )  # fmt: skip
        builder.flow(call, rows[k], "launch")
        builder.flow(rows[k], wait, "read_after_write")
        builder.flow(rows[k], rows[k + 1], FLOW_KINDS[k % 6])
    for name, unit in (("Memory: cpu/0", "B"), ("loss", ""), ("loss", "J"), ("odd", "")):
        owner = builder.track(f"of {name} {unit}", role="counter")
        for k in range(25):
            value = float("nan") if name == "odd" and k == 3 else float(random.normal(1e4, 1e3))
            builder.counter(name, track=owner, time_ns=k * 3_777, value=value, unit=unit)
    return builder.build()


def wide() -> Trace:
    """A hundred workers of two devices, and a bulk whose members are folded away."""
    builder = TraceBuilder()
    host = builder.track("MainThread", role="host")
    for k in range(100):
        worker = builder.track(f"gpu/{k % 2} worker {k}", role="worker", device=f"gpu/{k % 2}")
        for start in range(0, 5_000, 500):
            builder.event(
                "dot", track=worker, start_ns=start + k, dur_ns=3 * k + 1, category="operator",
                domain="operator", queued_ns=start,
            )  # fmt: skip
    bulk = builder.track("cpu/0 worker 1", role="worker", device="cpu/0")
    builder.event(
        "bulk", track=bulk, start_ns=0, dur_ns=900, category="operator", domain="operator"
    )
    for k in range(3):
        builder.event(
            "exp", track=bulk, start_ns=300 * k, dur_ns=200, category="operator", domain="bulk"
        )
    failed = builder.arg(raw='{"error": "ValueError: no"}')
    builder.event(
        "call", track=host, start_ns=0, dur_ns=90, category="api", domain="MXNET_C_API", arg=failed
    )
    for k in range(4):
        owner = builder.track(f"loss {k}", role="counter")
        builder.counter(f"loss {k}", track=owner, time_ns=k, value=1.0 + k, unit="")
    return builder.build()


TRACES = {
    "wide": wide,
    "cell": dot_cell,
    "failed": lambda: ended("error", "ValueError: no", pending=2),
    "many": lambda: many(3_000, tracks=4),
    "tangle": tangle,
    "far": lambda: replace(tangle(), meta=Meta(window_ns=(-(10**15), 10**6))),
}


@pytest.fixture(params=TRACES)
def trace(request: pytest.FixtureRequest) -> Trace:
    return TRACES[request.param]()


def test_the_tables_of_any_range_are_those_of_python(
    chromium: Browser, tmp_path: Path, trace: Trace
):
    random = np.random.default_rng(0)
    stage = Stage(trace)
    begin, end = int(trace.events.start_ns.min()), int(trace.events.end_ns.max())
    windows: list[tuple[int, int] | None] = [None]
    for share in (0.5, 0.2, 0.01):
        length = int((end - begin) * share)
        start = begin + int(random.integers(0, end - begin - length))
        windows.append((start, start + length))
    with opened(chromium, trace, tmp_path) as report:
        for window in windows:
            asked = None if window is None else [time - stage.origin_ns for time in window]
            found = report.ask("window => report.tables.of(...(window ?? []))", asked)
            wanted = [grid.described() for grid in grids(stage.trace, window, most=LIVE_ROWS)]
            assert len(found) == len(wanted)
            for mine, theirs in zip(found, wanted, strict=True):
                for ours, other in zip(mine["columns"], theirs.pop("columns"), strict=True):
                    values = [np.nan if value is None else value for value in other.pop("values")]
                    assert ours.pop("values") == pytest.approx(values, nan_ok=True)
                    assert ours == {**other, "texts": list(other["texts"])}
                del mine["columns"]
                theirs |= {name: list(theirs[name]) for name in ("notes", "meanings")}
                assert mine == theirs
        report.assert_clean()


def test_the_words_on_every_event_are_those_of_python(
    chromium: Browser, tmp_path: Path, trace: Trace
):
    stage = Stage(trace)
    position = np.empty(len(trace), dtype=np.int64)
    position[stage.index.order] = np.arange(len(trace))
    rows = np.arange(len(trace))[:: max(len(trace) // 300, 1)].tolist()
    with opened(chromium, trace, tmp_path) as report:
        told = report.ask(
            """all => all.map(at => ({
                labels: report.words.labels(at), hover: report.words.hover(at),
                times: [report.trace.start[at], report.trace.end[at]],
                inspected: report.words.inspect(at)}))""",
            position[rows].tolist(),
        )
        for row, mine in zip(rows, told, strict=True):
            assert tuple(mine["times"]) == stage.times(row)
            assert mine["labels"] == list(stage.words.labels(row))
            hover = stage.words.hover(row).replace("</i><br><i>", " ").split("<br>")
            assert mine["hover"] == [unescape(re.sub("<[^>]*>", "", line)) for line in hover]
            wanted = asdict(inspect(stage, row))
            assert wanted.pop("window_ns") == tuple(mine["times"])
            for side in ("causes", "effects"):
                for tie in (*wanted[side], *mine["inspected"][side]):
                    tie["row"] = 0
            wanted["facts"] = [list(fact) for fact in wanted["facts"]]
            mine["inspected"]["row"] = row
            assert mine["inspected"] == {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in wanted.items()
            }
        report.assert_clean()
    assert MEANING_CHARS > 0


@pytest.mark.parametrize("choices", [0, 1])
def test_rows_are_laid_as_python_lays_them(
    chromium: Browser, tmp_path: Path, trace: Trace, choices: int
):
    stage = Stage(trace)
    folds = {row.key: choices for row in stage.rows if row.key}
    layout = stage.arranged(folds).layout
    with opened(chromium, trace, tmp_path) as report:
        found = report.ask("folds => { report.picture.arrange(folds); }", folds)
        found = report.ask("report.picture.layout.rows")
        assert found == [
            {
                "name": row.name, "y": pytest.approx(row.y), "role": row.role, "title": row.title,
                "key": row.key, "open": row.open, "head": row.head, "lanes": list(row.lanes),
            }
            for row in layout.rows
        ]  # fmt: skip
        assert report.ask("[...report.picture.layout.y]") == pytest.approx(layout.y)
        assert report.ask("report.picture.layout.drawn") == layout.drawn.tolist()
        joined = zip(layout.first, layout.stop, layout.joined_y, strict=True)
        assert report.ask("report.picture.layout.joined") == [
            pytest.approx(list(one)) for one in joined
        ]
        names = report.ask("report.picture.rows.map(row => row.name)")
        assert names == [row.name for row in stage.scene(folds=folds).rows]
        report.assert_clean()


def test_what_stood_in_the_queue_is_counted_as_python_counts_it(chromium: Browser, tmp_path: Path):
    trace = tangle()
    (curve,) = _queue(trace, trace.window_ns[0])
    with opened(chromium, trace, tmp_path) as report:
        lines = report.ask("Object.values(report.trace.queueLine()).map(values => [...values])")
        assert lines == [curve.line.time_ns.tolist(), curve.line.value.tolist()]
        report.assert_clean()


def test_numbers_are_written_as_python_writes_them(chromium: Browser, tmp_path: Path):
    random = np.random.default_rng(2)
    values = [0, 1, 5, 12_250, 12_350, 999_500, 999_499, 1_000_000, 59_999_999_999, 12.25, 0.125,
              2.5, 1e15, 1.5e15, 7e25, 599e9, 600e9, 5_430e9, 3.6e15, -12_250, 8.5e12,
              *random.lognormal(10, 6, 300).tolist(),
              *np.round(random.lognormal(10, 6, 300)).tolist()]  # fmt: skip
    ways = {
        "durationText": numbers.duration,
        "sizeText": numbers.size,
        "x => valueText(x, '')": numbers.value,
        "x => valueText(x, 'GHz')": lambda x: numbers.value(x, "GHz"),
    }
    shares = [0, 1, 0.005, 0.125, 0.135, 0.995, 0.985, *random.random(50).tolist()]
    with opened(chromium, dot_cell(), tmp_path) as report:
        for name, way in ways.items():
            mine = report.ask(f"all => all.map({name})", values)
            assert mine == [way(value) for value in values]
        assert report.ask("all => all.map(shareText)", shares) == list(map(numbers.share, shares))
        for begin, end in ((0, 412e6), (12e6, 48.3e6), (5e8, 5e8 + 10), (0, 0), (-4e3, 900)):
            mine = report.ask("all => rangeText(...all)", [begin, end, 1e9])
            assert mine == numbers.time_range(begin, end, 1e9)
        for begin, end in ((0, 412_000_000), (0, 10), (123_456, 123_999), (0, 7 * 10**12)):
            mine = report.ask("all => ticksOf(...all, 9)", [begin, end])
            assert [tuple(tick) for tick in mine] == ticks(begin, end)
        report.assert_clean()

"""The live timeline in JupyterLab in Chromium: how long after a gesture the new data stand there.

A million events in the kernel. A gesture ends with its last input event, by the time at which the
browser had it, not at which a busy page came to hear of it. That of a wheel is known to be the last
only after a pause, which counts. The new data are painted when the frame that shows them is done.
CPU time is that of the page's main thread.
Beside it a plain plotly figure of as many bars as it still moves, which asks no kernel.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.harness import LeftOut, figure

EVENTS = 1_000_000
FIGURE_EVENTS = 10_000
ROOT = Path(__file__).resolve().parents[2]
SETUP = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from mxprof_nb.view.widgets import ProfileWidget, profile
from tests.traces import many"""
SHOWN = """\
trace = many({EVENTS}, tracks=8, seed={seed})
profile.MAX_MARKS = {marks}
w = ProfileWidget(trace)
w"""
FIGURE = """\
import numpy as np, plotly.graph_objects as go, plotly.io as pio
pio.renderers.default = "plotly_mimetype"
trace = many({EVENTS}, tracks=8)
events, ms = trace.events, 1e6
go.Figure([
    go.Bar(orientation="h", base=(events.start_ns[m] / ms), x=events.dur_ns[m] / ms,
           y=events.track[m], hovertext=[str(k) for k in np.flatnonzero(m)])
    for m in (events.name % 8 == k for k in range(8))
], dict(barmode="overlay", dragmode="pan", yaxis_fixedrange=True)).show(
    config=dict(scrollZoom=True))"""

#: Notes when the last input event came, and when the plot that it led to was painted.
WATCH = """([selector, live]) => {
    const plot = document.querySelector(selector), frame = plot.closest('.mxp-frame');
    const told = window.told = {input: 0, painted: 0, seq: -1};
    const note = event => { told.input = Math.max(told.input, event.timeStamp); };
    for (const name of ['wheel', 'mouseup', 'pointerup', 'keydown'])
        window.addEventListener(name, note, {capture: true, passive: true});
    const painted = () => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => { told.painted = performance.now(); };
        channel.port2.postMessage(0);
    });
    if (live) new MutationObserver(() => { told.seq = +frame.dataset.seq; painted(); })
        .observe(frame, {attributeFilter: ['data-seq']});
    else plot.on('plotly_relayout', painted);
}"""
#: The painted plot is that of the newest view, and the page has been at rest for a while; or the
#: gesture changed nothing, as a drag beyond the end of the run.
RESTED = """() => told.painted > told.input
    ? performance.now() - told.painted > 400 : performance.now() - told.input > 5000"""


class Page:
    """A notebook with one plot, in a Lab of its own."""

    def __init__(self, cell: str, *, live: bool) -> None:
        from tests.browser import lab

        executable = lab.find_chromium()
        if executable is None:
            raise LeftOut("there is no Chromium")
        self._stack = ExitStack()
        atexit.register(self._stack.close)
        enter = self._stack.enter_context
        root, home = (Path(enter(tempfile.TemporaryDirectory())) for _ in range(2))
        self.server = enter(lab.running_lab(root, home))
        self.lab = enter(lab.LabPage(enter(lab.running_chromium(executable)), self.server))
        self.page = self.lab.page
        self._plot = ".mxp .js-plotly-plot" if live else ".js-plotly-plot"
        self.server.write("live.ipynb", SETUP, cell)
        self.lab.open("live.ipynb")
        self._devtools = self.page.context.new_cdp_session(self.page)
        self._devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.lab.run_all(timeout_s=240)
        self.page.locator(f"{self._plot} .xtick").first.wait_for(timeout=120_000)
        self.page.evaluate(WATCH, [self._plot, live])
        self.page.wait_for_timeout(2000)

    def close(self) -> None:
        self._stack.close()

    def cpu_ms(self) -> float:
        metrics = self._devtools.send("Performance.getMetrics")["metrics"]
        return 1e3 * float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    def gestures(self, count: int) -> np.ndarray[Any, Any]:
        """Zoom and pan in turn; return ms to the painted data and CPU ms, shape (gestures, 2)."""
        box = self.page.locator(f"{self._plot} .nsewdrag").first.bounding_box()
        assert box is not None
        mouse, random = self.page.mouse, np.random.default_rng(0)
        taken: list[tuple[float, float]] = []
        for k in range(count):
            x = box["x"] + box["width"] * random.uniform(0.3, 0.7)
            y = box["y"] + box["height"] / 2
            mouse.move(x, y)
            before = self.cpu_ms()
            if k % 2:
                mouse.down()
                mouse.move(x + random.uniform(-200, 200), y, steps=6)
                mouse.up()
            else:
                for _ in range(3):
                    mouse.wheel(0, -120 if k % 16 < 10 else 240)
            self.page.wait_for_function(RESTED, timeout=60_000)
            took = self.page.evaluate("told.painted - told.input")
            if took > 0:
                taken.append((took, self.cpu_ms() - before))
        return np.array(taken)


@cache
def _gestures(marks: int, pairs: int) -> np.ndarray[Any, Any]:
    page = Page(SHOWN.format(EVENTS=EVENTS, seed=0, marks=marks), live=True)
    try:
        page.gestures(4)
        return page.gestures(2 * pairs)
    finally:
        page.close()


@cache
def _figure_gestures(pairs: int) -> np.ndarray[Any, Any]:
    page = Page(FIGURE.format(EVENTS=FIGURE_EVENTS), live=False)
    try:
        page.gestures(2)
        return page.gestures(pairs)
    finally:
        page.close()


def _ms(value: float) -> str:
    return f"{value:.0f} ms"


GESTURE = "end of a gesture to new data painted, 1,000,000 events in the kernel, {} marks"


@figure("live, 1,000 marks", of=GESTURE.format("1,000"), wanted="at most 100 ms", show=_ms)
def gesture_to_paint(pairs: int) -> Sequence[float]:
    return list(map(float, _gestures(1000, pairs)[:, 0]))


@figure("live, 1,500 marks", of=GESTURE.format("1,500"), wanted="at most 150 ms", show=_ms)
def gesture_to_paint_more(pairs: int) -> Sequence[float]:
    return list(map(float, _gestures(1500, pairs)[:, 0]))


@figure(
    "live, 95th percentile",
    of="the same at 1,000 marks, 95 % of gestures take less",
    wanted="at most 300 ms",
    show=_ms,
)
def gesture_to_paint_p95(pairs: int) -> Sequence[float]:
    return [float(np.percentile(_gestures(1000, pairs)[:, 0], 95))]


@figure(
    "live, CPU of the page",
    of="CPU time of the page's main thread per gesture, 1,000 marks",
    wanted="at most 200 ms",
    show=_ms,
)
def gesture_cpu(pairs: int) -> Sequence[float]:
    return list(map(float, _gestures(1000, pairs)[:, 1]))


@figure(
    "live, a figure beside it",
    of=f"end of a gesture to painted, go.Bar figure of {FIGURE_EVENTS:,} events",
    wanted="",
    show=_ms,
)
def figure_gesture(pairs: int) -> Sequence[float]:
    return list(map(float, _figure_gestures(pairs)[:, 0]))


@figure(
    "live, CPU of that figure",
    of=f"CPU time of the page per gesture, go.Bar figure of {FIGURE_EVENTS:,} events",
    wanted="",
    show=_ms,
)
def figure_cpu(pairs: int) -> Sequence[float]:
    return list(map(float, _figure_gestures(pairs)[:, 1]))


@cache
def _first_views(pairs: int) -> list[float]:
    """Return seconds from running a cell to its painted timeline: first of a page, then others."""
    from tests.browser import lab

    executable = lab.find_chromium()
    if executable is None:
        raise LeftOut("there is no Chromium")
    with ExitStack() as stack:
        root, home = (Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2))
        server = stack.enter_context(lab.running_lab(root, home))
        browser = stack.enter_context(lab.running_chromium(executable))
        page = stack.enter_context(lab.LabPage(browser, server))
        shown = min(pairs, 6)
        made = f"traces = [many({EVENTS}, tracks=8, seed=k) for k in range({shown})]"
        cells = [f"w{k} = ProfileWidget(traces[{k}])\nw{k}" for k in range(shown)]
        server.write("views.ipynb", SETUP, made, *cells)
        page.open("views.ipynb")
        taken: list[float] = []
        run = """async ([cell, wait]) => {
            const {content} = jupyterapp.shell.currentWidget;
            content.activeCellIndex = cell;
            const begin = performance.now();
            await jupyterapp.commands.execute('notebook:run-cell');
            if (!wait) return 0;
            const node = content.widgets[cell].node;
            node.scrollIntoView(); // off the screen nothing is drawn
            while (!node.querySelector('.mxp .js-plotly-plot .xtick'))
                await new Promise(requestAnimationFrame);
            await new Promise(requestAnimationFrame);
            return (performance.now() - begin) / 1000;
        }"""
        for cell in range(2):
            page.page.evaluate(run, [cell, False])
        for cell in range(2, 2 + shown):
            page.page.wait_for_timeout(1000)
            taken.append(page.page.evaluate(run, [cell, True]))
    return taken


def _s(value: float) -> str:
    return f"{value:.2f} s"


@figure(
    "live, first view",
    of="running a cell to its painted timeline of 1,000,000 events, first of a page",
    wanted="at most 2 s",
    show=_s,
)
def first_view(pairs: int) -> Sequence[float]:
    return _first_views(pairs)[:1]


@figure(
    "live, later views",
    of="the same, profiles after it",
    wanted="at most 0.5 s",
    show=_s,
)
def later_views(pairs: int) -> Sequence[float]:
    return _first_views(pairs)[1:]

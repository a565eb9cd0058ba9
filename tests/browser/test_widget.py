"""The widget in a real page: drawn, zoomed by hand, cheap the second time, and offline."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from mxprof_nb.runtime.ops import spec
from mxprof_nb.view.glossary import meaning
from tests.browser.lab import LabPage, LabServer

ROOT = Path(__file__).resolve().parents[2]
SETUP = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from mxprof_nb.view.widgets import ProfileWidget
from tests.traces import dot_cell, many"""
PLOT = ".jp-Notebook .js-plotly-plot"
#: The whole run is shown, as far as the page knows.
WHOLE = """(plot => { const {range} = plot.layout.xaxis;
    return range[1] - range[0] > 0.95 * plot.closest(".mxp-frame").dataset.whole })"""
#: No label runs into the next one of its row, or out of its bar by more than a rounding.
FREE_LABELS = """plot => {
    const all = (plot.closest(".mxp-frame") ?? plot).querySelectorAll(".textpoint text");
    const boxes = [...all].map(n => n.getBoundingClientRect())
        .filter(box => box.width).sort((a, b) => a.top - b.top || a.left - b.left);
    return boxes.length > 1 && boxes.every((box, k) => {
        const next = boxes[k + 1];
        return !next || Math.abs(next.top - box.top) > 3 || box.right <= next.left;
    });
}"""


class Meter:
    """Bytes that web sockets bring to a page."""

    def __init__(self, lab: LabPage) -> None:
        self.received = self.of_widgets = 0
        session = lab.page.context.new_cdp_session(lab.page)
        session.send("Network.enable")
        session.on("Network.webSocketFrameReceived", self._count)

    def _count(self, event: dict) -> None:
        data, text = event["response"]["payloadData"], event["response"]["opcode"] == 1
        size = len(data) if text else len(data) * 3 // 4
        head = data[:4000] if text else base64.b64decode(data[:4000]).decode("latin-1")
        self.received += size
        self.of_widgets += size if re.search(r'"msg_type": ?"comm_', head) else 0

    def take(self) -> tuple[int, int]:
        """Return all bytes since the last time, and those of widgets among them."""
        taken = self.received, self.of_widgets
        self.received = self.of_widgets = 0
        return taken


def start(lab: LabPage, server: LabServer, name: str, *cells: str) -> None:
    server.write(name, SETUP, *cells)
    lab.open(name)
    lab.run_all()


def plot(lab: LabPage, number: int = 0) -> Locator:
    """Wait until a plot is drawn and at rest, and return it.

    Right after the first drawing the page may ask anew, for the width that it has then.
    """
    found = lab.page.locator(PLOT).nth(number)
    found.locator(".xtick").first.wait_for(timeout=60_000)
    lab.page.wait_for_function(RESTS, arg=[PLOT, number])
    return found


#: Whether a plot has been showing the same data for a while.
RESTS = """([selector, number]) => {
    const plot = document.querySelectorAll(selector)[number], drawn = plot?.data?.[0]?.x;
    const rest = (window.rest ??= new WeakMap());
    if (!drawn) return false;
    if (!rest.has(drawn)) rest.set(drawn, performance.now());
    return performance.now() - rest.get(drawn) > 400;
}"""


#: The middle of the longest bar on the screen.
WIDEST = """selector => {
    const plot = document.querySelector(selector), box = plot.getBoundingClientRect();
    const {xaxis, yaxis} = plot._fullLayout;
    let widest = {length: -1};
    for (const {meta, x, y} of plot.data)
        for (let k = 0; k < 6 * (meta?.bars ?? 0); k += 6) {
            const length = x[k + 1] - x[k], at = [(x[k] + x[k + 1]) / 2, (y[k] + y[k + 2]) / 2];
            if (length > widest.length) widest = {length, at};
        }
    const [x, y] = widest.at;
    return [box.x + xaxis._offset + xaxis.l2p(x), box.y + yaxis._offset + yaxis.l2p(y)];
}"""


def remember(lab: LabPage) -> None:
    """Keep the arrays now drawn, so that new ones are told apart by identity."""
    lab.page.evaluate(
        "selector => { window.before = document.querySelector(selector).data.map(t => t.x) }", PLOT
    )


def wait_for_new_data(lab: LabPage) -> None:
    lab.page.wait_for_function(
        """selector => document.querySelector(selector).data.every(
            trace => !window.before.includes(trace.x))""",
        arg=PLOT,
        timeout=30_000,
    )


def state(lab: LabPage) -> dict:
    found: dict = lab.page.evaluate(
        """selector => {
            const plot = document.querySelector(selector);
            const bars = plot.data.filter(trace => trace.meta?.bars);
            return {
                range: plot.layout.xaxis.range.map(Number),
                marks: bars.reduce((sum, trace) => sum + trace.meta.bars, 0),
            };
        }""",
        PLOT,
    )
    return found


def drag(lab: LabPage, target: Locator, begin: float, end: float) -> None:
    box = target.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    mouse = lab.page.mouse
    mouse.move(box["x"] + begin * box["width"], middle)
    mouse.down()
    mouse.move(box["x"] + end * box["width"], middle, steps=8)
    mouse.up()


@pytest.mark.timeout(180)
def test_keys_typed_after_a_click_anywhere_in_the_widget_never_reach_the_notebook(lab, lab_server):
    start(lab, lab_server, "keys.ipynb", "ProfileWidget(many(20_000, tracks=5))", "1", "2")
    timeline = plot(lab)
    output, keyboard = lab.output(1), lab.page.keyboard
    sources = "jupyterapp.shell.currentWidget.content.widgets.map(c => c.model.sharedModel.source)"
    cells = lab.page.evaluate(sources)

    def wheel() -> None:
        timeline.locator(".nsewdrag").first.hover()
        lab.page.mouse.wheel(0, -300)

    def cell_before_is_active() -> None:
        lab.page.locator(".jp-Cell").nth(3).locator(".jp-InputPrompt").click()

    ways = {
        "Keys": lambda: output.get_by_role("button", name="Keys").click(),
        "a drag": lambda: drag(lab, timeline, 0.45, 0.55),
        "the wheel": wheel,
        "a tab": lambda: output.get_by_role("tab").nth(0).click(),
        "a cell of a table": lambda: output.get_by_role("cell").first.click(),
        "the headline": lambda: output.locator(".mxp-headline").click(),
        "the strip": lambda: output.locator(".mxp-strip").click(),
        "the whole run": lambda: output.get_by_role("button", name="Whole run").click(),
    }
    for way, act in ways.items():
        cell_before_is_active()
        act()
        for key in "ddxxabmyzw":
            keyboard.press(key)
        assert lab.page.evaluate(sources) == cells, way
        assert lab.page.evaluate("!!document.activeElement.closest('.mxp')"), way
        keyboard.press("0")
        lab.page.wait_for_function(f"{WHOLE}(document.querySelector('{PLOT}'))")
        keyboard.press("w")
        lab.page.wait_for_function(f"!{WHOLE}(document.querySelector('{PLOT}'))")
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_a_narrower_window_cuts_labels_and_keeps_all_columns(lab, lab_server, screenshots):
    start(lab, lab_server, "narrow.ipynb", "ProfileWidget(dot_cell())")
    plot(lab)
    for width in (1000, 700, 1400):
        lab.page.set_viewport_size({"width": width, "height": 1200})
        known = "document.querySelector('.mxp-plot')._fullLayout?._size.w"
        fits = f"{known} < document.querySelector('.mxp').clientWidth"
        lab.page.wait_for_function(f"{fits} && {known} > 0.5 * ({width} - 500)")
        lab.page.wait_for_function(f"({FREE_LABELS})(document.querySelector('{PLOT}'))")
        table = lab.output(1).locator(".mxp-table")
        shown, needed = table.evaluate("node => [node.clientWidth, node.scrollWidth]")
        assert needed <= shown or width <= 700
        lab.screenshot_output(1, screenshots / f"widget-{width}.png")
        for heading in ("max ms", "share %"):
            cell = table.get_by_role("columnheader", name=heading, exact=True)
            cell.scroll_into_view_if_needed()
            inner, outer = cell.bounding_box(), table.bounding_box()
            assert inner is not None
            assert outer is not None
            assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_a_figure_brings_its_own_background_to_a_dark_page(lab, lab_server, screenshots):
    cells = ["from mxprof_nb.view import timeline\ntimeline(dot_cell())"]
    start(lab, lab_server, "figure.ipynb", *cells, "timeline(dot_cell(), theme='dark')")
    lab.set_theme("dark")
    for place, colour in ((1, "rgb(255, 255, 255)"), (2, "rgb(17, 17, 17)")):
        lab.output(place).locator(".xtick").first.wait_for()
        ground = lab.output(place).locator(".main-svg").first
        assert ground.evaluate("node => getComputedStyle(node).backgroundColor") == colour
    lab.screenshot_output(1, screenshots / "figure-light-in-dark.png")
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_the_second_timeline_costs_kilobytes(lab, lab_server):
    meter = Meter(lab)
    server_cells = ["a = ProfileWidget(dot_cell())\na", "b = ProfileWidget(many(20_000))\nb"]
    start(lab, lab_server, "twice.ipynb", *server_cells)
    plot(lab, 1)
    lab.page.wait_for_timeout(2000)  # until the last one has told its width
    first, _ = meter.take()
    lab.execute("c = ProfileWidget(many(20_000, seed=1)); display(c)")
    lab.execute("None")
    second, live = meter.take()
    print(
        f"all of the first run {first / 1e3:.0f} kB, one more {second / 1e3:.0f} kB, of which "
        f"{live / 1e3:.0f} kB for the live view and the rest to be stored"
    )
    assert first < 2_500_000
    assert 10_000 < live < 60_000
    assert second - live < 80_000
    loaders = lab.execute(
        "import ipywidgets\n"
        "from mxprof_nb.view.widgets.plotlyjs import Loader\n"
        "print(sum(isinstance(w, Loader) for w in ipywidgets.widgets.widget._instances.values()))"
    )
    assert loaders.strip() == "0", "the loader is closed once the page has the library"
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_both_themes_and_the_foot_work(lab, lab_server, screenshots):
    cell = (
        "def fail():\n    raise OSError('Cannot write /full: no space left.')\n"
        "ProfileWidget(dot_cell(), on_save=lambda: 'report.html', on_export=fail)"
    )
    start(lab, lab_server, "themes.ipynb", cell)
    plot(lab)
    output = lab.output(1)
    lab.screenshot_output(1, screenshots / "widget-light.png")
    box = output.bounding_box()
    assert box is not None
    assert box["height"] < 700

    output.get_by_role("button", name="Save report").click()
    output.get_by_text("Written: report.html").wait_for()
    output.get_by_role("button", name="Export trace").click()
    output.get_by_text("Cannot write /full: no space left.").wait_for()

    output.get_by_role("tab", name="API calls").click()
    output.get_by_role("rowheader", name="MXNDArrayWaitToRead", exact=True).wait_for()

    remember(lab)
    output.get_by_role("button", name="Line 7, y.asnumpy()").click()
    wait_for_new_data(lab)
    begin, end = state(lab)["range"]
    assert begin < 20.2 < 187.4 < end
    assert end - begin < 300
    output.get_by_role("button", name="Whole run").click()

    lab.set_theme("dark")
    lab.page.wait_for_selector(".mxp-dark .js-plotly-plot .xtick")
    lab.page.wait_for_function(
        "s => document.querySelector(s).layout.font.color === '#e6e6e6'", arg=PLOT
    )
    lab.screenshot_output(1, screenshots / "widget-dark.png")
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_a_page_that_nothing_was_pushed_to_asks_the_kernel(lab, lab_server):
    # Another version than that of JupyterLab's own plotly extension, so that it cannot serve.
    cell = "w = ProfileWidget(dot_cell())\nw._plotly_version = '0.0.0'\nw"
    start(lab, lab_server, "asked.ipynb", cell)
    plot(lab)
    lab.save()
    lab.open("asked.ipynb")
    plot(lab)
    sources = lab.page.evaluate("[...globalThis.__mxprof.libraries.values()].map(l => l.source)")
    assert sources == ["asked"]
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_events_named_like_colours_or_parts_of_scripts_keep_their_names(lab, lab_server):
    cell = """from mxprof_nb.trace import TraceBuilder
builder = TraceBuilder()
for k, name in enumerate(("@constructor", "@toString", "@text")):
    track = builder.track(name, role="worker")
    builder.event(name, track=track, start_ns=k, dur_ns=500, category="operator")
ProfileWidget(builder.build())"""
    start(lab, lab_server, "names.ipynb", cell)
    plot(lab)
    for name in ("@constructor", "@toString", "@text"):
        lab.output(1).locator(".mxp-row", has_text=name).wait_for()
        lab.output(1).locator(".textpoint", has_text=name).wait_for()
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_without_the_library_a_still_picture_is_shown(lab, lab_server):
    cell = "w = ProfileWidget(dot_cell())\nw._plotly_version = w._plotly_key = 'none'\nw"
    start(lab, lab_server, "still.ipynb", cell)
    lab.page.get_by_text("plotly.js has not arrived yet").wait_for(timeout=30_000)
    lab.page.locator(".mxp-place img").wait_for()
    lab.output(1).get_by_role("tab", name="Operators").wait_for()
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_a_plot_off_the_screen_rests_and_comes_back(lab, lab_server):
    start(lab, lab_server, "rest.ipynb", "ProfileWidget(dot_cell())", "print('x\\n' * 300)")
    plot(lab)
    scroll = """top => {
        const outer = document.querySelector('.jp-WindowedPanel-outer');
        outer.scrollTop = top ? 0 : outer.scrollHeight;
    }"""
    lab.page.evaluate(scroll, False)
    lab.page.wait_for_function("() => !document.querySelector('.mxp-plot .main-svg')")
    lab.page.evaluate(scroll, True)
    plot(lab)
    lab.assert_clean()


@pytest.mark.timeout(180)
def test_a_busy_kernel_does_not_hold_the_first_timeline_back(lab, lab_server):
    busy = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
    lab_server.write("busy.ipynb", f"{SETUP}\nProfileWidget(dot_cell())", busy)
    lab.open("busy.ipynb")
    lab.page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
    plot(lab)
    running = lab.page.locator(".jp-InputPrompt", has_text="[*]")
    assert running.count() == 1, "drawn while the second cell still runs"
    lab.page.evaluate("jupyterapp.commands.execute('notebook:interrupt-kernel')")
    running.wait_for(state="detached")


def test_names_are_explained_beside_the_pointer(lab: LabPage, lab_server: LabServer) -> None:
    start(lab, lab_server, "meanings.ipynb", "import mxprof_nb.runtime\nProfileWidget(dot_cell())")
    plot(lab)
    output = lab.output(1)
    dot = output.locator(".mxp tbody th", has_text=re.compile("^dot$"))
    assert dot.get_attribute("title") == spec("dot").doc
    assert output.locator(".mxp thead th", has_text="p90").get_attribute("title") == meaning("p90")
    lab.page.mouse.move(*lab.page.evaluate(WIDEST, PLOT), steps=3)
    told = output.locator(".mxp-hover")
    told.wait_for()
    shown = (told.text_content() or "").replace(" ", "")
    known = (meaning("WaitForVar"), meaning("MXNDArrayWaitToRead"), spec("Convolution").doc)
    assert any(text.replace(" ", "") in shown for text in known), shown
    lab.assert_clean()

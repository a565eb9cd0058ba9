"""Many timelines, views of one model, and what is left when they are gone."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.lab import LabPage, LabServer
from tests.browser.test_gestures import FIRST_WORKER, PLACE, click, inspector
from tests.browser.test_saved_notebook import WIDGET_MIME, expect_static, in_lab
from tests.browser.test_widget import (
    PLOT,
    WHOLE,
    plot,
    remember,
    start,
    state,
    wait_for_new_data,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

MANY = 30
CLOSE_ALL = """\
from mxprof_nb.view.widgets import profile
for widget in list(profile._live.values()):
    widget.close()"""
FIRST_ROW = 0
#: What the page holds of ours, whatever else it holds.
HELD = """() => ({
    models: __mxprof.models.size, shown: __mxprof.shown.size,
    plots: document.querySelectorAll('.js-plotly-plot').length,
    forms: document.querySelectorAll('.mxp').length,
})"""
#: Counts the listeners that window has, by name; runs before any script of the page.
COUNT_LISTENERS = """
window.listeners = {};
for (const [name, by] of [['addEventListener', 1], ['removeEventListener', -1]]) {
    const original = EventTarget.prototype[name];
    EventTarget.prototype[name] = function (type, ...rest) {
        if (this === window) listeners[type] = (listeners[type] ?? 0) + by;
        return original.call(this, type, ...rest);
    };
}"""


class Heap:
    """The page's memory, after collecting what is garbage."""

    def __init__(self, lab: LabPage) -> None:
        self._devtools = lab.page.context.new_cdp_session(lab.page)
        self._devtools.send("Performance.enable")
        self._devtools.send("HeapProfiler.enable")

    def measure_mb(self) -> float:
        for _ in range(3):
            self._devtools.send("HeapProfiler.collectGarbage")
        metrics = self._devtools.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "JSHeapUsedSize")) / 1e6


def test_thirty_timelines_are_drawn_in_view_only_and_leave_nothing_when_cleared(
    lab: LabPage, lab_server: LabServer
) -> None:
    lab.page.add_init_script(COUNT_LISTENERS)
    traces = f"traces = [many(20_000, tracks=5, seed=k) for k in range({MANY})]"
    cells = [f"ProfileWidget(traces[{k}])" for k in range(MANY)]
    start(lab, lab_server, "thirty.ipynb", traces, *cells)
    plot(lab)
    # anywidget complains of models that are closed before it has read their module.
    lab.page.wait_for_function(f"() => __mxprof.models.size === {MANY}")
    heap = Heap(lab)
    in_lab(lab, "await app.commands.execute('notebook:clear-all-cell-outputs')")
    lab.execute(CLOSE_ALL)
    lab.page.wait_for_function(f"() => Object.values(({HELD})()).every(n => n === 0)")
    empty_mb = heap.measure_mb()  # plotly.js is there
    before = lab.page.evaluate("({...listeners})")

    lab.run_all()
    plot(lab)
    lab.page.wait_for_function(f"() => __mxprof.models.size === {MANY}")
    held = lab.page.evaluate(HELD)
    assert held["plots"] < MANY / 2, "those off the screen are not drawn"
    full_mb = heap.measure_mb()

    outer = "document.querySelector('.jp-WindowedPanel-outer')"
    for share in (0.3, 0.6, 1, 0):
        lab.page.evaluate(f"{outer}.scrollTop = {share} * {outer}.scrollHeight")
        lab.page.wait_for_timeout(300)
    plot(lab)
    assert lab.page.evaluate(HELD)["plots"] < MANY / 2, "what went off the screen was given back"

    in_lab(lab, "await app.commands.execute('notebook:clear-all-cell-outputs')")
    lab.page.wait_for_function(f"() => ({HELD})().forms === 0")
    assert lab.page.evaluate(HELD)["plots"] == 0
    after = lab.page.evaluate("({...listeners})")
    grown = {name: n - before.get(name, 0) for name, n in after.items()}
    assert all(by <= 2 for by in grown.values()), f"listeners of window: {grown}"
    cleared_mb = heap.measure_mb()
    print(f"heap {empty_mb:.1f} MB empty, {full_mb:.1f} with {MANY}, {cleared_mb:.1f} cleared")
    assert full_mb - empty_mb < 60
    assert cleared_mb - empty_mb < 20

    lab.execute(CLOSE_ALL)
    lab.page.wait_for_function("() => __mxprof.models.size === 0")
    lab.assert_clean()


#: anywidget's two seconds are over before it has read a module, as on a page that is very busy.
NO_TIME = """const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = ms => timeout(ms === 2000 ? 0 : ms);"""


def test_a_page_that_was_busy_for_too_long_still_hears_of_everything(
    lab: LabPage, lab_server: LabServer
) -> None:
    lab.page.add_init_script(NO_TIME)
    start(lab, lab_server, "busy.ipynb", "w = ProfileWidget(many(20_000, tracks=5))\nw")
    plot(lab)
    lab.output(1).locator(".mxp-headline").click()
    remember(lab)
    lab.page.keyboard.press("w")
    wait_for_new_data(lab)
    lab.execute("w.view = [0.0, w._span_ns / 4]")
    lab.page.wait_for_function(
        f"() => document.querySelector('{PLOT}').layout.xaxis.range[0] === 0"
    )
    given_up = [error for error in lab.errors if "Failed to initialize model" in error]
    assert given_up, "anywidget did give the models up"
    lab.errors = [error for error in lab.errors if error not in given_up]
    lab.assert_clean()


def test_zoom_and_selection_outlive_the_way_off_the_screen(
    lab: LabPage, lab_server: LabServer
) -> None:
    start(lab, lab_server, "away.ipynb", "ProfileWidget(dot_cell())", "print('x\\n' * 300)")
    plot(lab)
    click(lab, 100, FIRST_WORKER)
    inspector(lab).get_by_text("dot", exact=True).wait_for()
    remember(lab)
    lab.page.keyboard.press("w")
    wait_for_new_data(lab)
    begin, end = state(lab)["range"]
    outer = "document.querySelector('.jp-WindowedPanel-outer')"
    lab.page.evaluate(f"{outer}.scrollTop = {outer}.scrollHeight")
    lab.page.wait_for_function("() => !document.querySelector('.mxp-plot .main-svg')")
    assert not lab.page.locator(".mxp-labels text").count()
    lab.page.evaluate(f"{outer}.scrollTop = 0")
    plot(lab)
    assert state(lab)["range"] == pytest.approx([begin, end])
    assert lab.page.evaluate(f"document.querySelector('{PLOT}').layout.shapes.length") == 1
    expect(inspector(lab)).to_contain_text("dot")
    lab.assert_clean()


def test_selection_and_search_follow_in_a_second_view(
    lab: LabPage, lab_server: LabServer, screenshots: Path
) -> None:
    start(lab, lab_server, "follow.ipynb", "w = ProfileWidget(dot_cell())\nw", "w")
    first, second = plot(lab, 0), plot(lab, 1)
    views = lab.output(1), lab.output(2)

    x, y = lab.page.evaluate(PLACE, [PLOT, 100, FIRST_WORKER])
    lab.page.mouse.click(x, y)
    for view in views:
        expect(view.get_by_role("region", name="Selected event")).to_contain_text("32.0 MB")
    selected = "node => node.layout.shapes.some(shape => shape.name === 'selected')"
    for timeline in (first, second):
        lab.page.wait_for_function(selected, arg=timeline.element_handle())

    views[1].locator(".mxp-headline").click()
    lab.page.keyboard.press("w")
    for timeline in (first, second):
        lab.page.wait_for_function(f"node => !{WHOLE}(node)", arg=timeline.element_handle())
    ranges = [node.evaluate("n => n.layout.xaxis.range.map(Number)") for node in (first, second)]
    assert ranges[0] == pytest.approx(ranges[1])

    lab.page.keyboard.press("/")
    lab.page.keyboard.type("waitforvar")
    for view in views:
        expect(view.locator(".mxp-found")).to_have_text("2 matches")
        field = view.get_by_role("searchbox", name="Search for the names of events")
        expect(field).to_have_value("waitforvar")
    lab.screenshot_output(2, screenshots / "second-view.png")
    lab.page.keyboard.press("Escape")
    for view in views:
        expect(view.locator(".mxp-found")).to_have_text("")

    lab.page.keyboard.down("Shift")
    box = second.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    lab.page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + 0.5 * box["width"], middle, steps=5)
    lab.page.mouse.up()
    lab.page.keyboard.up("Shift")
    for view in views:
        view.get_by_role("button", name="Clear range").wait_for()
    lab.assert_clean()


def test_a_first_time_viewer_gets_one_hint_until_it_is_closed(
    lab: LabPage, lab_server: LabServer, screenshots: Path
) -> None:
    start(lab, lab_server, "hint.ipynb", "w = ProfileWidget(dot_cell())\nw", "w")
    plot(lab, 1)
    hint = lab.page.locator(".mxp-hint")
    expect(hint).to_have_count(1)
    expect(hint).to_contain_text("Scroll to zoom, drag to pan, click a bar, ? for keys.")
    lab.screenshot_output(1, screenshots / "hint-light.png")
    lab.set_theme("dark")
    lab.page.wait_for_selector(".mxp-dark .js-plotly-plot .xtick")
    lab.page.wait_for_timeout(500)
    lab.screenshot_output(1, screenshots / "hint-dark.png")
    lab.set_theme("light")
    hint.get_by_role("button", name="Close this hint").click()
    expect(hint).to_have_count(0)
    assert lab.page.evaluate("document.activeElement.classList.contains('mxp')")
    lab.save()
    lab.open("hint.ipynb")
    plot(lab)
    expect(hint).to_have_count(0)
    lab.assert_clean()


def test_a_saved_notebook_without_its_widgets_shows_the_static_form(
    lab: LabPage, lab_server: LabServer
) -> None:
    # As a front end whose outputs stand in pages of their own has it stored.
    cell = "import os\nos.environ['VSCODE_PID'] = '1'\nProfileWidget(dot_cell())"
    start(lab, lab_server, "stored.ipynb", cell)
    plot(lab)
    lab.save()
    stored = nbformat.read(lab_server.root / "stored.ipynb", as_version=4)
    data = stored.cells[1].outputs[0].data
    assert WIDGET_MIME in data
    del data[WIDGET_MIME]
    stored.metadata.pop("widgets", None)
    nbformat.write(stored, lab_server.root / "stripped.ipynb")
    lab.execute(CLOSE_ALL)
    lab.open("stripped.ipynb")
    expect_static(lab.output(1))
    lab.assert_clean()


#: What reaches beyond the right end of the view, and nobody cuts.
TOO_WIDE = """node => node.scrollWidth <= node.clientWidth ? [] : [...node.querySelectorAll('*')]
    .filter(part => part.getBoundingClientRect().right > node.getBoundingClientRect().right + 1)
    .map(part => `${part.tagName} ${part.getAttribute('class')}`).slice(0, 12)"""
HOSTILE = """\
from mxprof_nb.trace import Health, HealthNote, Meta, TraceBuilder
hostile = (\"</script><img src=x onerror='window.hacked = 1'><b>\" + '\"' * 3
           + \"{{constructor}}\\u202e\\u200f\" + \"x\" * 10_000)
meta = Meta(window_ns=(0, 1000), title=hostile, source=hostile, source_file=hostile,
            backend=hostile, status='error', error=hostile)
builder = TraceBuilder(meta)
host, worker, other = (builder.track(role + hostile, role=role, device=hostile)
                       for role in ('host', 'worker', 'counter'))
site = builder.site(hostile, 1, hostile, hostile)
arg = builder.arg(bytes=1, shapes=hostile, dtype=hostile, raw=hostile)
call = builder.event(hostile, track=host, start_ns=0, dur_ns=900, category='api', site=site)
builder.event(hostile, track=host, start_ns=10, dur_ns=800, category='sync', site=site)
for k, category in enumerate(('operator', 'copy', 'user')):
    work = builder.event(hostile, track=worker, start_ns=300 * k, dur_ns=280, category=category,
                         site=site, arg=arg, queued_ns=10, domain=hostile)
    builder.flow(call, work)
builder.counter(hostile, track=other, time_ns=5, value=7.0, unit='B')
builder.counter(hostile, track=other, time_ns=50, value=9.0, unit=hostile)
w = ProfileWidget(builder.build(), on_save=lambda: hostile)
w"""


def test_hostile_text_in_every_field_is_inert(lab: LabPage, lab_server: LabServer) -> None:
    start(lab, lab_server, "inert.ipynb", HOSTILE)
    plot(lab)
    output = lab.output(1)
    click(lab, 100, FIRST_ROW)
    inspector(lab).get_by_text("</script>").first.wait_for()
    box = lab.page.locator(f"{PLOT} .nsewdrag").first.bounding_box()
    assert box is not None
    lab.page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 3, steps=3)
    lab.page.locator(".mxp-hover").first.wait_for()
    output.get_by_role("button", name="Save report").click()
    expect(output.locator(".mxp-said")).to_contain_text("</script>")
    for tab in output.get_by_role("tab").all():
        tab.click()
        expect(output.locator(".mxp-table td").first).to_be_visible()
    lab.page.keyboard.press("/")
    lab.page.keyboard.type("<img src=x onerror='window.hacked = 2'>")
    expect(output.locator(".mxp-found")).to_have_text("no match")
    assert lab.page.evaluate("window.hacked") is None
    assert output.locator(".mxp script, .mxp b, .mxp :not(.mxp-place) > img").count() == 0
    text = output.locator(".mxp").evaluate("node => node.textContent")
    assert not set("\u202e\u200f") & set(text), "nothing turns the words beside a name round"
    assert output.locator(".mxp").evaluate(TOO_WIDE) == []
    lab.assert_clean()

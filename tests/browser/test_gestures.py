"""Every gesture and every key of the widget, by its effect in a real page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer
from tests.browser.test_widget import (
    PLOT,
    WHOLE,
    drag,
    plot,
    remember,
    start,
    state,
    wait_for_new_data,
)

pytestmark = pytest.mark.timeout(180)
#: Where a time (in units of the axis) and a row stand on the page.
PLACE = """([selector, time, row]) => {
    const plot = document.querySelector(selector), {xaxis, yaxis} = plot._fullLayout;
    const box = plot.getBoundingClientRect(), y = yaxis.tickvals[row];
    return [box.left + xaxis._offset + xaxis.l2p(time), box.top + yaxis._offset + yaxis.l2p(y)];
}"""
SELECTED = f"document.querySelector('{PLOT}').layout.shapes.find(s => s.name === 'selected')"
LINES = f"document.querySelector('{PLOT}').data.filter(t => t.mode === 'lines+markers')"
#: Rows of `dot_cell`.
WAITS, FIRST_WORKER = 1, 3


def click(lab: LabPage, time: float, row: int, *, clicks: int = 1) -> None:
    x, y = lab.page.evaluate(PLACE, [PLOT, time, row])
    lab.page.mouse.click(x, y, click_count=clicks)


def at_pointer(lab: LabPage, x: float) -> float:
    """Return the time below a place of the page."""
    found: float = lab.page.evaluate(
        """([selector, x]) => {
            const plot = document.querySelector(selector), {xaxis} = plot._fullLayout;
            return xaxis.p2l(x - plot.getBoundingClientRect().left - xaxis._offset);
        }""",
        [PLOT, x],
    )
    return found


def width(lab: LabPage) -> float:
    begin, end = state(lab)["range"]
    return float(end - begin)


def inspector(lab: LabPage) -> Locator:
    return lab.output(1).get_by_role("region", name="Selected event")


def test_the_wheel_zooms_at_the_pointer_drag_pans_and_double_click_shows_all(
    lab: LabPage, lab_server: LabServer
) -> None:
    start(lab, lab_server, "wheel.ipynb", "ProfileWidget(many(100_000, tracks=5))")
    timeline = plot(lab)
    whole = state(lab)
    assert 300 < whole["marks"] <= 1000

    box = timeline.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    x = box["x"] + 0.7 * box["width"]
    lab.page.mouse.move(x, box["y"] + 20)
    pointed = at_pointer(lab, x)
    for _ in range(4):
        remember(lab)
        lab.page.mouse.wheel(0, -50)
        wait_for_new_data(lab)
    near = width(lab)
    assert near < 0.75 * (whole["range"][1] - whole["range"][0])
    assert at_pointer(lab, x) == pytest.approx(pointed, abs=0.02 * near)
    assert state(lab)["marks"] <= 1000

    begin = state(lab)["range"][0]
    remember(lab)
    drag(lab, timeline, 0.4, 0.6)
    wait_for_new_data(lab)
    assert width(lab) == pytest.approx(near, rel=0.01), "moved, not zoomed"
    assert state(lab)["range"][0] == pytest.approx(begin - 0.2 * near, rel=0.05)
    said = lab.output(1).locator(".mxp-range").inner_text()
    assert re.fullmatch(r"[\d.]+ to [\d.]+ ms of \d+ ms", said), said
    remember(lab)
    drag(lab, timeline, 0.1, 0.9)
    wait_for_new_data(lab)
    assert state(lab)["range"] == pytest.approx([0, near], abs=0.01 * near), "up to the begin"

    remember(lab)
    timeline.locator(".nsewdrag").first.dblclick(position={"x": 40, "y": 3})
    wait_for_new_data(lab)
    assert state(lab)["range"] == pytest.approx(whole["range"])
    lab.assert_clean()


def test_the_strip_and_a_wheel_turned_sideways_move_the_view(
    lab: LabPage, lab_server: LabServer
) -> None:
    start(lab, lab_server, "strip.ipynb", "ProfileWidget(dot_cell())")
    timeline = plot(lab)
    remember(lab)
    lab.output(1).get_by_role("button", name="Line 7, y.asnumpy()").click()
    wait_for_new_data(lab)
    begin, end = state(lab)["range"]

    timeline.locator(".nsewdrag").first.hover()
    remember(lab)
    lab.page.mouse.wheel(60, 0)
    wait_for_new_data(lab)
    later = state(lab)["range"]
    assert later[0] > begin
    assert later[1] - later[0] == pytest.approx(end - begin)

    strip = lab.output(1).locator(".mxp-strip").bounding_box()
    assert strip is not None
    y = strip["y"] + strip["height"] / 2
    lab.page.mouse.move(strip["x"] + 0.3 * strip["width"], y)
    lab.page.mouse.down()
    lab.page.mouse.move(strip["x"] + 0.7 * strip["width"], y, steps=4)
    remember(lab)
    lab.page.mouse.up()
    middle = "(([a, b]) => Math.abs((a + b) / 2 - 0.7 * 412) < 8)"
    lab.page.wait_for_function(f"{middle}(document.querySelector('{PLOT}').layout.xaxis.range)")
    assert width(lab) == pytest.approx(end - begin, rel=0.01)
    lab.assert_clean()


def test_every_key_that_moves_the_view_does(lab: LabPage, lab_server: LabServer) -> None:
    start(lab, lab_server, "moves.ipynb", "ProfileWidget(many(20_000, tracks=5))")
    plot(lab)
    lab.output(1).locator(".mxp-headline").click()

    def press(key: str) -> tuple[float, float]:
        remember(lab)
        lab.page.keyboard.press(key)
        wait_for_new_data(lab)
        begin, end = state(lab)["range"]
        return begin, end

    whole = state(lab)["range"]
    begin, end = whole
    for key in ("w", "ArrowUp", "+", "="):
        nearer = press(key)
        assert nearer[0] > begin, key
        assert nearer[1] < end, key
        begin, end = nearer
    for key, sign in (("d", 1), ("ArrowRight", 1), ("a", -1), ("ArrowLeft", -1)):
        moved = press(key)
        assert (moved[0] - begin) * sign > 0, key
        assert moved[1] - moved[0] == pytest.approx(end - begin), key
        begin, end = moved
    for key in ("s", "ArrowDown", "-"):
        further = press(key)
        assert further[1] - further[0] > end - begin, key
        begin, end = further
    assert press("0") == pytest.approx(tuple(whole))
    press("w")
    assert press("f") == pytest.approx(tuple(whole)), "nothing is selected: all of it"
    assert lab.page.locator(".jp-Notebook .jp-Cell").count() == 2, "no shortcut of Lab fired"
    lab.assert_clean()


def test_a_click_selects_outlines_and_tells_all_and_escape_deselects(
    lab: LabPage, lab_server: LabServer, screenshots
) -> None:
    cell = "import mxprof_nb.runtime\nw = ProfileWidget(dot_cell())\nw"
    start(lab, lab_server, "select.ipynb", cell)
    plot(lab)
    told = inspector(lab)
    expect(told).to_be_hidden()

    click(lab, 100, FIRST_WORKER)
    told.get_by_text("dot", exact=True).wait_for()
    lab.page.wait_for_function(SELECTED)
    outline = lab.page.evaluate(f"[{SELECTED}.x0, {SELECTED}.x1]")
    assert outline == pytest.approx([16.0, 187.4])
    for text in ("171 ms, from 16.0 ms", "12.4 ms", "line 3: y = mx.nd.dot(x, x)", "32.0 MB",
                 "(2000, 2000)", "cpu/0 worker 1"):  # fmt: skip
        expect(told).to_contain_text(text)
    expect(told.locator(".mxp-meaning")).not_to_be_empty()
    lab.screenshot_output(1, screenshots / "selected-light.png")
    lines = lab.page.evaluate(f"{LINES}.map(t => t.name)")
    assert "of the selected" in lines

    told.get_by_role("list", name="Causes").get_by_role("button", name="MXImperative").wait_for()
    told.get_by_role("list", name="Effects").get_by_role("button", name="WaitForVar").click()
    told.get_by_text("WaitForVar", exact=True).wait_for()
    expect(told).to_contain_text("waited for dot")
    lab.page.wait_for_function(f"{SELECTED}?.x1 > 187.39 && {SELECTED}.x0 > 20")

    lab.page.keyboard.press("f")
    lab.page.wait_for_function(f"!{WHOLE}(document.querySelector('{PLOT}'))")
    begin, end = state(lab)["range"]
    assert begin < 20.2 < 187.4 < end < 300

    lab.page.keyboard.press("Escape")
    expect(told).to_be_hidden()
    lab.page.wait_for_function(f"!{SELECTED}")

    lab.page.keyboard.press("0")
    lab.page.wait_for_function(f"{WHOLE}(document.querySelector('{PLOT}'))")
    click(lab, 300, WAITS)
    told.get_by_text("WaitForVar", exact=True).wait_for()
    click(lab, 195, FIRST_WORKER)  # nothing ran there
    expect(told).to_be_hidden()
    lab.set_theme("dark")
    lab.page.wait_for_selector(".mxp-dark .js-plotly-plot .xtick")
    click(lab, 300, FIRST_WORKER)
    told.get_by_text("Convolution", exact=True).wait_for()
    lab.page.wait_for_function(SELECTED)
    lab.screenshot_output(1, screenshots / "selected-dark.png")
    lab.set_theme("light")
    lab.assert_clean()


def test_a_deep_zoom_with_many_links_draws_those_of_the_selection(
    lab: LabPage, lab_server: LabServer, screenshots
) -> None:
    cell = """from mxprof_nb.trace import TraceBuilder
builder = TraceBuilder()
host, worker = (builder.track(role, role=role) for role in ("host", "worker"))
for k in range(300):
    begin = k * 100
    call = builder.event("call", track=host, start_ns=begin, dur_ns=50, category="api")
    work = builder.event(
        "work", track=worker, start_ns=begin + 60, dur_ns=30, category="operator")
    builder.flow(call, work)
ProfileWidget(builder.build())"""
    start(lab, lab_server, "links.ipynb", cell)
    plot(lab)
    assert lab.page.evaluate(f"{LINES}.length") == 0
    lab.output(1).get_by_text("300 links between calls and operators are not drawn").wait_for()
    click(lab, lab.page.evaluate(f"document.querySelector('{PLOT}').layout.xaxis.range[1]") / 2, 1)
    lab.page.wait_for_function(f"{LINES}.length === 1")
    assert lab.page.evaluate(f"{LINES}[0].x.length") == 5, "one line of four corners and a gap"
    lab.screenshot_output(1, screenshots / "links-of-selection.png")
    lab.assert_clean()


def test_search_dims_the_rest_counts_and_steps_through(
    lab: LabPage, lab_server: LabServer, screenshots
) -> None:
    start(lab, lab_server, "search.ipynb", "ProfileWidget(dot_cell())")
    plot(lab)
    output, keyboard = lab.output(1), lab.page.keyboard
    output.locator(".mxp-headline").click()
    keyboard.press("/")
    field = output.get_by_role("searchbox", name="names of events")
    expect(field).to_be_focused()
    keyboard.type("waitforvar")
    status = output.locator(".mxp-found")
    expect(status).to_have_text("2 matches")
    clear = f"""document.querySelector('{PLOT}').data.filter(
        t => t.meta?.bars && t.opacity === 1).map(t => t.name).join()"""
    lab.page.wait_for_function(f"{clear} === 'wait'")
    lab.screenshot_output(1, screenshots / "search-light.png")

    keyboard.press("Enter")
    expect(status).to_have_text("1 of 2 matches")
    expect(inspector(lab)).to_contain_text("from 20.2 ms")
    output.locator(".mxp-headline").click()
    lab.page.evaluate("document.querySelector('.mxp').focus()")
    for key, number, begin in (("n", 2, "205"), ("n", 1, "20.2"), ("p", 2, "205")):
        keyboard.press(key)
        expect(status).to_have_text(f"{number} of 2 matches")
        expect(inspector(lab)).to_contain_text(f"from {begin} ms")

    keyboard.press("/")
    keyboard.type("^(dot|conv)")
    expect(status).to_have_text("no match")
    output.get_by_role("search").get_by_role("checkbox").check()
    expect(status).to_have_text("2 matches")
    field.fill("(")
    expect(status).to_contain_text("is no regular expression")

    field.focus()
    keyboard.press("Escape")
    expect(field).to_be_hidden()
    lab.page.wait_for_function(f"{clear} !== 'wait' && {clear}.includes('operator')")
    assert lab.page.evaluate("document.activeElement.classList.contains('mxp')")
    assert lab.page.locator(".jp-Notebook .jp-Cell").count() == 2, "no shortcut of Lab fired"
    lab.assert_clean()


def test_stepping_moves_the_view_to_a_match_outside_of_it(
    lab: LabPage, lab_server: LabServer
) -> None:
    start(lab, lab_server, "step.ipynb", "ProfileWidget(dot_cell())")
    plot(lab)
    output, keyboard = lab.output(1), lab.page.keyboard
    output.locator(".mxp-headline").click()
    for _ in range(5):
        remember(lab)
        keyboard.press("w")
        wait_for_new_data(lab)
    near = width(lab)
    keyboard.press("/")
    keyboard.type("DeleteVariable")
    expect(output.locator(".mxp-found")).to_have_text("1 match")
    remember(lab)
    output.get_by_role("button", name="Next match").click()
    wait_for_new_data(lab)
    begin, end = state(lab)["range"]
    assert begin < 411 < end
    assert end - begin == pytest.approx(near, rel=0.01)
    lab.assert_clean()


def test_shift_drag_chooses_a_range_that_the_tables_follow(
    lab: LabPage, lab_server: LabServer, screenshots
) -> None:
    start(lab, lab_server, "range.ipynb", "ProfileWidget(dot_cell())")
    timeline = plot(lab)
    output = lab.output(1)
    output.get_by_role("rowheader", name="dot", exact=True).wait_for()
    view = state(lab)["range"]
    lab.page.keyboard.down("Shift")
    drag(lab, timeline, 0.6, 0.8)
    lab.page.keyboard.up("Shift")
    expect(output.locator(".mxp-range")).to_have_text(
        re.compile(r"^24[\d.]+ to 3[\d.]+ ms of 412 ms$")
    )
    expect(output.get_by_role("rowheader", name="dot", exact=True)).to_be_hidden()
    output.get_by_role("rowheader", name="Convolution", exact=True).wait_for()
    assert state(lab)["range"] == pytest.approx(view), "the view stays"
    band = f"document.querySelector('{PLOT}').layout.shapes.length"
    lab.page.wait_for_function(f"{band} === 1")
    expect(inspector(lab)).to_be_hidden()
    lab.screenshot_output(1, screenshots / "range.png")

    remember(lab)
    lab.page.keyboard.press("f")
    wait_for_new_data(lab)
    assert width(lab) < 150, "fitted to the range"
    assert output.locator(".mxp-range").inner_text().startswith("24"), "of the range still"
    output.get_by_role("button", name="Clear range").click()
    lab.page.wait_for_function(f"{band} === 0")
    expect(output.locator(".mxp-range")).not_to_have_text(re.compile(r"^24"))
    lab.assert_clean()


def test_a_question_mark_shows_all_keys_and_hides_them(lab: LabPage, lab_server: LabServer) -> None:
    start(lab, lab_server, "help.ipynb", "ProfileWidget(dot_cell())")
    plot(lab)
    output = lab.output(1)
    output.locator(".mxp-headline").click()
    keys = output.locator(".mxp-keys")
    expect(keys).to_be_hidden()
    lab.page.keyboard.press("?")
    expect(keys).to_be_visible()
    expect(keys).to_contain_text("next match")
    lab.page.keyboard.press("?")
    expect(keys).to_be_hidden()
    lab.assert_clean()


def test_all_controls_are_reached_by_the_tab_key_and_have_names(
    lab: LabPage, lab_server: LabServer
) -> None:
    start(lab, lab_server, "tab.ipynb", "ProfileWidget(dot_cell(), on_save=lambda: 'x')")
    plot(lab)
    output = lab.output(1)
    click(lab, 100, FIRST_WORKER)
    inspector(lab).get_by_text("dot", exact=True).wait_for()
    lab.page.keyboard.press("/")
    lab.page.evaluate("document.querySelector('.mxp').focus()")
    # Of the tabs one is reached, arrow keys go to the others.
    controls = ".mxp button:not([tabindex='-1']):visible, .mxp input:visible"
    wanted = output.locator(controls).count()
    seen = []
    for _ in range(wanted):
        lab.page.keyboard.press("Tab")
        seen.append(lab.page.evaluate(
            """(() => { const node = document.activeElement;
                return node.closest('.mxp') && (node.getAttribute('aria-label')
                    || node.labels?.[0]?.textContent || node.textContent).trim() })()"""
        ))  # fmt: skip
    assert all(seen), seen
    assert {"Deselect", "Search", "Keys", "Save report", "Next match (N)"} <= set(seen)
    lab.page.keyboard.press("Escape")
    assert lab.page.evaluate("!!document.activeElement.closest('.mxp')")
    lab.assert_clean()


def test_hostile_names_and_arguments_stay_text_in_the_inspector(
    lab: LabPage, lab_server: LabServer
) -> None:
    cell = """from mxprof_nb.trace import TraceBuilder
hostile = "</script><img src=x onerror='window.hacked = 1'><b>" + '"' * 3 + "\\u202e" + "x" * 10_000
builder = TraceBuilder()
host = builder.track(hostile, role="host")
worker = builder.track("worker", role="worker")
site = builder.site("<cell 1>", 1, hostile, hostile)
arg = builder.arg(bytes=1, shapes=hostile, raw=hostile)
call = builder.event(hostile, track=host, start_ns=0, dur_ns=400, category="api", site=site)
work = builder.event(hostile, track=worker, start_ns=500, dur_ns=400, category="operator",
                     site=site, arg=arg, queued_ns=100, domain=hostile)
builder.flow(call, work)
ProfileWidget(builder.build())"""
    start(lab, lab_server, "hostile.ipynb", cell)
    plot(lab)
    click(lab, 700, 1)
    told = inspector(lab)
    expect(told.locator(".mxp-name")).to_contain_text("</script><img src=x")
    expect(told).to_contain_text("arguments")
    told.get_by_role("button", name="</script>").first.wait_for()
    assert told.locator("img, script, b").count() == 0
    lab.page.keyboard.press("/")
    lab.page.keyboard.type("<img src=x onerror='window.hacked = 2'>(")
    lab.output(1).get_by_role("search").get_by_role("checkbox").check()
    expect(lab.output(1).locator(".mxp-found")).to_contain_text("is no regular expression")
    assert lab.page.evaluate("window.hacked") is None
    shown, needed = (
        lab.output(1)
        .locator(".mxp-inspector")
        .evaluate("node => [node.clientWidth, node.scrollWidth]")
    )
    assert needed <= shown
    lab.assert_clean()


def test_a_row_of_a_table_finds_its_events_and_a_selected_bar_marks_its_row(
    lab: LabPage, lab_server: LabServer, screenshots
) -> None:
    start(lab, lab_server, "rows.ipynb", "ProfileWidget(dot_cell())")
    plot(lab)
    output = lab.output(1)
    found = output.locator(".mxp-search .mxp-found")
    marked = output.locator("tr[aria-current=true]")
    output.get_by_role("button", name="Convolution", exact=True).click()
    expect(found).to_have_text("1 match")
    expect(marked).to_contain_text("Convolution")
    clear = f"""document.querySelector('{PLOT}').data.filter(
        t => t.meta?.bars && t.opacity === 1).map(t => t.meta.bars).join()"""
    lab.page.wait_for_function(f"{clear} === '1'")

    # A wait is called by its line, which is the name of no event.
    output.get_by_role("tab", name="Waits").click()
    output.get_by_role("button", name="line 7, y.asnumpy()", exact=True).click()
    expect(marked).to_contain_text("line 7")
    expect(found).to_have_text("1 match")
    output.get_by_role("button", name="Next match").click()
    expect(inspector(lab)).to_contain_text("from 20.2 ms")
    lab.screenshot_output(1, screenshots / "row-found.png")
    output.get_by_role("button", name="line 7, y.asnumpy()", exact=True).click()
    expect(output.get_by_role("search")).to_be_hidden()

    click(lab, 100, FIRST_WORKER)
    expect(output.get_by_role("tab", selected=True)).to_contain_text("Operators")
    expect(marked).to_contain_text("dot")
    click(lab, 195, FIRST_WORKER)  # nothing ran there
    expect(marked).to_have_count(0)
    lab.assert_clean()

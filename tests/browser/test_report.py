"""Every gesture and every key of a saved report, by its effect in a page without a server."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from mxprof_nb.trace import Trace, TraceBuilder
from mxprof_nb.view.report import html, save_html
from tests.browser.report_page import opened
from tests.browser.test_report_words import wide
from tests.traces import MS, dot_cell, many

#: Rows of `dot_cell`.
HOST, WAITS, FIRST_WORKER = 0, 1, 2
BLUE, WHITE = (0, 114, 178), (255, 255, 255)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def test_the_wheel_zooms_at_the_pointer_drag_pans_and_double_click_shows_all(
    chromium: Browser, folder: Path
):
    with opened(chromium, many(100_000, tracks=5), folder) as report:
        whole = report.range()
        x, y = report.place(0.7 * whole[1], 2)
        pointed = report.time_at(x)
        report.page.mouse.move(x, y)
        scrolled = report.ask("scrollY")
        for _ in range(4):
            report.page.mouse.wheel(0, -300)
        report.page.wait_for_function("report.range[1] - report.range[0] < 0.3 * report.span")
        assert report.time_at(x) == pytest.approx(pointed, abs=0.002 * report.width())
        assert report.ask("scrollY") == scrolled, "the page stays"

        begin, near = report.range()[0], report.width()
        report.drag((x, y), (x + 200, y))
        by = 200 / report.ask("report.picture.plotWidth") * near
        assert report.range()[0] == pytest.approx(begin - by, abs=0.01 * near)
        assert report.width() == pytest.approx(near), "moved, not zoomed"
        for _ in range(12):
            report.drag((x - 400, y), (x, y))
        assert report.range() == pytest.approx((0, near), abs=1), "up to the begin"

        report.page.mouse.dblclick(x, y)
        report.painted()
        assert report.range() == pytest.approx(whole)
        report.page.mouse.wheel(0, 300)
        report.painted()
        assert report.range() == pytest.approx(whole), "no further than all of it"
        report.assert_clean()


def test_every_key_that_moves_the_view_does(chromium: Browser, folder: Path):
    with opened(chromium, many(20_000, tracks=5), folder) as report:
        whole = report.range()
        report.press("w")  # before anything was clicked
        assert report.width() < whole[1]
        report.press("0")
        report.page.locator(".mxp-headline").click()
        begin, end = report.range()
        for key in ("w", "ArrowUp", "+", "="):
            report.press(key)
            nearer = report.range()
            assert nearer[0] > begin, key
            assert nearer[1] < end, key
            begin, end = nearer
        for key, sign in (("d", 1), ("ArrowRight", 1), ("a", -1), ("ArrowLeft", -1)):
            report.press(key)
            moved = report.range()
            assert (moved[0] - begin) * sign > 0, key
            assert moved[1] - moved[0] == pytest.approx(end - begin), key
            begin, end = moved
        for key in ("s", "ArrowDown", "-"):
            report.press(key)
            further = report.range()
            assert further[1] - further[0] > end - begin, key
            begin, end = further
        report.press("0")
        assert report.range() == pytest.approx(whole)
        report.press("w")
        report.press("f")
        assert report.range() == pytest.approx(whole), "nothing is selected: all of it"
        report.assert_clean()


def test_a_click_selects_outlines_and_tells_all_and_escape_deselects(
    chromium: Browser, folder: Path, screenshots: Path
):
    import_module("mxprof_nb.runtime")  # its operators bring sentences on their names
    with opened(chromium, dot_cell(), folder) as report:
        expect(report.inspector).to_be_hidden()
        report.click(100 * MS, FIRST_WORKER)
        for text in ("dot", "171 ms, from 16.0 ms", "12.4 ms", "line 3: y = mx.nd.dot(x, x)",
                     "32.0 MB", "(2000, 2000)", "cpu/0 worker 1"):  # fmt: skip
            expect(report.inspector).to_contain_text(text)
        expect(report.inspector.locator(".mxp-meaning")).not_to_be_empty()
        report.page.screenshot(path=screenshots / "saved-selected-light.png")
        causes = report.inspector.get_by_role("list", name="Causes")
        expect(causes.get_by_role("button", name="MXImperative")).to_be_visible()

        effects = report.inspector.get_by_role("list", name="Effects")
        effects.get_by_role("button", name="WaitForVar").click()
        expect(report.inspector).to_contain_text("waited for")
        report.press("f")
        begin, end = report.range()
        assert begin < 20.2 * MS < 187.4 * MS < end < 300 * MS

        report.press("Escape")
        expect(report.inspector).to_be_hidden()
        assert report.ask("report.selected") == -1
        report.press("0")
        report.click(300 * MS, WAITS)
        expect(report.inspector).to_contain_text("WaitForVar")
        report.click(195 * MS, FIRST_WORKER)  # nothing ran there
        expect(report.inspector).to_be_hidden()
        report.assert_clean()


def test_what_is_selected_is_outlined_and_tied_to_what_it_caused(chromium: Browser, folder: Path):
    with opened(chromium, many_calls(300), folder) as report:
        links = """report.trace.flows.within(
            report.picture.alone, ...report.range, report.selected, report.picture.layout)"""
        expect(report.page.get_by_text("300 links between calls and operators")).to_be_visible()
        assert report.ask(f"{links}.selected.length + {links}.launch.length") == 0
        before = report.ask("report.picture.canvas.toDataURL()")
        report.click(report.range()[1] / 2, 1)
        assert report.ask(f"{links}.selected.length") == 1
        assert report.ask("report.picture.canvas.toDataURL()") != before
        report.assert_clean()


def test_search_dims_the_rest_counts_and_steps_through(
    chromium: Browser, folder: Path, screenshots: Path
):
    with opened(chromium, dot_cell(), folder) as report:
        keyboard, status = report.page.keyboard, report.page.locator(".mxp-found")
        assert report.colour(150 * MS, FIRST_WORKER) == BLUE
        keyboard.press("/")
        field = report.page.get_by_role("searchbox", name="Search")
        expect(field).to_be_focused()
        keyboard.type("waitforvar")
        expect(status).to_have_text("2 matches")
        pale = report.colour(150 * MS, FIRST_WORKER)
        assert min(pale) > 200, "dimmed"
        report.page.screenshot(path=screenshots / "saved-search-light.png")

        keyboard.press("Enter")
        expect(status).to_have_text("1 of 2 matches")
        expect(report.inspector).to_contain_text("from 20.2 ms")
        report.ask("report.focus()")
        for key, number, begin in (("n", 2, "205"), ("n", 1, "20.2"), ("p", 2, "205")):
            report.press(key)
            expect(status).to_have_text(f"{number} of 2 matches")
            expect(report.inspector).to_contain_text(f"from {begin} ms")

        keyboard.press("/")
        keyboard.type("^(dot|conv)")
        expect(status).to_have_text("no match")
        report.page.get_by_role("checkbox", name="regular expression").first.check()
        expect(status).to_have_text("2 matches")
        field.fill("(")
        expect(status).to_contain_text("is no regular expression")
        field.focus()
        keyboard.press("Escape")
        expect(field).to_be_hidden()
        assert report.colour(150 * MS, FIRST_WORKER) == BLUE
        report.assert_clean()


def test_stepping_moves_the_view_to_a_match_outside_of_it(chromium: Browser, folder: Path):
    with opened(chromium, dot_cell(), folder) as report:
        for _ in range(5):
            report.press("w")
        near = report.width()
        report.page.keyboard.press("/")
        report.page.keyboard.type("DeleteVariable")
        expect(report.page.locator(".mxp-found")).to_have_text("1 match")
        report.page.get_by_role("button", name="Next match").click()
        begin, end = report.range()
        assert begin < 411 * MS < end
        assert end - begin == pytest.approx(near)
        report.assert_clean()


def test_shift_drag_chooses_a_range_that_the_tables_follow(
    chromium: Browser, folder: Path, screenshots: Path
):
    with opened(chromium, dot_cell(), folder) as report:
        page, view = report.page, report.range()
        dot = page.get_by_role("rowheader", name="dot", exact=True)
        expect(dot).to_be_visible()
        page.keyboard.down("Shift")
        report.drag(report.place(247 * MS, FIRST_WORKER), report.place(330 * MS, FIRST_WORKER))
        page.keyboard.up("Shift")
        told = page.locator(".mxp-range")
        expect(told).to_have_text(re.compile(r"^24[\d.]+ to 3[\d.]+ ms of 412 ms$"))
        expect(dot).to_be_hidden()
        expect(page.get_by_role("rowheader", name="Convolution", exact=True)).to_be_visible()
        expect(page.get_by_text("reaches beyond the time range")).to_be_visible()
        assert report.range() == view, "the view stays"
        expect(report.inspector).to_be_hidden()
        page.screenshot(path=screenshots / "saved-range.png")

        report.press("f")
        assert report.width() < 150 * MS, "fitted to the range"
        expect(told).to_have_text(re.compile("^24"))
        page.get_by_role("button", name="Clear range").click()
        expect(told).not_to_have_text(re.compile("^24"))
        report.press("0")
        expect(told).to_have_text("0 to 412 ms of 412 ms")
        expect(dot).to_be_visible()
        report.assert_clean()


def test_the_tables_follow_what_is_visible(chromium: Browser, folder: Path):
    with opened(chromium, dot_cell(), folder) as report:
        report.ask("report.goTo(0, 15e6)")
        names = report.page.locator(".mxp-table tbody th")
        expect(names).to_have_text(["_random_uniform"])
        report.page.get_by_role("button", name="Whole run").click()
        expect(names).to_have_text(["Convolution", "dot", "_random_uniform"])
        report.page.get_by_role("tab", name="Waits").click()
        expect(names).to_have_text(["line 9, z.wait_to_read()", "line 7, y.asnumpy()"])
        report.assert_clean()


def test_tables_sort_and_filter_and_a_row_finds_its_events(
    chromium: Browser, folder: Path, screenshots: Path
):
    with opened(chromium, dot_cell(), folder) as report:
        names = report.page.locator(".mxp-table tbody th")
        report.page.get_by_role("button", name="name", exact=True).click()
        expect(names).to_have_text(["_random_uniform", "Convolution", "dot"])
        report.page.get_by_role("searchbox", name="Filter rows").fill("o")
        expect(names).to_have_text(["_random_uniform", "Convolution", "dot"])
        report.page.get_by_role("searchbox", name="Filter rows").fill("dot")
        expect(names).to_have_text(["dot"])

        report.page.get_by_role("button", name="dot", exact=True).click()
        expect(report.page.locator(".mxp-found")).to_have_text("1 match")
        assert report.colour(150 * MS, FIRST_WORKER) == BLUE
        assert min(report.colour(395 * MS, FIRST_WORKER)) > 200, "the others are dimmed"
        expect(report.page.locator("tr[aria-current]")).to_have_count(1)
        report.page.screenshot(path=screenshots / "saved-row.png")
        report.page.get_by_role("button", name="dot", exact=True).click()
        expect(report.page.locator(".mxp-found")).to_be_hidden()
        report.assert_clean()


def test_selecting_a_bar_marks_its_row(chromium: Browser, folder: Path):
    with opened(chromium, dot_cell(), folder) as report:
        report.click(300 * MS, WAITS)
        expect(report.page.get_by_role("tab", name="Waits")).to_have_attribute(
            "aria-selected", "true"
        )
        expect(report.page.locator("tr[aria-current]")).to_contain_text("line 9, z.wait_to_read()")
        report.assert_clean()


def test_a_sentence_and_the_strip_lead_to_their_part_of_the_run(chromium: Browser, folder: Path):
    with opened(chromium, dot_cell(), folder) as report:
        report.page.get_by_role("button", name="Line 7, y.asnumpy()").click()
        begin, end = report.range()
        assert begin < 20.2 * MS < 187.4 * MS < end < 250 * MS
        strip = report.page.locator(".mxp-strip")
        box = strip.bounding_box()
        assert box is not None
        strip.click(position={"x": 0.6 * box["width"], "y": 10})
        begin, end = report.range()
        assert (begin + end) / 2 == pytest.approx(0.6 * 412 * MS, abs=2 * MS)
        report.assert_clean()


def test_what_is_under_the_pointer_is_told(chromium: Browser, folder: Path, screenshots: Path):
    tip = ".mxp-tip"
    with opened(chromium, dot_cell(), folder) as report:
        report.page.mouse.move(*report.place(300 * MS, FIRST_WORKER))
        expect(report.page.locator(tip)).to_contain_text("Convolution")
        expect(report.page.locator(tip)).to_contain_text("208 ms, from 202 ms")
        report.page.screenshot(path=screenshots / "saved-hover.png")
        report.page.mouse.move(*report.place(195 * MS, FIRST_WORKER))
        expect(report.page.locator(tip)).to_be_hidden()
        report.assert_clean()
    with opened(chromium, many(50_000, tracks=3), folder) as report:
        report.page.mouse.move(*report.place(0.4 * report.range()[1], 1))
        expect(report.page.locator(tip)).to_contain_text(
            re.compile(r"^\d+ events, zoom in to see them.*busy .*of this stretch.*mostly ")
        )
        report.assert_clean()


def test_a_group_unfolds_and_folds_and_tells_what_it_holds(
    chromium: Browser, folder: Path, screenshots: Path
):
    with opened(chromium, wide(), folder) as report:
        rows, tip = report.page.get_by_role("group", name="Rows"), report.page.locator(".mxp-tip")
        closed = rows.get_by_role("button", name="50 gpu/0 workers")
        expect(closed).to_have_attribute("aria-expanded", "false")
        place = [row["name"] for row in report.ask("report.picture.layout.rows")].index(
            "50 gpu/0 workers"
        )
        heads = report.ask("report.picture.layout.rows.map(row => row.head)")
        report.page.mouse.move(*report.place(1_000, place - sum(heads[:place])))
        expect(tip).to_contain_text(re.compile(r"\d+ events here, unfold the row to see them"))
        report.page.screenshot(path=screenshots / "saved-folded.png")
        before = len(heads)

        closed.focus()
        report.press("Enter")
        opened_group = rows.get_by_role("button", name="gpu/0 workers", exact=False).first
        expect(opened_group).to_have_attribute("aria-expanded", "true")
        expect(opened_group).to_be_focused()
        assert report.ask("report.picture.layout.rows.length") > before
        report.page.screenshot(path=screenshots / "saved-unfolded.png")
        report.press("Enter")
        assert report.ask("report.picture.layout.rows.length") == before

        curves = report.ask("report.picture.shownCurves.length")
        rows.get_by_role("button", name="more counter").click()
        assert report.ask("report.picture.shownCurves.length") > curves
        report.assert_clean()


def test_a_question_mark_shows_all_keys_and_hides_them(chromium: Browser, folder: Path):
    with opened(chromium, dot_cell(), folder) as report:
        keys = report.page.locator(".mxp-keys")
        expect(keys).to_be_hidden()
        report.press("?")
        expect(keys).to_contain_text("next match")
        report.press("?")
        expect(keys).to_be_hidden()
        report.assert_clean()


def test_all_controls_are_reached_by_the_tab_key_and_have_names(chromium: Browser, folder: Path):
    with opened(chromium, dot_cell(), folder) as report:
        report.click(100 * MS, FIRST_WORKER)
        report.page.keyboard.press("/")
        report.ask("report.focus()")
        seen = []
        for _ in range(report.page.locator(".mxp button:visible, .mxp input:visible").count() + 1):
            report.page.keyboard.press("Tab")
            seen.append(report.ask(
                """(() => { const node = document.activeElement;
                    return (node.getAttribute('aria-label') || node.labels?.[0]?.textContent
                        || node.textContent).trim() })()"""
            ))  # fmt: skip
        assert all(seen), seen
        assert {"Deselect", "Search", "Keys", "Next match (N)", "Copy as CSV"} <= set(seen)
        report.assert_clean()


def test_no_event_is_lost_however_many_share_a_pixel(chromium: Browser, folder: Path):
    with opened(chromium, many(30_000, tracks=4), folder) as report:
        counted = report.ask(
            """() => {
                const {picture, trace, span} = report, found = [];
                for (const [from, width] of [[0, 1], [0.2, 0.3], [0.5, 0.01], [0.9, 0.0004]]) {
                    let drawn = 0, there = 0;
                    const [one, run] = [picture.layOne, picture.layRun];
                    picture.layOne = (...all) => { drawn++; one.apply(picture, all); };
                    picture.layRun = (first, stop, ...rest) => {
                        drawn += stop - first; run.call(picture, first, stop, ...rest); };
                    report.range = [from * span, (from + width) * span];
                    report.drawNow();
                    delete picture.layOne; delete picture.layRun;
                    for (let lane = 0; lane < trace.lanes; lane++) {
                        const [a, b] = trace.window(lane, picture.begin, picture.end + 1);
                        there += b - a;
                    }
                    found.push([drawn, there]);
                }
                return found;
            }"""
        )
        assert counted[0][1] == 30_000
        assert all(drawn == there > 0 for drawn, there in counted)
        report.assert_clean()


def test_the_picture_is_light_or_dark_as_the_system_is(
    chromium: Browser, folder: Path, screenshots: Path
):
    with opened(chromium, dot_cell(), folder, scheme="dark") as report:
        assert report.colour(195 * MS, FIRST_WORKER) == (17, 17, 17)
        ground = report.ask("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(17, 17, 17)"
        report.page.screenshot(path=screenshots / "saved-dark.png", full_page=True)
        report.page.emulate_media(color_scheme="light")
        report.painted()
        assert report.colour(195 * MS, FIRST_WORKER) == WHITE
        report.assert_clean()


def test_without_scripts_picture_and_tables_remain(chromium: Browser, folder: Path):
    path = save_html(dot_cell(), folder / "report.html")
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    expect(page.get_by_role("img")).to_be_visible()
    expect(page.get_by_role("rowheader", name="Convolution", exact=True)).to_be_visible()
    expect(page.locator("canvas")).to_have_count(0)
    assert html(dot_cell()) in path.read_text("utf-8")
    context.close()


@pytest.mark.parametrize("width", [420, 1300])
def test_a_report_is_legible_in_any_window(
    chromium: Browser, folder: Path, screenshots: Path, width: int
):
    trace = dot_cell(replace(dot_cell().meta, error="E" * 300, status="error"))
    with opened(chromium, trace, folder, width=width) as report:
        assert report.ask("document.documentElement.scrollWidth") <= width
        expect(report.page.locator("pre")).to_contain_text("y.asnumpy()")
        report.page.screenshot(path=screenshots / f"saved-{width}.png", full_page=True)
        report.assert_clean()


def many_calls(calls: int) -> Trace:
    """A host that queues one operator after another."""
    builder = TraceBuilder()
    host, worker = (builder.track(role, role=role) for role in ("host", "worker"))
    for begin in range(0, 100 * calls, 100):
        call = builder.event("call", track=host, start_ns=begin, dur_ns=50, category="api")
        work = builder.event(
            "work", track=worker, start_ns=begin + 60, dur_ns=30, category="operator"
        )
        builder.flow(call, work)
    return builder.build()


def test_the_hint_of_a_report_is_closed_for_good(chromium: Browser, folder: Path):
    with opened(chromium, dot_cell(), folder) as report:
        hint = report.page.locator(".mxp-hint")
        expect(hint).to_contain_text("Scroll to zoom, drag to pan, click a bar, ? for keys.")
        hint.get_by_role("button", name="Close this hint").click()
        expect(hint).to_have_count(0)
        report.assert_clean()
        report.page.reload()
        report.canvas.wait_for()
        expect(hint).to_have_count(0)


def test_names_in_capitals_end_within_their_bars(chromium: Browser, folder: Path):
    builder = TraceBuilder()
    track = builder.track("host", role="host")
    for start in range(0, 10 * MS, MS):
        builder.event("MXNDARRAYWAITTOREAD", track=track, start_ns=start, dur_ns=MS)
    with opened(chromium, builder.build(), folder, width=1000) as report:
        told = report.ask(
            """() => {
                const { picture } = report, { pen } = picture;
                pen.font = `11px ${FONT}`;
                const measure = (text) => pen.measureText(text).width;
                return [20, 60, 83, 120].map((width) =>
                    [width, measure(ReportWords.fit(["MXNDARRAYWAITTOREAD"], width, measure))]);
            }"""
        )
        assert all(text <= width for width, text in told)
        assert told[2][1] > 0
        report.assert_clean()

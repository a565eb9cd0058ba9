"""A saved report is for everybody: accessible by axe's rules, and inert whatever a trace says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from mxprof_nb.trace import Meta, Trace, TraceBuilder
from mxprof_nb.view.headline import headline, remarks, sentences
from mxprof_nb.view.report import save_html
from mxprof_nb.view.tables import grids
from tests.browser.report_page import Scheme, opened
from tests.traces import MS, dot_cell, empty_cell

HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    + "\"'`${window.hacked = 3}<!--"
    + "\u202e\u2066"
    + "x" * 10_000
)
WORST = ("serious", "critical")


def findings(page: Page) -> list[str]:
    """Return what axe finds serious or critical, with the elements it names."""
    found = Axe().run(page).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:200]} {node.get('failureSummary')}"
        for rule in found
        if rule["impact"] in WORST
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_whatever_is_open(
    chromium: Browser, tmp_path: Path, scheme: Scheme
):
    with opened(chromium, dot_cell(), tmp_path, scheme=scheme) as report:
        assert not findings(report.page)
        report.click(100 * MS, 2)
        expect(report.inspector).to_be_visible()
        report.page.keyboard.press("?")
        report.page.keyboard.press("/")
        report.page.keyboard.type("(")
        report.page.get_by_role("checkbox").first.check()
        expect(report.page.locator(".mxp-error")).to_be_visible()
        assert not findings(report.page)
        report.page.get_by_role("tab", name="Waits").click()
        report.ask("report.goTo(0, 1e7)")
        expect(report.page.get_by_text("Nothing in this range took any time")).to_be_hidden()
        assert not findings(report.page)
        report.assert_clean()


def test_axe_finds_nothing_serious_in_the_still_form(chromium: Browser, tmp_path: Path):
    path = save_html(dot_cell(), tmp_path / "report.html")
    page = chromium.new_page()
    # As where scripts do not run; axe itself is one.
    page.set_content(re.sub(r"<script.*?</script>", "", path.read_text("utf-8"), flags=re.S))
    expect(page.get_by_role("img")).to_be_visible()
    assert not findings(page)
    page.close()


def test_a_run_in_which_nothing_happened_is_told_in_words(chromium: Browser, tmp_path: Path):
    page = chromium.new_page()
    page.goto(save_html(empty_cell(), tmp_path / "report.html").as_uri())
    expect(page.get_by_text("Nothing was recorded")).to_be_visible()
    assert not findings(page)
    page.close()


def hostile() -> Trace:
    """A trace whose every text tries to leave its place."""
    builder = TraceBuilder(
        Meta(title=HOSTILE, source=HOSTILE, source_file=HOSTILE, error=HOSTILE, status="error")
    )
    host = builder.track(HOSTILE, role="host")
    worker = builder.track(HOSTILE, role="worker", device=HOSTILE)
    counters = builder.track(HOSTILE, role="counter")
    site = builder.site(HOSTILE, 1, HOSTILE, HOSTILE)
    arg = builder.arg(bytes=1, shapes=HOSTILE, dtype=HOSTILE, raw=HOSTILE)
    call = builder.event(
        HOSTILE, track=host, start_ns=0, dur_ns=400, category="api", domain=HOSTILE, site=site
    )
    work = builder.event(
        HOSTILE, track=worker, start_ns=500, dur_ns=400, category="operator", domain=HOSTILE,
        site=site, arg=arg, queued_ns=100,
    )  # fmt: skip
    wait = builder.event(
        HOSTILE, track=host, start_ns=450, dur_ns=500, category="sync", domain="operator", site=site
    )
    builder.flow(call, work)
    builder.flow(work, wait, "read_after_write")
    builder.counter(HOSTILE, track=counters, time_ns=0, value=1.0, unit="B")
    builder.counter(HOSTILE, track=host, time_ns=0, value=1.0, unit=HOSTILE)
    return builder.build()


@pytest.mark.parametrize("width", [500, 1200])
def test_hostile_texts_in_every_field_stay_text(
    chromium: Browser, tmp_path: Path, screenshots: Path, width: int
):
    with opened(chromium, hostile(), tmp_path, width=width) as report:
        for row, time in ((0, 200), (0, 700), (1, 700)):
            report.page.mouse.move(*report.place(time, row))
            report.click(time, row)
            expect(report.inspector).to_contain_text("<img src=x onerror=")
        for tab in range(report.page.get_by_role("tab").count()):
            report.page.get_by_role("tab").nth(tab).click()
        report.page.keyboard.press("/")
        report.page.keyboard.insert_text(HOSTILE[:200])
        expect(report.page.locator(".mxp-found")).to_contain_text("match")
        report.page.screenshot(path=screenshots / f"saved-hostile-{width}.png")
        assert report.ask("window.hacked") is None
        assert report.page.locator("main img, main script").count() == 0
        assert report.ask("document.documentElement.scrollWidth") <= width
        report.assert_clean()


def test_the_text_summary_and_the_page_carry_the_same(chromium: Browser, tmp_path: Path):
    trace = dot_cell()
    with opened(chromium, trace, tmp_path) as report:
        shown = report.page.locator(".mxp").inner_text()
        told = [headline(trace), *(s.text for s in sentences(trace)), *remarks(trace)]
        grid = grids(trace)[0]
        told += [cell for row in grid.rows for cell in row]
        for text in told:
            assert text in " ".join(shown.split())

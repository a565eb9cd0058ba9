"""The tables in a page of their own: sorted, filtered, copied, linked, whatever they hold."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from mxprof_nb.trace import Trace, TraceBuilder
from mxprof_nb.view.tables import grids
from tests.traces import dot_cell

STATIC = Path(__file__).resolve().parents[2] / "mxprof_nb/view/static"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Tables</title>
<style>body {{ font: 13px/1.4 system-ui, sans-serif; margin: 16px }}
body {{ background: {ground}; color: {ink} }}
#tables {{ {colours} container-type: inline-size }} {css}</style>
<body><div id="tables"></div><script>{scripts}
const chosen = [];
const tables = enhance(document.querySelector("#tables"), {grids}, {{
  range: "0 to 412 ms of 412 ms", onRow: (title, name) => chosen.push([title, name]),
}});
</script></body></html>"""
DARK = "--mxp-text: #e6e6e6; --mxp-muted: #a8b0b8; --mxp-line: #3a3f45; --mxp-accent: #56b4e9;"


def of_lengths(**lengths_ns: int) -> Trace:
    """Operators by name, each of the length given."""
    builder = TraceBuilder()
    worker = builder.track("worker", role="worker")
    start = 0
    for name, dur_ns in lengths_ns.items():
        builder.event(name, track=worker, start_ns=start, dur_ns=dur_ns, category="operator",
                      domain="operator")  # fmt: skip
        start += dur_ns
    return builder.build()


class Shown:
    """A page with the tables of a trace."""

    def __init__(self, page: Page, trace: Trace, *, dark: bool = False) -> None:
        self.page = page
        described = json.dumps([grid.described() for grid in grids(trace, most=400)])
        html = PAGE.format(
            css=(STATIC / "tables.css").read_text("utf-8"),
            scripts="".join((STATIC / n).read_text("utf-8") for n in ("element.js", "tables.js")),
            grids=described.replace("<", "\\u003c"),
            ground="#111111" if dark else "#ffffff",
            ink="#e6e6e6" if dark else "#1f2328",
            colours=DARK if dark else "",
        )
        page.set_content(html)
        page.locator("#tables[class]").wait_for()

    def names(self) -> list[str]:
        return self.page.get_by_role("rowheader").all_inner_texts()

    def column(self, place: int) -> list[str]:
        rows = self.page.locator("tbody tr").all()
        return [row.locator("td").nth(place - 1).inner_text().strip() for row in rows]

    def head(self, name: str) -> Locator:
        return self.page.get_by_role("columnheader", name=name)

    def sort(self, name: str) -> None:
        self.head(name).get_by_role("button").click()

    @property
    def filter(self) -> Locator:
        return self.page.get_by_role("searchbox", name="Filter rows by name")

    def chosen(self) -> list[list[str]]:
        found: list[list[str]] = self.page.evaluate("chosen")
        return found


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 900, "height": 500})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert not errors


def test_a_head_sorts_by_value_and_says_so(page: Page, screenshots: Path):
    trace = of_lengths(nine=9_000, hundred=100_000, two=2_000, million=1_000_000)
    shown = Shown(page, trace)
    assert shown.names() == ["million", "hundred", "nine", "two"]
    total = shown.head("total")
    expect(total).to_have_attribute("aria-sort", "descending")
    expect(total).to_contain_text("µs")
    assert shown.column(2) == ["1,000", "100", "9.00", "2.00"]

    shown.sort("total")
    expect(total).to_have_attribute("aria-sort", "ascending")
    assert shown.names() == ["two", "nine", "hundred", "million"]
    page.screenshot(path=screenshots / "tables-sorted.png")
    shown.sort("name")
    assert shown.names() == ["hundred", "million", "nine", "two"]
    expect(total).not_to_have_attribute("aria-sort", "ascending")
    assert page.locator("th[aria-sort]").count() == 1

    # By keyboard; the count is the same in all rows, which stay in the order they came in.
    shown.head("count").get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(shown.head("count")).to_have_attribute("aria-sort", "descending")
    assert shown.names() == ["million", "hundred", "nine", "two"]
    page.keyboard.press("Space")
    expect(shown.head("count")).to_have_attribute("aria-sort", "ascending")
    assert shown.names() == ["million", "hundred", "nine", "two"]
    assert page.evaluate("document.activeElement.closest('th').dataset.key") == "count"


def test_rows_are_filtered_by_a_text_or_an_expression(page: Page, screenshots: Path):
    names = {f"{kind}_{k}": 10 * k + 10 for kind in ("add", "Mul") for k in range(9)}
    shown = Shown(page, of_lengths(**names))
    assert len(shown.names()) == 6
    more = page.get_by_role("button", name="Show all 18 rows")
    more.click()
    assert len(shown.names()) == 18
    page.get_by_role("button", name="Show the first 6").click()
    status = page.get_by_role("status").first

    shown.filter.fill("MUL")
    expect(status).to_have_text("9 of 18 rows")
    assert all(name.startswith("Mul") for name in shown.names())
    shown.filter.fill("^add_[12]$")
    expect(status).to_have_text("0 of 18 rows")
    page.get_by_role("checkbox", name="regular expression").check()
    expect(status).to_have_text("2 of 18 rows")
    assert shown.names() == ["add_2", "add_1"]
    page.screenshot(path=screenshots / "tables-filtered.png")
    shown.filter.fill("add_[")
    expect(status).to_have_text("This is no regular expression.")
    expect(shown.filter).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Escape")
    expect(shown.filter).to_have_value("")
    assert len(shown.names()) == 6


def test_arrow_keys_go_from_tab_to_tab(page: Page):
    Shown(page, dot_cell())
    tabs = page.get_by_role("tab")
    titles = [text.rsplit(" ", 1)[0] for text in tabs.all_inner_texts()]
    assert titles[:3] == ["Operators", "API calls", "Waits"]
    tabs.first.focus()
    panel = page.get_by_role("tabpanel")
    for key, place in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Home", 0),
                       ("ArrowLeft", len(titles) - 1), ("ArrowRight", 0), ("End", -1)):  # fmt: skip
        page.keyboard.press(key)
        chosen = tabs.nth(place)
        expect(chosen).to_be_focused()
        expect(chosen).to_have_attribute("aria-selected", "true")
        assert page.get_by_role("tab", selected=True).count() == 1
        assert panel.get_attribute("aria-labelledby") == chosen.get_attribute("id")
        assert page.locator("caption").inner_text().startswith(titles[place])
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_choosing_a_row_tells_and_a_mark_opens_its_tab_and_shows_its_row(page: Page):
    shown = Shown(page, dot_cell())
    page.get_by_role("button", name="dot", exact=True).click()
    page.get_by_role("row", name="Convolution").get_by_role("cell").nth(1).click()
    assert shown.chosen() == [["Operators", "dot"], ["Operators", "Convolution"]]

    page.evaluate("tables.mark([['API calls', 'MXNDArrayWaitToRead']])")
    expect(page.get_by_role("tab", selected=True)).to_have_text("API calls 4")
    marked = page.locator("tr[aria-current=true]")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("MXNDArrayWaitToRead")
    page.evaluate("tables.mark([])")
    expect(marked).to_have_count(0)

    page.get_by_role("tab", name="Memory").click()
    page.get_by_role("row", name="Memory: cpu/0").click()
    assert len(shown.chosen()) == 2, "no events stand behind a counter"


def test_a_marked_row_is_seen_however_far_down_it_stands(page: Page):
    shown = Shown(page, of_lengths(**{f"op{k:02}": 1_000 - k for k in range(30)}))
    page.evaluate("tables.mark([['Operators', 'op20']])")
    assert shown.names() == [*(f"op{k:02}" for k in range(6)), "op20"]


def test_a_copy_holds_every_row_of_the_filter_in_whole_nanoseconds(page: Page):
    names = {f"op_{k}": 1_234_567 + k for k in range(20)}
    shown = Shown(page, of_lengths(**names, **{'=a "b",c': 5}))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate(
        "window.copied = null;"
        "Object.defineProperty(navigator, 'clipboard', { value: "
        "{ writeText: async (text) => { window.copied = text } } })"
    )
    copy = page.get_by_role("button", name="Copy as CSV")
    copy.click()
    page.get_by_text("21 rows copied, times in ns").wait_for()
    head, *rows = csv.reader(io.StringIO(page.evaluate("copied")))
    assert head == ["name", "count", "total_ns", "self_ns", "mean_ns", "p90_ns", "max_ns", "share"]
    assert [row[2] for row in rows] == [*(str(1_234_567 + k) for k in range(19, -1, -1)), "5"]
    assert rows[-1][0] == '\'=a "b",c', "no formula for a spreadsheet"
    assert float(rows[-1][-1]) == pytest.approx(5 / sum((*names.values(), 5)))

    shown.filter.fill("op_1")
    shown.sort("name")
    copy.click()
    page.get_by_text("11 rows copied, times in ns").wait_for()
    rows = list(csv.reader(io.StringIO(page.evaluate("copied"))))[1:]
    assert [row[0] for row in rows] == ["op_1", *(f"op_{k}" for k in range(10, 20))]


def test_without_a_clipboard_the_rows_are_copied_as_by_hand_or_offered_in_a_field(page: Page):
    Shown(page, dot_cell())
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
        "document.addEventListener('copy', () => { window.copied = String("
        "document.activeElement.value) })"
    )
    copy = page.get_by_role("button", name="Copy as CSV")
    copy.click()
    page.get_by_text("3 rows copied, times in ns").wait_for()
    assert page.evaluate("copied").splitlines()[2].startswith("dot,1,171400000,")
    expect(copy).to_be_focused()

    page.evaluate("document.execCommand = () => false")
    copy.click()
    page.get_by_text("The page may not copy: take the text from the field.").wait_for()
    field = page.get_by_role("textbox", name="Rows as CSV")
    assert field.input_value().splitlines()[0].startswith("name,count,total_ns")


def test_new_grids_keep_tab_order_filter_and_focus(page: Page):
    shown = Shown(page, dot_cell())
    page.get_by_role("tab", name="API calls").click()
    shown.sort("max")
    shown.sort("max")
    shown.filter.fill("mx")
    later = json.dumps(
        [grid.described() for grid in grids(dot_cell(), (1_190_000_000, 1_412_000_000))]
    )
    shown.head("max").get_by_role("button").focus()
    page.evaluate(f"tables.show({later}, '190 to 412 ms of 412 ms')")
    expect(page.get_by_role("tab", selected=True)).to_have_text("API calls 2")
    expect(shown.head("max")).to_have_attribute("aria-sort", "ascending")
    assert shown.names() == ["MXImperativeInvokeEx", "MXNDArrayWaitToRead"]
    assert "190 to 412 ms of 412 ms" in page.locator("caption").inner_text()
    assert page.evaluate("document.activeElement.closest('th')?.dataset.key") == "max_ns"
    page.evaluate("tables.show([], '')")
    expect(page.get_by_text("Nothing in this range took any time.")).to_be_visible()
    expect(page.get_by_role("table")).to_be_hidden()


def test_hostile_names_stay_text(page: Page, screenshots: Path):
    hostile = [
        "</script><script>window.hacked = 1</script>",
        "<img src=x onerror='window.hacked = 1'>",
        '"\' onmouseover="window.hacked = 1" \'',
        "\u202egnp.exe \u2067rtl",
        "x" * 10_000,
        "{{constructor.constructor('window.hacked = 1')()}}",
        "__proto__",
        "קריאה אסינכרונית",
    ]
    builder = TraceBuilder()
    worker = builder.track("worker", role="worker")
    for k, name in enumerate(hostile):
        builder.event(name, track=worker, start_ns=100 * k, dur_ns=90, domain=name)
    for k, name in enumerate(hostile):
        builder.event(name, track=worker, start_ns=1_000 + k, dur_ns=1, category="operator",
                      domain="operator")  # fmt: skip
    shown = Shown(page, builder.build())
    page.get_by_role("button", name="Show all 8 rows").click()
    names = shown.names()
    assert set(hostile[:4]) <= set(names)
    assert max(map(len, names)) <= 200
    page.screenshot(path=screenshots / "tables-hostile.png")
    assert page.evaluate("document.documentElement.scrollWidth") <= 900
    assert page.locator("#tables img, #tables script").count() == 0
    for tab in page.get_by_role("tab").all():
        tab.click()
        page.locator("tbody tr").first.hover()
    assert page.evaluate("window.hacked === undefined && ({}).hacked === undefined")


@pytest.mark.parametrize("dark", [False, True])
def test_tables_are_legible_on_either_ground(page: Page, screenshots: Path, dark: bool):
    Shown(page, dot_cell(), dark=dark)
    page.evaluate("tables.mark([['Operators', 'dot']])")
    page.screenshot(path=screenshots / f"tables-{'dark' if dark else 'light'}.png")
    exact = page.get_by_role("row", name="dot").get_by_role("cell").nth(1)
    assert exact.get_attribute("title") == "171,400,000 ns"
    bars = page.locator(".mxp-bar").evaluate_all("bars => bars.map(bar => bar.offsetWidth)")
    assert bars == pytest.approx([53, 44, 4], abs=1)

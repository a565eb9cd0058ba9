"""The plots drawn by plotly.js: complete, with exact values beside the pointer, and inert."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from plotly.offline import get_plotlyjs

from mxprof_nb.trace import Trace, TraceBuilder
from mxprof_nb.view import plots
from tests.traces import dot_cell

NAMES = ("concurrency", "durations", "flame", "memory", "timeline", "top_operators")
HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    '<a href="javascript:window.hacked=1">click</a>',
    "\u202egnp.exe<b>",
    "x" * 10_000,
)


@pytest.fixture(scope="module")
def canvas(chromium: Browser) -> Iterator[Page]:
    page = chromium.new_page(viewport={"width": 900, "height": 520})
    page.set_content("<!doctype html><body style='margin:0'><div id='plot'></div>")
    page.add_script_tag(content=get_plotlyjs())
    yield page
    page.close()


def draw(page: Page, name: str, trace: Trace, **options: object) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    figure = json.loads(getattr(plots, name)(trace, **options).to_json())
    page.evaluate("f => Plotly.newPlot('plot', f.data, f.layout)", figure)
    page.wait_for_timeout(100)  # transitions of boxes
    assert not errors


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_a_plot_is_drawn_with_its_texts_inside(
    canvas: Page, screenshots: Path, name: str, theme: str
):
    draw(canvas, name, dot_cell(), theme=theme)
    canvas.locator("#plot").screenshot(path=screenshots / f"plot-{name}-{theme}.png")
    # No text of the drawing is cut by the edge of the picture.
    cut = canvas.evaluate(
        """() => { const outer = document.querySelector('#plot').getBoundingClientRect();
        return [...document.querySelectorAll('#plot text')].filter(node => {
            const box = node.getBoundingClientRect();
            return box.width && (box.left < outer.left - 1 || box.right > outer.right + 1);
        }).map(node => node.textContent) }"""
    )
    assert not cut


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_stay_text_in_a_plot(canvas: Page, screenshots: Path, name: str):
    builder = TraceBuilder()
    host = builder.track(HOSTILE[0], role="host")
    worker = builder.track(HOSTILE[1], role="worker")
    for k, text in enumerate(HOSTILE):
        builder.event(text, track=host, start_ns=100 * k, dur_ns=90, category="api")
        builder.event(text, track=worker, start_ns=100 * k + 50, dur_ns=90, category="operator",
                      queued_ns=100 * k)  # fmt: skip
        memory = builder.track(f"{k}{text}", role="counter")
        builder.counter(text, track=memory, time_ns=5 * k, value=1.0 + k, unit="B")
    draw(canvas, name, builder.build())
    canvas.locator("#plot").screenshot(path=screenshots / f"plot-{name}-hostile.png")
    foreign = canvas.locator("#plot svg.main-svg :is(a, img, script)")
    assert foreign.count() == 0
    for x in range(80, 880, 100):
        canvas.mouse.move(x, 150, steps=2)
    assert canvas.evaluate("window.hacked === undefined")
    assert foreign.count() == 0, "beside the pointer, either"


def test_a_click_on_a_box_of_the_flame_enlarges_it(canvas: Page):
    draw(canvas, "flame", dot_cell())
    box = canvas.locator("#plot .slicetext", has_text="MXNDArraySyncCopyToCPU").first
    place = box.bounding_box()
    assert place is not None
    canvas.mouse.move(place["x"] + 5, place["y"] + 5)
    told = canvas.locator(".hoverlayer .hovertext")
    expect(told).to_contain_text("170,000,000 ns")
    canvas.mouse.click(place["x"] + 5, place["y"] + 5)
    canvas.wait_for_function("document.querySelector('#plot').data[0].level?.startsWith('path')")

"""The first tutorial as a person meets it: JupyterLab, a real page, the network blocked."""

import shutil
from pathlib import Path

import pytest

from tests.browser.lab import LabPage, LabServer

pytestmark = pytest.mark.browser

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "01_first_profile.ipynb"
PLOT = ".jp-Notebook .js-plotly-plot"

#: Marks drawn in a plot: bars of all traces.
COUNT = """node => node.data.filter(t => t.type === "bar")
    .reduce((sum, trace) => sum + trace.x.length, 0)"""
RANGE = "node => node.layout.xaxis.range.map(Number)"


def test_the_tutorial_is_zoomed_by_dragging_and_brings_new_data(
    lab: LabPage, lab_server: LabServer, screenshots: Path
) -> None:
    shutil.copy(NOTEBOOK, lab_server.root / NOTEBOOK.name)
    lab.open(NOTEBOOK.name)
    lab.run_all(timeout_s=180)
    assert not lab.cell_errors()

    # The training cell is the longest profile: its bars had to be merged.
    plot = lab.page.locator(PLOT).last
    plot.scroll_into_view_if_needed()
    plot.locator(".xtick").first.wait_for(timeout=60_000)
    plot.screenshot(path=screenshots / "tutorial_whole.png")
    assert 100 < plot.evaluate(COUNT) <= 1_000
    before = plot.evaluate(RANGE)

    # New data is told by the identity of its arrays: never by sleeping.
    plot.evaluate("node => { window.drawn = node.data.map(trace => trace.x) }")
    box = plot.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    lab.page.mouse.move(box["x"] + box["width"] * 0.45, middle)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + box["width"] * 0.55, middle, steps=8)
    lab.page.mouse.up()
    lab.page.wait_for_function(
        """selector => {
            const plots = document.querySelectorAll(selector), node = plots[plots.length - 1];
            return node.data.some((trace, i) => trace.x !== window.drawn[i]);
        }""",
        arg=PLOT,
    )
    after = plot.evaluate(RANGE)
    assert before[0] < after[0] < after[1] < before[1]
    assert after[1] - after[0] < 0.2 * (before[1] - before[0])
    plot.screenshot(path=screenshots / "tutorial_zoomed.png")

    lab.assert_clean()  # no console errors, nothing asked of the network

"""The first tutorial as a person meets it: JupyterLab, a real page, the network blocked."""

import shutil
from pathlib import Path

import nbformat
import pytest

from tests.browser.lab import LabPage, LabServer

pytestmark = pytest.mark.browser

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "01_first_profile.ipynb"
#: Position of the cell that trains, the longest profile: its bars have to be merged.
TRAINING = next(
    place
    for place, cell in enumerate(nbformat.read(NOTEBOOK, as_version=4).cells)
    if "-o training" in cell.source
)

#: Marks drawn in a plot: bars of all traces.
COUNT = """node => node.data.filter(t => t.meta?.bars)
    .reduce((sum, trace) => sum + trace.meta.bars, 0)"""
RANGE = "node => node.layout.xaxis.range.map(Number)"


def test_the_tutorial_is_zoomed_by_the_wheel_and_brings_new_data(
    lab: LabPage, lab_server: LabServer, screenshots: Path
) -> None:
    shutil.copy(NOTEBOOK, lab_server.root / NOTEBOOK.name)
    lab.open(NOTEBOOK.name)
    lab.run_all(timeout_s=180)
    assert not lab.cell_errors()

    output = lab.output(TRAINING)
    output.scroll_into_view_if_needed()
    plot = output.locator(".js-plotly-plot")
    plot.locator(".xtick").first.wait_for(timeout=60_000)
    lab.screenshot_output(TRAINING, screenshots / "tutorial_whole.png")
    assert 100 < plot.evaluate(COUNT) <= 1_000
    before = plot.evaluate(RANGE)

    # New data is told by the identity of its arrays: never by sleeping.
    plot.evaluate("node => { window.drawn = node.data.map(trace => trace.x) }")
    box = plot.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    lab.page.mouse.move(box["x"] + box["width"] * 0.5, middle)
    lab.page.mouse.wheel(0, -600)
    lab.page.wait_for_function(
        "node => node.data.some((trace, i) => trace.x !== window.drawn[i])",
        arg=plot.element_handle(),
    )
    after = plot.evaluate(RANGE)
    assert before[0] < after[0] < after[1] < before[1]
    assert after[1] - after[0] < 0.95 * (before[1] - before[0])
    lab.screenshot_output(TRAINING, screenshots / "tutorial_zoomed.png")

    lab.assert_clean()  # no console errors, nothing asked of the network

"""Groups of rows in a real page: folded and unfolded by pointer and keyboard, by their effect."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer
from tests.browser.test_widget import PLOT, plot, remember, start, wait_for_new_data

pytestmark = pytest.mark.timeout(180)
#: Kinds of traces that are drawn, and how high the plot is.
DRAWN = f"""(() => {{
    const plot = document.querySelector('{PLOT}');
    const kinds = plot.data.map(t => t.meta?.cells ? 'cells' : t.type);
    return {{kinds, height: plot.layout.height}};
}})()"""
#: How far each name stands from the middle of its row, in px, at most.
OFF = f"""(() => {{
    const plot = document.querySelector('{PLOT}'), {{yaxis}} = plot._fullLayout;
    const top = plot.getBoundingClientRect().top + yaxis._offset;
    const names = [...plot.closest('.mxp').querySelectorAll('.mxp-row')];
    return Math.max(...names.map((name, k) => {{
        const box = name.getBoundingClientRect();
        return Math.abs((box.top + box.bottom) / 2 - top - yaxis.l2p(yaxis.tickvals[k]));
    }}));
}})()"""


def row(lab: LabPage, name: str) -> Locator:
    return lab.output(1).get_by_role("group", name="Rows").get_by_role("button", name=name)


def names(lab: LabPage) -> list[str]:
    shown: list[str] = lab.output(1).locator(".mxp-row").all_inner_texts()
    return [name.lstrip("▾▸") for name in shown]


def press(lab: LabPage, name: str, *, shift: bool = False) -> None:
    """Click a name, and wait until other rows stand there."""
    before = "|".join(lab.output(1).locator(".mxp-row").all_text_contents())
    row(lab, name).click(modifiers=["Shift"] if shift else [])
    lab.page.wait_for_function(
        """before => [...document.querySelectorAll('.mxp-row')].map(n => n.textContent).join('|')
            !== before""",
        arg=before,
        timeout=30_000,
    )


def test_a_click_on_a_name_folds_the_rows_and_a_key_unfolds_them_whatever_the_zoom(
    lab: LabPage, lab_server: LabServer
) -> None:
    start(lab, lab_server, "fold.ipynb", "w = ProfileWidget(many(20_000, tracks=9)); w")
    plot(lab)
    whole = lab.page.evaluate(DRAWN)
    assert names(lab)[:3] == ["host · MainThread", "workers", "cpu/0 worker 1"]
    assert lab.page.evaluate(OFF) < 1.5
    head = row(lab, "workers: ")
    expect(head).to_have_attribute("aria-expanded", "true")
    press(lab, "workers: ")
    assert names(lab) == ["host · MainThread", "8 workers"]
    folded = lab.page.evaluate(DRAWN)
    assert folded["height"] < whole["height"]
    assert "cells" in folded["kinds"]
    assert "folded" in lab.execute("print('folded' if set(w._folds.values()) == {0} else 'not')")

    remember(lab)
    lab.page.keyboard.press("w")  # zooms
    wait_for_new_data(lab)
    assert names(lab) == ["host · MainThread", "8 workers"], "kept while zooming"
    remember(lab)
    row(lab, "8 workers: ").focus()
    lab.page.keyboard.press("Enter")
    wait_for_new_data(lab)
    assert len(names(lab)) == 10
    expect(row(lab, "workers: ")).to_be_focused()
    assert lab.page.evaluate(OFF) < 1.5
    lab.assert_clean()


def test_five_thousand_tracks_unfold_step_by_step_to_the_one_that_is_wanted(
    lab: LabPage, lab_server: LabServer
) -> None:
    start(
        lab,
        lab_server,
        "tracks.ipynb",
        "from tests.unit.view.test_rows import threads\nProfileWidget(threads(5_000, 'worker'))",
    )
    plot(lab)
    assert len(names(lab)) == 21
    box = lab.output(1).bounding_box()
    assert box is not None
    assert box["height"] < 700
    press(lab, "thread 4750 to 4999")
    press(lab, "thread 4900 to 4911")
    assert "thread 4911" in names(lab)
    press(lab, "thread 250 to 499", shift=True)
    assert 150 < len(names(lab)) < 240
    expect(lab.output(1).locator(".mxp-notes")).to_contain_text("At most 200 rows are drawn")
    assert lab.page.evaluate(OFF) < 1.5
    title = row(lab, "thread 0 to 249").get_attribute("title")
    assert title is not None
    assert "250 tracks" in title
    lab.assert_clean()


def test_more_counters_are_drawn_when_they_are_asked_for(
    lab: LabPage, lab_server: LabServer
) -> None:
    start(lab, lab_server, "counters.ipynb", "ProfileWidget(dot_cell())")
    plot(lab)
    curves = f"document.querySelector('{PLOT}').data.filter(t => t.line?.shape === 'hv').length"
    assert lab.page.evaluate(curves) == 1
    press(lab, "1 more counter")
    assert lab.page.evaluate(curves) == 2
    press(lab, "counters: ")
    assert lab.page.evaluate(curves) == 1
    lab.assert_clean()

"""A profile in a notebook outlives its kernel: live while it is served, complete without it."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage, LabServer

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]

ROOT = Path(__file__).resolve().parents[2]
SETUP = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
%load_ext mxprof_nb
import mxprof_nb.runtime as mx
"""
WORK = """\
%%mxprofile
x = mx.nd.ones((600, 600))
y = mx.nd.dot(x, x)
y.wait_to_read()"""
WORK_CELL = 1
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
SECOND_VIEW = ".jp-LinkedOutputView"


def run(lab: LabPage, server: LabServer, name: str) -> None:
    server.write(name, SETUP, WORK)
    lab.open(name)
    lab.run_all()


def live(where: Locator) -> Locator:
    """The plots that a kernel serves, drawn."""
    return where.locator(".mxp .js-plotly-plot .xtick").first


def expect_live(where: Locator) -> None:
    live(where).wait_for(timeout=60_000)
    expect(where.locator(".mxp")).to_have_count(1)
    expect(where.locator(".mxp-form > div").first).to_be_hidden()


def expect_static(where: Locator) -> None:
    """Headline, sentence, picture and table are to be seen, and nothing else."""
    still = where.locator(".mxp-form > div")
    expect(still).to_have_count(1)
    expect(where.locator(".mxp")).to_have_count(0)
    expect(still.locator("p").first).to_contain_text("events")
    expect(still.locator("li").first).to_be_visible()
    expect(still.locator("img")).to_be_visible()
    width = "node => [node.naturalWidth > 0, node.clientWidth, node.parentElement.clientWidth]"
    loaded, shown, room = still.locator("img").evaluate(width)
    assert loaded
    assert min(room, 980) - 2 <= shown <= room
    expect(still.get_by_role("rowheader", name="dot", exact=True).first).to_be_visible()
    expect(where.page.get_by_text("Error displaying")).to_have_count(0)
    expect(where.page.get_by_text("model not found")).to_have_count(0)


def in_lab(lab: LabPage, script: str) -> object:
    return lab.page.evaluate(f"async () => {{ const app = jupyterapp; {script} }}")


def widgets_of(lab: LabPage) -> int:
    return int(
        lab.execute(
            "import ipywidgets\n"
            "from mxprof_nb.view.widgets import ProfileWidget\n"
            "print(sum(isinstance(w, ProfileWidget)"
            " for w in ipywidgets.widgets.widget._instances.values()))"
        )
    )


def reopen(lab: LabPage, name: str) -> None:
    """Close the notebook and open it again in the same page, with a kernel that knows nothing."""
    in_lab(
        lab,
        f"""await app.shell.currentWidget.sessionContext.shutdown();
        app.shell.currentWidget.close();
        const panel = await app.commands.execute('docmanager:open', {{path: {name!r}}});
        await panel.context.ready; await panel.sessionContext.ready""",
    )
    lab.page.wait_for_selector(".jp-NotebookPanel .jp-Notebook .jp-Cell")


def trusted(lab: LabPage) -> bool:
    return bool(
        lab.page.evaluate(
            "jupyterapp.shell.currentWidget.content.widgets.every(c => c.model.trusted)"
        )
    )


def test_a_saved_notebook_shows_its_profiles_without_their_kernel(
    lab: LabPage, lab_server: LabServer, screenshots: Path
):
    run(lab, lab_server, "saved.ipynb")
    output = lab.output(WORK_CELL)
    expect_live(output)
    lab.screenshot_output(WORK_CELL, screenshots / "saved-live.png")
    lab.save()
    saved = json.loads((lab_server.root / "saved.ipynb").read_text())
    [stored] = saved["cells"][WORK_CELL]["outputs"]
    assert stored["data"].keys() == {"text/html", "image/png", "text/plain"}
    assert "widgets" not in saved["metadata"]

    in_lab(lab, "await app.shell.currentWidget.sessionContext.shutdown()")
    expect_static(output)
    reopen(lab, "saved.ipynb")
    assert trusted(lab)
    expect_static(lab.output(WORK_CELL))
    lab.screenshot_output(WORK_CELL, screenshots / "saved-reopened.png")
    lab.set_theme("dark")
    lab.screenshot_output(WORK_CELL, screenshots / "saved-reopened-dark.png")
    lab.set_theme("light")
    lab.assert_clean()

    copy = nbformat.read(lab_server.root / "saved.ipynb", as_version=4)
    copy.cells[0].source += "\n# by somebody else"
    nbformat.write(copy, lab_server.root / "copy.ipynb")
    lab.open("copy.ipynb")
    assert not trusted(lab)
    expect_static(lab.output(WORK_CELL))
    lab.screenshot_output(WORK_CELL, screenshots / "saved-untrusted.png")
    lab.assert_clean()


def test_a_reloaded_page_is_live_again_and_a_restarted_kernel_leaves_the_static_form(
    lab: LabPage, lab_server: LabServer
):
    run(lab, lab_server, "again.ipynb")
    output = lab.output(WORK_CELL)
    expect_live(output)
    lab.save()
    lab.open("again.ipynb")
    expect_live(output)

    in_lab(lab, "await app.shell.currentWidget.sessionContext.session.kernel.restart()")
    expect_static(output)
    lab.run_all()
    expect_live(output)

    lab.execute("import os, threading; threading.Timer(0.2, os._exit, (1,)).start()")
    expect_static(output)
    # JupyterLab's own complaint, when the kernel went while its debugger asked something.
    lab.errors = [error for error in lab.errors if "debugger state" not in error]
    lab.assert_clean()


def test_a_cell_run_again_has_one_live_view_and_one_model(lab: LabPage, lab_server: LabServer):
    run(lab, lab_server, "rerun.ipynb")
    output = lab.output(WORK_CELL)
    expect_live(output)
    first = output.locator(".mxp-form").get_attribute("class")
    in_lab(
        lab,
        f"""const panel = app.shell.currentWidget;
        panel.content.activeCellIndex = {WORK_CELL};
        await app.commands.execute('notebook:run-cell')""",
    )
    expect(output.locator(f"[class='{first}']")).to_have_count(0)
    expect_live(output)
    assert widgets_of(lab) == 1
    assert lab.page.evaluate("[__mxprof.models.size, __mxprof.shown.size]") == [1, 1]
    lab.assert_clean()


def test_two_views_of_one_output_are_both_live_and_agree(lab: LabPage, lab_server: LabServer):
    run(lab, lab_server, "views.ipynb")
    output = lab.output(WORK_CELL)
    expect_live(output)
    in_lab(
        lab,
        f"""app.shell.currentWidget.content.activeCellIndex = {WORK_CELL};
        await app.commands.execute('notebook:create-output-view')""",
    )
    second = lab.page.locator(SECOND_VIEW)
    expect_live(second)
    expect_live(output)
    second.locator(".nsewdrag").first.hover()
    lab.page.mouse.wheel(0, -600)
    ranges = """() => [...document.querySelectorAll(".js-plotly-plot")].map(
        plot => plot.layout.xaxis.range.map(Number))"""
    whole = lab.page.evaluate(ranges)[0]
    lab.page.wait_for_function(
        f"whole => {{ const [a, b] = ({ranges})(); return a[1] - a[0] < 0.95 * whole[1] "
        "&& Math.abs(a[0] - b[0]) < 1e-6 && Math.abs(a[1] - b[1]) < 1e-6 }",
        arg=whole,
    )
    in_lab(lab, "app.shell.currentWidget.close()")
    lab.page.wait_for_function("() => __mxprof.shown.size === 1")
    lab.assert_clean()


def test_a_cell_that_calls_no_runtime_says_so_without_a_chart(lab: LabPage, lab_server: LabServer):
    lab_server.write("nothing.ipynb", SETUP, "%%mxprofile\nn = 1 + 1")
    lab.open("nothing.ipynb")
    lab.run_all()
    output = lab.output(WORK_CELL)
    expect(output.locator("li")).to_have_count(1)
    expect(output.locator(".jp-RenderedHTML").locator("img, table, svg")).to_have_count(0)
    lab.assert_clean()

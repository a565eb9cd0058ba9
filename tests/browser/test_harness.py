"""The harness itself, on notebooks that need nothing of ours."""

import json
from pathlib import Path

import pytest

from tests.browser.lab import LabPage, LabServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def test_a_notebook_runs_offline_and_its_outputs_are_seen_and_saved(
    lab: LabPage, lab_server: LabServer, screenshots: Path
):
    figure = (
        "import plotly.graph_objects as go\ngo.Figure(go.Bar(y=[1, 3, 2])).show('plotly_mimetype')"
    )
    notebook = lab_server.write("figure.ipynb", "print(6 * 7)", "", figure)
    lab.open(notebook.name)
    lab.run_all()
    assert lab.output(0).inner_text().strip() == "42"
    lab.output(2).locator(".js-plotly-plot .main-svg").first.wait_for()

    lab.set_theme("dark")
    lab.screenshot_output(2, screenshots / "harness-dark.png")
    lab.set_theme("light")
    lab.screenshot_output(2, screenshots / "harness-light.png")

    lab.save()
    saved = json.loads(notebook.read_text())
    assert [cell["execution_count"] for cell in saved["cells"]] == [1, None, 2]
    lab.assert_clean()


def test_a_second_run_waits_for_its_own_end(lab: LabPage, lab_server: LabServer):
    source = "import time\ntime.sleep(0.5)\nrun = globals().get('run', 0) + 1\nprint(run)"
    lab.open(lab_server.write("twice.ipynb", source).name)
    for run in ("1", "2"):
        lab.run_all()
        assert lab.output(0).inner_text().strip() == run


@pytest.mark.parametrize("time", ["first", "second"])
def test_a_notebook_gets_a_fresh_kernel_whatever_an_earlier_one_was_called(
    lab: LabPage, lab_server: LabServer, time: str
):
    lab.open(lab_server.write("namesake.ipynb", "", "print(len(In))").name)
    lab.run_all()
    assert lab.output(1).inner_text().strip() == "2"


def test_code_runs_in_the_kernel_outside_any_cell(lab: LabPage, lab_server: LabServer):
    lab.open(lab_server.write("kernel.ipynb", "").name)
    assert lab.execute("print('here')") == "here\n"
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        lab.execute("1 / 0")
    lab.assert_clean()


def test_a_failing_cell_is_reported_with_its_traceback(lab: LabPage, lab_server: LabServer):
    lab.open(lab_server.write("failing.ipynb", "1 / 0", "print('never')").name)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        lab.run_all()


def test_what_leaves_the_machine_is_blocked_and_recorded(lab: LabPage, lab_server: LabServer):
    lab.open(lab_server.write("outside.ipynb", "").name)
    lab.page.evaluate("() => fetch('https://outside.invalid/x').catch(() => null)")
    assert lab.blocked == ["https://outside.invalid/x"]
    with pytest.raises(AssertionError):
        lab.assert_clean()

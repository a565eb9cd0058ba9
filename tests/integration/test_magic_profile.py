"""What ``%%mxprofile`` gives beside the plain cell: the profile, its display, its files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.kernel import PATIENCE_S, PLUGIN, Kernel

# A kernel only hears Ctrl-C during `await` when its event loop wakes up, in a plain cell too.
LONG = ["time.sleep(60)", "for _ in range(1200): await asyncio.sleep(0.05)"]

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


def test_operators_and_waits_are_tied_to_the_lines_of_the_cell(kernel: Kernel):
    kernel.run(
        "%%mxprofile -o p\na = mx.nd.random_uniform(shape=(300, 300))\n"
        "b = mx.nd.dot(a, a)\nb.asnumpy().shape"
    )
    lines = kernel.value(
        "p.events[p.events.name.isin(['dot', 'WaitForVar'])][['name', 'line']]"
        ".drop_duplicates().values.tolist()"
    )
    assert ["dot", 3] in lines
    assert all(line == 4 for name, line in lines if name == "WaitForVar")
    assert kernel.value("set(p.trace.frame('sites').file) == {p.trace.meta.source_file}") is True
    assert kernel.value("p.trace.meta.source.splitlines()[2]") == "b = mx.nd.dot(a, a)"


def test_work_that_is_queued_at_the_end_of_the_cell_is_in_the_profile(kernel: Kernel):
    kernel.run("%%mxprofile -b jobs --no-lines -o p\njobs.submit(time.sleep, 0.1)")
    assert kernel.value("p.events.name.tolist()") == ["submit", "sleep"]
    assert kernel.value("p.trace.meta.pending") == 0


def test_the_wait_leaves_an_error_for_the_next_cell_to_meet(kernel: Kernel):
    kernel.run("def fail(): raise ValueError('late')")
    outcome = kernel.run("%%mxprofile -b jobs\njobs.submit(fail)")
    assert outcome.status == "ok"
    assert outcome.displays
    assert kernel.run("jobs.wait()").evalue == "late"


def test_the_profile_is_one_display_in_every_form_and_without_a_widget_when_nobody_watches(kernel):
    outcome = kernel.run("%%mxprofile\nmx.nd.ones((2, 2)).asnumpy()")
    [bundle] = outcome.displays
    assert {"text/plain", "text/html", "image/png"} <= set(bundle)
    assert WIDGET_MIME not in bundle
    assert "mxp-form" not in bundle["text/html"]
    assert "host" in bundle["text/plain"]


def test_a_front_end_with_a_person_before_it_also_gets_the_name_of_the_widget(kernel: Kernel):
    outcome = kernel.run("%%mxprofile\nmx.nd.ones((2, 2)).asnumpy()", allow_stdin=True)
    [bundle] = outcome.displays
    assert {"text/plain", "text/html", "image/png"} == set(bundle)
    assert 'class="mxp-form mxp-form-' in bundle["text/html"]


def test_quiet_displays_nothing_and_the_profile_is_still_at_hand(kernel: Kernel):
    outcome = kernel.run("%%mxprofile -q\nmx.nd.ones((2, 2)).asnumpy();")
    assert outcome.order == []
    assert "Profile 'cell" in kernel.value(
        "repr(get_ipython().run_line_magic('mxprofile','--last'))"
    )


def test_an_export_is_written_where_the_cell_began_and_told(kernel: Kernel, tmp_path: Path):
    outcome = kernel.run(
        f"%%mxprofile --export {tmp_path}/trace.json\nmx.nd.ones((2, 2)).asnumpy();"
    )
    assert outcome.stdout == f"Profile written to {tmp_path}/trace.json\n"
    assert json.loads((tmp_path / "trace.json").read_bytes())
    kernel.run(f"%%mxprofile -q -e {tmp_path}/report.html\nmx.nd.ones((2, 2)).asnumpy();")
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_after_an_exception_the_profile_is_shown_and_stored(kernel: Kernel):
    outcome = kernel.run("%%mxprofile -o p\nmx.nd.ones((2, 2)).asnumpy()\n1 / 0")
    assert (outcome.status, outcome.ename) == ("error", "ZeroDivisionError")
    assert outcome.order == ["error", "display_data"]
    assert kernel.value("p.trace.meta.status") == "error"
    assert kernel.value("len(p.events) > 0") is True


def test_after_an_exception_work_that_still_runs_is_counted(kernel: Kernel):
    kernel.run("gate = threading.Event()")
    kernel.run("%%mxprofile -b jobs -o p\njobs.submit(gate.wait)\njobs.submit(gate.wait)\n1 / 0")
    kernel.run("gate.set(); jobs.wait()")
    assert kernel.value("p.trace.meta.pending") == 2
    assert "2 operators" in kernel.value("str(p.health)")


def test_an_exception_stops_the_cells_that_were_queued_behind(kernel: Kernel):
    first = kernel.send("%%mxprofile\ntime.sleep(0.3)\n1 / 0")
    second = kernel.send("ran = True")
    assert kernel.reply(first)["status"] == "error"
    assert kernel.reply(second)["status"] == "aborted"
    assert kernel.value("'ran' in globals()") is False


@pytest.mark.parametrize("wait", LONG)
def test_ctrl_c_interrupts_the_cell_and_the_profile_is_shown(kernel: Kernel, wait: str):
    code = f"mx.nd.ones((2, 2)).asnumpy()\nprint('begun', flush=True)\n{wait}"
    plain = kernel.run(code, interrupt_at=("begun",))
    outcome = kernel.run(f"%%mxprofile -o p\n{code}", interrupt_at=("begun",))
    assert (outcome.status, outcome.ename) == (plain.status, plain.ename)
    assert outcome.order[-1] == "display_data"
    assert kernel.value("p.trace.meta.status") == "interrupted"


@pytest.mark.parametrize("wait", LONG)
def test_a_second_ctrl_c_ends_the_wait_and_keeps_the_profile(kernel: Kernel, wait: str):
    kernel.run("from mxprof_nb.backends import live\nlive.WAIT_AFTER_ERROR_S = 600")
    kernel.run("gate = threading.Event()")
    outcome = kernel.run(
        f"%%mxprofile -b jobs -o p\njobs.submit(gate.wait)\nprint('begun', flush=True)\n{wait}",
        interrupt_at=("begun", "CancelledError" if "await" in wait else "KeyboardInterrupt"),
    )
    kernel.run("live.WAIT_AFTER_ERROR_S = 1.0\ngate.set(); jobs.wait()")
    assert outcome.status == "error"
    assert outcome.order[-1] == "display_data"
    assert kernel.value("(p.trace.meta.status, p.trace.meta.pending)") == ("interrupted", 1)


@pytest.mark.parametrize("wait", ["pass", "await asyncio.sleep(0)"])
def test_ctrl_c_in_the_wait_of_a_cell_that_ended_well_stops_run_all(kernel: Kernel, wait: str):
    kernel.run("gate = threading.Event()")
    outcome = kernel.run(
        f"%%mxprofile -b jobs -o p\njobs.submit(gate.wait)\n{wait}\nprint('begun', flush=True)",
        interrupt_at=("begun",),
    )
    kernel.run("gate.set(); jobs.wait()")
    assert (outcome.status, outcome.ename) == ("error", "KeyboardInterrupt")
    assert kernel.value("(p.trace.meta.status, p.trace.meta.pending)") == ("interrupted", 1)


def test_a_program_can_profile_a_block_within_a_cell(kernel: Kernel):
    outcome = kernel.run(
        "import mxprof_nb as mp\nwith mp.profile(name='block') as p:\n"
        "    mx.nd.ones((2, 2)).asnumpy()\np"
    )
    assert outcome.value is not None
    assert {"text/plain", "text/html"} <= set(outcome.value)


def test_a_second_profile_in_the_cell_is_a_range_of_the_first_and_read_at_once(kernel: Kernel):
    outcome = kernel.run(
        "%%mxprofile -o p\nimport mxprof_nb as mp\nmx.nd.ones((2, 2)).asnumpy()\n"
        "with mp.profile(name='inner') as q:\n    mx.nd.zeros((2, 2)).asnumpy()\n"
        "seen = len(q.events)"
    )
    assert outcome.status == "ok"
    assert kernel.value("0 < seen < len(p.events)") is True
    assert kernel.value("'inner' in set(p.events.name)") is True
    assert kernel.run("%%mxprofile\n1").status == "ok"


def test_cells_in_two_subshells_are_profiled_at_the_same_time(kernel: Kernel):
    features = kernel.client.kernel_info(reply=True, timeout=PATIENCE_S)["content"]
    if "kernel subshells" not in features.get("supported_features", []):
        pytest.skip("this kernel has no subshells (ipykernel 7 and later have)")
    created = kernel.control("create_subshell_request", {})
    assert created["status"] == "ok"
    subshell = created["subshell_id"]
    kernel.run("meet = threading.Barrier(2, timeout=30)")
    # No values are shown: two at the same moment confuse the kernel, in plain cells too.
    code = "%%mxprofile -b jobs -q -o {}\nmeet.wait()\njobs.submit(time.sleep, 0.01)\nmeet.wait();"
    numbers = {kernel.send(code.format("p")), kernel.send(code.format("q"), subshell=subshell)}
    while numbers:
        message = kernel.client.get_shell_msg(timeout=PATIENCE_S)
        assert message["content"]["status"] == "ok"
        numbers.discard(message["parent_header"]["msg_id"])
    kernel.control("delete_subshell_request", {"subshell_id": subshell})
    assert kernel.value("'submit' in set(p.events.name) & set(q.events.name)") is True


def test_the_plugin_example_is_the_whole_of_a_backend():
    """The module that the jobs backend lives in derives from no class of ours."""
    source = (PLUGIN / "mxprof_jobs.py").read_text(encoding="utf-8")
    assert "(Backend)" not in source
    assert "(CaptureSession)" not in source

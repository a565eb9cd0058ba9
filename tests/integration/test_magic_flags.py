"""The flags of ``%%mxprofile`` in a real kernel, on the interpreter that runs the tests."""

from __future__ import annotations

import sys

import pytest

from tests.integration.kernel import Kernel

LONG = "begun = time.monotonic()\nwhile time.monotonic() - begun < 3.5: time.sleep(0.05)"


def lines_of(kernel: Kernel, name: str = "p") -> list[int]:
    told: list[int] = kernel.value(
        f"{name}.events[{name}.events.track_name == 'cell lines'].line.tolist()"
    )
    return told


def test_a_row_shows_which_line_of_the_cell_ran_when(kernel: Kernel):
    outcome = kernel.run(
        "%%mxprofile --lines -o p\ndef f(x):\n    return x + 1\na = mx.nd.ones((2, 2))\n"
        "b = f(a)\nawait asyncio.sleep(0.01)\nb.asnumpy()[0, 0]"
    )
    assert (outcome.status, outcome.text) == ("ok", "np.float32(2.0)")
    told = lines_of(kernel)
    assert list(dict.fromkeys(told)) == [2, 4, 5, 3, 6, 7]
    assert kernel.value("p.health.ok") is True
    assert kernel.value("p.tables['Cell lines'].name.tolist()[0]").startswith("line ")
    assert "cell lines" in kernel.value("[row.name for row in __import__("
        "'mxprof_nb.view.scene').view.scene.Stage(p.trace).rows]")  # fmt: skip


def test_without_the_flag_the_row_is_there_where_it_costs_little(kernel: Kernel):
    kernel.run("%%mxprofile -o p\nx = 1\ny = 2")
    assert bool(lines_of(kernel)) == (sys.version_info >= (3, 12))
    kernel.run("%%mxprofile --no-lines -o p\nx = 1\ny = 2")
    assert not lines_of(kernel)


def test_a_line_that_runs_very_often_is_switched_off_and_told(kernel: Kernel):
    kernel.run("%%mxprofile --lines -q -o p\nx = 0\nfor i in range(5000):\n    x += i")
    assert lines_of(kernel).count(4) == 1_000
    assert kernel.value("x") == sum(range(5000))
    assert "Lines 3 and 4 of the cell ran more than 1,000 times" in kernel.value("str(p.health)")


def test_whoever_holds_the_hook_keeps_it_and_health_says_why_the_row_is_missing(kernel: Kernel):
    if sys.version_info >= (3, 12):
        take = "[sys.monitoring.use_tool_id(tool, 'another') for tool in (3, 4)]"
        give = "[sys.monitoring.free_tool_id(tool) for tool in (3, 4)]"
        held = "[sys.monitoring.get_tool(tool) for tool in (3, 4)] == ['another'] * 2"
    else:
        take, give = "sys.settrace(theirs)", "sys.settrace(None)"
        held = "sys.gettrace() is theirs"
    kernel.run(f"import sys\ndef theirs(*a): pass\n{take}")
    outcome = kernel.run("%%mxprofile --lines -o p\nx = 1")
    still = kernel.value(held)
    kernel.run(give)
    assert still is True
    assert not lines_of(kernel)
    assert "The row of cell lines is left out: " in outcome.displays[0]["text/plain"]


def test_the_cell_may_use_a_profiler_itself(kernel: Kernel):
    outcome = kernel.run(
        "%%mxprofile --lines -q\nimport cProfile\nwith cProfile.Profile():\n    x = len('a')"
    )
    assert outcome.status == "ok"


def test_repetitions_are_steps_and_their_spread_is_told(kernel: Kernel):
    outcome = kernel.run(
        "%%mxprofile -n 3 -w 2 -o p\na = mx.nd.ones((2, 2))\nb = a + 1\nawait asyncio.sleep(0)\n"
        "print('ran')\nb.asnumpy().sum()"
    )
    assert outcome.text == "np.float32(8.0)"
    assert outcome.stdout == "ran\n" * 5
    [profile] = outcome.displays
    assert profile["text/plain"].startswith("3 repetitions after 2 warm-ups: median ")
    assert kernel.value("p.events.step[p.events.name == '_plus_scalar'].tolist()") == [1, 2, 3]


def test_an_interrupt_ends_all_repetitions(kernel: Kernel):
    outcome = kernel.run(
        "%%mxprofile -n 100 -o p\nprint('begun', flush=True)\ntime.sleep(5)",
        interrupt_at=("begun",),
    )
    assert (outcome.status, outcome.ename) == ("error", "KeyboardInterrupt")
    assert outcome.stdout == "begun\n"
    assert kernel.value("p.trace.meta.status") == "interrupted"


def test_work_of_an_earlier_cell_is_marked_and_told(kernel: Kernel):
    kernel.run("gate = threading.Event()\nmx.engine.push(gate.wait, name='earlier')")
    kernel.run("x = mx.engine.Var('x')\nmx.engine.push(gate.wait, writes=[x], name='earlier too')")
    outcome = kernel.run(
        "%%mxprofile -o p\nmx.engine.push(lambda: None, name='own')\ngate.set()\nmx.nd.waitall()"
    )
    told = kernel.value("p.events[p.events.earlier == 1].name.tolist()")
    assert sorted(told) == ["earlier", "earlier too"]
    assert "2 operators were queued before this profile began" in outcome.displays[0]["text/plain"]


def test_without_waiting_what_still_runs_is_counted(kernel: Kernel):
    kernel.run("gate = threading.Event()")
    kernel.run("%%mxprofile --no-wait -o p\nmx.engine.push(gate.wait, name='long')")
    kernel.run("gate.set()\nmx.nd.waitall()")
    assert kernel.value("p.trace.meta.pending") == 1


def test_what_is_not_asked_for_is_not_recorded(kernel: Kernel):
    code = "a = mx.nd.ones((2, 2))\n(a + 1).asnumpy();"
    kernel.run(f"%%mxprofile -q --no-api --no-memory --no-lines -o p\n{code}")
    assert kernel.value("set(p.events.category) <= {'operator', 'copy', 'engine'}") is True
    assert kernel.value("len(p.counters)") == 0


def test_events_beyond_the_limit_are_counted_in_the_headline(kernel: Kernel):
    outcome = kernel.run(
        "%%mxprofile --max-events 10\nfor _ in range(50): a = mx.nd.ones((2, 2))\na.asnumpy();"
    )
    headline = outcome.displays[0]["text/plain"].split("!")[0]
    assert " more not kept" in headline


@pytest.mark.parametrize("ending", ["", "\n1 / 0"])
def test_a_long_cell_counts_in_one_line_that_is_gone_at_the_end(kernel: Kernel, ending: str):
    outcome = kernel.run(f"%%mxprofile\na = mx.nd.ones((2, 2))\n{LONG}{ending}", allow_stdin=True)
    line, profile = outcome.displays
    assert "Recording: " in line["text/plain"]
    assert "event" in line["text/plain"]
    assert "host" in profile["text/plain"]
    assert outcome.updates[-1] == {"text/plain": "", "text/html": ""}
    assert len(outcome.updates) <= 4


def test_nothing_is_counted_in_a_short_cell_or_where_nobody_watches_or_output_is_captured(kernel):
    outcome = kernel.run("%%mxprofile\na = mx.nd.ones((2, 2))", allow_stdin=True)
    assert (len(outcome.displays), outcome.updates) == (1, [])
    outcome = kernel.run(f"%%mxprofile -q\n{LONG}")
    assert (outcome.displays, outcome.updates) == ([], [])
    outcome = kernel.run(f"%%capture\n%%mxprofile -q\n{LONG}", allow_stdin=True)
    assert (outcome.displays, outcome.updates) == ([], [])


def test_a_cell_that_clears_its_output_while_it_is_counted_ends_well(kernel: Kernel):
    outcome = kernel.run(
        "%%mxprofile\nfrom IPython.display import clear_output\n"
        f"{LONG}\nclear_output(wait=True)\nprint('after')",
        allow_stdin=True,
    )
    assert outcome.status == "ok"
    assert outcome.stdout == "after\n"
    assert outcome.updates[-1] == {"text/plain": "", "text/html": ""}


def test_a_statement_is_profiled_under_its_own_cell(kernel: Kernel):
    outcome = kernel.run("%mxprofile -o p mx.nd.ones((2, 2)).asnumpy().sum()")
    assert outcome.text == "np.float32(4.0)"
    assert len(outcome.displays) == 1
    assert "embedded" in kernel.run("%mxprofile --backends").stdout
    assert " p " in kernel.run("%mxprofile --list").stdout


def test_the_oldest_of_many_profiles_loses_its_live_view(kernel: Kernel):
    kernel.run("%unload_ext mxprof_nb\n%load_ext mxprof_nb")
    code = "mx.nd.ones((2, 2)).asnumpy();"
    kernel.run(f"%%mxprofile -o named\n{code}", allow_stdin=True)
    kernel.run(f"%%mxprofile\n{code}", allow_stdin=True)
    kernel.run("first = %mxprofile --last\nlive = [first._live[0](), named._live[0]()]")
    for _ in range(10):
        assert kernel.run(f"%%mxprofile -q\n{code}").status == "ok"
    assert kernel.value("[widget.comm is None for widget in live]") == [True, False]

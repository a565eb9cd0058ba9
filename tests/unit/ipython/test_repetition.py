"""Cells that run several times, in a real shell, with the embedded runtime."""

from __future__ import annotations

import ast

import pytest
from IPython.core.interactiveshell import InteractiveShell

from mxprof_nb.analysis import spread_of_repetitions
from mxprof_nb.ipython import another
from mxprof_nb.ipython.repetition import repeated
from mxprof_nb.ipython.run import NAME
from mxprof_nb.view.headline import headline


@pytest.fixture
def run(shell: InteractiveShell):
    """Run a cell as a front end would."""
    shell.run_cell("import mxprof_nb.runtime as mx\na = mx.nd.ones((4, 4))\nruns = []")
    return lambda cell: shell.run_cell(cell, store_history=True)


def steps(shell: InteractiveShell, name: str) -> list[object]:
    events = shell.user_ns["p"].events
    return [step if step > 0 else None for step in events.step[events.name == name].fillna(-1)]


def test_each_repetition_is_a_step_and_warm_ups_are_left_out(run, shell):
    result = run(f"{NAME} -q -n 3 -w 2 -o p --no-lines\nruns.append(1)\nb = mx.nd.dot(a, a)\n7")
    assert result.result == 7
    assert len(shell.user_ns["runs"]) == 5
    assert steps(shell, "dot") == [1, 2, 3]
    assert steps(shell, "repetition") == [1, 2, 3]
    assert steps(shell, "warm-up") == [None, None]
    p = shell.user_ns["p"]
    assert p.tables["Operators"].set_index("name")["count"]["dot"] == 3
    assert p.trace.window_ns[0] == p.events.start_ns[p.events.name == "repetition"].min()
    assert p.health.ok


def test_what_a_repetition_queued_is_waited_for_before_the_next(run, shell):
    run(f"{NAME} -q -n 3 -o p\nfor _ in range(20): b = mx.nd.dot(a, a)")
    events = shell.user_ns["p"].events
    ends = events.start_ns + events.dur_ns
    for step in (1, 2):
        last = ends[(events.step == step) & (events.category == "operator")].max()
        assert last <= events.start_ns[events.step == step + 1].min()


def test_the_headline_tells_median_and_range(run, shell):
    run(f"{NAME} -q -n 3 -w 1 -o p\nb = mx.nd.dot(a, a)")
    trace = shell.user_ns["p"].trace
    spread = spread_of_repetitions(trace)
    assert spread is not None
    assert (spread.count, spread.warm_ups) == (3, 1)
    assert 0 < spread.min_ns <= spread.median_ns <= spread.max_ns
    assert headline(trace).startswith("3 repetitions after 1 warm-up: median ")


def test_await_the_last_value_and_a_future_import_are_those_of_the_plain_cell(run, shell):
    result = run(
        f"{NAME} -q -n 3 -o p\nfrom __future__ import annotations\nimport asyncio\n"
        "def f(x: Nope): pass\nruns.append(await asyncio.sleep(0, 1))\nlen(runs)"
    )
    assert result.success
    assert result.result == 3
    assert shell.user_ns["f"].__annotations__ == {"x": "Nope"}
    assert steps(shell, "repetition") == [1, 2, 3]


def test_an_exception_ends_all_and_names_its_line(run, shell, capsys):
    result = run(f"{NAME} -q -n 5 -o p\nruns.append(1)\nif len(runs) == 3:\n    1 / 0")
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert len(shell.user_ns["runs"]) == 3
    assert "line 4" in (out := capsys.readouterr().out) or "----> 4" in out
    spread = spread_of_repetitions(shell.user_ns["p"].trace)
    assert spread is not None
    assert spread.count == 2


@pytest.mark.parametrize("wrong", ["x = 1 +", "return 5", "break", "continue"])
def test_what_does_not_compile_is_told_once_and_the_next_cell_runs_once(run, shell, capsys, wrong):
    result = run(f"{NAME} -q -n 3\n{wrong}")
    assert isinstance(result.error_before_exec or result.error_in_exec, SyntaxError)
    assert capsys.readouterr().out.count("SyntaxError") == 1
    run("runs.append(1)")
    assert len(shell.user_ns["runs"]) == 1
    assert shell.ast_transformers == []


def test_only_the_cell_itself_is_repeated(run, shell):
    run(f"{NAME} -q -n 2\nget_ipython().run_cell('runs.append(1)')")
    assert len(shell.user_ns["runs"]) == 2
    assert shell.ast_transformers == []


def test_a_cell_without_code_runs(run, shell):
    assert run(f"{NAME} -q -n 3\n# nothing").success
    assert run(f"{NAME} -q -n 3\nfrom __future__ import annotations").success
    assert shell.ast_transformers == []


def test_under_another_magic_one_line_says_that_nothing_is_repeated(run, shell, capsys):
    run(f"%%time\n{NAME} -q -n 3 -o p\nruns.append(1)")
    assert len(shell.user_ns["runs"]) == 1
    assert capsys.readouterr().err.count("as often as that one says") == 1
    assert "p" in shell.user_ns


def test_a_statement_and_a_call_by_name_are_repeated_too(run, shell):
    assert run("%mxprofile -q -n 2 -o p len(runs)").result == 0
    assert steps(shell, "repetition") == [1, 2]
    run("get_ipython().run_cell_magic('mxprofile', '-q -n 3', 'runs.append(1)')")
    assert len(shell.user_ns["runs"]) == 3


def test_outside_a_repeated_cell_nothing_follows(run, shell):
    assert another() is False


def test_statements_keep_their_lines():
    tree = repeated(ast.parse("\nx = 1\ny = 2\n"))
    loop, *once = tree.body
    assert isinstance(loop, ast.While)
    assert [node.lineno for node in loop.body] == [node.lineno for node in once] == [2, 3]
    assert loop.lineno == 1


def test_an_error_of_a_cell_within_the_cell_is_not_its_end(run, shell):
    cell = "get_ipython().run_cell('1 / 0')\nb = mx.nd.dot(a, a)\nmx.nd.waitall()"
    assert run(f"{NAME} -q -o p\n{cell}").success
    trace = shell.user_ns["p"].trace
    waited = trace.events.start_ns[trace.events.name == trace.strings.code("MXNDArrayWaitAll")]
    assert trace.meta.returned_ns > waited[0]

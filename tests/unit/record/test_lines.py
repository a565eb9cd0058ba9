"""Lines of a cell, written down by whatever the interpreter offers for it."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from mxprof_nb.record import lines
from mxprof_nb.record.lines import LineLog, hit_cost_ns

MONITORING: Any = vars(sys).get("monitoring")
SOURCE = """\
def f(x):
    y = x + 1
    return y
a = f(1)
for i in range(2):
    a += i
"""


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    """Take the hook from a coverage tool for the time of a test."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


def recorded(source: str, log: LineLog) -> list[int]:
    code = compile(source, log.file, "exec")
    log.start()
    log.follow(code)
    try:
        exec(code, {})
    finally:
        log.stop()
    return [span.line for span in log.spans(2**62)]


def test_each_line_is_told_when_it_begins_and_the_caller_goes_on_after_a_return():
    log = LineLog("cell of lines")
    assert recorded(SOURCE, log) == [1, 4, 2, 3, 4, 5, 6, 5, 6, 5]
    assert not log.refused
    assert not log.sampled


def test_a_line_lasts_until_the_next_one_begins_and_the_last_until_the_end():
    moments = iter([10, 25, 40])
    log = LineLog("cell of three", now=lambda: next(moments))
    recorded("a = 1\nb = 2\nc = 3", log)
    assert log.spans(50) == [(10, 25, 1), (25, 40, 2), (40, 50, 3)]
    assert log.spans(30) == [(10, 25, 1), (25, 30, 2)], "what came after the end is not told"


def test_our_own_line_ends_the_one_before_and_is_not_told():
    moments = iter([10, 25, 40])
    log = LineLog("cell with ours", skip=2, now=lambda: next(moments))
    recorded("a = 1\nb = 2\nc = 3", log)
    assert log.spans(50) == [(10, 25, 1), (40, 50, 3)]


def test_a_line_is_switched_off_after_so_many_hits():
    log = LineLog("cell of a loop", most=5)
    told = recorded("a = 0\nfor i in range(50):\n    a += i\nb = 1", log)
    assert {line: told.count(line) for line in set(told)} == {1: 1, 2: 5, 3: 5, 4: 1}
    assert log.sampled == {2, 3}


def test_the_last_line_that_is_told_does_not_last_over_those_that_are_not():
    log = LineLog("cell of a long loop", most=3, now=itertools.count().__next__)
    told = recorded("for i in range(50):\n    a = i\nb = 1", log)
    assert told == [1, 2, 1, 2, 1, 2, 3]
    spans = log.spans(100)
    assert all(span.end_ns - span.begin_ns == 1 for span in spans[:-1])


def test_returns_are_switched_off_as_well():
    log = LineLog("cell of calls", most=5)
    recorded("def f(): return 1\nfor i in range(100): f()", log)
    assert len(log) < 30


def test_code_of_other_files_is_not_told():
    log = LineLog("this cell")
    assert recorded("exec(compile('x = 1\\ny = 2', 'another cell', 'exec'))\nz = 3", log) == [1, 2]


def test_a_generator_gives_way_to_the_line_that_asks_it():
    log = LineLog("cell of a generator")
    told = recorded("def g():\n    yield 1\n    yield 2\nfor x in g():\n    pass\n", log)
    assert told[:6] == [1, 4, 2, 4, 5, 4]


def test_lines_that_another_thread_runs_are_left_out():
    log = LineLog("cell of threads")
    source = "import threading\ndef f():\n    return 5\nt = threading.Thread(target=f)\n"
    assert 3 not in recorded(source + "t.start()\nt.join()", log)


def test_an_exception_in_the_cell_leaves_no_hook_behind():
    log = LineLog("cell that fails")
    with pytest.raises(ZeroDivisionError):
        recorded("a = 1\n1 / 0", log)
    assert [span.line for span in log.spans(2**62)] == [1, 2]
    assert sys.gettrace() is None
    if MONITORING is not None:
        assert [MONITORING.get_tool(tool) for tool in (3, 4)] == [None, None]


def test_code_that_runs_already_can_be_followed():
    log = LineLog(__file__)
    log.start(sys._getframe())
    marked = sys._getframe().f_lineno + 1
    log = log  # the line that is told
    log.stop()
    assert marked in [span.line for span in log.spans(2**62)]


def test_two_logs_run_at_the_same_time_in_two_threads():
    logs = [LineLog("cell A"), LineLog("cell B")]
    told: dict[int, list[int]] = {}
    meet = threading.Barrier(2, timeout=30)

    def run(number: int) -> None:
        sys.settrace(None)
        log = logs[number]
        code = compile("a = 1\nb = 2", log.file, "exec")
        log.start()
        log.follow(code)
        meet.wait()
        exec(code, {})
        meet.wait()
        log.stop()
        told[number] = [span.line for span in log.spans(2**62)]

    threads = [threading.Thread(target=run, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == {0: [1, 2], 1: [1, 2]}


def test_a_trace_function_of_somebody_else_stays_and_the_log_says_why_it_is_empty(monkeypatch):
    def theirs(frame: FrameType, event: str, argument: object) -> None:
        return None

    monkeypatch.setattr(lines, "_MONITOR", None)
    sys.settrace(theirs)
    log = LineLog("cell under a debugger")
    assert recorded("a = 1", log) == []
    assert "trace function" in log.refused
    assert sys.gettrace() is theirs


def test_the_trace_function_does_the_same_where_there_is_nothing_better(monkeypatch):
    monkeypatch.setattr(lines, "_MONITOR", None)
    log = LineLog("cell of the trace function", most=3)
    assert recorded(SOURCE, log)[:5] == [1, 4, 2, 3, 4]
    assert sys.gettrace() is None


@pytest.mark.skipif(MONITORING is None, reason="sys.monitoring came with Python 3.12")
def test_tools_keep_their_places_and_the_log_says_who_holds_them():
    assert MONITORING is not None
    for tool in (3, 4):
        MONITORING.use_tool_id(tool, f"tool {tool}")
    try:
        log = LineLog("cell under a profiler")
        assert recorded("a = 1", log) == []
        assert "tool 3 and tool 4 hold" in log.refused
        MONITORING.free_tool_id(3)
        assert recorded("a = 1", LineLog("cell beside a tool")) == [1]
    finally:
        MONITORING.free_tool_id(4)


def test_the_cost_of_a_line_is_measured():
    assert 10 < hit_cost_ns() < 1e6

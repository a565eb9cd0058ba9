"""`LineLog`: which line of a cell ran when, written down as the cell runs.

- From Python 3.12 on `sys.monitoring` tells when a line of the cell begins. Only code that was
  handed to `LineLog.follow` is watched, so no other code gets slower; a line is switched off after
  `MOST_HITS`.
- Before, a trace function does it, which every call of a function pays for.
- Only the thread that runs the cell is followed. A line lasts until the next begins; when a
  function of the cell returns, the line that called it goes on.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from mxprof_nb.record.clock import SYSTEM

__all__ = ["MOST_HITS", "LineLog", "LineSpan", "hit_cost_ns"]

#: So often a line is written down at most; then it is switched off and counts as sampled.
MOST_HITS = 1_000
#: In place of a line that is not told any more: it ends the one before.
_NO_LINE = 0

Trace = Callable[[FrameType, str, Any], Any]


class LineSpan(NamedTuple):
    """One stretch of time in which a line ran, in ns of the log's clock."""

    begin_ns: int
    end_ns: int
    line: int


class LineLog:
    """Which line of one file ran when, in one thread.

    Parameters
    ----------
    file : str
        Name under which the code was compiled.
    skip : int
        A line that is ours, not the program's: it ends the one before and is not told.

    Attributes
    ----------
    refused : str
        Why nothing is written down, from `start` on; empty when all is well.
    sampled : set of int
        Lines that ran more often than ``most``.
    """

    def __init__(
        self,
        file: str,
        *,
        skip: int = 0,
        now: Callable[[], int] = SYSTEM.now,
        most: int = MOST_HITS,
    ) -> None:
        self.file, self.skip = file, skip
        self.refused = ""
        self.sampled: set[int] = set()
        self.most = most
        self._now = now
        self._thread = threading.get_ident()
        self._hits: dict[object, int] = {}
        self._moments: list[int] = []  # time and line by turns
        self._hook: _Monitor | _Tracer | None = None

    def __len__(self) -> int:
        return len(self._moments) // 2

    def start(self, frame: FrameType | None = None) -> None:
        """Begin to write down, in the calling thread; see `refused`.

        Parameters
        ----------
        frame : FrameType, optional
            Code of the file that runs already.
        """
        hook = _MONITOR if _MONITOR is not None else _Tracer()
        self._thread = threading.get_ident()
        self.refused = hook.start(self, frame)
        if not self.refused:
            self._hook = hook

    def follow(self, code: CodeType) -> None:
        """Watch code that is about to run, with the functions in it, if it is of the file."""
        if self._hook is not None:
            self._hook.follow(self, code)

    def stop(self) -> None:
        """Stop; nothing happens when it does not run."""
        hook, self._hook = self._hook, None
        if hook is not None:
            hook.stop(self)

    def hit(self, line: int) -> bool:
        """Note that a line begins; return whether it is to be told on."""
        if threading.get_ident() != self._thread:
            return True
        count = self._hits.get(line, 0)
        if count >= self.most:
            if line not in self.sampled:  # else what ran before would seem to go on
                self.sampled.add(line)
                self._moments.extend((self._now(), _NO_LINE))
            return False
        self._hits[line] = count + 1
        self._moments.extend((self._now(), line))
        return True

    def left(self, frame: FrameType) -> bool:
        """Note that a function of the file gives way to its caller; return as `hit` does."""
        if threading.get_ident() != self._thread:
            return True
        code = frame.f_code
        count = self._hits.get(code, 0)
        if count >= self.most:
            return False
        self._hits[code] = count + 1
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename != self.file:
            caller = caller.f_back
        if caller is not None and caller.f_lineno is not None:
            self._moments.extend((self._now(), caller.f_lineno))
        return True

    def spans(self, end_ns: int) -> list[LineSpan]:
        """Return what ran when, in order; the last line lasts until ``end_ns``."""
        begins, lines = self._moments[::2], self._moments[1::2]
        ends = [*begins[1:], max(end_ns, begins[-1])] if begins else []
        return [
            LineSpan(begin, min(end, max(end_ns, begin)), line)
            for begin, end, line in zip(begins, ends, lines, strict=True)
            if line not in (self.skip, _NO_LINE) and begin <= end_ns
        ]


class _Tracer:
    """The trace function of one thread, for one log."""

    def __init__(self) -> None:
        self._trace: Trace | None = None

    def start(self, log: LineLog, frame: FrameType | None) -> str:
        if sys.gettrace() is not None:
            return "a debugger or a coverage tool holds the trace function of this thread"

        def inside(frame: FrameType, event: str, _argument: Any) -> Trace:
            if event == "line":
                log.hit(frame.f_lineno)
            elif event == "return":
                log.left(frame)
            return inside

        def trace(frame: FrameType, _event: str, _argument: Any) -> Trace | None:
            return inside if frame.f_code.co_filename == log.file else None

        self._trace = trace
        if frame is not None:
            frame.f_trace = inside
        sys.settrace(trace)
        return ""

    def follow(self, _log: LineLog, _code: CodeType) -> None:
        """Do nothing: every call is looked at."""

    def stop(self, _log: LineLog) -> None:
        if sys.gettrace() is self._trace:
            sys.settrace(None)


#: Places in `sys.monitoring` that are nobody's; that of profilers is needed by cProfile, which a
#: cell may use.
_TOOLS = (3, 4)


class _Monitor:
    """Our tool at `sys.monitoring`; one for the process, serving the logs of all threads."""

    def __init__(self, monitoring: Any) -> None:
        self._monitoring, self._tool = monitoring, -1
        self._logs: dict[str, LineLog] = {}
        self._codes: dict[str, list[CodeType]] = {}
        self._lock = threading.Lock()

    def start(self, log: LineLog, frame: FrameType | None) -> str:
        with self._lock:
            if log.file in self._logs:
                return "the same code is being profiled in another thread"
            if not self._logs:
                holders = {tool: self._monitoring.get_tool(tool) for tool in _TOOLS}
                free = [tool for tool, holder in holders.items() if holder is None]
                if not free:
                    names = " and ".join(map(str, holders.values()))
                    return f"{names} hold the places for tools in sys.monitoring"
                self._tool = free[0]
                self._begin()
            self._logs[log.file] = log
            self._codes[log.file] = []
        if frame is not None:
            self.follow(log, frame.f_code)
        return ""

    def follow(self, log: LineLog, code: CodeType) -> None:
        if code.co_filename != log.file:
            return
        events = self._monitoring.events
        wanted = events.LINE | events.PY_RETURN | events.PY_YIELD
        self._codes[log.file].append(code)
        self._monitoring.set_local_events(self._tool, code, wanted)
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self.follow(log, inner)

    def stop(self, log: LineLog) -> None:
        with self._lock:
            self._logs.pop(log.file, None)
            for code in self._codes.pop(log.file, ()):
                self._monitoring.set_local_events(self._tool, code, 0)
            if not self._logs:
                for event in self._callbacks():
                    self._monitoring.register_callback(self._tool, event, None)
                self._monitoring.free_tool_id(self._tool)

    def _callbacks(self) -> dict[int, Callable[..., Any]]:
        events = self._monitoring.events
        return {
            events.LINE: self._line,
            events.PY_RETURN: self._left,
            events.PY_YIELD: self._left,
        }

    def _begin(self) -> None:
        self._monitoring.use_tool_id(self._tool, "mxprof_nb")
        for event, call in self._callbacks().items():
            self._monitoring.register_callback(self._tool, event, call)

    def _line(self, code: CodeType, line: int) -> Any:
        log = self._logs.get(code.co_filename)
        return None if log is None or log.hit(line) else self._monitoring.DISABLE

    def _left(self, code: CodeType, _offset: int, _value: object) -> Any:
        log = self._logs.get(code.co_filename)
        if log is None or log.left(sys._getframe(1)):
            return None
        return self._monitoring.DISABLE


_MONITOR = _Monitor(vars(sys)["monitoring"]) if "monitoring" in vars(sys) else None


@lru_cache(maxsize=1)
def hit_cost_ns() -> float:
    """Return what it costs to write down one line, in ns, without the interpreter's own part."""
    log = LineLog("", most=sys.maxsize)
    begin = SYSTEM.now()
    for line in range(1_000):
        log.hit(line)
    return (SYSTEM.now() - begin) / 1_000

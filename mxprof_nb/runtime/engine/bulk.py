"""Bulking: several operators queued and run as one, which costs one trip through the engine.

- Each thread chooses how many of its operators make a bulk, none by default.
- A bulk is handed over when it is full, when somebody needs one of its results, when the size is
  changed, or when work for other workers comes.
- While a profile keeps aggregate statistics operators are not bulked, so that they keep their
  names (MXNet: ``bulk_size`` in ``src/engine/threaded_engine.h``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine.state import Operator, Variable

__all__ = ["SIZES", "Bulk", "BulkSizes"]

_BULK = RECORDER.labels.define("ImperativeBulk", "operator", "operator")
_now = RECORDER.clock.now
_thread = threading.get_ident


class BulkSizes:
    """How many operators make a bulk, thread by thread.

    Attributes
    ----------
    suspended : bool
        Whether operators stay single for now, whatever the threads have chosen.
    """

    def __init__(self) -> None:
        self.suspended = False
        self._of: dict[int, int] = {}  # by thread, without zeros: usually empty
        self._ends = threading.local()

    def __bool__(self) -> bool:
        return bool(self._of) and not self.suspended

    def of_this_thread(self) -> int:
        """Return this thread's size; 0 and 1 mean no bulking."""
        return self._of.get(_thread(), 0)

    def set(self, size: int) -> int:
        """Choose this thread's size and return the one before."""
        thread = _thread()
        before = self._of.pop(thread, 0)
        if size:
            self._of[thread] = size
            if not hasattr(self._ends, "forget"):
                self._ends.forget = _AtEnd(self._of, thread)
        return before


class _AtEnd:
    """Removes a thread's entry with the thread; the system gives its number to another."""

    def __init__(self, entries: dict[int, int], thread: int) -> None:
        self._entries = entries
        self._thread = thread

    def __del__(self) -> None:
        self._entries.pop(self._thread, None)


#: The one setting of the process; an engine that cannot bulk ignores it.
SIZES = BulkSizes()


class Bulk(Operator):
    """Operators of one thread and one lane that will run one after the other.

    Parameters
    ----------
    first : Operator
        Says where it runs and where in the program it was begun.
    number : int
        Its place in program order, that of the first.
    fail : callable
        Told of each operator that failed, and why.
    """

    def __init__(
        self, first: Operator, number: int, fail: Callable[[Operator, BaseException], None]
    ) -> None:
        super().__init__(_run, label=_BULK)
        self.number = number
        self.lane = first.lane
        self.place = first.place
        self.queued_ns = first.queued_ns
        self.payload: list[Operator] = []
        self.fail = fail
        self._written: dict[Variable, bool] = {}  # in the order of first use

    def __len__(self) -> int:
        return len(self.payload)

    def __contains__(self, variable: Variable) -> bool:
        return variable in self._written

    def add(self, operator: Operator) -> None:
        """Take one more."""
        for variable in operator.reads:
            self._written.setdefault(variable, False)
        for variable in operator.writes:
            self._written[variable] = True
        self.payload.append(operator)

    def close(self) -> None:
        """Say what all of them together read and write."""
        self.reads = [variable for variable, written in self._written.items() if not written]
        self.writes = [variable for variable, written in self._written.items() if written]


def _run(bulk: Operator) -> None:
    """Run the operators of a bulk; one that fails takes nothing but its dependants along."""
    if not isinstance(bulk, Bulk):
        raise TypeError(f"{bulk!r} is no bulk")
    for member in bulk.payload:
        start = _now()
        try:
            member.run(member)
        except BaseException as error:
            bulk.fail(member, error)
        if RECORDER.on and member.taken:
            RECORDER.buffer().memory.extend((start, member.device, member.taken))

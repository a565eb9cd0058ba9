"""The dependency logic: which operator may run when. No thread, no clock, no lock.

- An `Operator` reads and writes variables. `EngineState.queue` takes one in program order,
  `EngineState.done` says that one has finished; both answer with what may run now.
- A variable is read by many at once or written by one; who came first goes first.
- The caller serialises the calls (the threaded engine holds its lock around them).

After MXNet's versioned variables (``src/engine/threaded_engine.h``, ``ThreadedVar``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from mxprof_nb.errors import EngineError
from mxprof_nb.record.sites import Place

__all__ = ["PYTHON_LANE", "EngineState", "Operator", "Variable"]

#: Where operators written in Python run, of all devices.
PYTHON_LANE = -1

NEW, WAITING, READY, FINISHED = "new", "waiting", "ready", "finished"

_by_number = attrgetter("number")


class Variable:
    """What operators read and write; an array's memory is one.

    Attributes
    ----------
    readers : int
        Operators that read it and have been let go but have not finished.
    writing : bool
        Whether an operator that writes it has been let go and has not finished.
    queue : deque or None
        Operators that wait for it, in program order, each with whether it writes.
    failure : object or None
        Why its value could not be computed.
    """

    __slots__ = ("__weakref__", "failure", "queue", "readers", "writing")

    def __init__(self) -> None:
        self.readers = 0
        self.writing = False
        self.queue: deque[tuple[Operator, bool]] | None = None
        self.failure: Any = None

    def is_at_rest(self) -> bool:
        """Return whether no operator uses it or waits for it."""
        return not (self.writing or self.readers or self.queue)


def _nothing() -> None:
    """Take over nothing."""


class Operator:
    """One unit of work: what to run and which variables it reads and writes.

    Attributes
    ----------
    number : int
        Its place in program order, from 1; ties its records together.
    run : callable
        Called with the operator by whoever carries it out.
    reads, writes : sequence of Variable
        No variable stands in both.
    missing : int
        How many variables it still waits for.
    state : str
        new, waiting, ready or finished.
    immediate : bool
        Carried out on the spot by whoever makes it ready, e.g. the end of somebody's wait.
    device, taken : int
        Label of the device on which running it took memory, and how many bytes; -1 and 0 if none.
    place : Place
        Where in the program it was queued.
    queued_ns : int
        When it was queued, 0 unless somebody records.
    released_by : int
        Number of the operator whose end let it go, 0 if it never waited.
    lane : int
        Which workers run it: twice the number of a device, one more for its copies, or
        `PYTHON_LANE`.
    priority : int
        Of several that are ready, those with a higher one run first; 0 for most.
    bulkable : bool
        Whether it may become part of a bulk.
    urgent : bool
        Whether it is queued though the queue is full: others wait for it to be queued.
    nested : bool
        Whether an operator written in Python queued it, which may wait for it.
    depth : int
        How many written in Python it is within.
    inner : sequence of Variable
        Of one written in Python: what it queues works on these, and it has not ended before they
        are at rest.
    settle : callable
        Called then, to take over what was made of them.
    """

    # No __slots__: class attributes as defaults make an operator four times cheaper to build.
    number = 0
    missing = 0
    queued_ns = 0
    released_by = 0
    lane = 0
    priority = 0
    bulkable = True
    urgent = False
    nested = False
    depth = 0
    inner: Sequence[Variable] = ()
    settle: Callable[[], None] = staticmethod(_nothing)
    state = NEW
    device = -1
    taken = 0
    place: Place = (None, -1)
    immediate = False
    payload: Any = None

    def __init__(
        self,
        run: Callable[[Operator], None],
        reads: Sequence[Variable] = (),
        writes: Sequence[Variable] = (),
        label: int = -1,
    ) -> None:
        self.run = run
        self.reads = reads
        self.writes = writes
        self.label = label

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of its inputs, for error messages."""
        return ()

    @property
    def results(self) -> Sequence[Variable]:
        """What it makes, of what it writes: the rest is in use by it and never fails."""
        return self.writes

    def story(self) -> str:
        """Return what is known about it, for an error message."""
        return (
            f"operator {self.number} (label {self.label}): {self.state}, waits for "
            f"{self.missing} of {len(self.reads)} reads and {len(self.writes)} writes"
        )


class EngineState:
    """Everything that is queued, and nothing else.

    Attributes
    ----------
    pending : int
        Operators that were queued and have not finished.
    queued : int
        Operators that were ever queued; the number of the newest.
    """

    __slots__ = ("pending", "queued")

    def __init__(self) -> None:
        self.pending = 0
        self.queued = 0

    def reserve(self) -> int:
        """Return the next number in program order, for an operator that will be queued later."""
        self.queued += 1
        return self.queued

    def queue(self, operator: Operator) -> bool:
        """Take an operator in program order; return whether it may run now.

        Raises
        ------
        EngineError
            It was queued before.
        """
        if operator.state is not NEW:
            raise EngineError(f"queue() got an operator a second time: {operator.story()}.")
        if not operator.number:
            operator.number = self.reserve()
        self.pending += 1
        missing = placed = 0
        try:
            for variable in operator.reads:
                if variable.writing or variable.queue:
                    if variable.queue is None:
                        variable.queue = deque()
                    missing += 1
                    placed += 1
                    variable.queue.append((operator, False))
                else:
                    placed += 1
                    variable.readers += 1
            for variable in operator.writes:
                if variable.writing or variable.readers or variable.queue:
                    if variable.queue is None:
                        variable.queue = deque()
                    missing += 1
                    placed += 1
                    variable.queue.append((operator, True))
                else:
                    placed += 1
                    variable.writing = True
        except BaseException:  # Ctrl-C strikes between two variables, never within one
            self._withdraw(operator, placed)
            raise
        operator.missing = missing
        operator.state = WAITING if missing else READY
        return not missing

    def _withdraw(self, operator: Operator, placed: int) -> None:
        """Take back an operator that has its place at the first few variables only."""
        uses = [(v, False) for v in operator.reads] + [(v, True) for v in operator.writes]
        for variable, writes in uses[:placed]:
            if variable.queue and variable.queue[-1][0] is operator:
                variable.queue.pop()
            elif writes:
                variable.writing = False
            else:
                variable.readers -= 1
        self.pending -= 1

    def done(self, operator: Operator) -> list[Operator]:
        """Take the end of an operator; return those that may run now, in program order.

        Raises
        ------
        EngineError
            It was not running.
        """
        if operator.state is not READY:
            raise EngineError(f"done() got an operator that was not running: {operator.story()}.")
        operator.state = FINISHED
        self.pending -= 1
        ready: list[Operator] = []
        for variable in operator.reads:
            variable.readers -= 1
            if not variable.readers and variable.queue:
                self._grant(variable, ready)
        for variable in operator.writes:
            variable.writing = False
            if variable.queue:
                self._grant(variable, ready)
        if len(ready) > 1:
            ready.sort(key=_by_number)  # they were found variable by variable
        for granted in ready:
            granted.released_by = operator.number
        return ready

    @staticmethod
    def _grant(variable: Variable, ready: list[Operator]) -> None:
        """Let go those at the head of a variable's queue that may have it together."""
        queue = variable.queue
        while queue:
            operator, writes = queue[0]
            if writes:
                if variable.readers:
                    return
                variable.writing = True
            else:
                variable.readers += 1
            queue.popleft()
            operator.missing -= 1
            if not operator.missing:
                operator.state = READY
                ready.append(operator)
            if writes:
                return

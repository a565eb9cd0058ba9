"""Bulking: several operators queued and run as one, which costs one trip through the engine.

- Each thread chooses how many of its operators make a bulk, none by default.
- A bulk is handed over when it is full, when somebody needs one of its results, when the size is
  changed, or when work for other workers comes.
- A profile shows each member inside its bulk; MXNet's loses their names.
- While a profile keeps aggregate statistics operators are not bulked, so that they keep their
  names (MXNet: ``bulk_size`` in ``src/engine/threaded_engine.h``).
- A `Segment` is such a unit made beforehand, of a graph: it bears the names of its members, and
  statistics do not split it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine.state import NEW, EngineState, Operator, Variable

__all__ = ["SEGMENTS", "SIZES", "Bulk", "BulkSizes", "Bulks", "Segment", "segment_label"]

_BULK = RECORDER.labels.define("ImperativeBulk", "operator", "operator")
#: Domain of the operators inside bulks, whose records lie within that of their bulk.
MEMBERS = "bulk"
#: Labels of segments, which MXNet's profiler records whatever it was told to record.
SEGMENTS: set[int] = set()
#: Characters that MXNet keeps of a name.
LONGEST_NAME = 127
_members: dict[int, int] = {}  # labels of operators inside bulks, by those of single ones
Fail = Callable[[Operator, BaseException], object]
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
        """Return this thread's size; 0 means no bulking."""
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
    fail : callable
        Told of each operator that failed, and why.
    label : int
        What it is called.
    """

    bulkable = False

    def __init__(self, first: Operator, fail: Fail, label: int = _BULK) -> None:
        super().__init__(_run, label=label)
        self.lane = first.lane
        self.place = first.place
        self.queued_ns = first.queued_ns
        self.fail = fail
        self.payload: list[Operator] = []
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


class Segment(Bulk):
    """Operators of a graph that run one after the other, under a name of their own.

    Parameters
    ----------
    members : sequence of Operator
        One at least, all of one lane.
    fail : callable
        Told of each of them that failed, and why: the engine's.
    label : int
        What it is called: `segment_label`.
    """

    def __init__(self, members: Sequence[Operator], fail: Fail, label: int) -> None:
        super().__init__(members[0], fail, label)
        for member in members:
            self.add(member)
        self.close()


def segment_label(names: Sequence[str], *, brackets: bool) -> int:
    """Return the label of a segment of operators of these names, as MXNet makes and cuts it."""
    name = ",".join(names)
    told = f"[{name}]" if brackets else name
    label = RECORDER.labels.define(told[:LONGEST_NAME], "operator", "operator")
    SEGMENTS.add(label)
    return label


class Bulks:
    """The bulks of an engine that were begun and not handed over; its lock is held.

    Parameters
    ----------
    state : EngineState
    fail : callable
        Told of each operator that failed, and why.
    submit : callable
        Given a bulk that may run now.
    """

    def __init__(
        self,
        state: EngineState,
        fail: Fail,
        submit: Callable[[Operator], None],
    ) -> None:
        self._state = state
        self._fail = fail
        self._submit = submit
        self._of: dict[int, Bulk] = {}  # by thread

    def __bool__(self) -> bool:
        return bool(self._of)

    @property
    def members(self) -> int:
        """Operators in them."""
        return sum(map(len, list(self._of.values())))

    def begun(self) -> list[Operator]:
        """Return the operators in them."""
        return [member for bulk in list(self._of.values()) for member in bulk.payload]

    def take(self, operator: Operator) -> int:
        """Add an operator to this thread's bulk and return its number, 0 if it cannot be."""
        size = SIZES.of_this_thread()
        if not size or operator.priority or not operator.bulkable:
            return 0
        thread = _thread()
        bulk = self._of.get(thread)
        if bulk is not None and (bulk.lane != operator.lane or bulk.state is not NEW):
            self.hand_over(only=thread)
            bulk = None
        # What another thread has begun, and this one needs, goes first.
        self.hand_over((*operator.reads, *operator.writes), but=thread)
        if bulk is None:
            bulk = Bulk(operator, self._fail)
            bulk.number = self._state.reserve()
            self._of[thread] = bulk
        bulk.add(operator)
        if len(bulk) >= size:
            self.hand_over(only=thread)
        return bulk.number

    def hand_over(
        self, needed: Sequence[Variable] | None = None, *, only: int = 0, but: int = 0
    ) -> None:
        """Queue bulks: those that use a variable, that of one thread, or all."""
        for thread, bulk in list(self._of.items()):
            if thread == but or (only and thread != only):
                continue
            if needed is not None and not any(variable in bulk for variable in needed):
                continue
            # In this order, and each once: Ctrl-C may strike in between and this be called again.
            if bulk.state is NEW:
                bulk.close()
                if self._state.queue(bulk):
                    self._submit(bulk)
            del self._of[thread]


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
        if not RECORDER.on:
            continue
        note = RECORDER.here.buffer
        if member.label >= 0:
            # Without a number: calls lead to the bulk, which is what the engine ran.
            end, label = _now(), _label_of_member(member.label)
            note.operators.extend(
                (member.queued_ns, start, end, label, 0, member.device, member.taken)
            )
        elif member.taken:
            note.memory.extend((start, member.device, member.taken))


def _label_of_member(label: int) -> int:
    """Return what an operator is called inside a bulk: the bulk counts as the operator."""
    found = _members.get(label)
    if found is None:
        labels = RECORDER.labels
        inside = replace(labels[label], category="kernel", domain=MEMBERS)
        found = _members[label] = labels.number(inside)
    return found

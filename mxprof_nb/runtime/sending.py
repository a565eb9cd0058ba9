"""Who queues operators that are no calls of their own: those of graphs and of the way back.

A *sender* (`mxprof_nb.runtime.invoke.Send`) decides how they go together::

    with in_bulks(15) as send:                     # ImperativeBulk of up to 15; 0: each alone
        send(op, inputs, attrs)
    with in_segments(15, brackets=True) as send:   # [A,B,...] of up to 15; brackets=False: A,B,...
        send(op, inputs, attrs)

- Nothing is recorded as ``MXImperativeInvokeEx``; use them within the API call that it is part of.
  What is queued is recorded as ``EnginePush``, which MXNet has not, and which leads from the line
  of the program to the operator, bulk or segment.
- `in_bulks` stops bulking while statistics are kept, as MXNet does; `in_segments` never. Sizes come
  from `mxprof_nb.runtime.engine.bulking`.
- A failure reaches what depends on it and names the member, and the line that called the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mxprof_nb.record import RECORDER
from mxprof_nb.record.sites import Place
from mxprof_nb.runtime.calls import caller, note
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.runtime.engine.bulk import Segment, segment_label
from mxprof_nb.runtime.engine.default import bulked
from mxprof_nb.runtime.engine.state import Operator
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Attrs, Invocation, Send, prepared
from mxprof_nb.runtime.ops import OpSpec

__all__ = ["in_bulks", "in_segments"]

_PUSH = RECORDER.labels.define("EnginePush", "api", "engine")
_now = RECORDER.clock.now


@contextmanager
def in_bulks(size: int) -> Iterator[Send]:
    """Queue operators of this thread in imperative bulks.

    Parameters
    ----------
    size : int
        How many make one; 0 lets each go alone.
    """
    with bulked(size):
        yield _Single(caller(3))


@contextmanager
def in_segments(size: int | None, *, brackets: bool) -> Iterator[Send]:
    """Queue operators as segments, the last one when the ``with`` block ends.

    Parameters
    ----------
    size : int or None
        How many make one; None for any number, 0 lets each go alone under its own name.
    brackets : bool
        Whether its name has brackets, as those of executors have in MXNet.
    """
    with bulked(0):  # a program's own bulks end here
        if size == 0:
            yield _Single(caller(3))
            return
        collected = _Collected(caller(3), size, brackets)
        yield collected
        collected.hand_over()


class _Single:
    """Hands each operator to the engine."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._number = 0

    def __call__(
        self,
        op: OpSpec,
        inputs: Sequence[Handle],
        attrs: Attrs = (),
        dynamic: tuple[object, ...] = (),
        out: Sequence[Handle] | None = None,
        context: Context | None = None,
    ) -> Invocation:
        start = _now() if RECORDER.on else 0
        call = prepared(op, inputs, attrs, dynamic, out, context, self._place, start)
        self._take(call, start)
        return call

    def _take(self, call: Invocation, start: int) -> None:
        self._push(call, start)

    def _push(self, operator: Operator, start: int) -> None:
        number = -1
        try:
            number = default_engine().push(operator)
        finally:
            if start and number != self._number:  # one for all members of a bulk
                self._number = number
                note(_PUSH, start, _now(), number, self._place)


class _Collected(_Single):
    """Makes segments."""

    def __init__(self, place: Place, size: int | None, brackets: bool) -> None:
        super().__init__(place)
        self._size = size
        self._brackets = brackets
        self._members: list[Invocation] = []
        self._begun = 0

    def _take(self, call: Invocation, start: int) -> None:
        members = self._members
        if not call.bulkable:
            self.hand_over()
            self._push(call, start)
            return
        if members and members[0].lane != call.lane:
            self.hand_over()
        if not self._members:
            self._begun = start
        self._members.append(call)
        if len(self._members) == self._size:
            self.hand_over()

    def hand_over(self) -> None:
        """Queue what was collected."""
        members, self._members = self._members, []
        if members:
            label = segment_label([each.op.name for each in members], brackets=self._brackets)
            self._push(Segment(members, default_engine().fail, label), self._begun)

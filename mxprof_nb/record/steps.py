"""Which step each event belongs to: that of the call which asked for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, I64Array
from mxprof_nb.trace import Trace, schema
from mxprof_nb.trace.tables import EventTable

__all__ = ["STEP_DOMAIN", "number_steps", "step_ranges"]

#: Domain of the spans that mark steps.
STEP_DOMAIN = "step"
_SPAN = schema.KINDS.index("span")


def _marks(trace: Trace) -> BoolArray:
    """Return a mask, shape (n,), of the spans that mark a step."""
    events = trace.events
    marks: BoolArray = (
        (events.domain == trace.strings.code(STEP_DOMAIN))
        & (events.kind == _SPAN)
        & events.is_category("user")
        & (events.step >= 0)
    )
    return marks


def number_steps(trace: Trace) -> Trace:
    """Return the trace with each event in its step; the spans that mark steps have theirs.

    What a thread did within a step belongs to it; of steps within steps, to the innermost. What
    a call queued belongs to the step of the call, whenever it ran. Where calls were not recorded,
    the moment of queueing decides, if only one thread marked steps.
    """
    events, marks = trace.events, np.flatnonzero(_marks(trace))
    if not len(marks):
        return trace
    step = events.step.copy()
    for track in np.unique(events.track[marks]):
        mine = np.flatnonzero(events.track == track)
        of = marks[events.track[marks] == track]
        step[mine] = _innermost(trace, of, events.start_ns[mine], step[mine])
    numbers = events.correlation
    called = np.flatnonzero((step >= 0) & (numbers >= 0) & ~events.is_category("sync"))
    if len(called):
        called = called[np.argsort(numbers[called], kind="stable")]
        known = numbers[called]
        place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        same = (step < 0) & (numbers >= 0) & (known[place] == numbers)
        step[same] = step[called[place[same]]]
    if len(np.unique(events.track[marks])) == 1:
        queued = np.flatnonzero((step < 0) & (events.queued_ns >= 0))
        step[queued] = _innermost(trace, marks, events.queued_ns[queued], step[queued])
    columns = {column.name: values for column, values in events.columns()} | {"step": step}
    return replace(trace, events=EventTable.of(columns))


def _innermost(
    trace: Trace, marks: NDArray[Any], times: I64Array, otherwise: NDArray[Any]
) -> NDArray[Any]:
    """Return the step that each moment lies in, ``otherwise`` where it lies in none."""
    events = trace.events
    order = np.argsort(times, kind="stable")
    first = np.searchsorted(times[order], events.start_ns[marks], side="left")
    stop = np.searchsorted(times[order], events.end_ns[marks], side="left")
    found = otherwise.copy()
    # By start, the longer first: an inner step comes after the one around it.
    for low, high, mark in zip(first.tolist(), stop.tolist(), marks.tolist(), strict=True):
        found[order[low:high]] = events.step[mark]
    return found


def step_ranges(trace: Trace) -> tuple[I64Array, I64Array, I64Array, I64Array]:
    """Return number, begin, end and host track of each range of a step, shape (m,) each.

    Where a step has a number and no span that marks it, it lasts from its first event on the
    host to its last, or of its events anywhere where it has none there; its track is then that of
    the first.
    """
    events, marks = trace.events, np.flatnonzero(_marks(trace))
    ranges = [
        (int(events.step[row]), int(events.start_ns[row]), int(events.end_ns[row]),
         int(events.track[row]))
        for row in marks
    ]  # fmt: skip
    on_host = trace.tracks.is_role("host")[events.track]
    for number in np.setdiff1d(trace.steps(), events.step[marks]).tolist():
        rows = np.flatnonzero(events.step == number)
        rows = rows[on_host[rows]] if on_host[rows].any() else rows
        begin, end = int(events.start_ns[rows].min()), int(events.end_ns[rows].max())
        ranges.append((number, begin, end, int(events.track[rows[0]])))
    table: I64Array = np.array(ranges, dtype=np.int64).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]

"""`Curves`: the counters of a trace as step lines: memory, what is queued, the program's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb._typing import F64Array, I64Array
from mxprof_nb.lod import StepLine
from mxprof_nb.trace import Trace
from mxprof_nb.view.words import shorten

__all__ = ["Counter", "Curves"]

#: Step lines at first, and when all are asked for.
FIRST_CURVES, MOST_CURVES = 2, 12
#: Counters of calls only grow: they are drawn when asked for.
CALLS = "MXNet C API"
MAX_POINTS = 800
NAME_CHARS = 60
UNIT_CHARS = 12
#: Largest value of a counter that is drawn in its place, and the least peak of one.
LARGEST, LEAST = 1e300, 1e-300
QUEUED = "queued operators"


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """A step line: its corners, and the largest value of the whole run.

    Values are cut to ± `LARGEST`, so that arithmetic on a scale never overflows; ``peak`` is not.
    """

    name: str
    unit: str
    time_ns: I64Array
    value: F64Array
    peak: float

    @property
    def top(self) -> float:
        """What the scale must reach: the peak, within what arithmetic allows; 1 where it is 0."""
        return min(max(self.peak, LEAST), LARGEST) if self.peak > 0 else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    name: str
    unit: str
    line: StepLine


class Curves:
    """All counters of one trace, those that say most first; immutable.

    Memory comes first, the highest peak before the others, then how many operators stood in the
    queue, then the counters of the program, in the order of their names, then those of calls.

    Attributes
    ----------
    first, most : int
        How many are drawn at first, and when all are asked for.
    """

    def __init__(self, trace: Trace, origin_ns: int) -> None:
        recorded = _recorded(trace, origin_ns)
        memory = [curve for curve in recorded if curve.unit == "B"]
        memory.sort(key=lambda curve: -curve.line.peak)
        others = [curve for curve in recorded if curve.unit != "B"]
        others.sort(key=lambda curve: curve.name.startswith(CALLS))
        self._curves = [*memory, *_queue(trace, origin_ns), *others]
        calls = sum(curve.name.startswith(CALLS) for curve in others)
        self.first = min(len(self._curves) - calls, FIRST_CURVES)
        self.most = min(len(self._curves), MOST_CURVES)

    def __len__(self) -> int:
        return len(self._curves)

    def within(self, begin: int, end: int, *, every: bool = False) -> tuple[Counter, ...]:
        """Return those drawn within a window, in ns from the begin of the range."""
        found = []
        for curve in self._curves[: self.most if every else self.first]:
            time, value = curve.line.corners(begin, end, max_points=MAX_POINTS)
            value = np.clip(value, -LARGEST, LARGEST)
            found.append(Counter(curve.name, curve.unit, time, value, curve.line.peak))
        return tuple(found)


def _recorded(trace: Trace, origin_ns: int) -> list[_Curve]:
    counters, strings = trace.counters, trace.strings
    finite = np.flatnonzero(np.isfinite(counters.value))
    keys = counters.track[finite].astype(np.int64) * len(strings) + counters.name[finite]
    order = np.argsort(keys, kind="stable")
    heads = np.flatnonzero(np.diff(keys[order], prepend=-1))
    curves = []
    for mine in np.split(finite[order], heads[1:]) if len(heads) else ():
        name = strings[int(counters.name[mine[0]])]
        line = StepLine(counters.time_ns[mine] - origin_ns, counters.value[mine])
        curves.append(
            _Curve(
                shorten(name, NAME_CHARS),
                shorten(strings.text(int(counters.unit[mine[-1]])), UNIT_CHARS),
                line,
            )
        )
    return sorted(curves, key=lambda curve: curve.name)


def _queue(trace: Trace, origin_ns: int) -> list[_Curve]:
    """Return how many operators had been queued and not begun; nothing where none ever waited."""
    events = trace.events
    rows = np.flatnonzero(
        (events.queued_ns >= 0)
        & (events.queued_ns < events.start_ns)
        & (events.parent < 0)  # members of a bulk are no entries of the queue
        & events.is_category("operator", "copy", "kernel")
    )
    if not len(rows):
        return []
    queued, begun = np.sort(events.queued_ns[rows]), events.start_ns[rows]
    time = np.concatenate((queued, begun))
    # What begins at the moment another is queued leaves first.
    order = np.argsort(time * 2 + np.repeat((1, 0), len(rows)), kind="stable")
    step = np.repeat((1.0, -1.0), len(rows))[order]
    time, depth = time[order], np.cumsum(step)
    last = np.append(np.diff(time) > 0, True)
    line = StepLine(time[last] - origin_ns, depth[last])
    return [_Curve(QUEUED, "", line)] if line.peak > 1 else []

"""`Links`: lines from causes to effects; `Linker` finds those of a window.

A window costs the same however many flows a trace has: only those at its marks are looked up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb import lod
from mxprof_nb._typing import BoolArray, F64Array, I32Array, I64Array
from mxprof_nb.lod import View
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import CATEGORIES, FLOW_KINDS

__all__ = ["HALF", "MAX_LINKS", "MAX_WAITS", "ROLE_GAP", "Linker", "Links"]

#: With more links than this in a window nobody can follow one: those of calls are left out, and
#: of those that ended waits so many stay.
MAX_LINKS, MAX_WAITS = 60, 20
#: Links looked up at one end of a mark, and at the selected one.
MOST_OF_A_MARK, MOST_OF_SELECTED = 8, 100
#: Half the height of a bar, and the gap between host and workers, in rows.
HALF, ROLE_GAP = 0.41, 0.55
WAIT = CATEGORIES.index("sync")


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Lines from cause to effect, arrays of shape (links,) but for ``y``.

    A line leaves its cause straight, crosses in the gap between the rows of host and workers, and
    enters its effect straight, so that it hides no text: its corners are
    ``(x0, y[0]), (x0, y[1]), (x1, y[2]), (x1, y[3])``.

    Attributes
    ----------
    kind : str
        "launch", "wait", or "selected": those of the selected event.
    """

    kind: str
    x0_ns: I64Array
    x1_ns: I64Array
    y: F64Array  # shape (4, links)


class Linker:
    """The links of one trace whose lanes stand at some heights; immutable.

    Parameters
    ----------
    trace : Trace
    known : mxprof_nb.lod.Links
        Its flows by both ends.
    lane : ndarray of int64, shape (events,)
        Lane of each event.
    y : ndarray of float64, shape (lanes,)
        Height of each lane, ascending; lanes that share a row have the same.
    role : ndarray of int32, shape (lanes,)
        What each of these stands for, ascending.
    """

    def __init__(
        self, trace: Trace, known: lod.Links, lane: I64Array, y: F64Array, role: I32Array
    ) -> None:
        self.known = known
        self._flows, self._events = trace.flows, trace.events
        self._origin_ns = trace.window_ns[0]
        self._lane, self._y, self._role = lane, y, role
        first = np.searchsorted(role, role)
        stop = np.searchsorted(role, role, side="right")
        self._above, self._below = y[first], y[stop - 1]
        # The row of another role next to these, a gap away.
        apart = 1 + ROLE_GAP
        self._next_up = np.append(y, 0)[first - 1]
        self._next_up[first == 0] = y[:1].sum() - apart
        self._next_down = np.append(y, y[-1:].sum() + apart)[stop]

    def within(
        self, view: View, begin: int, end: int, selected: int = -1
    ) -> tuple[tuple[Links, ...], tuple[str, ...]]:
        """Return the links to draw in a window, and what is to be said about the others.

        Parameters
        ----------
        view : View
        begin, end : int
            The window, in ns from the begin of the profiled range.
        selected : int
            Row of the selected event: its links, and those of its neighbours, are drawn however
            many there are.
        """
        if not len(self.known):
            return (), ()
        found = self.known.around(view.row[view.single], most=MOST_OF_A_MARK)
        needed = self._needed(found)
        usual = self._seen(found, begin, end) & (self._launched(found) | needed)
        found, needed = found[usual], needed[usual]
        notes: tuple[str, ...] = ()
        if len(found) > MAX_LINKS:
            kept = found[needed]
            longest = np.argsort(-self._events.dur_ns[self._flows.target[kept]], kind="stable")
            kept = np.sort(kept[longest[:MAX_WAITS]])
            notes = (
                f"{len(found) - len(kept):,} links between calls and operators are not drawn: "
                "too many to follow. Zoom in, or select a bar to see its own.",
            )
            found = kept
        own = found[:0]
        if selected >= 0:
            own = self.known.around(np.array([selected]), most=MOST_OF_SELECTED)
            near = np.unique((self._flows.source[own], self._flows.target[own]))
            further = self.known.around(near, most=MOST_OF_A_MARK)
            further = further[self._launched(further) | self._needed(further)]
            found = np.setdiff1d(np.union1d(found, further), own)
            found = found[self._seen(found, begin, end)]
            own = own[self._seen(own, begin, end)]
        needed = self._needed(found)
        kinds = (("launch", found[~needed]), ("wait", found[needed]), ("selected", own))
        return tuple(self._lines(kind, flows) for kind, flows in kinds if len(flows)), notes

    def _launched(self, flows: I64Array) -> BoolArray:
        found: BoolArray = self._flows.kind[flows] == FLOW_KINDS.index("launch")
        return found

    def _needed(self, flows: I64Array) -> BoolArray:
        """Return which flows lead from an operator to the wait that it ended."""
        target = self._events.category[self._flows.target[flows]]
        kind = self._flows.kind[flows] == FLOW_KINDS.index("read_after_write")
        found: BoolArray = kind & (target == WAIT)
        return found

    def _times(self, flows: I64Array) -> tuple[I64Array, I64Array]:
        """Return where lines leave and enter, in ns from the begin of the profiled range."""
        events, source, target = self._events, self._flows.source[flows], self._flows.target[flows]
        begin, end = events.start_ns[source], events.start_ns[source] + events.dur_ns[source]
        needed, queued = self._needed(flows), events.queued_ns[target]
        called = self._launched(flows) & (queued >= begin) & (queued <= end)
        leaves = np.where(called, queued, end)
        enters = events.start_ns[target] + np.where(needed, events.dur_ns[target], 0)
        return leaves - self._origin_ns, enters - self._origin_ns

    def _seen(self, flows: I64Array, begin: int, end: int) -> BoolArray:
        x0, x1 = self._times(flows)
        seen: BoolArray = (np.minimum(x0, x1) < end) & (np.maximum(x0, x1) >= begin)
        source, target = (self._lane[of[flows]] for of in (self._flows.source, self._flows.target))
        # Within one folded row a line would lead from nowhere to nowhere.
        seen &= (source == target) | (self._y[source] != self._y[target])
        return seen

    def _lines(self, kind: str, flows: I64Array) -> Links:
        lanes = self._lane[self._flows.source[flows]], self._lane[self._flows.target[flows]]
        return Links(kind, *self._times(flows), self._corners(*lanes))

    def _corners(self, source: I64Array, target: I64Array) -> F64Array:
        """Return the heights of the corners of links between lanes, shape (4, links)."""
        y, role = self._y, self._role
        down = y[target] > y[source]
        sign = np.where(source == target, 0.0, np.where(down, 1.0, -1.0))
        y0, y3 = y[source] + HALF * sign, y[target] - HALF * sign
        edge = np.where(down, self._below[source], self._above[source]) + HALF * sign
        beyond = np.where(down, self._next_down[source], self._next_up[source]) - HALF * sign
        apart = role[source] != role[target]
        return np.stack([y0, np.where(apart, edge, y0), np.where(apart, beyond, y3), y3])

"""`TimelineIndex`: finds the events of any lane in any window by binary search.

Events of one lane never overlap, so both their starts and their ends ascend. A window is then one
range of rows per lane, long events that began before it included, and any run of neighbours is a
range as well: its count is a difference, its busy time a difference of prefix sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I32Array, I64Array
from mxprof_nb.lod.lanes import LaneTable, lay_lanes
from mxprof_nb.lod.view import View, choose_marks
from mxprof_nb.trace import Trace

__all__ = ["TimelineIndex"]

#: Keys of all lanes lie one after the other on one int64 axis; beyond this it would overflow.
MAX_KEY = 1 << 62


class TimelineIndex:
    """Immutable index of the events of one trace; safe to ask from any thread.

    Attributes
    ----------
    lanes : LaneTable
        The lanes, from top to bottom.
    order : ndarray of int32, shape (n,)
        Event row of each position in lane order (by lane, then by time).
    begin_ns, stop_ns : int
        Begin of the first event and end of the last.

    Notes
    -----
    ``_start_key`` and ``_end_key`` are ``lane * span + time``: sorted over all lanes at once, so
    that one `numpy.searchsorted` serves many lanes. Where days of trace times thousands of lanes
    would overflow, the span is 0 and lanes are searched one by one. Memory: 28 B per event.
    """

    def __init__(self, trace: Trace) -> None:
        events = trace.events
        self.lanes: LaneTable
        self.lanes, lane = lay_lanes(trace)
        order = np.lexsort((events.end_ns, events.start_ns, lane))
        lane = lane[order]
        self.order: I32Array = order.astype(np.int32)
        self.category = events.category
        self.begin_ns = int(events.start_ns.min()) if len(events) else 0
        self.stop_ns = int(events.end_ns.max()) if len(events) else 0
        # Two spare ticks: one for half-open ends, one so that a query past the end cannot reach
        # the last tick of its lane by clipping.
        span = self.stop_ns - self.begin_ns + 2
        self._span = span if span * max(len(self.lanes), 1) < MAX_KEY else 0
        self._low, self._high = 0, span
        self._start_key: I64Array = lane * self._span + (events.start_ns[order] - self.begin_ns)
        self._end_key: I64Array = self._start_key + events.dur_ns[order]
        self._busy: I64Array = np.concatenate(([0], np.cumsum(events.dur_ns[order])))
        self.first: I64Array = np.searchsorted(lane, np.arange(len(self.lanes) + 1))

    def __len__(self) -> int:
        return len(self.order)

    def view(
        self,
        begin_ns: int,
        end_ns: int,
        *,
        width_px: int = 1000,
        max_marks: int = 1000,
        lanes: NDArray[Any] | None = None,
    ) -> View:
        """Return at most ``max_marks`` marks that stand for all events touching a window.

        Parameters
        ----------
        begin_ns, end_ns : int
            The window, half open; one tick long at least.
        width_px : int
            Pixels it is drawn on; nothing below one pixel is told apart.
        max_marks : int
            Most marks to return, 1 or more.
        lanes : array_like of int, optional
            Lanes to show; all when left out.

        Returns
        -------
        View
            Single events where they fit, runs of neighbours where not.
        """
        begin, end = int(begin_ns), max(int(end_ns), int(begin_ns) + 1)
        chosen = np.arange(len(self.lanes)) if lanes is None else np.unique(np.asarray(lanes))
        first, stop = self.window(begin, end, chosen)
        filled = stop > first
        return choose_marks(
            self,
            (begin, end),
            chosen[filled],
            first[filled],
            stop[filled],
            width_px=max(int(width_px), 1),
            max_marks=max(int(max_marks), 1),
        )

    def window(self, begin_ns: int, end_ns: int, lanes: I64Array) -> tuple[I64Array, I64Array]:
        """Return the range of positions, per lane, of the events that touch a window.

        An event touches ``[begin, end)`` when it starts before ``end`` and ends after ``begin``,
        or starts there: an instant at ``begin`` is in, an event that ends at ``begin`` is out.

        Returns
        -------
        first, stop : ndarray of int64, shape (lanes,)
        """
        begin = min(max(begin_ns - self.begin_ns, self._low), self._high - 1)
        end = min(max(end_ns - self.begin_ns, self._low), self._high)
        low, high = self.first[lanes], self.first[lanes + 1]
        first = np.clip(self._search(self._end_key, begin, lanes), low, high)
        if len(self):
            here = np.minimum(first, len(self) - 1)
            key = lanes * self._span + begin
            over = (first < high) & (self._end_key[here] == key) & (self._start_key[here] < key)
            first = first + over
        stop = np.clip(self._search(self._start_key, end, lanes), first, high)
        return first, np.maximum(stop, first)

    def _search(self, keys: I64Array, time: int, lanes: I64Array) -> I64Array:
        """Return the first position, per lane, whose key is at ``time`` or later."""
        if self._span:
            return np.searchsorted(keys, lanes * self._span + time, side="left")
        found = [
            self.first[lane]
            + np.searchsorted(keys[self.first[lane] : self.first[lane + 1]], time, side="left")
            for lane in lanes
        ]
        return np.array(found, dtype=np.int64)

    def times(self, positions: I64Array, lanes: I64Array) -> tuple[I64Array, I64Array]:
        """Return start and end, in ns from the origin, of positions that lie on ``lanes``."""
        shift = self.begin_ns - lanes * self._span
        return self._start_key[positions] + shift, self._end_key[positions] + shift

    def busy_ns(self, first: I64Array, stop: I64Array) -> I64Array:
        """Return the summed duration of each range of positions, in ns."""
        total: I64Array = self._busy[stop] - self._busy[first]
        return total

    def busy_grid(self, lanes: I64Array, edges_ns: I64Array) -> I64Array:
        """Return how long each lane was busy between neighbouring edges, in ns.

        Parameters
        ----------
        lanes : ndarray of int, shape (lanes,)
        edges_ns : ndarray of int64, shape (bins + 1,)
            Ascending.

        Returns
        -------
        ndarray of int64, shape (lanes, bins)
            Exact: the difference of the busy time up to each edge, whatever lies between.
        """
        lane = np.asarray(lanes, dtype=np.int64)
        before = np.empty((len(lane), len(edges_ns)), dtype=np.int64)
        for column, edge in enumerate(edges_ns.tolist()):
            time = min(max(edge - self.begin_ns, self._low), self._high)
            stop = np.maximum(self._search(self._start_key, time, lane), self.first[lane])
            last = np.maximum(stop - 1, self.first[lane])
            _, end = self.times(last, lane)
            overhang = np.where(stop > self.first[lane], np.maximum(end - edge, 0), 0)
            before[:, column] = self._busy[stop] - self._busy[self.first[lane]] - overhang
        return np.diff(before, axis=1)

    def rows(self, first: int, count: int) -> I32Array:
        """Return the event rows behind a mark: ``count`` positions from ``first``."""
        return self.order[first : first + count]

"""`TimelineIndex`: answers which events a window shows, with row numbers and never with copies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, I32Array, I64Array
from mxprof_nb.lod.boundaries import Boundaries
from mxprof_nb.lod.folds import Folds
from mxprof_nb.lod.intervals import Intervals
from mxprof_nb.lod.lanes import LaneTable, lay_lanes
from mxprof_nb.lod.matches import Matches
from mxprof_nb.lod.raster import MAX_CELLS
from mxprof_nb.lod.segments import distinct, ranges
from mxprof_nb.lod.view import View, choose_marks
from mxprof_nb.trace import Trace

__all__ = ["Composition", "TimelineIndex"]


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """What stands behind a mark, exactly, by name, the longest busy first; shape (names,).

    Attributes
    ----------
    name : ndarray of int32
        Codes of the texts in ``trace.strings``.
    count, busy_ns : ndarray of int64
        Events of that name, and the time that they cover within the window.
    """

    name: I32Array
    count: I64Array
    busy_ns: I64Array


class TimelineIndex:
    """Immutable index of the events of one trace; safe to ask from any thread.

    Attributes
    ----------
    lanes : LaneTable
        The lanes, from top to bottom.
    order : ndarray of int32, shape (n,)
        Event row of each position in lane order (by lane, then by time).
    intervals : Intervals
        Times of the positions, counted from ``begin_ns``.
    boundaries : Boundaries
        How clearly neighbours are told apart.
    name, category : ndarray, shape (n,)
        Of the events, as in the trace.
    begin_ns, stop_ns : int
        Begin of the first event and end of the last.
    """

    def __init__(self, trace: Trace) -> None:
        events = trace.events
        self._events = events
        self.name, self.category = events.name, events.category
        self.lanes: LaneTable
        self.lanes, order, first = lay_lanes(trace)
        self.order: I32Array = order.astype(np.int32)
        self.begin_ns = int(events.start_ns.min()) if len(events) else 0
        duration = events.dur_ns[order]
        start = events.start_ns[order]
        self.stop_ns = int((start + duration).max()) if len(events) else 0
        start -= self.begin_ns
        # Two spare ticks: one for half-open ends, one so that a query past the end cannot reach
        # the last tick of its lane by clipping.
        length = self.stop_ns - self.begin_ns + 2
        self.intervals = Intervals.of(start, duration, first, length)
        self.boundaries = Boundaries(self.intervals)

    def __len__(self) -> int:
        return len(self.order)

    @property
    def nbytes(self) -> int:
        """Memory taken beside the trace, in bytes."""
        folds = self.__dict__.get("folds")
        return (
            self.order.nbytes
            + self.intervals.nbytes
            + self.boundaries.nbytes
            + (folds.nbytes if folds else 0)
        )

    @property
    def first(self) -> I64Array:
        """Where each lane begins in ``order``, shape (lanes + 1,)."""
        return self.intervals.first

    @cached_property
    def folds(self) -> Folds:
        """The lanes joined to groups; made when first a view has too many of them."""
        return Folds(self.intervals)

    def view(
        self,
        begin_ns: int,
        end_ns: int,
        *,
        width_px: int = 1000,
        max_marks: int = 1000,
        max_cells: int = MAX_CELLS,
        lanes: NDArray[Any] | None = None,
    ) -> View:
        """Return marks, and perhaps a raster, that stand for all events touching a window.

        Parameters
        ----------
        begin_ns, end_ns : int
            The window, half open; one tick long at least.
        width_px : int
            Pixels it is drawn on; nothing below one pixel is told apart.
        max_marks : int
            Most marks to return, 1 or more.
        max_cells : int
            Most cells of the raster, as far as one cell for each of its rows allows.
        lanes : array_like of int, optional
            Lanes to show; all when left out.

        Returns
        -------
        View
            Every event; else runs of neighbours that cover the same pixels; else a raster below
            the longest events; the first of these that keeps to ``max_marks``.
        """
        begin, end = int(begin_ns), max(int(end_ns), int(begin_ns) + 1)
        chosen = np.arange(len(self.lanes)) if lanes is None else distinct(np.asarray(lanes))
        return choose_marks(
            self,
            (begin, end),
            chosen,
            width_px=max(int(width_px), 1),
            max_marks=max(int(max_marks), 1),
            max_cells=max(int(max_cells), 1),
        )

    def window(self, begin_ns: int, end_ns: int, lanes: I64Array) -> tuple[I64Array, I64Array]:
        """Return the range of positions, per lane, of the events that touch a window.

        An event touches ``[begin, end)`` when it starts before ``end`` and ends after ``begin``,
        or starts there: an instant at ``begin`` is in, an event that ends at ``begin`` is out.

        Returns
        -------
        first, stop : ndarray of int64, shape (lanes,)
        """
        return self.intervals.window(begin_ns - self.begin_ns, end_ns - self.begin_ns, lanes)

    def busy_grid(self, lanes: I64Array, edges_ns: I64Array) -> I64Array:
        """Return how long each lane was busy between neighbouring edges, in ns.

        Parameters
        ----------
        lanes : ndarray of int, shape (lanes,)
            Ascending.
        edges_ns : ndarray of int64, shape (bins + 1,)
            Ascending.

        Returns
        -------
        ndarray of int64, shape (lanes, bins)
            Exact: the difference of the busy time up to each edge, whatever lies between.
        """
        busy, _ = self.intervals.grid(np.asarray(lanes, dtype=np.int64), edges_ns - self.begin_ns)
        return np.diff(busy, axis=1)

    def folded(self, first: I64Array, stop: I64Array) -> Folds:
        """Return groups of lanes, to ask how busy they are: ``first`` up to but not ``stop``."""
        return Folds(self.intervals, first, stop)

    def rows(self, first: int, count: int) -> I32Array:
        """Return the event rows behind a mark: ``count`` positions from ``first``."""
        return self.order[first : first + count]

    def composition(self, view: View, mark: int) -> Composition:
        """Return what stands behind one mark of a view, exactly.

        The row that a mark of many events names is a sample of them; this looks at every one, so
        it is for the mark under the pointer. Cost: O(events of the mark).
        """
        return self._composed(
            view.first[mark : mark + 1], view.count[mark : mark + 1], view.window_ns
        )

    def composition_of_cell(self, view: View, row: int, column: int) -> Composition:
        """Return what touches one cell of a view's raster, exactly, marks included.

        Events that began in an earlier cell are counted, too.
        """
        lanes = view.raster.lanes_of(row)
        begin, end = (int(time) for time in view.raster.edges_ns[column : column + 2])
        first, stop = self.window(begin, end, lanes)
        return self._composed(first, stop - first, (begin, end))

    def _composed(self, first: I64Array, count: I64Array, window: tuple[int, int]) -> Composition:
        positions = ranges(first, first + count)
        rows = self.order[positions]
        start, end = self._events.start_ns[rows], self._events.start_ns[rows]
        end = end + self._events.dur_ns[rows]
        inside = np.maximum(np.minimum(end, window[1]) - np.maximum(start, window[0]), 0)
        names, place = np.unique(self._events.name[rows], return_inverse=True)
        busy = np.zeros(len(names), dtype=np.int64)
        np.add.at(busy, place, inside)
        counted = np.bincount(place, minlength=len(names))
        by_busy = np.lexsort((-counted, -busy))
        return Composition(names[by_busy], counted[by_busy], busy[by_busy])

    def pick(
        self, lane: int, time_ns: int, *, pixel_ns: int = 1, reach_px: int = 3, lanes: int = 1
    ) -> int:
        """Return the row of the event at a place, -1 where there is none.

        Parameters
        ----------
        lane : int
        time_ns : int
            Middle of the pixel pointed at.
        pixel_ns : int
            Width of a pixel.
        reach_px : int
            How far away an event may be, in pixels, where none is at the pixel itself.
        lanes : int
            How many lanes stand at that place, from ``lane`` on.

        Returns
        -------
        int
            The longest event that touches the pixel, else the nearest one within reach.
        """
        here = np.arange(lane, lane + lanes)
        pixel = max(int(pixel_ns), 1)
        begin = int(time_ns) - pixel // 2
        first, stop = self.window(begin, begin + pixel, here)
        if (hit := stop > first).any():
            found, _ = self.boundaries.longest(first[hit], stop[hit], 1, 1)
            # Where nothing is longer than an instant, any will do.
            return int(self.order[found[0] if len(found) else first[hit][0]])
        near = np.concatenate((first - 1, first))
        both = np.concatenate((here, here))
        inside = (near >= self.first[both]) & (near < self.first[both + 1])
        near, both = near[inside], both[inside]
        if not len(near):
            return -1
        start, end = self.intervals.times(near, both)
        time = int(time_ns) - self.begin_ns
        away = np.maximum(np.maximum(start - time, time - end), 0)
        best = int(np.argmin(away))
        return int(self.order[near[best]]) if away[best] <= reach_px * pixel else -1

    def match(self, mask: BoolArray) -> Matches:
        """Return the events of a mask over the rows, ready to be counted in any view.

        Parameters
        ----------
        mask : ndarray of bool, shape (n,)
            As `mxprof_nb.lod.find` returns it, or any other.

        Raises
        ------
        TraceError
            The mask has another length than there are events.
        """
        return Matches.of(self.intervals, self.order, mask, self.begin_ns)

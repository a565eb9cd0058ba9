"""`Raster`: how busy each lane was in each part of a window, exactly, for one heatmap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mxprof_nb._typing import BoolArray, F64Array, I64Array
from mxprof_nb.lod.folds import MAX_ROWS, Folds

if TYPE_CHECKING:
    from mxprof_nb.lod.index import TimelineIndex
    from mxprof_nb.lod.intervals import Intervals

__all__ = ["MAX_CELLS", "Grid", "Raster", "lay_raster"]

#: A browser draws as many cells as quickly as 1,000 bars.
MAX_CELLS = 32_000
#: Searches that a choice of lanes may take, which no group serves.
MAX_SEARCHES = 64_000


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Rows of lanes times columns of time.

    Attributes
    ----------
    lanes : ndarray of int64, shape (lanes,)
        Lanes with events in the window, ascending.
    heads : ndarray of int64, shape (rows,)
        Where each row begins in ``lanes``: one lane, or several where there are too many.
    edges : ndarray of int64, shape (columns + 1,)
        Edges of the columns, counted from the first event.
    groups : ndarray of int64, shape (rows,), or None
        The groups of `Folds` that the rows are, where they are.
    """

    lanes: I64Array
    heads: I64Array
    edges: I64Array
    groups: I64Array | None

    def rows_of(self, lanes: I64Array) -> I64Array:
        """Return the row of each of some lanes that the grid has."""
        return np.searchsorted(self.heads, np.searchsorted(self.lanes, lanes), side="right") - 1

    def spread(self, lanes: I64Array, start: I64Array, end: I64Array) -> tuple[I64Array, I64Array]:
        """Return what `sums` does for a few intervals, by adding up one by one."""
        columns = len(self.edges) - 1
        begin, until = int(self.edges[0]), int(self.edges[-1])
        width = int(self.edges[1]) - begin
        row = self.rows_of(lanes)
        start, end = np.maximum(start, begin), np.minimum(end, until)
        # An instant is counted where it is, and covers nothing.
        first, last = (start - begin) // width, (np.maximum(end - 1, start) - begin) // width
        count = np.bincount(row * columns + first, minlength=len(self.heads) * columns)
        # In steps: what is covered from a column on, and what is too much of the outer ones.
        steps = np.zeros((len(self.heads), columns + 1), dtype=np.int64)
        np.add.at(steps, (row, first), width)
        np.add.at(steps, (row, last + 1), -width)
        busy = np.cumsum(steps[:, :-1], axis=1)
        np.subtract.at(busy, (row, first), start - self.edges[first])
        np.subtract.at(busy, (row, last), self.edges[0] + (last + 1) * width - end)
        return count.reshape(busy.shape).astype(np.int64), busy

    def sums(
        self, intervals: Intervals, first: I64Array, folds: Folds | None
    ) -> tuple[I64Array, I64Array]:
        """Return count and busy time of intervals per cell, each of shape (rows, columns).

        Parameters
        ----------
        intervals : Intervals
        first : ndarray of int64, shape (lanes,)
            First position in the window, per lane.
        folds : Folds or None
            Those of ``intervals``; needed where the rows are its groups.
        """
        if self.groups is not None and folds is not None:
            busy, begun = folds.grid(self.groups, self.edges)
        else:
            busy, begun = intervals.grid(self.lanes, self.edges)
            if len(self.heads) < len(self.lanes):
                busy, begun = (np.add.reduceat(part, self.heads, axis=0) for part in (busy, begun))
        count = np.diff(begun, axis=1)
        carried = intervals.started(self.lanes, max(int(self.edges[0]), 0)) - first
        count[:, 0] += np.add.reduceat(np.maximum(carried, 0), self.heads)
        return count, np.diff(busy, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """All events of a window that are no marks of their own, by cell; without rows for none.

    Attributes
    ----------
    grid : Grid
    begin_ns : int
        What the edges of the grid are counted from.
    count : ndarray of int64, shape (rows, columns)
        Events that begin in the cell; those that began before the window are in the first.
    busy_ns : ndarray of int64, shape (rows, columns)
        Summed time that events cover within the cell.
    """

    grid: Grid
    begin_ns: int
    count: I64Array
    busy_ns: I64Array

    @classmethod
    def none(cls) -> Raster:
        """Return a raster without rows and columns."""
        nothing = np.zeros(0, dtype=np.int64)
        cells = nothing.reshape(0, 0)
        return cls(Grid(nothing, nothing, np.zeros(1, dtype=np.int64), None), 0, cells, cells)

    def __len__(self) -> int:
        return len(self.grid.heads)

    @property
    def edges_ns(self) -> I64Array:
        """Edges of the columns, shape (columns + 1,)."""
        return self.grid.edges + self.begin_ns

    @property
    def lane(self) -> I64Array:
        """First lane of each row, shape (rows,)."""
        return self.grid.lanes[self.grid.heads]

    def lanes_of(self, row: int) -> I64Array:
        """Return the lanes of a row that hold events in the window."""
        heads = np.append(self.grid.heads, len(self.grid.lanes))
        return self.grid.lanes[heads[row] : heads[row + 1]]

    @property
    def covered(self) -> BoolArray:
        """Whether anything is in a cell, shape (rows, columns)."""
        some: BoolArray = (self.busy_ns > 0) | (self.count > 0)
        return some

    @property
    def share(self) -> F64Array:
        """Busy share of the time of all lanes of a cell, 0 to 1, shape (rows, columns)."""
        lanes = np.diff(self.grid.heads, append=len(self.grid.lanes))[:, np.newaxis]
        part: F64Array = self.busy_ns / (lanes * np.diff(self.grid.edges))
        return part


def lay_raster(
    index: TimelineIndex,
    window: tuple[int, int],
    lanes: I64Array,
    first: I64Array,
    marks: I64Array,
    *,
    all_lanes: bool,
    width_px: int,
    max_cells: int,
) -> Raster:
    """Return the raster of a window without the events at the positions ``marks``.

    Parameters
    ----------
    index : TimelineIndex
    window : tuple of int
        Begin and end, in ns from the origin of the trace.
    lanes, first : ndarray of int64, shape (lanes,)
        Lanes with events in the window, and the first position of each there.
    marks : ndarray of int64
        Ascending.
    all_lanes : bool
        Whether those are all the lanes that have any.
    width_px, max_cells : int
        Most columns, and most cells as far as one column allows.
    """
    most = min(MAX_ROWS, max_cells)
    groups, columns = None, width_px
    heads = np.arange(len(lanes))
    if len(lanes) > most:
        if all_lanes and most == MAX_ROWS:
            # One lane at least of each: a group of none would have no first lane.
            place = np.searchsorted(lanes, index.folds.first)
            groups = np.flatnonzero(np.diff(place, append=len(lanes)))
            heads = place[groups]
        else:
            heads = np.arange(most) * len(lanes) // most
            columns = min(columns, MAX_SEARCHES // len(lanes) - 1)
    columns = max(min(columns, max_cells // len(heads)), 1)
    columns = -(-width_px // -(-width_px // columns))  # each of as many whole pixels
    begin, end = window[0] - index.begin_ns, window[1] - index.begin_ns
    width = -(-(end - begin) // columns)
    columns = -(-(end - begin) // width)  # no empty ones where a column is a tick or two
    edges = np.minimum(begin + np.arange(columns + 1) * width, end)
    grid = Grid(lanes, heads, edges, groups)

    folded = groups is not None
    count, busy = grid.sums(index.intervals, first, index.folds if folded else None)
    lane = index.intervals.lane_of(marks)
    less = grid.spread(lane, *index.intervals.times(marks, lane))
    return Raster(grid, index.begin_ns, count - less[0], busy - less[1])

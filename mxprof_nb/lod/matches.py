"""`Matches`: events that a search or filter found, counted per mark and cell without a rebuild."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, F64Array, I32Array, I64Array
from mxprof_nb.errors import TraceError, close_match
from mxprof_nb.lod.folds import Folds
from mxprof_nb.lod.intervals import Intervals
from mxprof_nb.lod.view import View
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import CATEGORIES

__all__ = ["Matched", "Matches", "find"]


def find(
    trace: Trace, text: str = "", *, regex: bool = False, category: str | Iterable[str] = ()
) -> BoolArray:
    """Return which events have a text in their name and one of some categories.

    Parameters
    ----------
    trace : Trace
    text : str
        Part of the name, upper and lower case alike; or a regular expression to be found in it.
    regex : bool
    category : str or iterable of str
        Any of them will do; all when left out.

    Returns
    -------
    ndarray of bool, shape (n,)

    Raises
    ------
    TraceError
        The expression is not valid, or there is no such category.
    """
    try:
        pattern = re.compile(text if regex else re.escape(text), re.IGNORECASE)
    except re.error as error:
        raise TraceError(
            f"{text!r} is no regular expression: {error}. Correct it, or search for it as a "
            "text with regex=False."
        ) from error
    events = trace.events
    mask = np.ones(len(events), dtype=bool)
    if text:
        named = np.zeros(len(trace.strings) + 1, dtype=bool)
        used = np.flatnonzero(np.bincount(events.name, minlength=1))
        named[used] = [bool(pattern.search(trace.strings[code])) for code in used.tolist()]
        mask = named[events.name]
    wanted = [category] if isinstance(category, str) else list(category)
    for name in wanted:
        if name not in CATEGORIES:
            raise TraceError(
                f"There is no category {name!r}.{close_match(name, CATEGORIES)} "
                f"Categories are {', '.join(CATEGORIES)}."
            )
    return mask & events.is_category(*wanted) if wanted else mask


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """How much of each mark, and of each cell of the raster, was found.

    Attributes
    ----------
    count : ndarray of int64, shape (marks,)
        Events found.
    busy_share : ndarray of float64, shape (marks,)
        Their share, 0 to 1, of the time that the mark's events cover within the window; of their
        number, where they cover none.
    cell_count, cell_share : ndarray, shape (rows, columns)
        The same for the raster; without rows where there is none.
    """

    count: I64Array
    busy_share: F64Array
    cell_count: I64Array
    cell_share: F64Array


class Matches:
    """The positions that were found; immutable. Memory: 28 B for each."""

    def __init__(self, positions: NDArray[np.intp], intervals: Intervals, begin_ns: int) -> None:
        self.positions: I64Array = positions
        self.intervals = intervals.take(positions)
        self._begin_ns = begin_ns

    @classmethod
    def of(cls, intervals: Intervals, order: I32Array, mask: BoolArray, begin_ns: int) -> Matches:
        """Return the positions of the rows in a mask; see `TimelineIndex.match`."""
        mask = np.asarray(mask, dtype=bool)
        if mask.shape != order.shape:
            raise TraceError(
                f"A mask over {len(order):,} events is needed, and this one has the shape "
                f"{mask.shape}. Make it with `find`, or from a column of the same trace."
            )
        return cls(np.flatnonzero(mask[order]), intervals, begin_ns)

    def __len__(self) -> int:
        return len(self.positions)

    @cached_property
    def folds(self) -> Folds:
        """The lanes joined to groups, with what was found."""
        return Folds(self.intervals)

    def folded(self, first: I64Array, stop: I64Array) -> Folds:
        """Return what was found in groups of lanes; see `TimelineIndex.folded`."""
        return Folds(self.intervals, first, stop)

    def within(self, view: View) -> Matched:
        """Return how much of each mark and cell of a view was found."""
        begin, end = view.window_ns
        low = np.searchsorted(self.positions, view.first)
        count = np.searchsorted(self.positions, view.first + view.count) - low
        # A mark's events are all that its lane runs between its begin and its end.
        start = np.maximum(view.start_ns, begin) - self._begin_ns
        stop = np.minimum(view.end_ns, end) - self._begin_ns
        before, after = (self.intervals.before(view.lane, time)[0] for time in (start, stop))
        share = _share(after - before, view.busy_ns, count, view.count)
        return Matched(count, share, *self._cells(view))

    def _cells(self, view: View) -> tuple[I64Array, F64Array]:
        raster = view.raster
        if not len(raster):
            return raster.count, raster.share
        grid, begin = raster.grid, view.window_ns[0] - self._begin_ns
        folded = grid.groups is not None
        first, _ = self.intervals.window(begin, begin + 1, grid.lanes)
        count, busy = grid.sums(self.intervals, first, self.folds if folded else None)
        # Marks are no part of the raster, so those that were found are none of its share.
        both = np.isin(view.first, self.positions, assume_unique=True)
        start, end = view.start_ns[both] - self._begin_ns, view.end_ns[both] - self._begin_ns
        less = grid.spread(view.lane[both], start, end)
        count, busy = count - less[0], busy - less[1]
        return count, _share(busy, raster.busy_ns, count, raster.count)


def _share(
    found_ns: I64Array, busy_ns: I64Array, found: I64Array, count: I64Array
) -> NDArray[np.float64]:
    timed = found_ns / np.maximum(busy_ns, 1)
    counted = found / np.maximum(count, 1)
    return np.where(busy_ns > 0, timed, counted)

"""`Folds`: neighbouring lanes joined to groups, whose busy time at any moment is two searches.

A group may run many intervals at once. Up to a time t it was busy for the sum of ``t - start`` of
those that began before t, less the sum of ``t - end`` of those that ended: all four numbers are
counts and prefix sums of the group's starts and ends, each sorted. Sums may wrap around at 64
bits; their difference is exact all the same, since it fits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.lod.intervals import MAX_KEY, Intervals
from mxprof_nb.lod.segments import ranges

__all__ = ["MAX_ROWS", "Folds"]

#: More rows than this nobody tells apart; lanes beyond are folded into groups.
MAX_ROWS = 200


class Folds:
    """Groups of neighbouring lanes; immutable. Memory: 32 B per event in them.

    Parameters
    ----------
    intervals : Intervals
    first, stop : ndarray of int64, shape (groups,), optional
        First lane of each group, and the one after its last: ascending, apart from one another.
        All lanes in at most `MAX_ROWS` groups of about as many, when left out.

    Attributes
    ----------
    first, stop : ndarray of int64, shape (groups,)
    """

    def __init__(
        self,
        intervals: Intervals,
        first: I64Array | None = None,
        stop: I64Array | None = None,
    ) -> None:
        if first is None or stop is None:
            whole = len(intervals.first) - 1
            groups = min(whole, MAX_ROWS)
            heads = np.arange(groups + 1) * whole // max(groups, 1)
            first, stop = heads[:-1], heads[1:]
        self.first, self.stop = first, stop
        self._length = intervals.length
        self._fits = self._length * max(len(first), 1) < MAX_KEY
        lanes = ranges(first, stop)
        base = np.repeat(lanes * intervals.shift, np.diff(intervals.first)[lanes])
        events = ranges(intervals.first[first], intervals.first[stop])
        begin = np.cumsum(np.append(0, intervals.first[stop] - intervals.first[first]))
        self._start = self._side(intervals.start[events] - base, begin)
        self._end = self._side(intervals.end[events] - base, begin)

    def _side(self, time: I64Array, first: I64Array) -> tuple[I64Array, I64Array, I64Array]:
        """Return the keys, the sums before each, and the begin of each group of one side."""
        for begin, stop in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
            time[begin:stop].sort(kind="stable")  # a few ascending runs, which are merged
        total = np.zeros(len(time) + 1, dtype=np.int64)
        np.cumsum(time, out=total[1:])
        if self._fits:
            time += np.repeat(np.arange(len(first) - 1) * self._length, np.diff(first))
        return time, total, first

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return sum(part.nbytes for side in (self._start, self._end) for part in side)

    def __len__(self) -> int:
        return len(self.first)

    def cells(self, edges: I64Array) -> tuple[I64Array, I64Array]:
        """Return count and busy time per group and column, each of shape (groups, columns).

        Parameters
        ----------
        edges : ndarray of int64, shape (columns + 1,)
            Edges of the columns, ascending, counted from the first event.

        Returns
        -------
        count : ndarray of int64
            Intervals that begin in the cell.
        busy : ndarray of int64
            Summed time that intervals cover within the cell.
        """
        busy, begun = self.grid(np.arange(len(self)), edges)
        return np.diff(begun, axis=1), np.diff(busy, axis=1)

    def grid(self, groups: NDArray[np.intp], edges: I64Array) -> tuple[I64Array, I64Array]:
        """Return the busy time and the intervals begun before each edge, (groups, edges).

        Only differences within one group mean something.
        """
        time = np.clip(edges, 0, self._length - 1)
        begun, sum_begun = self._before(self._start, groups, time)
        ended, sum_ended = self._before(self._end, groups, time)
        return (begun - ended) * time - (sum_begun - sum_ended), begun

    def _before(
        self,
        side: tuple[I64Array, I64Array, I64Array],
        groups: NDArray[np.intp],
        time: I64Array,
    ) -> tuple[I64Array, I64Array]:
        """Return the number and the sum of a side's times before each edge, from its group on."""
        keys, total, first = side
        if self._fits:
            wanted = groups[:, np.newaxis] * self._length + time
            found = np.searchsorted(keys, wanted.ravel()).reshape(wanted.shape)
        else:
            found = np.stack(
                [first[k] + np.searchsorted(keys[first[k] : first[k + 1]], time) for k in groups]
            )
        head = first[groups][:, np.newaxis]
        return found - head, total[found] - total[head]

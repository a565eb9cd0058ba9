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

__all__ = ["MAX_ROWS", "Folds"]

#: More rows than this nobody tells apart; lanes beyond are folded into groups.
MAX_ROWS = 200


class Folds:
    """All lanes in at most `MAX_ROWS` groups of neighbours; immutable. Memory: 32 B per event.

    Attributes
    ----------
    heads : ndarray of int64, shape (groups + 1,)
        First lane of each group.
    """

    def __init__(self, intervals: Intervals) -> None:
        lanes = len(intervals.first) - 1
        groups = min(lanes, MAX_ROWS)
        self.heads: I64Array = np.arange(groups + 1) * lanes // max(groups, 1)
        self._length = intervals.length
        self._fits = self._length * max(groups, 1) < MAX_KEY
        sizes = np.diff(intervals.first)
        base = np.repeat(np.arange(lanes) * intervals.shift, sizes)
        first = intervals.first[self.heads]
        self._start = self._side(intervals.start - base, first)
        self._end = self._side(intervals.end - base, first)

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

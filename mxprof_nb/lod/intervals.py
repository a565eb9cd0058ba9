"""`Intervals`: the events of all lanes on one sorted axis, so that a search finds any of them.

Events of one lane never overlap, so their starts and their ends both ascend. A window is then one
range of positions per lane, long events that began before it included, and any run of neighbours
is a range as well: its count is a difference, its busy time a difference of prefix sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array

__all__ = ["Intervals"]

#: Keys of all lanes lie one after the other on one int64 axis; beyond this it would overflow.
MAX_KEY = 1 << 62
#: With more lanes than this, halving the ranges of all at once is quicker than one by one.
MANY_LANES = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Disjoint intervals in lanes, ordered by lane and time; times are counted from 0.

    Attributes
    ----------
    start, end : ndarray of int64, shape (n,)
        Keys, ``lane * shift + time``: sorted over all lanes at once.
    busy : ndarray of int64, shape (n + 1,)
        Summed duration of what stands before each position.
    first : ndarray of int64, shape (lanes + 1,)
        Where each lane begins.
    length : int
        All times lie below it, with a tick to spare.
    shift : int
        Distance between lanes on the axis of keys: ``length``, or 0 where days of trace times
        thousands of lanes would overflow; then lanes are searched one by one.
    """

    start: I64Array
    end: I64Array
    busy: I64Array
    first: I64Array
    length: int
    shift: int

    @classmethod
    def of(cls, start: I64Array, duration: I64Array, first: I64Array, length: int) -> Intervals:
        """Index intervals that are in order of lane and time."""
        lanes = len(first) - 1
        shift = length if length * max(lanes, 1) < MAX_KEY else 0
        key = start
        if shift and lanes > 1:
            key = start + np.repeat(np.arange(lanes) * shift, np.diff(first))
        busy = np.zeros(len(start) + 1, dtype=np.int64)
        np.cumsum(duration, out=busy[1:])
        return cls(key, key + duration, busy, first, length, shift)

    def take(self, positions: NDArray[Any]) -> Intervals:
        """Return the intervals at some positions, ascending, on the same lanes."""
        start, end = self.start[positions], self.end[positions]
        busy = np.zeros(len(positions) + 1, dtype=np.int64)
        np.cumsum(end - start, out=busy[1:])
        first = np.searchsorted(positions, self.first)
        return Intervals(start, end, busy, first, self.length, self.shift)

    def __len__(self) -> int:
        return len(self.start)

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return self.start.nbytes + self.end.nbytes + self.busy.nbytes + self.first.nbytes

    def times(self, positions: I64Array, lanes: I64Array) -> tuple[I64Array, I64Array]:
        """Return start and end of positions that lie on ``lanes``."""
        base = lanes * self.shift
        return self.start[positions] - base, self.end[positions] - base

    def duration(self, positions: I64Array) -> I64Array:
        """Return how long the intervals at some positions are."""
        long: I64Array = self.end[positions] - self.start[positions]
        return long

    def lane_of(self, positions: I64Array) -> I64Array:
        """Return the lane of each position."""
        return np.searchsorted(self.first, positions, side="right") - 1

    def strength(self, positions: I64Array) -> I64Array:
        """Return how strong the boundary at the left of each position is.

        The largest of the gap before it and the durations at both sides; meaningless for the
        first position of a lane.
        """
        start, end = self.start[positions], self.end[positions]
        before, ended = self.start[positions - 1], self.end[positions - 1]
        strong: I64Array = np.maximum(start - ended, np.maximum(end - start, ended - before))
        return strong

    def window(self, begin: int, end: int, lanes: I64Array) -> tuple[I64Array, I64Array]:
        """Return the range of positions, per lane, of the intervals that touch a window.

        One touches ``[begin, end)`` when it starts before ``end`` and ends after ``begin``, or
        starts there: an instant at ``begin`` is in, what ends at ``begin`` is out.
        """
        begin = min(max(begin, 0), self.length - 1)
        end = min(max(end, 0), self.length)
        low, high = self.first[lanes], self.first[lanes + 1]
        if begin == 0 and end == self.length:
            return low, high
        first = self._search(self.end, lanes, begin)
        if len(self):
            here = np.minimum(first, len(self) - 1)
            key = lanes * self.shift + begin
            first += (first < high) & (self.end[here] == key) & (self.start[here] < key)
        stop = self.started(lanes, end)
        first = np.clip(first, low, high)
        return first, np.maximum(stop, first)

    def started(self, lanes: I64Array, time: int | I64Array) -> I64Array:
        """Return the position, per lane, of the first interval that starts at ``time`` or later."""
        return self._search(self.start, lanes, time)

    def before(self, lanes: I64Array, time: I64Array) -> tuple[I64Array, I64Array]:
        """Return how long each lane was busy before a time, and how many intervals began.

        Both are counted from the begin of all lanes: only differences within one lane mean
        something, and those are exact.

        Parameters
        ----------
        lanes, time : ndarray of int64
            Of shapes that fit each other.
        """
        time = np.clip(time, 0, self.length - 1)
        key = lanes * self.shift + time
        stop = np.searchsorted(self.start, key) if self.shift else self.started(lanes, time)
        if not len(self):
            return np.zeros_like(stop), stop
        over = self.end[stop - 1] - key
        np.maximum(over, 0, out=over)
        over[stop == self.first[lanes]] = 0  # nothing began, and what stands before is elsewhere
        return self.busy[stop] - over, stop

    def grid(self, lanes: I64Array, edges: I64Array) -> tuple[I64Array, I64Array]:
        """Return `before` for all pairs of lanes and edges, each of shape (lanes, edges)."""
        return self.before(lanes[:, np.newaxis], edges)

    def _search(self, keys: I64Array, lanes: I64Array, time: int | I64Array) -> I64Array:
        """Return the first position, per lane, whose key is at ``time`` or later."""
        if len(lanes) > MANY_LANES and not np.ndim(time):
            return self._bisect(keys, lanes, int(time))
        if self.shift:
            return np.searchsorted(keys, lanes * self.shift + time, side="left")
        lanes, times = np.broadcast_arrays(lanes, time)
        found = np.empty(lanes.shape, dtype=np.int64)
        for lane in np.unique(lanes):
            mine = lanes == lane
            begin, stop = self.first[lane], self.first[lane + 1]
            found[mine] = begin + np.searchsorted(keys[begin:stop], times[mine], side="left")
        return found

    def _bisect(self, keys: I64Array, lanes: I64Array, time: int) -> I64Array:
        """Return the same as `_search` for one time, by halving what is left of every lane."""
        low, high = self.first[lanes], self.first[lanes + 1]
        wanted = lanes * self.shift + time
        for _ in range(int((high - low).max()).bit_length()):
            middle = (low + high) // 2
            before = (middle < high) & (keys[np.minimum(middle, len(keys) - 1)] < wanted)
            low = np.where(before, middle + 1, low)
            high = np.where(before, high, middle)
        return low

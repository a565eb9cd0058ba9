"""`Boundaries`: where neighbours of a lane are told apart, listed by how clearly they are.

The *strength* of a boundary is the largest of the gap and the durations at its two sides. Cutting
a lane wherever a boundary is as strong as a pixel leaves every interval of a pixel or more single
and every gap of a pixel or more blank, so runs between cuts cover exactly the pixels that drawing
every interval would cover. Positions are listed per power of two of the strength; the strength
itself is computed again where it is needed. Memory: 4 B for each power of two that a boundary
reaches, but none for powers that more than half of all reach.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I8Array, I32Array, I64Array
from mxprof_nb.lod.intervals import Intervals
from mxprof_nb.lod.segments import ranges

__all__ = ["Boundaries"]

#: About so many boundaries are looked at first for the longest intervals; further ones, weaker by
#: a half each time, only if these do not suffice.
GATHERED = 16_384
#: Lanes that are asked how many boundaries there are; of more, every so many is.
ASKED = 256
#: Ties are broken by this hash of the position: spread evenly, and the same after panning, so
#: that the picture does not flicker.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Boundaries:
    """Positions of the boundaries within lanes, by strength; immutable."""

    def __init__(self, intervals: Intervals) -> None:
        self.intervals = intervals
        level = _levels(intervals)
        reaching = np.cumsum(np.bincount(level + 1, minlength=65)[::-1])[::-1]
        finest = 0
        while finest < 63 and reaching[finest + 1] > len(level) // 2:
            finest += 1
        #: Lists begin with the strengths of ``2 ** finest`` and more.
        self.finest = finest
        self.lists: list[I32Array] = []
        positions = np.flatnonzero(level >= finest).astype(np.int32)
        level = level[positions]
        while len(positions):
            self.lists.append(positions)
            keep = level >= finest + len(self.lists)
            positions, level = positions[keep], level[keep]

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return sum(listed.nbytes for listed in self.lists)

    def cuts(self, first: I64Array, stop: I64Array, least: int, room: int) -> I64Array | None:
        """Return the boundaries within ranges that have at least a strength, ascending.

        Parameters
        ----------
        first, stop : ndarray of int64, shape (m,)
            Ranges of positions, not empty, ascending.
        least : int
            At least 1.
        room : int
            Most boundaries to return; None is returned where there are more.
        """
        if room < 0 or self._count((least - 1).bit_length(), first, stop) > room:
            return None
        found = self._reaching(least.bit_length() - 1, first, stop)
        found = found[self.intervals.strength(found) >= least]
        return found if len(found) <= room else None

    def longest(
        self, first: I64Array, stop: I64Array, least: int, room: int
    ) -> tuple[I64Array, int]:
        """Return the longest intervals within ranges, of a length of ``least`` or more.

        Returns
        -------
        positions : ndarray of int64, shape (m,)
            At most ``room``, ascending.
        shortest : int
            Every interval in the ranges of this length or more is among them.

        Notes
        -----
        The left boundary of an interval is at least as strong as it is long, so what is listed
        for a power of two, and the first of each range, holds all that are that long. Listed
        powers are gone through from few to many until there are enough.
        """
        wanted = least.bit_length() - 1
        level = self._coarsest_useful(first, stop, wanted)
        while True:
            found = np.concatenate((first, self._reaching(level, first, stop)))
            long = self.intervals.duration(found)
            if level <= wanted or int(np.count_nonzero(long >= 1 << level)) >= room:
                break
            level -= 1
        enough = long >= least
        found, long = found[enough], long[enough]
        if len(found) <= room:
            return np.sort(found), least
        if not room:
            return found[:0], int(long.max()) + 1
        score = long.astype(np.float64)
        spread = (found.astype(np.uint64) * GOLDEN) >> np.uint64(11)
        score += spread.astype(np.float64) * 2.0**-53
        best = np.argpartition(-score, room)
        return np.sort(found[best[:room]]), int(long[best[room:]].max()) + 1

    def _coarsest_useful(self, first: I64Array, stop: I64Array, wanted: int) -> int:
        """Return the least power, ``wanted`` or more, that is reached about `GATHERED` times."""
        low, high = wanted, max(wanted, self.finest + len(self.lists))
        every = -(-len(first) // ASKED)
        first, stop, most = first[::every], stop[::every], GATHERED // every
        while low < high:
            middle = (low + high) // 2
            if self._count(middle, first, stop) <= most:
                high = middle
            else:
                low = middle + 1
        return low

    def _list(self, power: int) -> I32Array:
        number = power - self.finest
        return self.lists[number] if number < len(self.lists) else np.zeros(0, dtype=np.int32)

    def _count(self, power: int, first: I64Array, stop: I64Array) -> int:
        """Return how many boundaries within ranges have a strength of ``2 ** power``."""
        if power < self.finest:
            return int((stop - first).sum()) - len(first)
        listed = self._list(power)
        return int((_find(listed, stop) - _find(listed, first + 1)).sum())

    def _reaching(self, power: int, first: I64Array, stop: I64Array) -> I64Array:
        """Return the boundaries within ranges of ``2 ** power`` or more; not listed ones: all."""
        if power < self.finest:
            return ranges(first + 1, stop)
        listed = self._list(power)
        return listed[ranges(_find(listed, first + 1), _find(listed, stop))].astype(np.int64)


def _levels(intervals: Intervals) -> I8Array:
    """Return the exponent of the strength of the boundary left of each position, -1 for 0.

    Those between lanes are listed as well: nobody asks for the first position of a range.
    """
    start, end = intervals.start, intervals.end
    strength = np.zeros(len(start), dtype=np.int64)
    if len(start) > 1:
        long = end - start
        np.maximum(long[1:], long[:-1], out=strength[1:])
        np.maximum(strength[1:], start[1:] - end[:-1], out=strength[1:])
    # The exponent of a float64 is the logarithm, rounded down (up for a few above 2 ** 53, which
    # then stand in one list too many).
    exponent = (strength.astype(np.float64).view(np.int64) >> 52) - 1023
    level: I8Array = np.maximum(exponent, -1).astype(np.int8)
    return level


def _find(listed: I32Array, positions: NDArray[Any]) -> I64Array:
    # The same type on both sides: otherwise the whole list is converted on every call.
    return np.searchsorted(listed, positions.astype(np.int32))

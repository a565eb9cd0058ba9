"""Which event lies inside which: parents, lanes without overlap, and self time.

A *lane* is a sub-row of a track on which no two events overlap. Properly nested events get
their depth as lane; events that overlap without nesting go to lanes of their own, so nothing is
ever dropped (`perfetto` drops them, `chrome://tracing` paints them over one another).

Method: rows sorted by (track, start, longer first) are peeled level by level. A row is a root of
its level when everything before it has ended; children of one level are found by removing its
roots and repeating. A group whose members overlap without nesting is laid out by a loop over its
rows. Cost: O(n x depth) array work plus the loop over the overlapping rows.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I32Array, I64Array

__all__ = [
    "nest",
    "self_time",
    "sort_by_track",
    "sort_in_time",
    "sort_rows",
    "union_by_group",
]

#: While so many events are open at once, or fewer, looking at each of them is quicker than a crowd.
FEW_OPEN = 48
#: Peeling is quicker per level than the loop, but costs a pass per level: beyond this depth
#: (deep recursion) the loop wins.
MAX_PEELED_LEVELS = 32


def sort_rows(track: NDArray[Any], start: NDArray[Any], end: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order by (track, start, longer first), stable.

    Parameters
    ----------
    track, start, end : ndarray of int, shape (n,)
    """
    order = sort_in_time(start, end)
    return order[sort_by_track(track[order])]


def sort_in_time(start: NDArray[Any], end: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order by (start, longer first), stable.

    Recorders deliver a few streams that are in order already, which a stable sort merges; events
    that start together are few, and put in order afterwards. Together that takes a tenth of a
    sort by both keys.
    """
    order = np.argsort(start, kind="stable")
    sorted_start = start[order]
    together = sorted_start[1:] == sorted_start[:-1]
    if together.any():
        tied = np.zeros(len(order), dtype=bool)
        tied[1:] = together
        tied[:-1] |= together
        rows = order[tied]
        order[tied] = rows[np.lexsort((-end[rows], start[rows]))]
    return order


def sort_by_track(track: NDArray[Any]) -> NDArray[np.intp]:
    """Return the order by track, stable."""
    if len(track) and track.min() >= 0 and track.max() < 2**15:
        track = track.astype(np.int16)  # sorted by counting, in a tenth of the time
    return np.argsort(track, kind="stable")


def nest(track: NDArray[Any], start: I64Array, end: I64Array) -> tuple[I32Array, I32Array]:
    """Find the parent and the lane of every row.

    Parameters
    ----------
    track, start, end : ndarray of int, shape (n,)
        Rows ordered as `sort_rows` does, ``end >= start``; times in ns, half open, so an event
        may start where another ends.

    Returns
    -------
    parent : ndarray of int32, shape (n,)
        Row of the innermost event of the same track that contains the row, -1 for none.
    lane : ndarray of int32, shape (n,)
        Sub-row within the track, from 0; events of one lane never overlap, and a child lies on a
        higher lane than its parent.
    """
    n = len(start)
    parent = np.full(n, -1, dtype=np.int32)
    lane = np.zeros(n, dtype=np.int32)
    if n == 0:
        return parent, lane
    number = np.cumsum(np.diff(track, prepend=track[0]) != 0).astype(np.int64)
    begin, stop, _ = _on_one_axis(number, int(number[-1]) + 1, start, end)

    rows = np.arange(n)
    above = np.full(n, -1, dtype=np.int64)  # innermost root found so far, per remaining row
    for level in range(MAX_PEELED_LEVELS):
        if not len(rows):
            return parent, lane
        reach = np.maximum.accumulate(stop[rows])
        root = np.ones(len(rows), dtype=bool)
        root[1:] = begin[rows[1:]] >= reach[:-1]
        owner = np.maximum.accumulate(np.where(root, np.arange(len(rows)), 0))
        overlapping = stop[rows] > stop[rows[owner]]
        parent[rows[root]] = above[root]
        lane[rows[root]] = level
        if overlapping.any():
            bad = np.zeros(len(rows), dtype=bool)
            bad[owner[overlapping]] = True
            bad = bad[owner]
            _lay_out(rows[bad], begin, stop, level, above[bad], parent, lane)
            keep = ~root & ~bad
        else:
            keep = ~root
        above = rows[owner[keep]]
        rows = rows[keep]
    if len(rows):
        _lay_out(rows, begin, stop, MAX_PEELED_LEVELS, above, parent, lane)
    return parent, lane


def _lay_out(
    rows: NDArray[Any],
    begin: I64Array,
    stop: I64Array,
    first_lane: int,
    above: NDArray[Any],
    parent: I32Array,
    lane: I32Array,
) -> None:
    """Lay out rows one by one, lowest free lane first.

    As long as what is open is nested, it is a stack and each row costs the same however deep it
    lies; only while rows overlap is all that is open looked at, or asked as a `Crowd`.
    """
    opened: list[tuple[int, int, int]] = []  # (stop, row, lane) of what may still be running
    crowd: Crowd | None = None  # made when it is first asked for
    nested, crowded = True, False
    parents, lanes = [], []
    times = zip(begin[rows].tolist(), stop[rows].tolist(), strict=True)
    for row, around, (b, e) in zip(rows.tolist(), above.tolist(), times, strict=True):
        outer, free = around, first_lane
        if crowd and crowded and not crowd.leave(b):
            opened, nested, crowded = [], True, False
        if not nested and not crowded and len(opened) > FEW_OPEN:
            crowd = crowd or Crowd(stop[rows], first_lane)
            for entry in opened:
                crowd.enter(*entry)
            opened, crowded = [], crowd.leave(b)
            nested = not crowded
        if crowd and crowded:
            outer, free = crowd.place(b, e, around)
            crowd.enter(e, row, free)
            parents.append(outer)
            lanes.append(free)
            continue
        if nested:
            while opened and opened[-1][0] <= b:
                opened.pop()
            if opened:
                last, outer_row, outer_lane = opened[-1]
                nested = last >= e
                if nested:
                    outer, free = outer_row, outer_lane + 1
        if not nested:
            taken, running = 0, []  # lanes as bits
            for entry in opened:
                ends, other, its_lane = entry
                if ends > b:
                    running.append(entry)
                    taken |= 1 << its_lane
                    if ends >= e:
                        # The innermost container started last, and rows come in order of start.
                        outer = other
                        if its_lane >= free:
                            free = its_lane + 1
            opened, nested = running, not running
            above_free = taken >> free
            free += (~above_free & (above_free + 1)).bit_length() - 1  # the lowest bit not set
        parents.append(outer)
        lanes.append(free)
        opened.append((e, row, free))
    parent[rows], lane[rows] = parents, lanes


class Crowd:
    """Events that run at the same time, however many; each step costs the logarithm of that.

    Parameters
    ----------
    stops : ndarray of int64
        Ends of all events that may enter.
    first_lane : int
        The lowest lane there is.
    """

    def __init__(self, stops: I64Array, first_lane: int) -> None:
        self._stops: list[int] = np.unique(stops).tolist()
        # A Fenwick tree: the highest lane of those that end at one of the stops or later. Who has
        # left ended before whoever is asked for now, and is never counted.
        self._highest = [-1] * (len(self._stops) + 1)
        self._running: list[tuple[int, int]] = []  # heap of (stop, lane)
        # Those that no later one outlasts, (stop, row): their stops never rise.
        self._chain: list[tuple[int, int]] = []
        self._lowest = self._top = first_lane
        self._free: list[int] = []  # lanes below the top, ascending

    def leave(self, now: int) -> bool:
        """Let those go that have ended; return whether any is left."""
        while self._running and self._running[0][0] <= now:
            insort(self._free, heappop(self._running)[1])
        if not self._running:
            self._chain.clear()
            self._free.clear()
            self._top = self._lowest
        return bool(self._running)

    def enter(self, stop: int, row: int, lane: int) -> None:
        """Add an event, which began no earlier than all others."""
        heappush(self._running, (stop, lane))
        while self._chain and self._chain[-1][0] < stop:
            self._chain.pop()
        self._chain.append((stop, row))
        if lane >= self._top:
            self._free.extend(range(self._top, lane))
            self._top = lane + 1
        else:
            del self._free[bisect_left(self._free, lane)]
        place = len(self._stops) - bisect_left(self._stops, stop)
        while place < len(self._highest):
            self._highest[place] = max(self._highest[place], lane)
            place += place & -place

    def place(self, begin: int, stop: int, around: int) -> tuple[int, int]:
        """Return the innermost event around a new one, ``around`` for none, and its lane."""
        until = max(stop, begin + 1)  # what ends where an event begins is not around it
        while self._chain and self._chain[-1][0] < until:
            self._chain.pop()
        outer = self._chain[-1][1] if self._chain else around
        place = len(self._stops) - bisect_left(self._stops, until)
        least = self._lowest - 1
        while place > 0:
            least = max(least, self._highest[place])
            place -= place & -place
        free = bisect_left(self._free, least + 1)
        return outer, self._free[free] if free < len(self._free) else max(self._top, least + 1)


def _on_one_axis(
    group: I64Array, groups: int, start: I64Array, end: I64Array
) -> tuple[I64Array, I64Array, I64Array | None]:
    """Give each group a stretch of one axis, so that one running maximum serves all of them.

    The third value is None where lengths on that axis are ns. Stretches that would not fit 64
    bits (a million groups in a run of hours, or times since 1970 beside times from 0) are laid
    out by rank instead: a place on the axis, modulo the length of the third value, is the index
    of its time there.
    """
    low = int(start.min())
    span = int(end.max()) - low + 2
    if span * groups < 2**62:
        return group * span + (start - low), group * span + (end - low), None
    times, rank = np.unique(np.concatenate([start, end]), return_inverse=True)
    base = group * len(times)
    return base + rank[: len(start)], base + rank[len(start) :], times


def union_by_group(group: NDArray[Any], start: I64Array, end: I64Array, groups: int) -> I64Array:
    """Return the length of the union of intervals per group, shape (groups,), in ns.

    Parameters
    ----------
    group : ndarray of int, shape (n,)
        Group of each interval, 0 to ``groups`` - 1.
    start, end : ndarray of int64, shape (n,)
        The intervals in any order; overlap is counted once.
    """
    total = np.zeros(groups, dtype=np.int64)
    if len(start) == 0:
        return total
    order = sort_rows(group, start, end)
    g = group[order].astype(np.int64)
    begin, stop, times = _on_one_axis(g, groups, start[order], end[order])
    reach = np.maximum.accumulate(stop)
    covered = begin.copy()
    covered[1:] = np.maximum(begin[1:], reach[:-1])
    covered = np.minimum(covered, stop)
    if times is not None:
        covered, stop = times[covered % len(times)], times[stop % len(times)]
    np.add.at(total, g, stop - covered)
    return total


def self_time(parent: NDArray[Any], start: I64Array, end: I64Array) -> I64Array:
    """Return the time of each event that none of its children covers, shape (n,), in ns.

    Children that overlap one another are counted once, so self times of one track sum to the
    time in which the track was busy.
    """
    own = end - start
    child = np.flatnonzero(parent >= 0)
    if len(child):
        own = own - union_by_group(parent[child], start[child], end[child], len(own))
    return own

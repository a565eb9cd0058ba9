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
    lies; only while rows overlap is all that is open looked at.
    """
    opened: list[tuple[int, int, int]] = []  # (stop, row, lane) of what may still be running
    nested = True
    parents, lanes = [], []
    times = zip(begin[rows].tolist(), stop[rows].tolist(), strict=True)
    for row, around, (b, e) in zip(rows.tolist(), above.tolist(), times, strict=True):
        outer, free = around, first_lane
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

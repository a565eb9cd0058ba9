"""Begins and ends that stand in a Chrome trace as two events, and points that flows pass."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.trace import nesting

__all__ = ["enclosing", "pair_up"]


def pair_up(keys: Sequence[Hashable], opens: Sequence[bool], time_ns: I64Array) -> I64Array:
    """Find for every begin its end: an end closes the innermost begin of its key still open.

    Parameters
    ----------
    keys : sequence, length n
        What begin and end must have in common.
    opens : sequence of bool, length n
        Whether an event is a begin.
    time_ns : ndarray of int64, shape (n,)
        Events are taken in order of time, ties in the order given.

    Returns
    -------
    ndarray of int64, shape (n,)
        Position of the partner; -1 where there is none, on either side.
    """
    partner = np.full(len(keys), -1, dtype=np.int64)
    stacks: dict[Hashable, list[int]] = {}
    for place in np.argsort(time_ns, kind="stable").tolist():
        stack = stacks.setdefault(keys[place], [])
        if opens[place]:
            stack.append(place)
        elif stack:
            begin = stack.pop()
            partner[begin], partner[place] = place, begin
    return partner


def enclosing(
    track: NDArray[Any],
    start: I64Array,
    end: I64Array,
    point_track: NDArray[Any],
    point_ns: I64Array,
    *,
    following: NDArray[np.bool_],
) -> I64Array:
    """Find the slice that each point of a flow belongs to.

    Parameters
    ----------
    track, start, end : ndarray of int, shape (n,)
        The slices, in any order.
    point_track, point_ns : ndarray of int, shape (m,)
        The points.
    following : ndarray of bool, shape (m,)
        Where true, the next slice that begins on the track at or after the point is meant; else
        the innermost that contains it. An end belongs to its slice unless another begins there.

    Returns
    -------
    ndarray of int64, shape (m,)
        Position of the slice, -1 for none.
    """
    order = nesting.sort_rows(track, start, end)
    parent, _ = nesting.nest(track[order], start[order], end[order])
    first = np.searchsorted(track[order], point_track, side="left")
    stop = np.searchsorted(track[order], point_track, side="right")
    found = np.full(len(point_ns), -1, dtype=np.int64)
    begins, ends = start[order], end[order]
    for place, (low, high, time, next_one) in enumerate(
        zip(first.tolist(), stop.tolist(), point_ns.tolist(), following.tolist(), strict=True)
    ):
        if next_one:
            row = low + int(np.searchsorted(begins[low:high], time, side="left"))
            found[place] = order[row] if row < high else -1
            continue
        row = low + int(np.searchsorted(begins[low:high], time, side="right")) - 1
        row = row if row >= low else -1
        while row >= 0 and ends[row] < time:
            row = int(parent[row])
        found[place] = order[row] if row >= 0 else -1
    return found

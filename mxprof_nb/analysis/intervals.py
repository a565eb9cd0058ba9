"""Sums of intervals in which what overlaps is counted once."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, I64Array
from mxprof_nb.trace import HasTrace, trace_of
from mxprof_nb.trace.nesting import union_by_group

__all__ = ["Window", "busy_by_track", "busy_ns", "clip", "touching", "union_ns"]

#: Begin and end of a range of time in ns, half open; None stands for all of time.
Window: TypeAlias = tuple[int, int] | None


def clip(start: NDArray[Any], end: NDArray[Any], window: Window) -> tuple[I64Array, I64Array]:
    """Return the parts of intervals that lie inside a window.

    Parameters
    ----------
    start, end : ndarray of int64, shape (n,)
        The intervals, in ns.
    window : tuple of int, or None
        None leaves them as they are.

    Returns
    -------
    start, end : ndarray of int64, shape (n,)
        What lies outside becomes an interval of length 0.
    """
    if window is None:
        return start, end
    return np.clip(start, *window), np.clip(end, *window)


def touching(start: NDArray[Any], end: NDArray[Any], window: Window) -> BoolArray:
    """Return a mask, shape (n,), of the intervals that lie in a window with some part.

    The window is half open; an interval of length 0 touches it when it lies inside.
    """
    if window is None:
        return np.ones(len(start), dtype=bool)
    begin, stop = window
    return (start < stop) & ((end > begin) | (start >= begin))


def union_ns(start: NDArray[Any], end: NDArray[Any], *, window: Window = None) -> int:
    """Return the length of the union of intervals, in ns.

    Parameters
    ----------
    start, end : ndarray of int64, shape (n,)
        The intervals in any order, in ns.
    window : tuple of int, optional
        Count only what lies between these two times.

    Examples
    --------
    >>> union_ns(np.array([0, 5, 20]), np.array([10, 15, 21]))
    16
    """
    start, end = clip(start, end, window)
    return int(union_by_group(np.zeros(len(start), dtype=np.int64), start, end, 1)[0])


def busy_ns(trace: HasTrace, rows: Any = None, *, window: Window = None) -> int:
    """Return how long at least one of the given events was running, in ns.

    Parameters
    ----------
    trace : Trace
    rows : array_like of int or bool, optional
        Rows of the events table, or a mask; all events when left out. Tracks are not told
        apart: two workers that are busy at the same time count once.
    window : tuple of int, optional
        Count only what lies between these two times.
    """
    trace = trace_of(trace)
    chosen = slice(None) if rows is None else rows
    return union_ns(trace.events.start_ns[chosen], trace.events.end_ns[chosen], window=window)


def busy_by_track(trace: HasTrace, rows: Any = None, *, window: Window = None) -> I64Array:
    """Return how long each track was running at least one of the given events.

    Parameters
    ----------
    trace : Trace
    rows : array_like of int or bool, optional
        Rows of the events table, or a mask; all events when left out.
    window : tuple of int, optional
        Count only what lies between these two times.

    Returns
    -------
    ndarray of int64, shape (number of tracks,)
        In ns.
    """
    trace = trace_of(trace)
    chosen = slice(None) if rows is None else rows
    start, end = clip(trace.events.start_ns[chosen], trace.events.end_ns[chosen], window)
    return union_by_group(trace.events.track[chosen], start, end, len(trace.tracks))

"""Sums of intervals in which what overlaps is counted once."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, I64Array
from mxprof_nb.trace import HasTrace, trace_of
from mxprof_nb.trace.nesting import union_by_group

__all__ = [
    "Window",
    "busy_by_track",
    "busy_ns",
    "clip",
    "depth_over_time",
    "touching",
    "union_ns",
]

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


def depth_over_time(
    start: NDArray[Any], end: NDArray[Any], *, window: Window = None
) -> tuple[I64Array, I64Array]:
    """Return how many intervals cover each time: a step function.

    Parameters
    ----------
    start, end : ndarray of int64, shape (n,)
        The intervals in any order, in ns; half open, so one of length 0 covers nothing.
    window : tuple of int, optional
        Count only what lies between these two times.

    Returns
    -------
    time_ns, count : ndarray of int64, shape (m,)
        ``count[i]`` intervals cover the time from ``time_ns[i]`` to the next one, 0 from the last
        on; neighbours differ. With a window, the first time is its begin.

    Notes
    -----
    The area below it is the sum of all lengths. Cost: O(n log n).

    Examples
    --------
    >>> time_ns, count = depth_over_time(np.array([0, 5, 20]), np.array([10, 15, 21]))
    >>> time_ns.tolist(), count.tolist()
    ([0, 5, 10, 15, 20, 21], [1, 2, 1, 0, 1, 0])
    """
    start, end = clip(start, end, window)
    lasts = end > start
    ends = np.concatenate([start[lasts], end[lasts]])
    time, place = np.unique(ends, return_inverse=True)
    many = int(lasts.sum())
    change = np.bincount(place[:many], minlength=len(time))
    change -= np.bincount(place[many:], minlength=len(time))
    changes = change != 0
    time, count = time[changes], np.cumsum(change)[changes]
    if window is not None and (not len(time) or time[0] > window[0]):
        time, count = np.append(window[0], time), np.append(0, count)
    return time.astype(np.int64), count.astype(np.int64)


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

"""Stretches of consecutive rows: listing them and finding their extremes without a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array

__all__ = ["distinct", "extreme", "ranges"]


def ranges(first: NDArray[Any], stop: NDArray[Any]) -> I64Array:
    """Return the numbers of all ranges ``first[i]`` to ``stop[i]`` (exclusive), joined.

    Parameters
    ----------
    first, stop : ndarray of int, shape (m,)
        ``stop >= first``.

    Examples
    --------
    >>> ranges(np.array([3, 10]), np.array([5, 13])).tolist()
    [3, 4, 10, 11, 12]
    """
    count = stop - first
    joined = np.cumsum(count)
    total = int(joined[-1]) if len(joined) else 0
    return np.repeat(first - (joined - count), count) + np.arange(total)


def distinct(numbers: NDArray[Any]) -> I64Array:
    """Return each of some numbers, none below 0, once, ascending.

    Examples
    --------
    >>> distinct(np.array([5, 2, 5])).tolist()
    [2, 5]
    """
    ordered = np.sort(np.asarray(numbers, dtype=np.int64))
    found: I64Array = ordered[np.diff(ordered, prepend=-1) != 0]
    return found


def extreme(values: NDArray[Any], starts: NDArray[Any], ufunc: np.ufunc) -> I64Array:
    """Return the position of the first extreme value of every segment, shape (m,).

    Parameters
    ----------
    values : ndarray, shape (n,)
        Free of NaN.
    starts : ndarray of int, shape (m,)
        Where each segment begins, ascending, from 0; a segment ends where the next begins.
    ufunc : numpy.ufunc
        ``np.maximum`` or ``np.minimum``.

    Examples
    --------
    >>> extreme(np.array([1, 7, 7, 2, 5]), np.array([0, 3]), np.maximum).tolist()
    [1, 4]
    """
    best = ufunc.reduceat(values, starts)
    hits = np.flatnonzero(values == np.repeat(best, np.diff(starts, append=len(values))))
    return hits[np.searchsorted(hits, starts)]

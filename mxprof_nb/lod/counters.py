"""Step lines of counters that keep every peak when there are more samples than pixels."""

from __future__ import annotations

import numpy as np

from mxprof_nb._typing import F64Array, I64Array
from mxprof_nb.lod.segments import extreme

__all__ = ["step_line"]


def step_line(
    time_ns: I64Array, value: F64Array, begin_ns: int, end_ns: int, *, max_points: int = 1000
) -> tuple[I64Array, F64Array]:
    """Return the corners of a counter's step line within a window.

    Parameters
    ----------
    time_ns : ndarray of int64, shape (n,)
        When each sample was taken, ascending; its value holds until the next one.
    value : ndarray of float64, shape (n,)
        The samples, free of NaN.
    begin_ns, end_ns : int
        The window.
    max_points : int
        Most samples to keep; beyond, each of ``max_points // 4`` equal parts of the window keeps
        its first, lowest, highest and last one, so that no peak is lost.

    Returns
    -------
    time_ns, value : ndarray, shape (m,)
        With the value carried in at ``begin_ns`` and carried on to ``end_ns``; empty when no
        sample was taken before ``end_ns``.
    """
    low = int(np.searchsorted(time_ns, begin_ns, side="right"))
    high = int(np.searchsorted(time_ns, end_ns, side="right"))
    inside = np.arange(low, high)
    if len(inside) > max(max_points, 4):
        parts = max(max_points // 4, 1)
        part = (time_ns[inside] - begin_ns) * parts // max(end_ns - begin_ns + 1, 1)
        heads = np.flatnonzero(np.diff(part, prepend=-1))
        tails = np.append(heads[1:], len(inside)) - 1
        samples = value[inside]
        keep = np.zeros(len(inside), dtype=bool)
        for chosen in (
            heads,
            tails,
            extreme(samples, heads, np.minimum),
            extreme(samples, heads, np.maximum),
        ):
            keep[chosen] = True
        inside = inside[keep]
    times = time_ns[inside]
    values = value[inside]
    if low > 0:
        times = np.concatenate(([begin_ns], times))
        values = np.concatenate((value[low - 1 : low], values))
    if len(times):
        times = np.concatenate((times, [max(end_ns, int(times[-1]))]))
        values = np.concatenate((values, values[-1:]))
    return times, values

"""`StepLine`: a counter drawn with every peak when there are more samples than pixels.

Each part of a window keeps its first, lowest, highest and last sample, in time's order: drawn at
one part per pixel, that covers the pixels of the line through all samples (M4; Jugel and others,
Proceedings of the VLDB Endowment 7, 2014). Extremes of whole blocks are looked up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import F64Array, I64Array
from mxprof_nb.lod.segments import distinct, extreme, ranges

__all__ = ["StepLine"]

BLOCK = 64


class StepLine:
    """The samples of one counter; immutable. Memory: 0.25 B per sample beside them.

    Parameters
    ----------
    time_ns : ndarray of int64, shape (n,)
        When each sample was taken, ascending; its value holds until the next one.
    value : ndarray of float64, shape (n,)
        The samples, free of NaN.
    """

    def __init__(self, time_ns: I64Array, value: F64Array) -> None:
        self.time_ns, self.value = time_ns, value
        self.peak = float(value.max(initial=-np.inf))
        heads = np.arange(0, len(value), BLOCK)
        self._low, self._high = (
            extreme(value, heads, ufunc) if len(value) else heads
            for ufunc in (np.minimum, np.maximum)
        )

    def __len__(self) -> int:
        return len(self.time_ns)

    def corners(
        self, begin_ns: int, end_ns: int, *, max_points: int = 1000
    ) -> tuple[I64Array, F64Array]:
        """Return the corners of the line within a window.

        Parameters
        ----------
        begin_ns, end_ns : int
            The window.
        max_points : int
            Most samples to keep; beyond, each of ``max_points // 4`` equal parts of the window
            keeps its first, lowest, highest and last one, so that no peak is lost.

        Returns
        -------
        time_ns, value : ndarray, shape (m,)
            With the value carried in at ``begin_ns`` and carried on to ``end_ns``; empty when no
            sample was taken before ``end_ns``.
        """
        low, high = np.searchsorted(self.time_ns, (begin_ns, end_ns), side="right").tolist()
        inside = np.arange(low, high)
        if high - low > max(max_points, 4):
            inside = self._thinned(begin_ns, end_ns, low, high, max(max_points // 4, 1))
        times, values = self.time_ns[inside], self.value[inside]
        if low > 0:
            times = np.concatenate(([begin_ns], times))
            values = np.concatenate((self.value[low - 1 : low], values))
        if len(times):
            times = np.concatenate((times, [max(end_ns, int(times[-1]))]))
            values = np.concatenate((values, values[-1:]))
        return times, values

    def _thinned(self, begin_ns: int, end_ns: int, low: int, high: int, parts: int) -> I64Array:
        """Return the samples to keep of those from ``low`` to ``high``, ascending."""
        length = max(end_ns - begin_ns + 1, 1)
        edges = [begin_ns + -(-k * length // parts) for k in range(1, parts)]
        bounds = np.searchsorted(self.time_ns, np.array(edges, dtype=np.int64))
        bounds = np.concatenate(([low], np.clip(bounds, low, high), [high]))
        first, stop = bounds[:-1], bounds[1:]
        first, stop = first[stop > first], stop[stop > first]
        lowest = self._extremes(first, stop, self._low, np.minimum)
        highest = self._extremes(first, stop, self._high, np.maximum)
        return distinct(np.concatenate((first, lowest, highest, stop - 1)))

    def _extremes(
        self, first: I64Array, stop: I64Array, of_block: I64Array, ufunc: np.ufunc
    ) -> NDArray[np.int64]:
        """Return the sample that is the extreme of each range: of whole blocks it is known."""
        n = len(self.value)
        head = np.minimum(-(-first // BLOCK), stop // BLOCK)
        tail = np.maximum(stop // BLOCK, head)
        whole = tail > head
        # Single samples up to the first whole block, blocks (counted from n on), single samples.
        begins = np.stack([first, n + head, np.where(whole, tail * BLOCK, stop)], axis=1)
        ends = np.stack([np.where(whole, head * BLOCK, stop), n + tail, stop], axis=1)
        looked_at = ranges(begins.ravel(), ends.ravel())
        single = looked_at < n
        looked_at[~single] = of_block[looked_at[~single] - n]
        heads = np.cumsum((ends - begins).sum(axis=1))
        heads = np.concatenate(([0], heads[:-1]))
        found: I64Array = looked_at[extreme(self.value[looked_at], heads, ufunc)]
        return found

"""`Heat`: how busy each row was where there is too much to draw, as the cells of one heatmap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, F64Array, I64Array
from mxprof_nb.lod import Folds, Matched, Raster

__all__ = ["HEAT_NAMES", "Heat", "folded_heat", "heat_of"]


#: What a legend calls cells of closed groups, and of rows whose longer events are drawn.
HEAT_NAMES = {True: "closed groups, stronger where busier", False: "busy with short events"}


@dataclass(frozen=True, slots=True, eq=False)
class Heat:
    """Cells of a timeline, drawn below its bars.

    Attributes
    ----------
    edges_ns : ndarray of int64, shape (columns + 1,)
        Edges of the columns, in ns from the begin of the profiled range.
    y : ndarray of float64, shape (rows,)
        Middle of each row.
    percent : ndarray of uint8, shape (rows, columns)
        Busy share; 0 where nothing ran, 1 at least where anything did.
    folded : bool
        Whether its rows are groups of lanes, whose events are drawn nowhere else.
    """

    edges_ns: I64Array
    y: F64Array
    percent: NDArray[np.uint8]
    folded: bool = False

    def stretches(self, level: int) -> list[tuple[int, int, float, int]]:
        """Return begin, end, row and percent of neighbours alike, in steps of ``level`` percent.

        By percent, so that those of one colour follow one another.
        """
        found = []
        rounded = -(-self.percent.astype(np.int64) // level) * level
        for y, row in zip(self.y.tolist(), rounded, strict=True):
            heads = np.flatnonzero(np.diff(row, prepend=-1))
            tails = np.append(heads[1:], len(row))
            for head, tail in zip(heads.tolist(), tails.tolist(), strict=True):
                if row[head]:
                    begin, end = int(self.edges_ns[head]), int(self.edges_ns[tail])
                    found.append((begin, end, y, int(row[head])))
        return sorted(found, key=lambda stretch: stretch[3])


def heat_of(raster: Raster, y: F64Array, origin_ns: int, matched: Matched | None = None) -> Heat:
    """Return the cells of a raster, its lanes standing at ``y``, shape (lanes,).

    After a search they hold what was found.
    """
    share, covered = raster.share, raster.covered
    if matched is not None:
        share, covered = share * matched.cell_share, matched.cell_count > 0
    return Heat(raster.edges_ns - origin_ns, y[raster.lane], _percent(share, covered))


def folded_heat(
    folds: Folds, y: F64Array, window: tuple[int, int], columns: int, shift_ns: int
) -> Heat:
    """Return how busy groups of lanes were, each standing at ``y``, shape (groups,).

    Parameters
    ----------
    folds : Folds
        Of all events, or of those that a search found.
    y : ndarray of float64, shape (groups,)
    window : tuple of int
        Begin and end, in ns from the begin of the profiled range.
    columns : int
        Most columns.
    shift_ns : int
        Begin of the profiled range, in the time of ``folds``.
    """
    begin, end = window
    width = -(-(end - begin) // columns)
    columns = -(-(end - begin) // width)
    edges = np.minimum(begin + np.arange(columns + 1) * width, end)
    count, busy = folds.cells(edges + shift_ns)
    lanes = (folds.stop - folds.first)[:, np.newaxis]
    share = busy / (lanes * np.maximum(np.diff(edges), 1))
    return Heat(edges, y, _percent(share, (busy > 0) | (count > 0)), folded=True)


def _percent(share: F64Array, covered: BoolArray) -> NDArray[np.uint8]:
    """Return shares as whole percent, 1 at least where anything is."""
    return np.clip(np.ceil(share * 100), covered, 100).astype(np.uint8)

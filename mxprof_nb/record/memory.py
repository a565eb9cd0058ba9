"""Curves of memory, from what was taken and given back: one per device, one per scope in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.record.labels import Label, LabelTable, memory_label

__all__ = ["memory_curves"]


def memory_curves(
    labels: LabelTable, moments: I64Array, numbers: I64Array, sizes: I64Array
) -> Iterator[tuple[Label, I64Array, I64Array]]:
    """Yield each curve that changes: its label, its moments, and the bytes in use from then on.

    Parameters
    ----------
    labels : LabelTable
    moments, numbers, sizes : ndarray of int64, shape (n,)
        When memory was taken, or given back (less than 0), under the number of which label; see
        `mxprof_nb.record.labels.memory_label`. What belongs to a scope counts for its device too.
    """
    order = np.argsort(moments, kind="stable")
    moments, numbers, sizes = moments[order], numbers[order], sizes[order]
    members: dict[Label, list[int]] = {}
    for number in np.unique(numbers).tolist():
        label = labels[number]
        for one in dict.fromkeys((memory_label(label.domain), label)):
            members.setdefault(one, []).append(number)
    for label, of in members.items():
        mine = np.isin(numbers, of)
        yield label, moments[mine], _never_below_zero(sizes[mine])


def _never_below_zero(changes: I64Array) -> I64Array:
    """Return the running sum that stops at 0, shape (n,).

    Arrays made before the profile may be given back during it; MXNet's counter does the same
    (`src/profiler/storage_profiler.h`).
    """
    total = np.cumsum(changes)
    return total - np.minimum(np.minimum.accumulate(total), 0)

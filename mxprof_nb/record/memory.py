"""What was taken and given back, as curves of memory and beside the operators that did it.

There is a curve for each device, and one for each scope in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.record.columns import Columns
from mxprof_nb.record.labels import Label, LabelTable, memory_label
from mxprof_nb.trace import TraceBuilder

__all__ = ["memory_curves", "with_scopes"]


def memory_curves(
    labels: LabelTable, moments: I64Array, numbers: I64Array, sizes: I64Array
) -> Iterator[tuple[Label, I64Array, I64Array]]:
    """Yield each curve that changes: its label, and by how many bytes it changes when.

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
        yield label, moments[mine], sizes[mine]


def with_scopes(
    details: NDArray[np.int32], ran: Columns, labels: LabelTable, builder: TraceBuilder
) -> NDArray[np.int32]:
    """Return rows of the args table that also tell the scope whose memory changed.

    Parameters
    ----------
    details : ndarray of int32, shape (n,)
        Rows without it.
    ran : Columns
        Records of operators, n of them.
    labels : LabelTable
    builder : TraceBuilder
        Gets the new rows.
    """
    device = ran["device"]
    used = np.flatnonzero(np.bincount(device[device >= 0])).tolist()
    scopes = {number: scope for number in used if (scope := _scope(labels[number]))}
    if not scopes:
        return details
    mine = np.isin(device, list(scopes))
    given_back = np.maximum(-ran["bytes"], -1)  # what an operator takes, its label says
    kinds, kind = np.unique(
        np.stack([ran["label"], device, given_back])[:, mine], axis=1, return_inverse=True
    )
    rows = [
        _row(builder, labels[label], scopes[place], size) for label, place, size in kinds.T.tolist()
    ]
    told = details.copy()
    told[mine] = np.array(rows, np.int32)[kind.reshape(-1)]  # NumPy 2.0 gave it two dimensions
    return told


def _row(builder: TraceBuilder, label: Label, scope: str, given_back: int) -> int:
    details: dict[str, Any] = {name: getattr(label, name) for name in ("flops", "shapes", "dtype")}
    size = given_back if given_back >= 0 else label.bytes
    raw = json.dumps({**json.loads(label.raw or "{}"), "memory_scope": scope})
    return builder.arg(bytes=size, raw=raw, **details)


def _scope(label: Label) -> str:
    """Return the scope of a label of memory, nothing for a whole device."""
    return label.name.removeprefix(memory_label(label.domain).name).strip()

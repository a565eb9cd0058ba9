"""The events of a trace as one wide table, as CSV and Parquet files hold them.

One row per event; what it ran on, the line it came from and its details stand beside it. Lost on
the way: counters, flows, facts about the trace, its health, tracks and lines that no event refers
to, and which of several events the parent was, where that does not follow from the times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.trace import Trace, schema

__all__ = ["FlatColumn", "flat"]

#: Columns of the events that stand in the table as they are.
_EVENT = ("name", "category", "domain", "kind", "start_ns", "dur_ns", "track")
_MORE = ("correlation", "step", "queued_ns", "earlier")
#: Columns of other tables under the names they have here.
_TRACK = {
    "name": "track_name", "process": "process", "thread": "thread", "device": "device",
    "backend": "backend", "rank": "rank", "role": "role", "order": "track_order",
    "pid_text": "pid", "tid_text": "tid",
}  # fmt: skip
_SITE = {"file": "file", "line": "line", "function": "function", "text": "code"}
_ARG = {"bytes": "bytes", "flops": "flops", "shapes": "shapes", "dtype": "dtype", "raw": "details"}


@dataclass(frozen=True)
class FlatColumn:
    """One column of the wide table.

    Attributes
    ----------
    name : str
    values : ndarray of int, shape (n,)
        Numbers, or places in ``texts``.
    null : ndarray of bool, shape (n,)
        Where nothing is known.
    texts : sequence of str, or None
        Those in use.
    """

    name: str
    values: NDArray[Any]
    null: NDArray[np.bool_]
    texts: Sequence[str] | None


def flat(trace: Trace) -> list[FlatColumn]:
    """Return the columns; those of which nothing is known are left out."""
    return [
        column
        for column in _columns(trace)
        if column.name in _EVENT or column.name == "track_name" or not column.null.all()
    ]


def _columns(trace: Trace) -> Iterator[FlatColumn]:
    events = trace.events
    everyone = np.arange(len(events))
    yield from _of(trace, "events", {name: name for name in _EVENT}, everyone)
    yield from _of(trace, "tracks", _TRACK, events.track)
    yield from _of(trace, "events", {name: name for name in _MORE}, everyone)
    yield from _of(trace, "sites", _SITE, events.site)
    yield from _of(trace, "args", _ARG, events.arg)


def _of(
    trace: Trace, table: str, names: dict[str, str], rows: NDArray[Any]
) -> Iterator[FlatColumn]:
    """Yield columns of a table at some rows, -1 for none."""
    for name, told in names.items():
        column = schema.TABLES[table].column(name)
        # The last value stands for rows that are not there.
        values = np.append(getattr(getattr(trace, table), name), -1)[rows]
        null = rows < 0
        if column.null is not None:
            null = null | (values == column.null)
        texts: Sequence[str] | None = None
        if column.coding:
            known = trace.strings if column.coding == "string" else schema.LISTS[column.coding]
            used, values = np.unique(values, return_inverse=True)
            texts = [known[code] if code >= 0 else "" for code in used.tolist()]
        yield FlatColumn(told, values, null, texts)

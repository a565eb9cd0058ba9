"""`Links`: what each event caused, and what it was caused by, found without a scan of all flows."""

from __future__ import annotations

import numpy as np

from mxprof_nb._typing import I64Array, IntArray
from mxprof_nb.lod.segments import distinct, ranges
from mxprof_nb.trace import Trace

__all__ = ["Links"]


class Links:
    """The flows of a trace by both of their ends; immutable. Memory: 24 B per flow."""

    def __init__(self, trace: Trace) -> None:
        flows = trace.flows
        self._flow_by_source = np.argsort(flows.source, kind="stable")
        self._flow_by_target = np.argsort(flows.target, kind="stable")
        self._source = flows.source[self._flow_by_source]
        self._target = flows.target[self._flow_by_target]

    def __len__(self) -> int:
        return len(self._source)

    def effects(self, rows: IntArray, *, most: int | None = None) -> I64Array:
        """Return the rows of the flows table that lead from events, by event and flow.

        With ``most``, the first so many of each event.
        """
        found: I64Array = self._flow_by_source[_at(self._source, rows, most)]
        return found

    def causes(self, rows: IntArray, *, most: int | None = None) -> I64Array:
        """Return the rows of the flows table that lead to events, by event and flow.

        With ``most``, the first so many of each event.
        """
        found: I64Array = self._flow_by_target[_at(self._target, rows, most)]
        return found

    def around(self, rows: IntArray, *, most: int | None = None) -> I64Array:
        """Return the flows that lead from or to events, each once, ascending.

        With ``most``, at most so many from each event and so many to it.
        """
        either = self.effects(rows, most=most), self.causes(rows, most=most)
        return distinct(np.concatenate(either))


def _at(ordered: IntArray, rows: IntArray, most: int | None) -> I64Array:
    wanted = np.asarray(rows).astype(ordered.dtype)
    first: I64Array = np.searchsorted(ordered, wanted)
    stop = np.searchsorted(ordered, wanted, side="right")
    return ranges(first, stop if most is None else np.minimum(stop, first + most))

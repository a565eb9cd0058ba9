"""Tables to look up what a number of a record means, whole columns at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.record.columns import ThreadColumns
from mxprof_nb.record.labels import Label
from mxprof_nb.record.recorder import Recorder
from mxprof_nb.trace import TraceBuilder
from mxprof_nb.trace.schema import CATEGORIES

__all__ = ["LabelColumns", "NumberLookup"]

#: A label whose details nobody asked for so far.
_NOT_YET = -2


class LabelColumns:
    """What labels say, as arrays to be looked up by their numbers.

    Attributes
    ----------
    name, category, domain : ndarray, shape (largest number + 1,)
        Codes of the events table.
    """

    def __init__(
        self, builder: TraceBuilder, recorder: Recorder, threads: list[ThreadColumns]
    ) -> None:
        self._builder = builder
        used: set[int] = set()
        for one in threads:
            for kind in (one.calls, one.operators, one.user):
                used.update(np.flatnonzero(np.bincount(kind["label"])).tolist())
        self._labels: dict[int, Label] = {
            number: recorder.labels[number] for number in sorted(used)
        }
        size = max(used, default=-1) + 1
        self.name = np.zeros(size, np.int32)
        self.category = np.zeros(size, np.int8)
        self.domain = np.zeros(size, np.int32)
        self._details = np.full(size, _NOT_YET, np.int32)
        for number, label in self._labels.items():
            self.name[number] = builder.string(label.name)
            self.category[number] = CATEGORIES.index(label.category)
            self.domain[number] = builder.string(label.domain)

    def of(self, labels: I64Array) -> dict[str, NDArray[Any]]:
        """Return name, category and domain codes, shape (n,) each."""
        return {
            "name": self.name[labels],
            "category": self.category[labels],
            "domain": self.domain[labels],
        }

    def details(self, labels: I64Array) -> NDArray[np.int32]:
        """Return rows of the args table, one row per distinct label, -1 for nothing to say."""
        rows: NDArray[np.int32] = self._details[labels]
        if (rows == _NOT_YET).any():
            for number in np.flatnonzero(np.bincount(labels)).tolist():
                if self._details[number] == _NOT_YET:
                    self._details[number] = self._row(self._labels[number])
            rows = self._details[labels]
        return rows

    def _row(self, label: Label) -> int:
        if not label.has_details:
            return -1
        return self._builder.arg(
            bytes=label.bytes,
            flops=label.flops,
            shapes=label.shapes,
            dtype=label.dtype,
            raw=label.raw,
        )


class NumberLookup:
    """Values by the numbers of operators; of a number that occurs more than once, the first."""

    def __init__(self, numbers: I64Array, values: NDArray[Any]) -> None:
        self._low = int(numbers.min(initial=0))
        reach = int(numbers.max(initial=0)) - self._low + 1
        # Numbers are given in a row, so an array of them all is hardly longer than those here.
        self._dense = reach <= 8 * len(numbers) + 10_000
        if self._dense:
            self._values = np.full(reach + 1, -1, np.int32)  # the last one for what is not there
            self._values[numbers[::-1] - self._low] = values[::-1]
        else:
            self._numbers, first = np.unique(numbers, return_index=True)
            self._values = values[first].astype(np.int32)

    def find(self, numbers: I64Array) -> NDArray[np.int32]:
        """Return the value of each number, shape (n,), -1 where there is none."""
        if self._dense:
            place = numbers - self._low
            last = len(self._values) - 1
            found: NDArray[np.int32] = self._values[
                np.where((place >= 0) & (place < last), place, last)
            ]
            return found
        at = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return np.where(self._numbers[at] == numbers, self._values[at], -1).astype(np.int32)

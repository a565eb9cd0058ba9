"""`Search`: the events whose names hold a text, counted, and gone through one by one."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mxprof_nb._typing import BoolArray, I64Array
from mxprof_nb.lod import Matches, find
from mxprof_nb.view.scene import Stage

__all__ = ["Search"]


class Search:
    """The events that a search found; immutable.

    Parameters
    ----------
    stage : Stage
    text : str
        Part of a name, upper and lower case alike; or a regular expression to be found in it.
    regex : bool
    rows : ndarray of int, optional
        These events instead, whatever they are called.

    Raises
    ------
    TraceError
        The expression is not valid.
    """

    def __init__(
        self, stage: Stage, text: str, *, regex: bool = False, rows: I64Array | None = None
    ) -> None:
        self._stage = stage
        if rows is None:
            self.mask: BoolArray = find(stage.trace, text, regex=regex)
        else:
            self.mask = np.zeros(len(stage.trace), dtype=bool)
            self.mask[rows] = True

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def matches(self) -> Matches:
        """What a view is asked about."""
        return self._stage.index.match(self.mask)

    @cached_property
    def _rows(self) -> I64Array:
        """The rows found, in the order of time."""
        rows = np.flatnonzero(self.mask)
        return rows[np.argsort(self._stage.trace.events.start_ns[rows], kind="stable")]

    @cached_property
    def _place(self) -> dict[int, int]:
        return {row: place for place, row in enumerate(self._rows.tolist())}

    def number(self, row: int) -> int:
        """Return which of them an event is, from 1; 0 where it is none."""
        return self._place.get(row, -1) + 1

    def step(self, row: int, by: int, begin_ns: int) -> int:
        """Return the row of the next one (``by`` 1) or the one before (-1), -1 where none is.

        Parameters
        ----------
        row : int
            The one to go on from; if it is none of them, the first from ``begin_ns`` on, in ns
            from the begin of the profiled range, or the last before.
        """
        if not len(self):
            return -1
        place = self.number(row) - 1
        if place < 0:
            start = self._stage.trace.events.start_ns[self._rows]
            place = int(np.searchsorted(start, begin_ns + self._stage.origin_ns))
            place -= by > 0
        return int(self._rows[(place + by) % len(self)])

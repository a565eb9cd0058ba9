"""`Carry`: what one part of a long recording leaves for the next when they are frozen in turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.record.labels import Label

__all__ = ["Carry", "Line"]

#: File, line, function and text, as `TraceBuilder.site` takes them.
Line: TypeAlias = tuple[str, int, str, str | None]
#: Calls at most whose operators are awaited: an operator that was never recorded comes never.
_AWAITED = 100_000


@dataclass
class Carry:
    """The state between the parts of one recording.

    A part has the links between its own events. Those from a call to an operator of a later part
    it has not, but the operator still knows its line. The number of calls running at the same
    time counts those of one part.

    Attributes
    ----------
    last : bool
        No part follows: there is nothing to keep.
    origin, begin, end : int
        Moment of time 0, begin of the first window, end of what was seen; in ns of the
        recorder's clock. The first part sets the origin.
    calls : int
        Calls so far.
    dropped : int
        Records so far that were not kept.
    memory : dict
        Sum of the changes and its lowest value so far, in bytes, per curve.
    awaited : dict
        Line of each call whose operator is still to come, by the number of the operator.
    """

    last: bool = False
    origin: int | None = None
    begin: int = 0
    end: int = 0
    calls: int = 0
    dropped: int = 0
    memory: dict[Label, tuple[int, int]] = field(default_factory=dict)
    awaited: dict[int, Line] = field(default_factory=dict)

    def for_the_last(self) -> Carry:
        """Return one for a part that none follows; this one stays as it is."""
        return replace(self, last=True, memory=dict(self.memory))

    def window(self, earliest: int, begin: int, end: int) -> tuple[int, int, int]:
        """Return time 0, and begin and end of all parts so far."""
        if self.origin is None:
            self.origin, self.begin = earliest, begin
        self.end = max(self.end, end)
        return self.origin, self.begin, self.end

    def keep_lines(
        self,
        numbers: I64Array,
        rows: NDArray[np.int32],
        ran: I64Array,
        lines: Mapping[int, Line],
    ) -> None:
        """Keep the lines of operators that have not run yet.

        Parameters
        ----------
        numbers, rows : ndarray of int, shape (n,)
            Operators that were queued, and the row of the line of each, -1 for none.
        ran : ndarray of int
            Numbers of the operators of this part.
        lines : Mapping
            Lines by row.
        """
        waiting = ~np.isin(numbers, ran) & (rows >= 0)
        awaited = zip(numbers[waiting].tolist(), rows[waiting].tolist(), strict=True)
        newest = sorted(awaited)[-_AWAITED:]
        self.awaited = {number: lines[row] for number, row in newest}

    def in_use(self, of: Label, changes: I64Array) -> I64Array:
        """Return the running sum of changes that stops at 0, shape (n,), in bytes.

        Arrays made before the profile may be given back during it; MXNet's counter does the same
        (`src/profiler/storage_profiler.h`).
        """
        before, lowest = self.memory.get(of, (0, 0))
        total = before + np.cumsum(changes)
        low = np.minimum(np.minimum.accumulate(total), lowest)
        self.memory[of] = int(total[-1]), int(low[-1])
        return total - low

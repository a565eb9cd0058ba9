"""The longest time in which the program itself ran, between two calls into the runtime."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb.analysis.recorded import records_calls
from mxprof_nb.trace import HasTrace, trace_of

__all__ = ["OwnCode", "longest_own_code"]


@dataclass(frozen=True, slots=True)
class OwnCode:
    """A stretch of time in which no host thread was inside a call into the runtime.

    Attributes
    ----------
    begin_ns, end_ns : int
        Counted from the origin of the trace.
    before, after : int
        Rows of the calls on either side; -1 at the begin, or the end, of the profiled code.
    """

    begin_ns: int
    end_ns: int
    before: int
    after: int

    @property
    def dur_ns(self) -> int:
        """Its length in ns."""
        return self.end_ns - self.begin_ns


def longest_own_code(trace: HasTrace) -> OwnCode | None:
    """Return the longest time in which no host thread was inside a call into the runtime.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    OwnCode or None
        None where calls were not recorded or not made: then nothing tells one's own code from
        the runtime's.

    Notes
    -----
    The time after the last call counts only where the trace says when the code returned.
    Spans and marks of the program itself are its own code; so are libraries, and calls of ours
    that are not recorded, `mxprof_nb.load` and ``mx.profiler.dumps`` for instance.
    """
    trace = trace_of(trace)
    events, meta = trace.events, trace.meta
    if not records_calls(trace) or not events.is_category("api").any():
        return None
    of_runtime = ~events.is_category("user", "python", "gc", "io")
    rows = np.flatnonzero(of_runtime & trace.tracks.is_role("host")[events.track])
    begin, end = trace.window_ns
    end = min(max(meta.returned_ns, begin), end)

    ends = events.end_ns[rows]
    reached = np.maximum.accumulate(ends)  # calls nest, threads overlap: the end of all so far
    last = np.maximum.accumulate(np.where(ends == reached, np.arange(len(rows)), 0))
    starts = np.append(events.start_ns[rows], end if meta.returned_ns >= 0 else begin)
    gaps = starts - np.append(begin, reached)
    place = int(np.argmax(gaps))
    if gaps[place] <= 0:
        return None
    return OwnCode(
        int(starts[place] - gaps[place]),
        int(starts[place]),
        int(rows[last[place - 1]]) if place else -1,
        int(rows[place]) if place < len(rows) else -1,
    )

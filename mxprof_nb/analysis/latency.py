"""How long work stood in a queue before it began."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis.grouping import grouped, groups_of
from mxprof_nb.analysis.recorded import records_operators
from mxprof_nb.analysis.result import Result
from mxprof_nb.analysis.summary import STEPS_ARE_MARKED_BY, unfolded
from mxprof_nb.errors import MissingDataError
from mxprof_nb.trace import HasTrace, Trace, schema, trace_of

__all__ = ["launch_latency"]

_WORK = ("operator", "copy", "kernel")
_LAUNCH = schema.FLOW_KINDS.index("launch")


def launch_latency(trace: HasTrace, *, by: str = "name") -> Result:
    """Return how long operators, copies and kernels waited from being queued to their start.

    Parameters
    ----------
    trace : Trace
        Or an object that offers one, e.g. a `Profile`.
    by : {"name", "domain", "track", "step"}
        What makes a group, as in `op_summary`.

    Returns
    -------
    Result
        The columns of `op_summary`, of latencies instead of durations, without ``self_ns`` and
        ``busy_ns``; the longest total first.

    Raises
    ------
    MissingDataError
        Nothing says when the work was queued, or, by step, which step it belongs to.
    TraceError
        There is no such way to group.

    Notes
    -----
    - The moment of queueing is the event's ``queued_ns``, else the begin of the call that
      launched it (its flow "launch"). Work of which neither is known is left out; a note counts
      it. So is work that begins before its call, by clocks that disagree.
    - Of a bulk the operators in it count, from the moment each was called.
    - The latency is not overhead alone: an operator also waits for its inputs and for a worker.
    """
    trace = trace_of(trace)
    events = trace.events
    queued, known = _queued(trace)
    work, domains = unfolded(trace, events.is_category(*_WORK))
    work &= events.kind != schema.KINDS.index("instant")
    counted = work & known & (queued <= events.start_ns)
    if not (work & known).any() and not (records_operators(trace) and not work.any()):
        raise MissingDataError.needs(
            "launch_latency",
            "the moment each operator was queued",
            "The backend 'embedded' records it with RecordConfig(operators=True), the default; "
            "in files it comes from flows that lead from a call to its kernel.",
        )
    if by == "step" and work.any() and not (events.step[counted] >= 0).any():
        raise MissingDataError.needs(
            'launch_latency(by="step")', "numbers of steps", STEPS_ARE_MARKED_BY
        )
    notes = [] if work.any() else ["No operators ran."]
    if by == "step":
        counted &= events.step >= 0
    if left := int(work.sum() - counted.sum()):
        are = "1 event is" if left == 1 else f"{left:,} events are"
        notes.append(f"{are} left out: it is not known when, or in which step, work was queued.")
    rows = np.flatnonzero(counted)
    keys, group = groups_of(trace, rows, by, domains)
    return grouped(keys, group, rows, (events.start_ns - queued)[rows], notes=tuple(notes))


def _queued(trace: Trace) -> tuple[I64Array, NDArray[np.bool_]]:
    """Return when each event was queued, in ns, and whether that is known."""
    events, flows = trace.events, trace.flows
    queued: NDArray[Any] = events.queued_ns.copy()
    known = queued != -1
    launch = flows.kind == _LAUNCH
    source, target = flows.source[launch], flows.target[launch]
    fresh = ~known[target]
    queued[target[fresh]] = events.start_ns[source[fresh]]
    known[target[fresh]] = True
    return queued, known

"""The headline of a profile: how long, how much of it waiting, how busy the workers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb._typing import BoolArray
from mxprof_nb.analysis.intervals import busy_by_track, touching
from mxprof_nb.analysis.recorded import records_waits
from mxprof_nb.trace import Cost, Health, Trace
from mxprof_nb.trace.remembering import remembered

__all__ = ["Overview", "overview"]

#: What the profiled code queued; housekeeping of the engine is not meant.
_WORK = ("operator", "copy", "kernel")


@dataclass(frozen=True, slots=True)
class Overview:
    """What a person should know first.

    Attributes
    ----------
    wall_ns : int
        Time until the profiled code returned; the length of the range where that is not known.
    drained_ns : int
        Time until the last work it had queued ended, where that was later; 0 otherwise.
    span_ns : int
        Length of the profiled range.
    waited_ns : int
        How much of ``wall_ns`` host threads waited; overlap within a thread counts once, several
        threads add up.
    waits : int
        Number of waits.
    waiting : int
        Number of host threads that waited.
    knows_waits : bool
        Whether waits were recorded. If not, 0 waits means nothing.
    busy : tuple of (str, float)
        Name of each worker (or stream of a device) and the share of the range, 0 to 1, in which
        it ran something; from top to bottom. Waiting is not running. Empty where operators were
        not recorded.
    events : int
        Number of events in the trace.
    cost : Cost or None
        What recording cost, None when unknown.
    pending : int
        Operators that still ran when recording stopped.
    status : {"ok", "error", "interrupted"}
        How the profiled code ended.
    error : str
        What ended it, empty when ``status`` is "ok".
    health : Health
        What was lost, repaired or left out.
    """

    wall_ns: int
    drained_ns: int
    span_ns: int
    waited_ns: int
    waits: int
    waiting: int
    knows_waits: bool
    busy: tuple[tuple[str, float], ...]
    events: int
    cost: Cost | None
    pending: int
    status: str
    error: str
    health: Health


@remembered
def overview(trace: Trace) -> Overview:
    """Return the figures of the headline.

    Parameters
    ----------
    trace : Trace

    Notes
    -----
    Waits are cut to the time until the code returned, work to the profiled range,
    ``trace.window_ns``. Nothing here raises for lack of data: what was not recorded is 0, or an
    empty tuple.
    """
    events, tracks, meta, window = trace.events, trace.tracks, trace.meta, trace.window_ns
    begin, end = window
    known = begin <= meta.returned_ns < end  # not so in a part of the trace that ends before it
    until = (begin, meta.returned_ns) if known else window
    sync = events.is_category("sync") & (events.dur_ns > 0)
    on_host = tracks.is_role("host")[events.track]
    waits = sync & on_host & touching(events.start_ns, events.end_ns, until)
    return Overview(
        wall_ns=until[1] - begin,
        drained_ns=_drained_ns(trace) if known else 0,
        span_ns=trace.span_ns,
        waited_ns=int(busy_by_track(trace, waits, window=until).sum()),
        waits=int(waits.sum()),
        waiting=len(np.unique(events.track[waits])),
        knows_waits=records_waits(trace),
        busy=_busy(trace, ~sync),
        events=len(events),
        cost=meta.cost,
        pending=meta.pending,
        status=meta.status,
        error=meta.error,
        health=trace.health,
    )


def _drained_ns(trace: Trace) -> int:
    """Return the time until the last work ended where the code did not outlive it, else 0."""
    events, (begin, end) = trace.events, trace.window_ns
    last = min(int(events.end_ns[events.is_category(*_WORK)].max(initial=begin)), end)
    return last - begin if last > trace.meta.returned_ns else 0


def _busy(trace: Trace, work: BoolArray) -> tuple[tuple[str, float], ...]:
    """Return workers and streams, and the share of the range in which each ran ``work``."""
    tracks, span = trace.tracks, trace.span_ns
    if trace.meta.config.get("operators", True) is False:
        return ()
    busy = busy_by_track(trace, work, window=trace.window_ns)
    engines = np.flatnonzero(tracks.is_role("worker", "stream"))
    engines = engines[np.argsort(tracks.order[engines], kind="stable")]
    return tuple(
        (trace.strings[int(tracks.name[row])], int(busy[row]) / span if span else 0.0)
        for row in engines
    )

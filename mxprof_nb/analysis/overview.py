"""The headline of a profile: how long, how much of it waiting, how busy the workers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb.analysis.intervals import busy_by_track, touching
from mxprof_nb.trace import Cost, Health, Trace

__all__ = ["Overview", "overview"]


@dataclass(frozen=True, slots=True)
class Overview:
    """What a person should know first.

    Attributes
    ----------
    wall_ns : int
        Length of the profiled range.
    waited_ns : int
        How much of it host threads waited; overlap within a thread counts once, several threads
        add up.
    waits : int
        Number of waits.
    busy : tuple of (str, float)
        Name of each worker (or stream of a device) and the share of the range, 0 to 1, in which
        it ran something; from top to bottom. Waiting is not running.
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
    waited_ns: int
    waits: int
    busy: tuple[tuple[str, float], ...]
    events: int
    cost: Cost | None
    pending: int
    status: str
    error: str
    health: Health


def overview(trace: Trace) -> Overview:
    """Return the figures of the headline.

    Parameters
    ----------
    trace : Trace

    Notes
    -----
    All sums are cut to the profiled range, ``trace.window_ns``. Nothing here raises for lack of
    data: what was not recorded is 0, or an empty tuple.
    """
    events, tracks, window = trace.events, trace.tracks, trace.window_ns
    sync = events.is_category("sync") & (events.dur_ns > 0)
    on_host = tracks.is_role("host")[events.track]
    waits = sync & on_host & touching(events.start_ns, events.end_ns, window)
    busy = busy_by_track(trace, ~sync, window=window)
    engines = np.flatnonzero(tracks.is_role("worker", "stream"))
    engines = engines[np.argsort(tracks.order[engines], kind="stable")]
    wall = trace.span_ns
    meta = trace.meta
    return Overview(
        wall_ns=wall,
        waited_ns=int(busy_by_track(trace, waits, window=window).sum()),
        waits=int(waits.sum()),
        busy=tuple(
            (trace.strings[int(tracks.name[row])], int(busy[row]) / wall if wall else 0.0)
            for row in engines
        ),
        events=len(events),
        cost=meta.cost,
        pending=meta.pending,
        status=meta.status,
        error=meta.error,
        health=trace.health,
    )

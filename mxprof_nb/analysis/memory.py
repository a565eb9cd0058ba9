"""What took memory and what gave it back, change by change."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis.places import place_of
from mxprof_nb.analysis.result import Result
from mxprof_nb.errors import MissingDataError
from mxprof_nb.trace import HasTrace, Trace, trace_of

__all__ = ["memory_changes", "memory_scope"]

_PREFIX = "Memory: "
_SCOPE = '"memory_scope"'


def memory_changes(trace: HasTrace) -> Result:
    """Return one row per change of the memory in use, in order of time.

    Parameters
    ----------
    trace : Trace
        Recorded with memory.

    Returns
    -------
    Result
        ========  =====  ==============================================================
        time_ns   int64  when, counted from the origin of the trace
        device    str    e.g. ``cpu/0``
        scope     str    scope of `mx.profiler` that the array was made in; may be empty
        bytes     int64  taken, or given back where less than 0
        operator  str    what did it: an operator, a call, ``DeleteVariable``; empty when
                         nothing recorded did it
        line      str    the line it came from; empty when not known
        event     int64  its row in the events table, -1 when there is none
        ========  =====  ==============================================================

    Raises
    ------
    MissingDataError
        No memory was recorded.

    Notes
    -----
    - Changes are the steps of the memory curves. An operator takes memory when it begins, a call
      while it runs; ``DeleteVariable`` gives it back when it ends.
    - A curve never falls below 0, so arrays from before the profile that go in it are left out; a
      note says how many.
    - Cost: O(n log n).
    """
    trace = trace_of(trace)
    counters, strings = trace.counters, trace.strings
    memory = np.flatnonzero(counters.unit == strings.code("B"))
    names = [strings[int(code)] for code in np.unique(counters.name[memory])]
    if not any(name.startswith(_PREFIX) for name in names):
        raise MissingDataError.needs(
            "memory_changes", "curves of memory", "a profile that records memory"
        )
    found: list[tuple[I64Array, I64Array, str]] = []
    scopes: dict[tuple[str, int, int], str] = {}
    lost = 0
    for name in names:
        device, _, scope = name.removeprefix(_PREFIX).partition(" ")
        mine = memory[counters.name[memory] == strings.code(name)]
        time = counters.time_ns[mine]
        step = np.diff(counters.value[mine].astype(np.int64), prepend=0)
        if scope:
            pairs = zip(time.tolist(), step.tolist(), strict=True)
            scopes.update(((device, *pair), scope) for pair in pairs)
        elif name.startswith(_PREFIX):
            lost += int((step == 0).sum())
            found.append((time[step != 0], step[step != 0], device))

    time = np.concatenate([part for part, _, _ in found])
    size = np.concatenate([part for _, part, _ in found])
    device = np.repeat([name for _, _, name in found], [len(part) for part, _, _ in found])
    order = np.argsort(time, kind="stable")
    time, size, devices = time[order], size[order], device[order].tolist()
    event = _doers(trace, time, size)
    sites = np.where(event >= 0, np.append(trace.events.site, -1)[event], -1).tolist()
    codes = np.append(trace.events.name, -1)[event].tolist()
    changes = zip(devices, time.tolist(), size.tolist(), strict=True)
    gone = "1 array" if lost == 1 else f"{lost:,} arrays"
    were = "was" if lost == 1 else "were"
    notes = (f"{gone} from before the profile {were} given back in it.",) if lost else ()
    return Result(
        {
            "time_ns": time,
            "device": devices,
            "scope": [scopes.get(change, "") for change in changes],
            "bytes": size,
            "operator": [strings.text(code) for code in codes],
            "line": [place_of(trace, site) for site in sites],
            "event": event,
        },
        [np.array([row] if row >= 0 else [], dtype=np.int64) for row in event.tolist()],
        notes,
    )


def _doers(trace: Trace, time: I64Array, size: I64Array) -> I64Array:
    """Return the event that made each change, -1 where there is none."""
    events = trace.events
    works = np.flatnonzero(events.is_category("operator", "copy"))
    frees = np.flatnonzero(events.is_category("engine"))
    taken = np.append(trace.args.bytes, -1)[events.arg]
    event = np.full(len(time), -1, dtype=np.int64)
    for rows, moments, mine in (
        (works[taken[works] > 0], events.start_ns, size > 0),
        (frees, events.end_ns, size < 0),
    ):
        event[mine] = _at(rows, moments[rows], time[mine])
    # What took memory meanwhile; of several threads the one whose call is the shortest, which had
    # the least time to be another's.
    nearest, length = np.full(len(time), -1, dtype=np.int64), np.append(events.dur_ns, 0)
    for track in np.flatnonzero(trace.tracks.is_role("host", "worker", "copy")).tolist():
        around = _around(trace, track, time)
        closer = (around >= 0) & ((nearest < 0) | (length[around] < length[nearest]))
        nearest[closer] = around[closer]
    return np.where((event < 0) & (size > 0), nearest, event)


def _at(rows: NDArray[Any], moments: I64Array, time: I64Array) -> I64Array:
    """Return the row whose moment each time is, -1 where there is none."""
    order = np.argsort(moments, kind="stable")
    rows, moments = np.append(rows[order], -1), moments[order]
    place = np.searchsorted(moments, time)
    hit = np.append(moments, -1)[place] == time
    return np.where(hit, rows[place], -1)


def _around(trace: Trace, track: int, time: I64Array) -> I64Array:
    """Return the innermost event of a track that each time lies in, -1 where there is none."""
    events = trace.events
    rows = np.flatnonzero((events.track == track) & events.is_category("operator", "api"))
    place = np.searchsorted(events.start_ns[rows], time, side="right")
    found = np.append(-1, rows)[place].astype(np.int64)
    parent, end = np.append(events.parent, -1).astype(np.int64), np.append(events.end_ns, -1)
    while (outside := (found >= 0) & (end[found] < time)).any():
        found[outside] = parent[found[outside]]
    return found


def memory_scope(trace: HasTrace, arg: int) -> str:
    """Return the scope of `mx.profiler` whose memory an event changed.

    Parameters
    ----------
    trace : Trace
    arg : int
        Row of the args table, -1 for none.

    Returns
    -------
    str
        Empty when no scope is known.
    """
    trace = trace_of(trace)
    text = trace.strings.text(int(trace.args.raw[arg])) if arg >= 0 else ""
    if _SCOPE not in text:
        return ""
    details = json.loads(text)
    return str(details.get("memory_scope", "")) if isinstance(details, dict) else ""

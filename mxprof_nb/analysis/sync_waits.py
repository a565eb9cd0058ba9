"""Where the host waited, for what, and who asked for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis.recorded import BLOCKING_CALLS, records_waits
from mxprof_nb.analysis.result import Result
from mxprof_nb.errors import MissingDataError
from mxprof_nb.trace import HasTrace, Trace, schema, trace_of

__all__ = ["around", "sync_waits"]

_OPERATOR = schema.CATEGORIES.index("operator")
_API = schema.CATEGORIES.index("api")
_NEEDED = schema.FLOW_KINDS.index("read_after_write")


def sync_waits(trace: HasTrace, *, ready: bool = False) -> Result:
    """Return one row per wait of the host, the longest first.

    Parameters
    ----------
    trace : Trace
        Or an object that offers one, e.g. a `Profile`.
    ready : bool
        Also return the calls that wait, and did not: what they asked for was ready. They have
        ``blocked`` False and ``dur_ns`` 0, and come last, in order of time.

    Returns
    -------
    Result
        ================  =====  ==========================================================
        event             int64  row of the wait in the events table; of the call, when ready
        blocked           bool   whether the host waited at all
        api_name          str    the call into the runtime that waited, "" when unknown
        line              int64  line of the program that made the call, -1 when unknown
        file              str    its file, or the name of the notebook cell
        text              str    the line itself
        start_ns          int64  when the wait began
        dur_ns            int64  how long it took
        waited_for        int64  row of the event that ended the wait, -1 when unknown
        waited_for_name   str    its name, or in words what else was waited for
        queued_line       int64  line that queued it, -1 when unknown
        track             int64  row of the track that waited
        track_name        str    its name
        ================  =====  ==========================================================

        ``notes`` says so when there are none, or when nobody recorded them, and how many calls
        did not block.

    Raises
    ------
    MissingDataError
        The recording was told to leave out calls into the runtime, and with them the waits.

    Notes
    -----
    A wait is an event of category "sync"; one that returned at once records none. What it waited
    for is the source of its flow "read_after_write" (the one that ended last, of several), else
    the operator that shares its correlation number. A wait without a line of its own has that of
    the nearest call around it.
    """
    trace = trace_of(trace)
    if trace.meta.config.get("api", True) is False:
        raise MissingDataError.needs(
            "sync_waits",
            "calls into the runtime",
            "Record again with RecordConfig(api=True), the default.",
        )
    events, strings = trace.events, trace.strings
    waits = np.flatnonzero(events.is_category("sync") & (events.dur_ns > 0))
    waits = waits[np.argsort(-events.dur_ns[waits], kind="stable")]
    at_once = _ready(trace, waits)
    blocked = np.repeat([True, False], [len(waits), len(at_once) if ready else 0])
    notes = [] if len(waits) else [_why_none(trace)]
    if len(at_once):
        calls = "1 call" if len(at_once) == 1 else f"{len(at_once):,} calls"
        notes.append(f"{calls} did not block: what was asked for was ready.")
    if ready:
        waits = np.concatenate([waits, at_once])
    cause = _causes(trace, waits)
    api, site = around(trace, waits)
    api = np.where(blocked, api, waits)

    def texts(codes: NDArray[Any]) -> list[str]:
        return [strings.text(code) for code in codes.tolist()]

    def at(column: NDArray[Any], rows: NDArray[Any]) -> I64Array:
        """Return values of ``column`` by row; -1 for the row -1."""
        values: I64Array = np.append(column, -1).astype(np.int64)[rows]
        return values

    sites = trace.sites
    track = events.track[waits].astype(np.int64)
    return Result(
        {
            "event": waits,
            "blocked": blocked,
            "api_name": texts(at(events.name, api)),
            "line": at(sites.line, site),
            "file": texts(at(sites.file, site)),
            "text": texts(at(sites.text, site)),
            "start_ns": events.start_ns[waits],
            "dur_ns": np.where(blocked, events.dur_ns[waits], 0),
            "waited_for": cause,
            "waited_for_name": [
                name or _OTHERWISE.get(wait, "")
                for name, wait in zip(
                    texts(at(events.name, cause)), texts(events.name[waits]), strict=True
                )
            ],
            "queued_line": at(sites.line, at(events.site, cause)),
            "track": track,
            "track_name": texts(trace.tracks.name[track]),
        },
        list(waits[:, np.newaxis]),
        tuple(notes),
    )


#: What waits of these names wait for, where no event tells it.
_OTHERWISE = {
    "WaitForBatch": "a batch of data",
    "WaitForRoom": "room in the queue (see engine.set_queue_limit)",
}


def _ready(trace: Trace, waits: NDArray[Any]) -> NDArray[Any]:
    """Return rows of the calls that wait in which the host did not; none where nobody knows."""
    if not records_waits(trace):
        return np.empty(0, dtype=np.int64)
    codes = [code for code in map(trace.strings.code, BLOCKING_CALLS) if code >= 0]
    calls = np.flatnonzero(trace.events.is_category("api") & np.isin(trace.events.name, codes))
    return np.setdiff1d(calls, around(trace, waits)[0])


def _why_none(trace: Trace) -> str:
    """Return the sentence for a trace without waits."""
    if records_waits(trace):
        return "No waits: the host never blocked."
    return "This trace does not say when the host waited."


def around(trace: Trace, rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the enclosing API call of each row, and the site of the nearest that has one."""
    events = trace.events
    parent = np.append(events.parent, -1).astype(np.int64)
    category = np.append(events.category, -1)
    sites = np.append(events.site, -1).astype(np.int64)
    api, site = np.full(len(rows), -1), sites[rows]
    above = parent[rows]
    while (above >= 0).any():
        api = np.where((api < 0) & (category[above] == _API), above, api)
        site = np.where(site < 0, sites[above], site)
        above = parent[above]
    return api, site


def _causes(trace: Trace, waits: NDArray[Any]) -> I64Array:
    """Return the event that each wait waited for, -1 where nothing says it."""
    events, flows = trace.events, trace.flows
    cause = np.full(len(events), -1, dtype=np.int64)

    operators = np.flatnonzero((events.category == _OPERATOR) & (events.correlation >= 0))
    if len(operators):
        operators = operators[np.argsort(events.correlation[operators], kind="stable")]
        numbers = events.correlation[operators]
        place = np.searchsorted(numbers, events.correlation[waits], side="right") - 1
        hit = (place >= 0) & (numbers[place] == events.correlation[waits])
        cause[waits[hit]] = operators[place[hit]]

    needed = flows.kind == _NEEDED
    source, target = flows.source[needed], flows.target[needed]
    by_end = np.argsort(events.end_ns[source], kind="stable")
    # Of several assignments to one place NumPy keeps the last: the source that ended last.
    cause[target[by_end]] = source[by_end]
    found: I64Array = cause[waits]
    return found

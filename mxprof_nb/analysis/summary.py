"""Events by what they are: how often, how long, how much of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray
from mxprof_nb.analysis.grouping import cut_off, grouped, groups_of
from mxprof_nb.analysis.intervals import Window, clip, touching
from mxprof_nb.analysis.result import Result
from mxprof_nb.errors import MissingDataError, TraceError, close_match
from mxprof_nb.trace import HasTrace, Trace, schema, trace_of
from mxprof_nb.trace.nesting import self_time, union_by_group

__all__ = ["MEMBERS", "STEPS_ARE_MARKED_BY", "members_of_bulks", "op_summary", "unfolded"]

_INSTANT = schema.KINDS.index("instant")
#: Domain of operators that ran as members of a bulk.
MEMBERS = "bulk"
#: Who provides the numbers of steps, for errors.
STEPS_ARE_MARKED_BY = (
    "Mark them in the program, `with mxprof_nb.step(n):` around each, and record again."
)


def op_summary(
    trace: HasTrace,
    *,
    by: str = "name",
    domain: str | None = None,
    category: str | Sequence[str] | None = None,
    window: Window = None,
) -> Result:
    """Return one row per group of events, the one with the longest total first.

    Parameters
    ----------
    trace : Trace
        Or an object that offers one, e.g. a `Profile`.
    by : {"name", "domain", "track", "step"}
        What makes a group. Names of two domains are two groups.
    domain : str, optional
        Only events of this domain.
    category : str or sequence of str, optional
        Only events of these categories.
    window : tuple of int, optional
        Begin and end in ns. Events that touch it count, with the part of them inside.

    Returns
    -------
    Result
        ==========  =======  ============================================================
        name        str      what ran; only by name
        domain      str      the family of names it belongs to; by name and by domain
        track       int64    row of the track; only by track
        track_name  str      its name; only by track
        step        int64    number of the step; only by step
        count       int64    how many events
        total_ns    int64    their durations, added up
        self_ns     int64    the same without the time that their children cover
        busy_ns     int64    time in which at least one of them ran, on whatever track
        mean_ns     float64  total by count
        median_ns   int64    half of the durations are at most this long
        p90_ns      int64    90 % of the durations are at most this long
        p99_ns      int64    99 % of them
        min_ns      int64    the shortest
        max_ns      int64    the longest
        share       float64  total as a part of the total of the table, 0 to 1
        ==========  =======  ============================================================

    Raises
    ------
    TraceError
        There is no such category, or no such way to group.
    MissingDataError
        By step, and no event knows its step; or the recording was told to leave out all that was
        asked for.

    Notes
    -----
    - Where operators are asked for by their category, a bulk is told as the operators that ran in
      it. By their domain alone, "operator" gives the bulks, "bulk" what is in them.
    - Instants have no duration and are not counted; a note says how many there are. By step,
      events that belong to none are left out likewise.
    - ``median_ns``, ``p90_ns`` and ``p99_ns`` are durations that occurred: NumPy's method
      "higher", the value at rank ceil(q (n - 1)) of the sorted durations, counted from 0.
    - Totals add up events that overlap, on several workers or nested, so they may exceed the
      time that passed; ``busy_ns`` counts overlap once.
    - Cost: O(n log n).

    Examples
    --------
    >>> from mxprof_nb.trace import TraceBuilder
    >>> builder = TraceBuilder()
    >>> worker = builder.track("worker", role="worker")
    >>> for start, dur in ((0, 30), (40, 10)):
    ...     row = builder.event("dot", track=worker, start_ns=start, dur_ns=dur)
    >>> op_summary(builder.build()).columns["total_ns"]
    array([40])
    """
    trace = trace_of(trace)
    events = trace.events
    start, end = clip(events.start_ns, events.end_ns, window)
    chosen = np.ones(len(events.start_ns), dtype=bool)
    if domain is not None:
        chosen &= events.domain == trace.strings.code(domain)
    domains = events.domain
    if category is not None:
        chosen &= _of_category(trace, category)
        chosen, domains = unfolded(trace, chosen)
    asked = chosen & touching(events.start_ns, events.end_ns, window)
    if category is not None:
        _check_recorded(trace, category, asked)
    counted = asked & (events.kind != _INSTANT)

    notes = []
    if instants := int(asked.sum() - counted.sum()):
        notes.append(
            "1 instant has no duration and is not counted."
            if instants == 1
            else f"{instants:,} instants have no duration and are not counted."
        )
    if by == "step":
        counted, said = _in_steps(trace, counted)
        notes += said
    rows = np.flatnonzero(counted)
    dur = (end - start)[rows]
    notes += cut_off(events.dur_ns[rows], dur)

    own = trace.self_ns if window is None else self_time(events.parent, start, end)
    keys, group = groups_of(trace, rows, by, domains)
    groups = len(next(iter(keys.values())))
    return grouped(
        keys,
        group,
        rows,
        dur,
        own=own[rows],
        busy=union_by_group(group, start[rows], end[rows], groups),
        notes=tuple(notes),
    )


def members_of_bulks(trace: Trace) -> BoolArray:
    """Return which events are operators that ran inside of a bulk, shape (events,)."""
    events = trace.events
    inside: BoolArray = (events.domain == trace.strings.code(MEMBERS)) & (events.parent >= 0)
    inside[inside] = events.is_category("operator")[events.parent[inside]]
    return inside


def unfolded(trace: Trace, chosen: BoolArray) -> tuple[BoolArray, NDArray[Any]]:
    """Return what was chosen with the operators of each bulk in its place, and all domains."""
    events = trace.events
    inside = members_of_bulks(trace)
    inside[inside] = chosen[events.parent[inside]]
    if not inside.any():
        return chosen, events.domain
    chosen = chosen | inside
    chosen[events.parent[inside]] = False
    domain = events.domain.copy()
    domain[inside] = events.domain[events.parent[inside]]
    return chosen, domain


def _in_steps(trace: Trace, counted: BoolArray) -> tuple[BoolArray, list[str]]:
    """Return which events belong to a step, and the note on the others."""
    step = trace.events.step
    if len(step) and not (step >= 0).any():
        raise MissingDataError.needs(
            'op_summary(by="step")', "numbers of steps", STEPS_ARE_MARKED_BY
        )
    inside = counted & (step >= 0)
    outside = int(counted.sum() - inside.sum())
    belong = "1 event belongs" if outside == 1 else f"{outside:,} events belong"
    return inside, [f"{belong} to no step."] if outside else []


#: What to record (a field of `RecordConfig`) for events of a category.
_RECORDED_BY = {"operator": "operators", "copy": "operators", "api": "api", "sync": "api"}


def _check_recorded(trace: Trace, category: str | Sequence[str], found: BoolArray) -> None:
    """Check that nothing was found because nothing ran, not because nobody recorded it."""
    wanted = [category] if isinstance(category, str) else list(category)
    options = {_RECORDED_BY.get(name, "") for name in wanted}
    if options and not found.any() and all(trace.meta.config.get(o) is False for o in options):
        raise MissingDataError.needs(
            "op_summary",
            f"events of category {' and '.join(wanted)}",
            "Record again with "
            f"RecordConfig({', '.join(f'{option}=True' for option in sorted(options))}), "
            "the default.",
        )


def _of_category(trace: Trace, category: str | Sequence[str]) -> BoolArray:
    wanted = (category,) if isinstance(category, str) else tuple(category)
    for name in wanted:
        if name not in schema.CATEGORIES:
            raise TraceError(
                f"{name!r} is no category.{close_match(name, schema.CATEGORIES)} "
                f"There are {', '.join(schema.CATEGORIES)}."
            )
    return trace.events.is_category(*wanted)

"""Events by name: how often, how long, how much of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray
from mxprof_nb.analysis.intervals import Window, clip, touching
from mxprof_nb.analysis.result import Result
from mxprof_nb.errors import TraceError, close_match
from mxprof_nb.trace import Trace, schema
from mxprof_nb.trace.nesting import self_time

__all__ = ["cut_off", "grouped", "op_summary"]

_INSTANT = schema.KINDS.index("instant")


def op_summary(
    trace: Trace,
    *,
    domain: str | None = None,
    category: str | Sequence[str] | None = None,
    window: Window = None,
) -> Result:
    """Return one row per name of event, the one with the longest total first.

    Parameters
    ----------
    trace : Trace
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
        name        str      what ran
        domain      str      the family of names it belongs to
        count       int64    how many events
        total_ns    int64    their durations, added up
        self_ns     int64    the same without the time that their children cover
        mean_ns     float64  total by count
        p90_ns      int64    90 % of the durations are at most this long
        min_ns      int64    the shortest
        max_ns      int64    the longest
        share       float64  total as a part of the total of the table, 0 to 1
        ==========  =======  ============================================================

    Raises
    ------
    TraceError
        The category does not exist.

    Notes
    -----
    - Instants have no duration and are not counted; a note says how many there are.
    - ``p90_ns`` is a duration that occurred: NumPy's method "higher", the value at rank
      ceil(0.9 (n - 1)) of the sorted durations, counted from 0.
    - Totals add up events that overlap, on several workers or nested, so they may exceed the
      time that passed; `mxprof_nb.analysis.busy_ns` counts overlap once.
    - Cost: O(n log n).
    """
    events = trace.events
    start, end = clip(events.start_ns, events.end_ns, window)
    asked = touching(events.start_ns, events.end_ns, window)
    if domain is not None:
        asked &= events.domain == trace.strings.code(domain)
    if category is not None:
        asked &= _of_category(trace, category)
    counted = asked & (events.kind != _INSTANT)

    notes = []
    if instants := int(asked.sum() - counted.sum()):
        have = "1 instant has" if instants == 1 else f"{instants:,} instants have"
        notes.append(
            f"{have} no duration and is not counted."
            if instants == 1
            else f"{have} no duration and are not counted."
        )
    rows = np.flatnonzero(counted)
    dur = (end - start)[rows]
    notes += cut_off(events.dur_ns[rows], dur)

    own = trace.self_ns if window is None else self_time(events.parent, start, end)
    strings = trace.strings
    keys, group = np.unique(
        events.name[rows].astype(np.int64) * len(strings) + events.domain[rows],
        return_inverse=True,
    )
    names = [strings[int(code)] for code in keys // max(len(strings), 1)]
    domains = [strings[int(code)] for code in keys % max(len(strings), 1)]
    return grouped(names, domains, group, rows, dur, own[rows], tuple(notes))


def _of_category(trace: Trace, category: str | Sequence[str]) -> BoolArray:
    wanted = (category,) if isinstance(category, str) else tuple(category)
    for name in wanted:
        if name not in schema.CATEGORIES:
            raise TraceError(
                f"{name!r} is no category.{close_match(name, schema.CATEGORIES)} "
                f"There are {', '.join(schema.CATEGORIES)}."
            )
    return trace.events.is_category(*wanted)


def cut_off(whole: NDArray[Any], inside: NDArray[Any]) -> list[str]:
    """Return the note on events that a time range cuts, none where it cuts none."""
    cut = int((inside < whole).sum())
    reach = "1 event reaches" if cut == 1 else f"{cut:,} events reach"
    return [f"{reach} beyond the time range; only the part inside counts."] if cut else []


def grouped(
    names: list[str],
    domains: list[str],
    group: NDArray[Any],
    rows: NDArray[Any],
    dur: NDArray[Any],
    own: NDArray[Any] | None,
    notes: tuple[str, ...],
) -> Result:
    """Return one row per group of events, the one with the longest total first.

    Parameters
    ----------
    names, domains : list of str, length g
        What the groups are called.
    group, rows, dur : ndarray of int, shape (n,)
        Group of each event, its row in the events table, and its time in ns.
    own : ndarray of int, shape (n,), or None
        Its self time; None for a table without.
    notes : tuple of str
        Handed on.
    """
    order = np.lexsort((dur, group))
    count = np.bincount(group, minlength=len(names)).astype(np.int64)
    last = np.cumsum(count)
    first = last - count
    by_length = dur[order]
    total = _sum_by(group, dur, len(names))
    whole = int(total.sum())
    columns: dict[str, Any] = {
        "name": names,
        "domain": domains,
        "count": count,
        "total_ns": total,
        **({} if own is None else {"self_ns": _sum_by(group, own, len(names))}),
        "mean_ns": total / np.maximum(count, 1),
        # Integer arithmetic: 0.9 * (n - 1) in floats may land just above a whole rank.
        "p90_ns": by_length[first + (9 * (count - 1) + 9) // 10],
        "min_ns": by_length[first],
        "max_ns": by_length[last - 1],
        "share": total / whole if whole else np.zeros(len(names)),
    }
    behind = np.split(rows[np.argsort(group, kind="stable")], last[:-1]) if names else []
    # Ties by text, so that the table does not depend on the order of the rows.
    rank = sorted(range(len(names)), key=lambda i: (-int(total[i]), names[i], domains[i]))
    return Result(
        {
            name: [values[i] for i in rank] if isinstance(values, list) else values[rank]
            for name, values in columns.items()
        },
        [behind[i] for i in rank],
        notes,
    )


def _sum_by(group: NDArray[Any], values: NDArray[Any], groups: int) -> NDArray[np.int64]:
    """Return sums per group in integers: `bincount` with weights would go through floats."""
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, group, values)
    return total

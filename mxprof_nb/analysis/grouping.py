"""Durations by group: how many, how long, how spread. The one place that adds durations up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.analysis.result import Result
from mxprof_nb.errors import TraceError, close_match
from mxprof_nb.trace import Trace

__all__ = ["cut_off", "grouped", "groups_of", "of_rank"]


def groups_of(trace: Trace, rows: NDArray[Any], by: str) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return what the groups of some events are called, and the group of each event.

    Parameters
    ----------
    trace : Trace
    rows : ndarray of int, shape (n,)
        Rows of the events table.
    by : {"name", "domain", "track", "step"}

    Returns
    -------
    keys : dict of str to list or ndarray, each of shape (g,)
        Columns that name the groups: "name" and "domain", "domain", "track" and "track_name", or
        "step".
    group : ndarray of int, shape (n,)

    Raises
    ------
    TraceError
        ``by`` is none of these.
    """
    events, strings = trace.events, trace.strings
    if by == "name":
        keys, group = np.unique(
            events.name[rows].astype(np.int64) * len(strings) + events.domain[rows],
            return_inverse=True,
        )
        names, domains = np.divmod(keys, max(len(strings), 1))
        return {"name": _texts(trace, names), "domain": _texts(trace, domains)}, group
    if by == "domain":
        keys, group = np.unique(events.domain[rows], return_inverse=True)
        return {"domain": _texts(trace, keys)}, group
    if by == "track":
        keys, group = np.unique(events.track[rows], return_inverse=True)
        names = trace.tracks.name[keys]
        return {"track": keys.astype(np.int64), "track_name": _texts(trace, names)}, group
    if by == "step":
        keys, group = np.unique(events.step[rows], return_inverse=True)
        return {"step": keys.astype(np.int64)}, group
    known = ("name", "domain", "track", "step")
    raise TraceError(
        f"Events cannot be grouped by {by!r}.{close_match(str(by), known)} "
        f"They can by {', '.join(known)}."
    )


def _texts(trace: Trace, codes: NDArray[Any]) -> list[str]:
    return [trace.strings[code] for code in codes.tolist()]


def cut_off(whole: NDArray[Any], inside: NDArray[Any]) -> list[str]:
    """Return the note on events that a time range cuts, none where it cuts none."""
    cut = int((inside < whole).sum())
    reach = "1 event reaches" if cut == 1 else f"{cut:,} events reach"
    return [f"{reach} beyond the time range; only the part inside counts."] if cut else []


def of_rank(percent: int, count: Any) -> Any:
    """Return the place, from 0, of a percentile in ``count`` sorted values: ceil(q (n - 1)).

    In integers: 0.9 * (n - 1) in floats may land just above a whole rank.
    """
    return (percent * (count - 1) + 99) // 100


def grouped(
    keys: Mapping[str, Any],
    group: NDArray[Any],
    rows: NDArray[Any],
    dur: NDArray[Any],
    *,
    own: NDArray[Any] | None = None,
    busy: NDArray[Any] | None = None,
    notes: tuple[str, ...] = (),
) -> Result:
    """Return one row per group of events, the one with the longest total first.

    Parameters
    ----------
    keys : Mapping of str to list or ndarray, each of shape (g,)
        What the groups are called; the first columns of the result.
    group, rows, dur : ndarray of int, shape (n,)
        Group of each event, its row in the events table, and its time in ns.
    own : ndarray of int, shape (n,), optional
        Its self time; a table without leaves the column out.
    busy : ndarray of int, shape (g,), optional
        Time in which each group ran; likewise.
    notes : tuple of str
        Handed on.
    """
    groups = len(next(iter(keys.values())))
    order = np.lexsort((dur, group))
    count = np.bincount(group, minlength=groups).astype(np.int64)
    last = np.cumsum(count)
    first = last - count
    by_length = dur[order]
    total = _sum_by(group, dur, groups)
    whole = int(total.sum())
    columns: dict[str, Any] = {
        **keys,
        "count": count,
        "total_ns": total,
        **({} if own is None else {"self_ns": _sum_by(group, own, groups)}),
        **({} if busy is None else {"busy_ns": busy}),
        "mean_ns": total / np.maximum(count, 1),
        **{
            name: by_length[first + of_rank(percent, count)]
            for name, percent in (("median_ns", 50), ("p90_ns", 90), ("p99_ns", 99))
        },
        "min_ns": by_length[first],
        "max_ns": by_length[last - 1],
        "share": total / whole if whole else np.zeros(groups),
    }
    behind = np.split(rows[np.argsort(group, kind="stable")], last[:-1]) if groups else []
    # Ties by what the groups are called, so that the table does not depend on the order of rows.
    called = list(zip(*keys.values(), strict=True))
    rank = sorted(range(groups), key=lambda i: (-int(total[i]), called[i]))
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

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


def groups_of(
    trace: Trace, rows: NDArray[Any], by: str, domain_of: NDArray[Any] | None = None
) -> tuple[dict[str, Any], NDArray[Any]]:
    """Return what the groups of some events are called, and the group of each event.

    Parameters
    ----------
    trace : Trace
    rows : ndarray of int, shape (n,)
        Rows of the events table.
    by : {"name", "domain", "track", "step"}
    domain_of : ndarray, optional
        Domains of all events, where they are not those of the table.

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
    events = trace.events
    if domain_of is None:
        domain_of = events.domain
    if by == "name":
        names, name = _numbered(events.name[rows])
        domains, domain = _numbered(domain_of[rows])
        keys, group = _numbered(name * len(domains) + domain)
        called, within = np.divmod(keys, max(len(domains), 1))
        found = {"name": _texts(trace, names[called]), "domain": _texts(trace, domains[within])}
        return found, group
    if by == "domain":
        keys, group = _numbered(domain_of[rows])
        return {"domain": _texts(trace, keys)}, group
    if by == "track":
        keys, group = _numbered(events.track[rows])
        of_tracks = trace.tracks.name[keys]
        return {"track": keys.astype(np.int64), "track_name": _texts(trace, of_tracks)}, group
    if by == "step":
        keys, group = _numbered(events.step[rows])
        return {"step": keys.astype(np.int64)}, group
    known = ("name", "domain", "track", "step")
    raise TraceError(
        f"Events cannot be grouped by {by!r}.{close_match(str(by), known)} "
        f"They can by {', '.join(known)}."
    )


def _numbered(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different values in order and the place of each among them.

    As `numpy.unique` does by sorting; codes lie so close together that counting is faster.
    """
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, -1)
    if high - low > 4 * len(values) + 1000:
        keys, places = np.unique(values, return_inverse=True)
        return keys.astype(np.int64), places
    offset = values.astype(np.int64) - low
    keys = np.flatnonzero(np.bincount(offset, minlength=high - low + 1))
    place = np.zeros(high - low + 1, dtype=np.int64)
    place[keys] = np.arange(len(keys))
    return keys + low, place[offset]


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
    # NumPy sorts numbers of 16 bits by counting, and stably.
    code = group.astype(np.uint16) if groups <= 1 << 16 else group
    order = np.argsort(dur)
    order = order[np.argsort(code[order], kind="stable")]
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
    behind = np.split(rows[np.argsort(code, kind="stable")], last[:-1]) if groups else []
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

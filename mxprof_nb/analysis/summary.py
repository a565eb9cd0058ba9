"""Tables by name: how often, how long, how much of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray
from mxprof_nb.analysis.counters import counter_tables
from mxprof_nb.analysis.intervals import Window, clip, touching
from mxprof_nb.analysis.result import Result
from mxprof_nb.errors import TraceError, close_match
from mxprof_nb.trace import Trace, schema
from mxprof_nb.trace.nesting import self_time

__all__ = ["domain_tables", "op_summary"]

#: Titles of the domains that have one of their own, in the order of their tables; the tables of
#: counters stand where "Memory" does.
TITLES = {"operator": "Operators", "MXNET_C_API": "API calls"}
OTHER_TITLES = {"Custom Operator": "Custom operators", "engine": "Engine", "": "Other"}

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
    if window is not None:
        cut = int((counted & (end - start < events.dur_ns)).sum())
        if cut:
            reach = "1 event reaches" if cut == 1 else f"{cut:,} events reach"
            notes.append(f"{reach} beyond the time range; only the part inside counts.")

    rows = np.flatnonzero(counted)
    own = trace.self_ns if window is None else self_time(events.parent, start, end)
    return _by_name(trace, rows, (end - start)[rows], own[rows], tuple(notes))


def _of_category(trace: Trace, category: str | Sequence[str]) -> BoolArray:
    wanted = (category,) if isinstance(category, str) else tuple(category)
    for name in wanted:
        if name not in schema.CATEGORIES:
            raise TraceError(
                f"{name!r} is no category.{close_match(name, schema.CATEGORIES)} "
                f"There are {', '.join(schema.CATEGORIES)}."
            )
    return trace.events.is_category(*wanted)


def _by_name(
    trace: Trace,
    rows: NDArray[Any],
    dur: NDArray[Any],
    own: NDArray[Any],
    notes: tuple[str, ...],
) -> Result:
    """Group event rows by name and domain."""
    strings = trace.strings
    key = trace.events.name[rows].astype(np.int64) * len(strings) + trace.events.domain[rows]
    keys, group = np.unique(key, return_inverse=True)
    names = [strings[int(code)] for code in keys // max(len(strings), 1)]
    domains = [strings[int(code)] for code in keys % max(len(strings), 1)]

    order = np.lexsort((dur, group))
    count = np.bincount(group, minlength=len(keys)).astype(np.int64)
    last = np.cumsum(count)
    first = last - count
    by_length = dur[order]
    total = _sum_by(group, dur, len(keys))
    whole = int(total.sum())
    columns = {
        "name": names,
        "domain": domains,
        "count": count,
        "total_ns": total,
        "self_ns": _sum_by(group, own, len(keys)),
        "mean_ns": total / np.maximum(count, 1),
        # Integer arithmetic: 0.9 * (n - 1) in floats may land just above a whole rank.
        "p90_ns": by_length[first + (9 * (count - 1) + 9) // 10],
        "min_ns": by_length[first],
        "max_ns": by_length[last - 1],
        "share": total / whole if whole else np.zeros(len(keys)),
    }
    behind = np.split(rows[np.argsort(group, kind="stable")], last[:-1]) if len(keys) else []
    # Ties by text, so that the table does not depend on the order of the rows.
    rank = sorted(range(len(keys)), key=lambda i: (-int(total[i]), names[i], domains[i]))
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


def domain_tables(trace: Trace, *, window: Window = None) -> dict[str, Result]:
    """Return one table per domain that has rows, under the title a person reads.

    Parameters
    ----------
    trace : Trace
    window : tuple of int, optional
        Begin and end in ns; see `op_summary`.

    Returns
    -------
    dict of str to Result
        "Operators" and "API calls" first, then "Waits", "Memory", the other domains by title, and
        "Counters". Tables of events as `op_summary` gives them; those of counters have the
        columns name, count, min, mean, max and last (see `counter_tables`).

    Notes
    -----
    A wait is no work: waits have a table of their own and no share in that of their domain,
    although MXNet counts ``WaitForVar`` among the operators.
    """
    texts = [trace.strings[int(code)] for code in np.unique(trace.events.domain)]
    others = sorted(text for text in texts if text not in TITLES)
    tables: dict[str, Result] = {}

    work = [category for category in schema.CATEGORIES if category != "sync"]

    def add(domain: str, title: str) -> None:
        table = op_summary(trace, domain=domain, category=work, window=window)
        if len(table):
            # A program may name a domain of its own as a title reads.
            tables[title if title not in tables else f"{title} ({domain})"] = table

    for domain, title in TITLES.items():
        if domain in texts:
            add(domain, title)
    waits = op_summary(trace, category="sync", window=window)
    if len(waits):
        tables["Waits"] = waits
    counters = counter_tables(trace, window=window)
    if "Memory" in counters:
        tables["Memory"] = counters.pop("Memory")
    for domain in others:
        add(domain, OTHER_TITLES.get(domain, domain))
    for title, table in counters.items():
        tables[title if title not in tables else f"{title} (samples)"] = table
    return tables

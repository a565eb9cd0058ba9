"""What `mx.profiler.dumps` returns: the table, character by character as MXNet 1.9.1 prints it.

Layout and arithmetic follow ``src/profiler/aggregate_stats.cc``: domains in byte order, rows by
the chosen column with ties by descending name, times in ms and memory in kB with four decimals.
The JSON form has the same figures under MXNet's keys, and is JSON whatever the names.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mxprof_nb.analysis.summary import op_summary
from mxprof_nb.trace import Trace

__all__ = ["SORT_KEYS", "Row", "Table", "aggregate", "format_json", "format_table", "joined"]

#: Domains whose figures are bytes and have no total.
MEMORY_DOMAINS = ("Device Storage", "Pool Memory")
#: The table divides times by 1000 from µs and samples by 1000 from themselves.
NS_PER_UNIT = 1000
#: Domains of ours that MXNet does not have; what a program marks under such a name is shown.
HIDDEN_DOMAINS = ("engine", "data loading", "bulk")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table; times in ns, samples in thousands, so that both print alike.

    Attributes
    ----------
    total : float
        Sum of durations; for counters the last value.
    average : float
        Mean duration, or mean of the samples. MXNet has half the range of a counter there.
    sampled : bool
        Whether it is a counter.
    """

    name: str
    count: int
    total: float
    minimum: float
    maximum: float
    average: float
    sampled: bool = False

    def and_then(self, later: Row) -> Row:
        """Return the row of this time and a later one together."""
        count = self.count + later.count
        return Row(
            self.name,
            count,
            later.total if self.sampled else self.total + later.total,
            min(self.minimum, later.minimum),
            max(self.maximum, later.maximum),
            (self.average * self.count + later.average * later.count) / count
            if self.sampled
            else (self.total + later.total) / count,
            self.sampled,
        )


#: Rows per domain, domains in byte order.
Table: TypeAlias = dict[str, list[Row]]


SORT_KEYS: dict[str, Callable[[Row], float]] = {
    "total": lambda row: row.total,
    "avg": lambda row: row.average,
    "min": lambda row: row.minimum,
    "max": lambda row: row.maximum,
    "count": lambda row: row.count,
}


def aggregate(trace: Trace) -> Table:
    """Return rows per domain, domains in byte order."""
    domains: Table = {}
    for domain in {trace.strings[code] for code in np.unique(trace.events.domain).tolist()}:
        hidden = domain in HIDDEN_DOMAINS
        rows = _durations(trace, domain, "user" if hidden else None)
        if rows or not hidden:
            domains[domain] = rows
    for domain, row in _samples(trace):
        domains.setdefault(domain, []).append(row)
    return _in_order(domains)


def joined(earlier: Table, later: Table) -> Table:
    """Return the table of two times together."""
    domains: Table = {}
    for domain in earlier | later:
        rows = {(row.name, row.sampled): row for row in earlier.get(domain, [])}
        for row in later.get(domain, []):
            known = rows.get((row.name, row.sampled))
            rows[row.name, row.sampled] = row if known is None else known.and_then(row)
        domains[domain] = list(rows.values())
    return _in_order(domains)


def _in_order(domains: Table) -> Table:
    return dict(sorted(domains.items(), key=lambda item: item[0].encode("utf-8", "surrogatepass")))


def _durations(trace: Trace, domain: str, category: str | None) -> list[Row]:
    """Return one row per name; instants have none."""
    found = op_summary(trace, domain=domain, category=category).columns
    names = ("name", "count", "total_ns", "min_ns", "max_ns", "mean_ns")
    return [
        Row(name, int(count), int(total), int(low), int(high), float(mean))
        for name, count, total, low, high, mean in zip(*(found[n] for n in names), strict=True)
    ]


def _samples(trace: Trace) -> Iterator[tuple[str, Row]]:
    """Yield one row per counter; its total is the last value, as in MXNet."""
    counters, strings = trace.counters, trace.strings
    key = counters.track.astype(np.int64) << 32 | counters.name
    for number in np.unique(key):
        track, name = int(number >> 32), strings[int(number & 0xFFFFFFFF)]
        rows = key == number
        memory = strings.text(int(counters.unit[rows][0])) == "B"
        domain = MEMORY_DOMAINS[0] if memory else strings[trace.tracks.name[track]]
        with np.errstate(all="ignore"):  # a program may count with infinities
            values = counters.value[rows] * NS_PER_UNIT
            average = float(values.mean())
        low, high = float(values.min()), float(values.max())
        yield domain, Row(name, len(values), float(values[-1]), low, high, average, sampled=True)


def _table(told: Trace | Table) -> Table:
    return aggregate(told) if isinstance(told, Trace) else told


def _sorted(rows: list[Row], sort_by: str, ascending: bool) -> list[Row]:
    # Ties by descending name in both directions, as std::priority_queue leaves them.
    by_name = sorted(rows, key=lambda row: row.name.encode("utf-8", "surrogatepass"), reverse=True)
    return sorted(by_name, key=SORT_KEYS[sort_by], reverse=not ascending)


def format_table(told: Trace | Table, sort_by: str = "total", ascending: bool = False) -> str:
    """Return the table of `mx.profiler.dumps`.

    Parameters
    ----------
    told : Trace or dict
        Everything recorded since the statistics were last reset, or what `aggregate` makes of it.
    sort_by : {"total", "avg", "min", "max", "count"}
    ascending : bool
    """
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]
    for domain, rows in _table(told).items():
        memory = domain in MEMORY_DOMAINS
        lines += [_on_one_line(domain), "=" * 17, *_header(memory)]
        for row in _sorted(rows, sort_by, ascending):
            figures = [row.minimum, row.maximum, row.average]
            if not memory:
                figures.insert(0, row.total)
            cells = [f"{value / 1e6:16.4f}" for value in figures]
            lines.append(f"{_on_one_line(row.name):<25}{row.count:16d} " + " ".join(cells))
        lines.append("")
    return "\n".join([*lines, ""])


def format_json(told: Trace | Table, sort_by: str = "total", ascending: bool = False) -> str:
    """Return the same as JSON; parameters as in `format_table`.

    Times are in ms and memory in kB, unrounded. What is no finite number becomes null.
    """
    told_as: dict[str, Any] = {"Time": {}, "Memory": {}, "Unit": {"Time": "ms", "Memory": "kB"}}
    for domain, rows in _table(told).items():
        memory = domain in MEMORY_DOMAINS
        told_as["Memory" if memory else "Time"][domain] = {
            row.name: _figures(row, memory) for row in _sorted(rows, sort_by, ascending)
        }
    return json.dumps(told_as, indent=4, allow_nan=False) + "\n"


def _figures(row: Row, memory: bool) -> dict[str, float | None]:
    figures: dict[str, float | None] = {"Count": row.count}
    named = {"Total": row.total, "Min": row.minimum, "Max": row.maximum, "Avg": row.average}
    for name, value in named.items():
        if not (memory and name == "Total"):
            figures[name] = value / 1e6 if math.isfinite(value) else None
    return figures


def _on_one_line(name: str) -> str:
    """Return a name whose control characters are escaped, so that a row stays a row."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _header(memory: bool) -> tuple[str, str]:
    if memory:
        titles = ["Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)"]
    else:
        titles = ["Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)"]
    titles = ["Total Count", *titles]
    dashes = ["-" * len(title) for title in titles]
    return tuple(
        f"{first:<25}" + " ".join(f"{title:>16}" for title in rest)
        for first, rest in (("Name", titles), ("----", dashes))
    )  # type: ignore[return-value]

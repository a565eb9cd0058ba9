"""The table that `mx.profiler.dumps` prints, character by character as MXNet 1.9.1 prints it.

Layout and arithmetic follow ``src/profiler/aggregate_stats.cc``: domains in byte order, rows by
the chosen column with ties by descending name, times in ms and memory in kB with four decimals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from mxprof_nb.analysis.summary import op_summary
from mxprof_nb.trace import Trace

__all__ = ["SORT_KEYS", "Row", "aggregate", "format_table"]

#: Domains whose figures are bytes and have no total.
MEMORY_DOMAINS = ("Device Storage", "Pool Memory")
#: The table divides times by 1000 from µs and samples by 1000 from themselves.
NS_PER_UNIT = 1000
#: Domains of ours that MXNet does not have.
HIDDEN_DOMAINS = ("engine",)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table; times in ns, samples in thousands, so that both print alike.

    Attributes
    ----------
    total : float
        Sum of durations; for counters the last value.
    average : float
        Mean duration; for counters half the distance from smallest to largest, as MXNet has it.
    """

    name: str
    count: int
    total: float
    minimum: float
    maximum: float
    average: float


SORT_KEYS: dict[str, Callable[[Row], float]] = {
    "total": lambda row: row.total,
    "avg": lambda row: row.average,
    "min": lambda row: row.minimum,
    "max": lambda row: row.maximum,
    "count": lambda row: row.count,
}


def aggregate(trace: Trace) -> dict[str, list[Row]]:
    """Return rows per domain, domains in byte order."""
    domains = {
        domain: [
            Row(name, int(count), int(total), int(low), int(high), float(mean))
            for name, count, total, low, high, mean in zip(
                *(
                    op_summary(trace, domain=domain).columns[column]
                    for column in ("name", "count", "total_ns", "min_ns", "max_ns", "mean_ns")
                ),
                strict=True,
            )
        ]
        for domain in {trace.strings[code] for code in trace.events.domain.tolist()}
        if domain not in HIDDEN_DOMAINS
    }
    for domain, row in _samples(trace):
        domains.setdefault(domain, []).append(row)
    return dict(sorted(domains.items(), key=lambda item: item[0].encode()))


def _samples(trace: Trace) -> Iterator[tuple[str, Row]]:
    """Yield one row per counter, with MXNet's arithmetic: the last value, and half the range."""
    counters, strings = trace.counters, trace.strings
    key = counters.track.astype(np.int64) << 32 | counters.name
    for number in np.unique(key):
        track, name = int(number >> 32), strings[int(number & 0xFFFFFFFF)]
        memory = name.startswith("Memory: ")
        domain = MEMORY_DOMAINS[0] if memory else strings[trace.tracks.name[track]]
        values = counters.value[key == number] * NS_PER_UNIT
        low, high = float(values.min()), float(values.max())
        half = (high - low) / NS_PER_UNIT // 2 * NS_PER_UNIT
        yield domain, Row(name, len(values), float(values[-1]), low, high, half)


def _sorted(rows: list[Row], sort_by: str, ascending: bool) -> list[Row]:
    # Ties by descending name in both directions, as std::priority_queue leaves them.
    by_name = sorted(rows, key=lambda row: row.name.encode(), reverse=True)
    return sorted(by_name, key=SORT_KEYS[sort_by], reverse=not ascending)


def format_table(trace: Trace, sort_by: str = "total", ascending: bool = False) -> str:
    """Return the table of `mx.profiler.dumps`.

    Parameters
    ----------
    trace : Trace
        Everything recorded since the statistics were last reset.
    sort_by : {"total", "avg", "min", "max", "count"}
    ascending : bool
    """
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]
    for domain, rows in aggregate(trace).items():
        memory = domain in MEMORY_DOMAINS
        lines += [domain, "=" * 17, *_header(memory)]
        for row in _sorted(rows, sort_by, ascending):
            figures = [row.minimum, row.maximum, row.average]
            if not memory:
                figures.insert(0, row.total)
            cells = [f"{value / 1e6:16.4f}" for value in figures]
            lines.append(f"{row.name:<25}{row.count:16d} " + " ".join(cells))
        lines.append("")
    return "\n".join([*lines, ""])


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

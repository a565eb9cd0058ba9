"""`Grid`: an analysis result as a person reads it, formatted once for all forms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.analysis import Result, domain_tables
from mxprof_nb.trace import Trace
from mxprof_nb.trace.remembering import remembered
from mxprof_nb.view.glossary import DOMAINS, meaning
from mxprof_nb.view.numbers import count, duration, share, value

__all__ = ["Grid", "grids"]

#: Columns that a person sees, and what they are called; frames keep the full ones.
HEADINGS = {
    "name": "name",
    "count": "count",
    "total_ns": "total",
    "self_ns": "self",
    "mean_ns": "mean",
    "p90_ns": "p90",
    "min_ns": "min",
    "min": "min",
    "mean": "mean",
    "max_ns": "max",
    "max": "max",
    "last": "last",
    "share": "share",
}
HIDDEN = {"domain", "unit", "min_ns", "busy_ns", "median_ns", "p99_ns"}
#: Headings that the glossary has under another name.
TERMS = {"self": "self time"}
MAX_ROWS = 40
CLOSE = "Totals marked ≈ are closer than recording costs: without it their order may be another."


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: cells are texts, shares (0 to 1) are kept beside for a bar in the cell.

    Attributes
    ----------
    title : str
    headings : tuple of str
        The first column is text, the others are numbers and stand at the right.
    rows : tuple of tuple of str
        At most `MAX_ROWS` of them.
    shares : tuple of float
        The share of each row, empty where the table has none.
    total : int
        How many rows there are in all.
    notes : tuple of str
        What a reader must know.
    meanings, heading_meanings : tuple of str
        What the name of each row, and each heading, means; empty texts where nobody said.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    shares: tuple[float, ...]
    total: int
    notes: tuple[str, ...]
    meanings: tuple[str, ...]
    heading_meanings: tuple[str, ...]


@remembered
def grids(trace: Trace, window_ns: tuple[int, int] | None = None) -> tuple[Grid, ...]:
    """Return the table of each domain, of the whole run or of a part of it.

    Parameters
    ----------
    trace : Trace
    window_ns : tuple of int, optional
        Begin and end, in ns from the origin of the trace.
    """
    # Counters of foreign files may hold any number: a mean beyond all numbers is shown as such.
    with np.errstate(over="ignore", invalid="ignore"):
        tables = domain_tables(trace, window=window_ns)
    per_record = trace.meta.cost.per_record_ns if trace.meta.cost is not None else 0.0
    return tuple(_grid(title, result, per_record) for title, result in tables.items())


def _grid(title: str, result: Result, per_record_ns: float) -> Grid:
    columns = {k: v for k, v in result.columns.items() if k not in HIDDEN}
    units = result.columns.get("unit") or (["B"] * len(result) if title == "Memory" else None)
    shown = min(len(result), MAX_ROWS)
    formatted = [_column(name, values, units) for name, values in columns.items()]
    notes = result.notes
    close = _too_close(result, per_record_ns)
    if close[:shown].any():
        place = list(columns).index("total_ns")
        exact = formatted[place]
        formatted[place] = lambda row: f"{'≈ ' if close[row] else ''}{exact(row)}"
        notes = (*notes, CLOSE)
    if len(result) > shown:
        notes = (*notes, f"The first {shown} of {count(len(result), 'row')}.")
    headings = tuple(HEADINGS.get(name, name) for name in columns)
    return Grid(
        title=title,
        headings=headings,
        rows=tuple(tuple(column(row) for column in formatted) for row in range(shown)),
        shares=tuple(float(s) for s in columns["share"][:shown]) if "share" in columns else (),
        total=len(result),
        notes=tuple(notes),
        meanings=_meanings(result, shown),
        heading_meanings=tuple(meaning(TERMS.get(text, text)) for text in headings),
    )


def _too_close(result: Result, per_record_ns: float) -> NDArray[np.bool_]:
    """Tell the rows whose order might be another without recording, shape (rows,).

    Each event takes at most the cost of one record longer than it would unrecorded.
    """
    close = np.zeros(len(result), dtype=bool)
    if "total_ns" in result.columns and "count" in result.columns:
        total = np.asarray(result.columns["total_ns"], dtype=np.float64)
        least = total - np.asarray(result.columns["count"]) * per_record_ns
        if len(total) > 1 and (total[:-1] >= total[1:]).all():
            close[:-1] |= least[:-1] < total[1:]
            close[1:] |= np.minimum.accumulate(least)[:-1] < total[1:]
    return close


def _meanings(result: Result, shown: int) -> tuple[str, ...]:
    """Return what the first names mean; those that a program chose mean what it says."""
    names = result.columns["name"][:shown]
    domains = result.columns.get("domain")
    if domains is None:  # counters
        return tuple(meaning(name) for name in names)
    pairs = zip(names, domains[:shown], strict=True)
    return tuple(meaning(name) if domain in DOMAINS else "" for name, domain in pairs)


def _column(name: str, values: Any, units: list[str] | None) -> Callable[[int], str]:
    """Return a function from a row to its text."""
    if name == "count":
        return lambda row: count(int(values[row]))
    if name == "share":
        return lambda row: share(float(values[row]))
    if name.endswith("_ns"):
        return lambda row: duration(float(values[row]))
    if units is not None and name in ("min", "mean", "max", "last"):
        return lambda row: value(float(values[row]), units[row])
    return lambda row: str(values[row])

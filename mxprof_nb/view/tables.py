"""`Grid`: an analysis result as a person reads it, formatted once for all forms.

Units stand in the head of a column, so that cells hold numbers only, which the eye compares by
their length: a column has one unit, the one that fits its median, and its points stand below one
another (`aligned`). What that costs small values in digits, their exact values, kept beside the
texts for sorting, hover and copies, give back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis import Result, domain_tables
from mxprof_nb.trace import Trace
from mxprof_nb.trace.remembering import remembered
from mxprof_nb.view.glossary import DOMAINS, meaning
from mxprof_nb.view.numbers import count, scale, scaled, share, value
from mxprof_nb.view.words import shorten

__all__ = ["LIVE_ROWS", "MAX_ROWS", "Column", "Grid", "aligned", "events_of", "grids", "row_of"]

#: Columns that a person sees, and what they are called; frames keep the full ones.
HEADINGS = {
    "name": "name",
    "count": "count",
    "total_ns": "total",
    "self_ns": "self",
    "mean_ns": "mean",
    "p90_ns": "p90",
    "min": "min",
    "mean": "mean",
    "max_ns": "max",
    "max": "max",
    "last": "last",
    "share": "share",
    "unit": "unit",
}
HIDDEN = {"domain", "unit", "min_ns", "busy_ns", "median_ns", "p99_ns"}
#: Headings that the glossary has under another name.
TERMS = {"self": "self time"}
#: Rows of a form that cannot be asked for more, and of one that sorts and filters.
MAX_ROWS, LIVE_ROWS = 40, 400
NAME_CHARS = 200
CLOSE = "Totals marked ≈ are closer than recording costs: without it their order may be another."
#: As wide as a digit, and as a point.
FIGURE_SPACE, POINT_SPACE = "\N{FIGURE SPACE}", "\N{PUNCTUATION SPACE}"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a `Grid`.

    Attributes
    ----------
    name : str
        What a person reads: "total".
    key : str
        Its name in frames and copies: "total_ns".
    unit : str
        What all its texts are in: "ms", "%"; empty for texts and plain numbers.
    meaning : str
        What it means; empty where nobody said.
    texts : tuple of str
        One for each row.
    values : tuple of float or None
        The exact numbers behind them, in the unit of ``key``, None for what is no finite number;
        empty where the column is of texts.
    """

    name: str
    key: str
    unit: str
    meaning: str
    texts: tuple[str, ...]
    values: tuple[float | None, ...] = ()

    @property
    def heading(self) -> str:
        """Name and unit."""
        return f"{self.name} {self.unit}".rstrip()


@dataclass(frozen=True, slots=True)
class Grid:
    """One table.

    Attributes
    ----------
    title : str
    columns : tuple of Column
        The first holds the names, the others numbers, which stand at the right.
    total : int
        How many rows there are in all; a grid holds the first of them.
    notes : tuple of str
        What a reader must know.
    meanings : tuple of str
        What the name of each row means; empty texts where nobody said.
    linked : bool
        Whether there are events behind its rows; see `events_of`.
    """

    title: str
    columns: tuple[Column, ...]
    total: int
    notes: tuple[str, ...]
    meanings: tuple[str, ...]
    linked: bool

    @property
    def headings(self) -> tuple[str, ...]:
        """Head of each column, with its unit."""
        return tuple(column.heading for column in self.columns)

    @property
    def heading_meanings(self) -> tuple[str, ...]:
        """What each heading means."""
        return tuple(column.meaning for column in self.columns)

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The cells, row by row."""
        return tuple(zip(*(column.texts for column in self.columns), strict=True))

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of each row, 0 to 1, for a bar in its cell; empty where the table has none."""
        values = next((c.values for c in self.columns if c.key == "share"), ())
        return tuple(value or 0.0 for value in values)

    def described(self) -> dict[str, Any]:
        """Return it as JSON has it, for ``static/tables.js``."""
        return {
            "title": self.title,
            "total": self.total,
            "notes": self.notes,
            "meanings": self.meanings,
            "linked": self.linked,
            "columns": [
                {
                    "name": column.name,
                    "key": column.key,
                    "unit": column.unit,
                    "meaning": column.meaning,
                    "texts": column.texts,
                    "values": column.values,
                }
                for column in self.columns
            ],
        }


def grids(
    trace: Trace, window_ns: tuple[int, int] | None = None, *, most: int = MAX_ROWS
) -> tuple[Grid, ...]:
    """Return the table of each domain, of the whole run or of a part of it.

    Parameters
    ----------
    trace : Trace
    window_ns : tuple of int, optional
        Begin and end, in ns from the origin of the trace.
    most : int
        Most rows of each.
    """
    # Counters of foreign files may hold any number: a mean beyond all numbers is shown as such.
    with np.errstate(over="ignore", invalid="ignore"):
        tables = domain_tables(trace, window=window_ns) if window_ns else _whole(trace)
    per_record = trace.meta.cost.per_record_ns if trace.meta.cost is not None else 0.0
    return tuple(_grid(title, result, per_record, most) for title, result in tables.items())


#: The tables of the whole run, which several forms show.
_whole = remembered(domain_tables)


def row_of(trace: Trace, event: int) -> tuple[str, str] | None:
    """Return the title of the table, and the name of the row, that an event counts in.

    None where it counts in none, as points in time do.
    """
    begin, dur = int(trace.events.start_ns[event]), int(trace.events.dur_ns[event])
    for title, result in domain_tables(trace, window=(begin, begin + max(dur, 1))).items():
        for name, rows in zip(result.columns["name"], result.rows, strict=True):
            place = np.searchsorted(rows, event)
            if place < len(rows) and rows[place] == event:
                return title, shorten(name, NAME_CHARS)
    return None


def events_of(trace: Trace, title: str, name: str) -> I64Array:
    """Return the events of the whole run that a row of a table is about, in order of time.

    Parameters
    ----------
    trace : Trace
    title, name : str
        Of the table and of the row, as a `Grid` has them.
    """
    result = _whole(trace).get(title)
    if result is None:
        return np.empty(0, dtype=np.int64)
    named = zip(result.columns["name"], result.rows, strict=True)
    found = [rows for text, rows in named if shorten(text, NAME_CHARS) == name]
    return np.sort(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


def aligned(
    texts: Sequence[str], *, digit: str = FIGURE_SPACE, point: str = POINT_SPACE
) -> list[str]:
    """Return numbers filled up at the end, so that their points stand below one another.

    Parameters
    ----------
    texts : sequence of str
        They are to stand at the right.
    digit, point : str
        Spaces as wide as a digit and a point; plain ones where all characters are equally wide.

    Examples
    --------
    >>> aligned(["171", "0.040", "14.0"], digit="-", point="-")
    ['171----', '0.040', '14.0--']
    """
    tails = [len(text.partition(".")[2]) for text in texts]
    longest = max(tails, default=0)
    return [
        text + (point if longest and not tail else "") + digit * (longest - tail)
        for text, tail in zip(texts, tails, strict=True)
    ]


def _grid(title: str, result: Result, per_record_ns: float, most: int) -> Grid:
    shown = min(len(result), most)
    units = result.columns.get("unit") or (["B"] * len(result) if title == "Memory" else [])
    units = units[:shown]
    columns = [
        _column(key, values[:shown], units)
        for key, values in result.columns.items()
        if key not in HIDDEN or (key == "unit" and len(set(units)) > 1)
    ]
    notes = result.notes
    close = _too_close(result, per_record_ns)
    if close[:shown].any():
        place = next(k for k, column in enumerate(columns) if column.key == "total_ns")
        texts = columns[place].texts
        marked = (f"{'≈ ' if c else ''}{t}" for c, t in zip(close, texts, strict=False))
        columns[place] = _with_texts(columns[place], tuple(marked))
        notes = (*notes, CLOSE)
    if len(result) > shown:
        notes = (*notes, f"The first {shown} of {count(len(result), 'row')}.")
    return Grid(
        title=title,
        columns=tuple(columns),
        total=len(result),
        notes=tuple(notes),
        meanings=_meanings(result, shown),
        linked=any(map(len, result.rows)),
    )


def _with_texts(column: Column, texts: tuple[str, ...]) -> Column:
    return Column(column.name, column.key, column.unit, column.meaning, texts, column.values)


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


def _column(key: str, values: Any, units: list[str]) -> Column:
    """Return a column of a result; ``units`` are those of counters, row by row."""
    name = HEADINGS.get(key, key)
    said = meaning(TERMS.get(name, name))
    if key in ("name", "unit"):
        texts = tuple(shorten(str(text), NAME_CHARS) for text in values)
        return Column(name, key, "", said, texts)
    numbers = [float(number) for number in values]
    exact = tuple(number if math.isfinite(number) else None for number in numbers)
    if key == "count":
        return Column(name, key, "", said, tuple(count(int(n)) for n in numbers), exact)
    if key == "share":
        texts = tuple(share(number).removesuffix(" %") for number in numbers)
        return Column(name, key, "%", said, texts, exact)
    if key.endswith("_ns"):
        unit, factor = scale(numbers, "ns")
        exact = tuple(None if number is None else round(number) for number in exact)
    elif len(set(units)) > 1:  # told in a column of its own
        return Column(name, key, "", said, tuple(map(value, numbers)), exact)
    else:
        unit, factor = scale(numbers, units[0] if units else "")
        key = f"{key}_bytes" if units[:1] == ["B"] else key
    return Column(name, key, unit, said, tuple(scaled(n, factor) for n in numbers), exact)

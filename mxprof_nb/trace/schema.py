"""One declaration per column of a trace: type, unit, null value and meaning.

Validation, frames, files, the documentation and hover labels are all derived from `TABLES`,
so a column that is not declared here does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mxprof_nb.errors import TraceError, close_match

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CATEGORIES",
    "FLOW_KINDS",
    "FRAME_COLUMNS",
    "KINDS",
    "LISTS",
    "ROLES",
    "TABLES",
    "Column",
    "Table",
    "documentation",
]

#: What an event row is: an interval, a point in time, or an interval that may overlap its
#: neighbours on the same track (drawn on sub-lanes of its own).
KINDS = ("span", "instant", "async")

#: What an event is about. Closed, so that colours and analyses can rely on it.
CATEGORIES = (
    "operator",  # work done by an operator
    "api",  # a call into the runtime that returns at once
    "sync",  # the host waits
    "copy",  # data is moved
    "memory",  # memory is taken or given back
    "engine",  # housekeeping of the engine
    "io",  # files and data loading
    "kernel",  # a device kernel
    "user",  # a span or mark of the program itself
    "python",  # interpreted code
    "gc",  # the garbage collector
)

#: What a track stands for, from top to bottom: steps and marks, lines of a cell, threads, ...
ROLES = ("mark", "line", "host", "worker", "copy", "stream", "data", "counter")

#: Why one event precedes another.
FLOW_KINDS = (
    "launch",  # the source queued the target
    "read_after_write",  # the target needed what the source wrote
    "write_after_read",
    "write_after_write",
    "async",  # begin and end of one asynchronous operation
    "program",  # order within the program
)

Coding = Literal["", "string", "kind", "category", "role", "flow_kind"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of one table.

    Attributes
    ----------
    name : str
        Identifier; carries the unit as a suffix (``_ns``, ``_bytes``).
    dtype : str
        NumPy type in the table.
    doc : str
        One sentence; shown on hover and in the documentation.
    unit : str
        Unit in words, empty for plain numbers.
    null : int or None
        Value that stands for "not known" in the table; frames show ``NA``. None: never null.
    coding : str
        How codes turn into text in a frame: ``"string"`` through the string table, the others
        through the closed lists of this module; empty for plain numbers.
    refers_to : str
        Table whose rows the column numbers, empty otherwise.
    """

    name: str
    dtype: str
    doc: str
    unit: str = ""
    null: int | None = None
    coding: Coding = ""
    refers_to: str = ""

    @property
    def frame_dtype(self) -> str:
        """Type of the column in a pandas frame."""
        if self.coding:
            return "category"
        kind = {"i": "int", "f": "float"}[self.dtype[0]] + str(8 * int(self.dtype[1:]))
        return kind.capitalize() if self.null is not None else kind


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of one table, in order."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """Return the column called ``name``.

        Raises
        ------
        KeyError
            No such column; the message lists those that exist.
        """
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.columns)
        raise KeyError(f"Table {self.name!r} has no column {name!r}; it has {known}.")


def _string(name: str, doc: str, *, null: int | None = None) -> Column:
    return Column(name, "i4", doc, null=null, coding="string")


EVENTS = Table(
    "events",
    "One row per interval or point in time, sorted by start, the longer first on ties.",
    (
        Column("start_ns", "i8", "Begin, counted from the origin of the trace.", "ns"),
        Column("dur_ns", "i8", "Duration; 0 for instants.", "ns"),
        Column("kind", "i1", "Interval, point in time, or free interval.", coding="kind"),
        _string("name", "What ran, by the name its producer gave it."),
        Column("category", "i1", "What it is about.", coding="category"),
        _string("domain", "Family of names its producer put it in, e.g. MXNET_C_API."),
        Column("track", "i4", "What it ran on.", refers_to="tracks"),
        Column("parent", "i4", "The event around it.", null=-1, refers_to="events"),
        Column("correlation", "i8", "Ties call, queue entry and execution together.", null=-1),
        Column("step", "i4", "Number of the training step or repetition.", null=-1),
        Column("queued_ns", "i8", "When it was queued, counted from the origin.", "ns", null=-1),
        Column(
            "site",
            "i4",
            "The line it came from.",
            null=-1,
            refers_to="sites",
        ),
        Column("arg", "i4", "Its details.", null=-1, refers_to="args"),
        Column("earlier", "i1", "1 if it was queued before the profile began.", null=-1),
    ),
)

TRACKS = Table(
    "tracks",
    "One row per thread, worker, stream or counter owner.",
    (
        _string("process", "Process it belongs to."),
        _string("thread", "Thread, worker or stream within the process."),
        _string("device", "Device it works on, e.g. cpu/0.", null=-1),
        _string("backend", "Runtime that recorded it.", null=-1),
        Column("rank", "i4", "Rank within a distributed run.", null=-1),
        Column("role", "i1", "What it stands for.", coding="role"),
        _string("name", "Short name shown beside the row."),
        Column("order", "i4", "Position from the top."),
        _string("pid_text", "Process id as its producer wrote it.", null=-1),
        _string("tid_text", "Thread id as its producer wrote it.", null=-1),
    ),
)

FLOWS = Table(
    "flows",
    "One row per known reason why one event precedes another.",
    (
        Column("source", "i4", "Event that comes first.", refers_to="events"),
        Column("target", "i4", "Event that follows from it.", refers_to="events"),
        Column("kind", "i1", "Why.", coding="flow_kind"),
    ),
)

COUNTERS = Table(
    "counters",
    "One row per sample of a counter, sorted by time.",
    (
        Column("time_ns", "i8", "When, counted from the origin.", "ns"),
        Column("track", "i4", "What it belongs to.", refers_to="tracks"),
        _string("name", "Counter."),
        Column("value", "f8", "Value from this moment on."),
        _string("unit", "Unit of the value.", null=-1),
    ),
)

SITES = Table(
    "sites",
    "One row per line of source code that events came from.",
    (
        _string("file", "File, or the name of the notebook cell."),
        Column("line", "i4", "Line in it, from 1."),
        _string("function", "Function around the line."),
        _string("text", "The line itself.", null=-1),
    ),
)

ARGS = Table(
    "args",
    "One row per event that carries details.",
    (
        Column("bytes", "i8", "Bytes written, moved or taken.", "B", null=-1),
        Column("flops", "i8", "Floating point operations.", null=-1),
        _string("shapes", "Shapes of inputs and outputs.", null=-1),
        _string("dtype", "Type of the elements.", null=-1),
        _string("raw", "All further details, one JSON text.", null=-1),
    ),
)

TABLES: dict[str, Table] = {t.name: t for t in (EVENTS, TRACKS, FLOWS, COUNTERS, SITES, ARGS)}

LISTS: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "category": CATEGORIES,
    "role": ROLES,
    "flow_kind": FLOW_KINDS,
}


#: Columns that frames have beside those of their tables, with type and meaning, so that nobody
#: needs a join to read them.
FRAME_COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "events": {
        "track_name": ("category", "Name of the track it ran on."),
        "line": ("Int64", "Line of the program it came from."),
    },
    "counters": {"track_name": ("category", "Name of the track it belongs to.")},
}


def documentation(table: str | None = None) -> pd.DataFrame:
    """Return what every column of every frame means, one row per column.

    Parameters
    ----------
    table : {"events", "tracks", "flows", "counters", "sites", "args"}, optional
        Only the columns of this one.

    Returns
    -------
    pandas.DataFrame
        =========  ====  =============================================================
        table      str   which frame the column stands in
        column     str   its name
        dtype      str   its type in the frame
        unit       str   unit of its values, "" for plain numbers and texts
        nullable   bool  whether it may hold ``NA``, which means "not known"
        values     str   all values that it may have, "" where they are open
        refers_to  str   the table whose rows it numbers, "" otherwise
        doc        str   what it means
        =========  ====  =============================================================

    Raises
    ------
    TraceError
        There is no such table; the message lists those there are.
    """
    import pandas as pd

    if table is not None and table not in TABLES:
        raise TraceError(
            f"There is no table {table!r}.{close_match(str(table), TABLES)} "
            f"Tables are {', '.join(TABLES)}."
        )
    rows = []
    for spec in TABLES.values() if table is None else [TABLES[table]]:
        rows += [
            (
                spec.name,
                column.name,
                column.frame_dtype,
                column.unit,
                column.null is not None,
                ", ".join(LISTS.get(column.coding, ())),
                column.refers_to,
                column.doc,
            )
            for column in spec.columns
        ]
        rows += [
            (spec.name, name, dtype, "", name == "line", "", "", doc)
            for name, (dtype, doc) in FRAME_COLUMNS.get(spec.name, {}).items()
        ]
    names = ["table", "column", "dtype", "unit", "nullable", "values", "refers_to", "doc"]
    return pd.DataFrame(rows, columns=names)

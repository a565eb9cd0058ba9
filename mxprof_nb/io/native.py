"""The native format, ``.mxprof``: everything a trace holds, exactly, and quick to read.

A zip file of

- ``mxprof.json``, the first entry: format, version, facts and health (`mxprof_nb.io.facts`),
- one Parquet file per table of `mxprof_nb.schema`, columns as they stand in memory,
- ``strings.parquet``: the texts that columns number, each once.

The version is ``[major, minor]``. A minor version adds columns that may be unknown, or facts:
older releases leave them out and say so in the health; files that lack them are read. A reader
refuses a major version above its own. Needs the extra ``formats``.

Nothing is unpacked to disk, no name in the file is ever opened, and nothing in it is code. What
the entries say of their size is checked before they are read (`Limits`); what they hold, before
it becomes a `Trace`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.errors import (
    CorruptTraceError,
    LimitExceededError,
    ReadError,
    SchemaError,
    UnsupportedVersionError,
)
from mxprof_nb.io import arrow, facts
from mxprof_nb.io.archives import DAMAGE
from mxprof_nb.io.limits import Limits
from mxprof_nb.trace import Strings, Trace, schema
from mxprof_nb.trace.tables import (
    ArgTable,
    CounterTable,
    EventTable,
    FlowTable,
    SiteTable,
    TableBase,
    TrackTable,
    frozen,
)

__all__ = ["VERSION", "needs", "read", "sniff", "suffixes", "write"]

suffixes = (".mxprof",)
#: Packages without which nothing can be read or written.
needs = arrow.NEEDS

FORMAT = "mxprof"
VERSION = (1, 0)
_ABOUT = "mxprof.json"
_STRINGS = "strings.parquet"
_TABLES: tuple[type[TableBase], ...] = (
    EventTable,
    TrackTable,
    FlowTable,
    CounterTable,
    SiteTable,
    ArgTable,
)
#: Columns whose values mostly grow: their differences take fewer bytes.
_GROWING = ("start_ns", "time_ns")
#: Columns of many equal values.
_FEW = ("kind", "name", "category", "domain", "track", "step", "site", "earlier", "arg", "unit",
        "correlation")  # fmt: skip
_REMEDY = "The file was cut off or changed; copy it again, or save the profile again."
#: No time stamp of the day: equal traces give equal files.
_DATE = (1980, 1, 1, 0, 0, 0)


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is in this format, 0 to 1."""
    return 1.0 if head.startswith(b"PK\x03\x04") and head[30:].startswith(_ABOUT.encode()) else 0.0


def write(trace: Trace, file: IO[bytes]) -> None:
    """Write a trace.

    Parameters
    ----------
    trace : Trace
    file : binary file object

    Raises
    ------
    MissingPackageError
        pyarrow is not installed.
    """
    pa = arrow.library()
    texts, codes = _distinct(trace.strings)
    about = {"format": FORMAT, "version": VERSION, **facts.packed(trace.meta, trace.health)}
    with zipfile.ZipFile(file, "w") as archive:
        text = json.dumps(about, ensure_ascii=False, allow_nan=False, indent=1)
        archive.writestr(_entry(_ABOUT, zipfile.ZIP_DEFLATED), text.encode())
        for kind in _TABLES:
            table: TableBase = getattr(trace, kind.spec.name)
            columns = {
                column.name: pa.array(codes[values] if column.coding == "string" else values)
                for column, values in table.columns()
            }
            with archive.open(_entry(f"{kind.spec.name}.parquet"), "w", force_zip64=True) as entry:
                arrow.write_table(
                    pa.table(columns),
                    entry,
                    growing=[name for name in columns if name in _GROWING],
                    dictionary=[name for name in columns if name in _FEW],
                    compression="lz4",  # twice as quick to read as zstd, a third larger
                )
        with archive.open(_entry(_STRINGS), "w", force_zip64=True) as entry:
            arrow.write_table(pa.table({"text": _texts(texts)}), entry)


def _entry(name: str, method: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = method  # Parquet is compressed already
    return entry


def _distinct(strings: Strings) -> tuple[Sequence[str], NDArray[np.int32]]:
    """Return the texts, each once, and the new code of each, that of -1 at the end."""
    if strings.all_differ:
        return strings, np.append(np.arange(len(strings)), -1).astype(np.int32)
    known: dict[str, int] = {}
    codes = [known.setdefault(text, len(known)) for text in strings]
    return list(known), np.array([*codes, -1], dtype=np.int32)


def _texts(strings: Sequence[str]) -> Any:
    """Return texts as an Arrow array: of bytes where one holds half of a surrogate pair."""
    pa = arrow.library()
    try:
        return pa.array(strings, pa.string())
    except (UnicodeEncodeError, pa.ArrowException):
        return pa.array([text.encode("utf-8", "surrogatepass") for text in strings], pa.binary())


def read(content: bytes, *, path: str = "<bytes>", limits: Limits | None = None) -> Trace:
    """Read a trace.

    Parameters
    ----------
    content : bytes
    path : str
        For messages.
    limits : Limits, optional
        How much memory it may ask for.

    Returns
    -------
    Trace
        Exactly what was written.

    Raises
    ------
    UnsupportedVersionError
        A later release of mxprof_nb wrote it.
    CorruptTraceError
        It was cut off or changed, or is no such file.
    LimitExceededError
        It would take more memory than is allowed.
    MissingPackageError
        pyarrow is not installed.
    """
    limits = limits or Limits()
    with _errors(path), zipfile.ZipFile(io.BytesIO(content)) as archive:
        reading = _Reading(archive, path, limits)
        meta, health = reading.facts()
        strings = reading.strings()
        tables = {kind.spec.name: reading.table(kind, len(strings)) for kind in _TABLES}
    _check(tables, path)
    for name, extra in reading.unknown.items():
        health = health.with_note(
            "unknown_columns",
            len(extra),
            f"A later release wrote columns of {name} that this one does not know: "
            f"{', '.join(extra)}. They are left out.",
        )
    return Trace(**tables, strings=strings, meta=meta, health=health)


class _Reading:
    """One file, entry by entry."""

    def __init__(self, archive: zipfile.ZipFile, path: str, limits: Limits) -> None:
        self.path = path
        self.limits = limits
        self.unpacked = 0
        self.archive = archive
        self.unknown: dict[str, list[str]] = {}
        self.entries = {entry.filename: entry for entry in archive.infolist()}
        if len(self.entries) < len(archive.infolist()):
            raise self.broken("", "two entries have the same name.")

    def broken(self, place: str, problem: str) -> ReadError:
        return CorruptTraceError.at(self.path, place, problem, _REMEDY)

    def content(self, name: str) -> bytes:
        """Return one entry, whose size and packing are found in order first."""
        entry = self.entries.get(name)
        if entry is None:
            raise self.broken("", f"there is no entry {name!r} in it.")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self.broken(f"entry {name!r}", "it is packed in a way that is never used here.")
        self.unpacked += entry.file_size
        place = f"entry {name!r}"
        self.limits.check_unpacked(entry.file_size, entry.compress_size, self.path, place)
        self.limits.check("total_bytes", self.unpacked, self.path, place)
        return self.archive.read(entry)

    def facts(self) -> Any:
        """Return facts and health, after a look at the version."""
        place = f"entry {_ABOUT!r}"
        try:
            told = json.loads(self.content(_ABOUT))
            kind, (major, minor) = told["format"], told["version"]
            if kind != FORMAT or type(major) is not int or type(minor) is not int:
                raise ValueError(f"format {kind!r}, version {told['version']!r}")
            if major > VERSION[0]:
                raise UnsupportedVersionError.at(
                    self.path,
                    place,
                    f"it is in version {major}.{minor}, and this release reads up to {VERSION[0]}.",
                    "Update mxprof-nb, or save the trace as .json where it was recorded.",
                )
            return facts.restored(told)
        except (UnsupportedVersionError, CorruptTraceError, LimitExceededError):
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as cause:
            reason = f"{type(cause).__name__}: {cause}"[:200]
            raise self.broken(place, f"it does not hold what stands there ({reason}).") from cause

    def strings(self) -> Strings:
        """Return the texts."""
        place = f"entry {_STRINGS!r}"
        content = self.content(_STRINGS)
        file = arrow.opened(content, self.path, place, texts=["text"], limits=self.limits)
        if file.schema_arrow.names != ["text"]:
            raise self.broken(place, f"it has the columns {file.schema_arrow.names}, not 'text'.")
        try:
            strings = Strings(arrow.texts_of(file, "text", self.path, place))
        except UnicodeDecodeError as cause:
            raise self.broken(place, f"a text in it is damaged ({cause}).") from cause
        if len(set(strings)) < len(strings):
            raise self.broken(place, "a text stands there twice.")
        return strings

    def table(self, kind: type[TableBase], texts: int) -> Any:
        """Return one table, whose values all lie where they may."""
        name = kind.spec.name
        place = f"entry '{name}.parquet'"
        content = self.content(f"{name}.parquet")
        file = arrow.opened(content, self.path, place, limits=self.limits)
        there = file.schema_arrow.names
        known = {column.name: column for column in kind.spec.columns}
        if extra := [column for column in there if column not in known]:
            self.unknown[name] = extra
        lacking = [c.name for c in known.values() if c.name not in there and c.null is None]
        if lacking:
            raise self.broken(place, f"it lacks {', '.join(lacking)}.")
        wanted = {name: column.dtype for name, column in known.items() if name in there}
        columns = arrow.arrays(
            arrow.read_columns(file, list(wanted), self.path, place), wanted, self.path, place
        )
        for column_name, values in columns.items():
            column = known[column_name]
            if column.coding:
                length = texts if column.coding == "string" else len(schema.LISTS[column.coding])
                least = 0 if column.null is None else -1
                self._within(values, least, length, f"{place}, column {column_name!r}")
        # Tables take arrays that own their memory as they are.
        owned = {name: frozen(_owned(values)) for name, values in columns.items()}
        rows = file.metadata.num_rows
        for column in known.values():
            if column.name not in owned:
                owned[column.name] = frozen(np.full(rows, column.null, column.dtype))
        try:
            return kind.of(owned)
        except SchemaError as cause:
            raise self.broken(place, str(cause)) from cause

    def _within(self, values: NDArray[Any], least: int, length: int, place: str) -> None:
        if len(values) and (values.min() < least or values.max() >= length):
            raise self.broken(place, "a code in it stands for nothing.")


def _owned(values: NDArray[Any]) -> NDArray[Any]:
    return values if values.flags.owndata else values.copy()


def _check(tables: Mapping[str, Any], path: str) -> None:
    """See to it that rows lead to rows, and that events and samples are in order of time."""

    def broken(table: str, column: str, wrong: NDArray[np.bool_], rule: str) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            raise CorruptTraceError.at(
                path, f"{table}, row {row}, column {column!r}", f"{rule}.", _REMEDY
            )

    for name, table in tables.items():
        for column, values in table.columns():
            if column.refers_to:
                length = len(tables[column.refers_to])
                least = 0 if column.null is None else -1
                wrong = (values < least) | (values >= length)
                broken(name, column.name, wrong, f"it must be a row of {column.refers_to}")
    events, counters = tables["events"], tables["counters"]
    start, end = events.start_ns, events.end_ns
    instant = events.kind == schema.KINDS.index("instant")
    broken("events", "dur_ns", events.dur_ns < 0, "a duration is 0 or more")
    broken("events", "dur_ns", instant & (events.dur_ns > 0), "an instant has none")
    broken("events", "dur_ns", end < start, "the end is beyond all time")
    later = (start[1:] < start[:-1]) | ((start[1:] == start[:-1]) & (end[1:] > end[:-1]))
    broken("events", "start_ns", later, "the next one begins before it")
    broken("events", "parent", events.parent >= np.arange(len(start)), "a parent comes first")
    broken(
        "counters",
        "time_ns",
        counters.time_ns[1:] < counters.time_ns[:-1],
        "the next one comes before it",
    )


@contextmanager
def _errors(path: str) -> Iterator[None]:
    """Turn what a damaged zip file raises into an error that says so."""
    try:
        yield
    except ReadError:
        raise
    except (*DAMAGE, NotImplementedError) as cause:
        raise CorruptTraceError.at(path, "", f"it is damaged ({cause}).", _REMEDY) from cause
    except RuntimeError as cause:
        if type(cause) is not RuntimeError:
            raise
        raise CorruptTraceError.at(path, "", f"it is encrypted ({cause}).", _REMEDY) from cause

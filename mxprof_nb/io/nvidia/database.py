"""`Database`: an SQLite file of unknown origin, read in columns and never trusted.

- Nothing is written, attached or loaded: the connection is read-only, an authorizer refuses
  whatever is not a plain read of a plain table, and views and virtual tables are left out, so
  that no SQL of the file's own runs.
- Work is bounded: rows by the limits and by what a file of its size can hold, texts by length,
  and all of it by time, which ends a statement in the middle.
- Cells of another type than wanted are told as a fault and read as not known.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.errors import CorruptTraceError, LimitExceededError
from mxprof_nb.io.limits import Limits

__all__ = ["MAGIC", "UNKNOWN", "Database", "opened_database"]

MAGIC = b"SQLite format 3\0"
#: Stands for NULL, and for what is no whole number.
UNKNOWN = -(2**63)
#: Longer names are cut: nobody reads them, and a file may hold one of its own size.
_TEXT_LENGTH = 1 << 16
#: A row takes at least this much of a page.
_ROW_BYTES = 5
_BLOCK = 1 << 16
#: How long reading may take: so long, and a second for so many bytes more.
_SECONDS, _BYTES_PER_SECOND = 30, 1 << 20
_OPERATIONS_PER_LOOK = 50_000
_FUNCTIONS = {"coalesce", "count", "substr"}
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}
#: What the library raises; the second when its own message quotes bytes that are no UTF-8.
_FAULTS = (sqlite3.Error, UnicodeDecodeError)
_REMEDY = "Export it again from the report of the profiler, or copy it again from where it came."


@contextmanager
def opened_database(
    content: bytes | None, *, path: str, file: str | None = None, limits: Limits | None = None
) -> Iterator[Database]:
    """Open a database for reading, and close it in the end.

    Parameters
    ----------
    content : bytes or None
        The whole file; None to read ``file`` where it lies.
    path : str
        Its name, for messages.
    file : str, optional
        Path of the file that holds it.
    limits : Limits, optional

    Raises
    ------
    CorruptTraceError
        It is no SQLite database, or a damaged one.
    LimitExceededError
        It asks for more rows or time than allowed.
    """
    connection = None
    try:
        if content is None:
            where = Path(file or path).absolute()
            # Immutable: nobody is asked for a lock, and no file is made beside it.
            connection = sqlite3.connect(
                f"{where.as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None
            )
            size = where.stat().st_size
        else:
            connection = sqlite3.connect(":memory:", isolation_level=None)
            connection.deserialize(_without_log(content))
            size = len(content)
        database = Database(connection, path, size, limits or Limits())
        if content is None and _has_log(where):
            database.faults.append(
                (
                    "log",
                    1,
                    "The write-ahead log beside the file was not read; its changes lack here.",
                )
            )
        yield database
    except _FAULTS as cause:
        raise CorruptTraceError.at(
            path, "SQLite database", f"it cannot be read ({cause}).", _REMEDY
        ) from cause
    finally:
        if connection is not None:
            connection.close()


def _has_log(file: Path) -> bool:
    """Return whether changes wait beside a file that were not written to it."""
    log = file.with_name(f"{file.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _without_log(content: bytes) -> bytes:
    """Return a database that was written with a write-ahead log as one without.

    The log is a file of its own; in memory there is none, and SQLite would refuse to read.
    """
    if content[18:20] == b"\x02\x02":
        return content[:18] + b"\x01\x01" + content[20:]
    return content


class Database:
    """The plain tables of one file.

    Attributes
    ----------
    path : str
        For messages.
    tables : dict of str to tuple of str
        Columns of each table.
    faults : list of tuple
        What was found wrong: code, count, sentence; for the health of the trace.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: str, size: int, limits: Limits
    ) -> None:
        self.path, self.limits = path, limits
        self.faults: list[tuple[str, int, str]] = []
        self._connection = connection
        self._most_rows = size // _ROW_BYTES + 1
        self._deadline = time.monotonic() + _SECONDS + size / _BYTES_PER_SECOND
        self._is_late = False
        self._texts: dict[tuple[str, str, str], dict[int, str]] = {}
        connection.text_factory = lambda text: text.decode("utf-8", "replace")[:_TEXT_LENGTH]
        for setting in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
            connection.execute(f"PRAGMA {setting}")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(size, 1 << 20), 1 << 30))
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(self._look_at_clock, _OPERATIONS_PER_LOOK)
        self.tables = self._tables()
        connection.set_authorizer(_authorize)

    def _look_at_clock(self) -> int:
        self._is_late = self._is_late or time.monotonic() > self._deadline
        return int(self._is_late)

    def _tables(self) -> dict[str, tuple[str, ...]]:
        tables: dict[str, tuple[str, ...]] = {}
        for name, kind, sql in self._rows(
            "SELECT name, type, substr(sql, 1, 60) FROM sqlite_master"
        ):
            if kind == "view":
                self.faults.append(
                    ("view", 1, f"{_shown(name)} is no table but a view, which is not read.")
                )
            if kind != "table" or not isinstance(name, str) or not isinstance(sql, str):
                continue
            if " ".join(sql.upper().split()[:2]) != "CREATE TABLE" or name.startswith("sqlite_"):
                continue
            described = self._rows(f"PRAGMA table_info({_quoted(name)})")
            if described:  # none when the name cannot be told in UTF-8
                tables[name] = tuple(str(row[1]) for row in described)
        return tables

    def __contains__(self, table: str) -> bool:
        return table in self.tables

    def lacks(self, table: str, *columns: str) -> tuple[str, ...]:
        """Return those of some columns that a table does not have."""
        return tuple(name for name in columns if name not in self.tables[table])

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        # Not count(*): that runs through the pages of a hostile file without asking the clock.
        ask = f"SELECT count(1) FROM (SELECT 1 FROM {_quoted(table)} LIMIT {self._most_rows})"
        return int(self._rows(ask)[0][0])

    def integers(self, table: str, *columns: str) -> dict[str, I64Array]:
        """Read columns of whole numbers.

        Returns
        -------
        dict of str to ndarray of int64, shape (rows,)
            In the order of the rows. What a table does not have, NULL, and cells of other types
            are `UNKNOWN`; the last are told in `faults`.
        """
        found = [name for name in columns if name in self.tables[table]]
        if not found:
            rows = self.count(table)
            return {name: np.full(rows, UNKNOWN) for name in columns}
        asked = ", ".join(f"coalesce({_quoted(name)}, {UNKNOWN + 1} - 1)" for name in found)
        blocks, odd = [], 0
        for block in self._blocks(f"SELECT {asked} FROM {_quoted(table)} NOT INDEXED", table):
            try:
                cells = np.fromiter(
                    chain.from_iterable(block), np.int64, len(block) * len(found)
                ).reshape(-1, len(found))
            except (TypeError, ValueError, OverflowError):
                cells, wrong = _checked(block)
                odd += wrong
            blocks.append(cells)
        if odd:
            told = "1 cell" if odd == 1 else f"{odd:,} cells"
            self.faults.append(
                ("wrong_type", odd, f"{told} of table {table} held no whole number; left empty.")
            )
        every = np.concatenate(blocks) if blocks else np.empty((0, len(found)), np.int64)
        read = {name: np.ascontiguousarray(every[:, at]) for at, name in enumerate(found)}
        absent = np.full(len(every), UNKNOWN)
        return {name: read.get(name, absent) for name in columns}

    def cells(self, table: str, *columns: str | Sequence[str]) -> list[tuple[Any, ...]]:
        """Read columns of any type, row by row.

        Parameters
        ----------
        table : str
        *columns : str or sequence of str
            One column, or several of which the first that is not NULL counts; None where the
            table has none of them. Texts are cut at 65,536 characters.
        """
        asked = []
        for column in columns:
            names = [column] if isinstance(column, str) else list(column)
            found = [_quoted(name) for name in names if name in self.tables[table]]
            value = "NULL" if not found else found[0]
            if len(found) > 1:
                value = f"coalesce({', '.join(found)})"
            asked.append(value)
        statement = f"SELECT {', '.join(asked)} FROM {_quoted(table)} NOT INDEXED"
        return [row for block in self._blocks(statement, table) for row in block]

    def texts(self, table: str, key: str, value: str) -> dict[int, str]:
        """Read a table of texts by number, once."""
        if (table, key, value) in self._texts:
            return self._texts[table, key, value]
        found = self._texts[table, key, value] = {}
        if table not in self.tables or self.lacks(table, key, value):
            return found
        for number, text in self.cells(table, key, value):
            if isinstance(number, int) and isinstance(text, str):
                found.setdefault(number, text)
        return found

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self._timed():
            return self._connection.execute(statement).fetchall()

    def _blocks(self, statement: str, table: str) -> Iterator[list[tuple[Any, ...]]]:
        rows = 0
        with self._timed():
            cursor = self._connection.execute(statement)
        while True:
            with self._timed():
                block = cursor.fetchmany(_BLOCK)
            if not block:
                return
            rows += len(block)
            self.limits.check("rows", rows, self.path, f"table {table}")
            if rows > self._most_rows:
                raise CorruptTraceError.at(
                    self.path,
                    f"table {table}",
                    "its pages lead round in circles: it has more rows than fit the file.",
                    _REMEDY,
                )
            yield block

    @contextmanager
    def _timed(self) -> Iterator[None]:
        try:
            yield
        except MemoryError as cause:
            raise CorruptTraceError.at(
                self.path,
                "SQLite database",
                "the library asks for more memory than there is, as it does for a cell whose "
                "length is damaged.",
                _REMEDY,
            ) from cause
        except _FAULTS as cause:
            if not self._is_late:
                raise
            raise LimitExceededError.at(
                self.path,
                "SQLite database",
                "reading it takes far longer than a file of its size may take.",
                "It may be damaged or made to keep its reader busy; export it again.",
            ) from cause


def _authorize(action: int, name: str | None, what: str | None, *of: str | None) -> int:
    """Allow reading plain tables, nothing else; ``of`` is database and view or trigger."""
    if action not in _ALLOWED or of[-1] is not None:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and what not in _FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shown(name: object) -> str:
    return str(name)[:60]


def _checked(block: Sequence[Sequence[Any]]) -> tuple[I64Array, int]:
    """Return the whole numbers of some rows, `UNKNOWN` for what is none, and how many are not."""
    cells = np.full((len(block), len(block[0])), UNKNOWN)
    wrong = 0
    for row, values in enumerate(block):
        for at, value in enumerate(values):
            if isinstance(value, int):
                cells[row, at] = value
            elif isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
                cells[row, at] = int(value)
            else:
                wrong += 1
    return cells, wrong

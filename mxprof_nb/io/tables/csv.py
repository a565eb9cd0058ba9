"""CSV: a table of events for spreadsheets, and out of them.

Written: UTF-8, commas, one row per event, the columns of `mxprof_nb.io.tables.flat`; ``.gz``
compresses. A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break, after any
apostrophes, gets one more apostrophe before it: to a spreadsheet it is a text then and no
formula. Reading takes it away again. Lost besides what `flat` says: empty texts are unknown
ones, details that several events share stand with each, and halves of surrogate pairs become
U+FFFD.

Read: any table of events with a row of names at its top. Comma, semicolon, tab or bar between
fields; decimal commas where no commas are between fields; UTF-8 or UTF-16 with byte order mark,
UTF-8 or Windows-1252 without; quotes, line breaks in quotes, rows too short or too long.
"""

from __future__ import annotations

import csv
import io
import re
import threading
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

from mxprof_nb.errors import CorruptTraceError
from mxprof_nb.io.chrome.events import collector_off
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.tables.flat import FlatColumn, flat
from mxprof_nb.io.tables.frame import read_frame
from mxprof_nb.io.tables.mapping import ColumnMap, looks_like_events
from mxprof_nb.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read", "sniff", "suffixes", "write"]

suffixes = (".csv", ".csv.gz")

#: How a file of ours begins.
_OURS = "name,category,domain,kind,start_ns,dur_ns,track,track_name"
#: What a spreadsheet would run; an apostrophe before it makes it a text.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r\n]")
_DELIMITERS = ",;\t|"
#: Other programs may leave out the end of the last line; `write` does not.
_CUT = (
    "The last line does not end: the file was cut off, so rows are missing and the last one may "
    "be wrong. Copy it again from where it came."
)
#: Rows made into text at a time.
_BLOCK = 50_000
#: Columns, at most.
_MOST_COLUMNS = 10_000
#: The longest field is a setting of the whole process.
_FIELD_SIZE = threading.Lock()


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is a table of events, 0 to 1."""
    text = _decoded(head[:8192])
    if text.startswith(_OURS):
        return 1.0
    line = text.lstrip("\r\n").partition("\n")[0]
    if not line or "\0" in line:
        return 0.0
    try:
        names = next(csv.reader([line.rstrip("\r")], delimiter=_delimiter(line)), [])
    except csv.Error:
        return 0.0
    sure = looks_like_events(names)
    if not sure and path.lower().endswith((".csv", ".tsv")) and len(names) > 1:
        return 0.1  # with the columns named, it may be one
    return sure


def write(trace: Trace, file: IO[bytes]) -> None:
    """Write the events of a trace.

    Parameters
    ----------
    trace : Trace
    file : binary file object
    """
    columns = flat(trace)
    texts = [_texts(column) for column in columns]
    file.write((",".join(column.name for column in columns) + "\r\n").encode())
    for first in range(0, len(trace.events), _BLOCK):
        rows = slice(first, first + _BLOCK)
        block = io.StringIO(newline="")
        told = [_told(column, known, rows) for column, known in zip(columns, texts, strict=True)]
        csv.writer(block).writerows(zip(*told, strict=True))
        file.write(block.getvalue().encode("utf-8"))


def _texts(column: FlatColumn) -> list[str] | None:
    """Return the texts of a column as no spreadsheet takes them for formulas."""
    if column.texts is None:
        return None
    return [_safe(text) for text in column.texts]


def _safe(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return f"'{text}" if _FORMULA.match(text) else text


def _told(column: FlatColumn, texts: list[str] | None, rows: slice) -> list[str]:
    values, null = column.values[rows].tolist(), column.null[rows].tolist()
    told = list(map(str if texts is None else texts.__getitem__, values))
    for place, lacks in enumerate(null):
        if lacks:
            told[place] = ""
    return told


def read(
    content: bytes,
    *,
    path: str = "<bytes>",
    limits: Limits | None = None,
    columns: ColumnMap | None = None,
) -> Trace:
    """Read a table of events.

    Parameters
    ----------
    content : bytes
    path : str
        For messages.
    limits : Limits, optional
    columns : Mapping, optional
        Which column is what, see `mxprof_nb.io.tables.frame.read_frame`.

    Returns
    -------
    Trace
        Of a file of ours the events that were written; see the top of this module.

    Raises
    ------
    UnknownFormatError
        It is not clear which column is what; lists the columns.
    CorruptTraceError
        It is no CSV, or no row of it can be read.
    LimitExceededError
        It has more rows, or longer fields, than are allowed.
    """
    limits = limits or Limits()
    text = _decoded(content)
    head = text.lstrip("\r\n").partition("\n")[0]
    delimiter = _delimiter(head)
    with collector_off():  # it would look at every row again and again
        frame, notes = _frame(text, delimiter, path, limits, ours=head.startswith(_OURS))
        trace = read_frame(frame, path=path, columns=columns, comma=delimiter != ",")
    if head.startswith(_OURS) and not text.endswith("\n"):
        notes.append(("cut", 1, _CUT))
    if not notes:
        return trace
    from dataclasses import replace

    health = trace.health
    for code, count, message in notes:
        health = health.with_note(code, count, message)
    return replace(trace, health=health)


def _decoded(content: bytes) -> str:
    """Return the text, whatever its encoding says of itself."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        if cause.end >= len(content) - 3 and cause.reason.startswith("unexpected end"):
            return content.decode("utf-8-sig", "ignore")  # cut in the middle of a character
        return content.decode("cp1252", "replace")


def _delimiter(line: str) -> str:
    """Return what stands most often between the names, outside quotes."""
    plain = re.sub(r'"[^"]*"', "", line)
    return max(_DELIMITERS, key=plain.count)


def _frame(
    text: str, delimiter: str, path: str, limits: Limits, *, ours: bool
) -> tuple[pd.DataFrame, list[tuple[str, int, str]]]:
    """Return the fields as texts, None for empty ones, and what was repaired."""
    import pandas as pd

    names: list[str] = []
    rows: list[list[str]] = []
    ragged = {"short": [0, 0], "long": [0, 0]}
    for number, row in _rows(text, delimiter, path, limits):
        if not names:
            names = [name.strip() for name in row]
            limits.check("string_bytes", len(names) * (limits.string_bytes // _MOST_COLUMNS), path)
        elif row:
            if len(row) != len(names):
                kind = ragged["short" if len(row) < len(names) else "long"]
                kind[0] += 1
                kind[1] = kind[1] or number
                row = (row + [""] * (len(names) - len(row)))[: len(names)]
            rows.append(row)
            if not len(rows) % 10_000:
                limits.check("rows", len(rows), path)
    limits.check("rows", len(rows), path)
    told = {
        "short": "fewer fields than there are names, the last ones taken as empty",
        "long": "more fields than there are names, those beyond left out",
    }
    notes = [
        (f"{kind}_rows", count, f"Rows with {told[kind]}: {count:,}, the first in line {line}.")
        for kind, (count, line) in ragged.items()
        if count
    ]
    values = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    data = {place: _fields(column, ours) for place, column in enumerate(values)}
    frame = pd.DataFrame(data, columns=range(len(names)), dtype=object)
    frame.columns = pd.Index(names, dtype=object)
    return frame, notes


def _fields(texts: Sequence[str], ours: bool) -> list[str | None]:
    """Return the texts of a column, None for empty ones, without the apostrophes of ours."""
    if ours and any(text[:1] == "'" for text in texts):
        texts = [text[1:] if _ESCAPED.match(text) else text for text in texts]
    return [text or None for text in texts]


def _rows(text: str, delimiter: str, path: str, limits: Limits) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line and the fields of every row."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    with _FIELD_SIZE:
        before = csv.field_size_limit(min(limits.string_bytes, 2**31 - 1))
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as cause:
            if "field larger" in str(cause):
                limits.check("string_bytes", limits.string_bytes + 1, path)
            raise CorruptTraceError.at(
                path,
                f"line {reader.line_num}",
                f"it is no CSV ({cause}).",
                "Export the table again, or look at that line for a quote that is never closed.",
            ) from cause
        finally:
            csv.field_size_limit(before)

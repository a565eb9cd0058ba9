"""Parquet: a table of events, alone, for pandas, DuckDB, Spark and others.

Written: the columns of `mxprof_nb.io.tables.flat`, texts as dictionaries, times as whole
nanoseconds. Lost besides what `flat` says: details that several events share stand with each,
and halves of surrogate pairs become U+FFFD. Needs the extra ``formats``.
"""

from __future__ import annotations

from typing import IO

import numpy as np

from mxprof_nb.io import arrow
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.tables.flat import FlatColumn, flat
from mxprof_nb.io.tables.frame import read_frame
from mxprof_nb.io.tables.mapping import ColumnMap
from mxprof_nb.trace import Trace

__all__ = ["needs", "read", "sniff", "suffixes", "write"]

suffixes = (".parquet",)
needs = arrow.NEEDS


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is Parquet, 0 to 1."""
    return 1.0 if head.startswith(b"PAR1") else 0.0


def write(trace: Trace, file: IO[bytes]) -> None:
    """Write the events of a trace.

    Raises
    ------
    MissingPackageError
        pyarrow is not installed.
    """
    pyarrow = arrow.library()
    columns = flat(trace)
    arrow.write_table(
        pyarrow.table({column.name: _array(column) for column in columns}),
        file,
        growing=["start_ns"],
        dictionary=[column.name for column in columns if column.texts is not None],
    )


def _array(column: FlatColumn) -> object:
    pyarrow = arrow.library()
    if column.texts is None:
        return pyarrow.array(column.values, mask=column.null)
    plain = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
             for text in column.texts]  # fmt: skip
    codes = pyarrow.array(column.values.astype(np.int32), mask=column.null)
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(plain, pyarrow.string()))


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
        It is damaged, or no row of it can be read.
    LimitExceededError
        It would take more memory than is allowed.
    MissingPackageError
        pyarrow is not installed.
    """
    limits = limits or Limits()
    pyarrow = arrow.library()
    file = arrow.opened(content, path, "", limits=limits)
    schema = arrow.guarded(lambda: file.schema_arrow, path, "")
    # Equal texts are held once, whatever the number of rows.
    texts = [
        field.name
        for field in schema
        if pyarrow.types.is_string(field.type)
        or pyarrow.types.is_binary(field.type)
        or pyarrow.types.is_dictionary(field.type)
    ]
    file = arrow.opened(content, path, "", texts=texts, limits=limits)
    table = arrow.guarded(file.read, path, "")
    frame = arrow.guarded(
        lambda: table.to_pandas(ignore_metadata=True, integer_object_nulls=True), path, ""
    )
    return read_frame(frame, path=path, columns=columns)

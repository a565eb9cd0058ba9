"""Parquet by way of pyarrow, which is imported when it is first needed.

What a file says of its size is checked before memory is taken: a few bytes may stand for billions
of equal rows.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.errors import CorruptTraceError, MissingPackageError
from mxprof_nb.io.limits import Limits

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NEEDS", "arrays", "opened", "read_columns", "texts_of", "write_table"]

#: Packages of the extra ``formats``.
NEEDS = ("pyarrow",)
_COPY_AGAIN = "The file was cut off or changed; copy it again from where it came."
#: Rows of one group, the most that a reader holds decoded at once.
_GROUP = 2**20


def library() -> Any:
    """Return pyarrow.

    Raises
    ------
    MissingPackageError
        It is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as cause:
        raise MissingPackageError.of("pyarrow", "Parquet and .mxprof files", "formats") from cause
    return pyarrow


def write_table(
    table: Any,
    file: IO[bytes],
    *,
    growing: Sequence[str] = (),
    dictionary: Sequence[str] | bool = False,
    compression: str = "zstd",
) -> None:
    """Write a pyarrow table as Parquet.

    Columns named by ``growing`` hardly ever go down, those named by ``dictionary`` hold few
    distinct values.
    """
    # Through memory: pyarrow closes files that it wrote to, and wraps their errors.
    memory = io.BytesIO()
    library().parquet.write_table(
        table,
        memory,
        row_group_size=_GROUP,
        compression=compression,
        use_dictionary=dictionary,
        column_encoding=dict.fromkeys(growing, "DELTA_BINARY_PACKED") or None,
        write_statistics=False,
    )
    file.write(memory.getvalue())


def opened(
    content: bytes,
    path: str,
    place: str,
    *,
    texts: Sequence[str] = (),
    limits: Limits,
) -> Any:
    """Return a Parquet file whose footer is in order and promises no more than is allowed.

    Columns named by ``texts`` are read as dictionaries, each text once.

    Raises
    ------
    CorruptTraceError, LimitExceededError
    """
    pyarrow = library()
    file = guarded(
        lambda: pyarrow.parquet.ParquetFile(
            pyarrow.BufferReader(content), read_dictionary=list(texts)
        ),
        path,
        place,
    )
    about = file.metadata
    limits.check("rows", about.num_rows, path, place)
    # What rows take as numbers, and what pages say that they take unpacked.
    size = about.num_rows * max(about.num_columns, 1) * 8
    for group in range(about.num_row_groups):
        size += max(about.row_group(group).total_byte_size, 0)
    limits.check("total_bytes", size, path, place)
    return file


def read_columns(file: Any, names: Sequence[str], path: str, place: str) -> pa.Table:
    """Return some columns of an open file, texts as dictionaries."""
    return guarded(lambda: file.read(columns=list(names)), path, place)


def arrays(table: Any, wanted: Mapping[str, str], path: str, place: str) -> dict[str, NDArray[Any]]:
    """Return columns of numbers, each of the type that is wanted.

    Raises
    ------
    CorruptTraceError
        A column holds something else, or nulls.
    """
    found: dict[str, NDArray[Any]] = {}
    for name, dtype in wanted.items():
        column = table.column(name)
        kind = np.dtype(dtype)
        if str(column.type) != _ARROW_NAMES[kind.str[1:]] or column.null_count:
            raise CorruptTraceError.at(
                path,
                f"{place}, column {name!r}",
                f"it is of type {column.type} with {column.null_count} nulls, and must be "
                f"{_ARROW_NAMES[kind.str[1:]]} without.",
                _COPY_AGAIN,
            )
        found[name] = column.to_numpy()
    return found


_ARROW_NAMES = {"i8": "int64", "i4": "int32", "i1": "int8", "f8": "double"}


def texts_of(file: Any, name: str, path: str, place: str) -> list[str]:
    """Return the texts of a column that was written without repetition.

    Raises
    ------
    CorruptTraceError
        It is no column of texts, or one stands twice.
    """
    told = read_columns(file, [name], path, place)
    found: list[str] = []
    for chunk in told.column(name).chunks:
        # A text that is repeated a million times would take a million times its memory.
        if len(chunk.dictionary) < len(chunk) or chunk.null_count:
            raise CorruptTraceError.at(path, place, "a text stands there twice.", _COPY_AGAIN)
        values = chunk.dictionary_decode().to_pylist()
        found += [
            value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
            for value in values
        ]
    return found


def guarded(work: Callable[[], Any], path: str, place: str) -> Any:
    """Return what a call into pyarrow returns; its errors become ours."""
    pyarrow = library()
    try:
        return work()
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError,
            NotImplementedError, OverflowError, MemoryError) as cause:  # fmt: skip
        reason = str(cause).splitlines()[0][:200] if str(cause) else type(cause).__name__
        raise CorruptTraceError.at(
            path, place, f"it is no Parquet that can be read ({reason}).", _COPY_AGAIN
        ) from cause

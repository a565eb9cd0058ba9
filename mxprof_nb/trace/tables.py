"""The tables of a trace: frozen sets of equally long, read-only arrays.

Each class only names its columns for editors and type checkers; types, nulls and meaning come
from `mxprof_nb.trace.schema`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import F64Array, I8Array, I32Array, I64Array
from mxprof_nb.errors import SchemaError
from mxprof_nb.trace import schema
from mxprof_nb.trace.strings import Strings

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ArgTable",
    "CounterTable",
    "EventTable",
    "FlowTable",
    "SiteTable",
    "TableBase",
    "TrackTable",
    "frozen",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableBase:
    """Equally long, read-only arrays, one per declared column."""

    spec: ClassVar[schema.Table]

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """Build a table from arrays or scalars, checking types and lengths.

        Parameters
        ----------
        columns : Mapping of str to array_like, shape (n,)
            Missing nullable columns are filled with their null value. Arrays are copied, unless
            they own their memory and are read-only.

        Raises
        ------
        SchemaError
            A column is missing, unknown, too long, or does not fit its type.
        """
        name = cls.spec.name
        known = {column.name for column in cls.spec.columns}
        for extra in columns.keys() - known:
            raise SchemaError.at(name, extra, -1, extra, f"known columns are {sorted(known)}")
        # Scalars are repeated to the length of the arrays, also when that is 0.
        lengths = [len(values) for values in columns.values() if np.ndim(values)]
        length = max(lengths) if lengths else int(bool(columns))
        ready: dict[str, NDArray[Any]] = {}
        for column in cls.spec.columns:
            values = columns.get(column.name, column.null)
            if values is None:
                if length:
                    raise SchemaError.at(name, column.name, -1, None, "the column is required")
                values = 0
            ready[column.name] = _column(name, column, values, length)
        return cls(**ready)

    @classmethod
    def empty(cls) -> Self:
        """Build a table without rows."""
        return cls.of({column.name: () for column in cls.spec.columns})

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _restored, (type(self), {f.name: getattr(self, f.name) for f in fields(self)})

    def __len__(self) -> int:
        return len(getattr(self, self.spec.columns[0].name))

    def __repr__(self) -> str:
        # Cheap on purpose: a notebook shows this for tables of millions of rows.
        return f"<{type(self).__name__}: {len(self):,} rows>"

    def columns(self) -> Iterator[tuple[schema.Column, NDArray[Any]]]:
        """Yield every declared column with its array."""
        for column in self.spec.columns:
            yield column, getattr(self, column.name)

    def take(self, rows: Any) -> Self:
        """Return the table of the given rows (indices, mask or slice), in that order."""
        return type(self)(**{f.name: frozen(getattr(self, f.name)[rows]) for f in fields(self)})

    def frame(self, strings: Strings) -> pd.DataFrame:
        """Return the table as a new pandas frame that the caller may change.

        Codes become categoricals, null values ``NA``; numbers stay integers.
        """
        import pandas as pd

        data: dict[str, Any] = {}
        for column, values in self.columns():
            data[column.name] = _series(column, values, strings)
        return pd.DataFrame(data, index=pd.RangeIndex(len(self)))


def _restored(kind: type[TableBase], columns: dict[str, NDArray[Any]]) -> TableBase:
    """Return a table that was pickled; arrays come out of that writable."""
    return kind(**{name: frozen(values) for name, values in columns.items()})


def frozen(values: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only and return it: tables take one that owns its memory as it is."""
    values.flags.writeable = False
    return values


def _column(table: str, column: schema.Column, values: Any, length: int) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim == 0:
        one = _column(table, column, array.reshape(1), 1)
        return frozen(np.full(length, one[0], one.dtype))
    if array.ndim != 1 or len(array) != length:
        raise SchemaError.at(
            table, column.name, -1, array.shape, f"all columns must have {length} rows"
        )
    target = np.dtype(column.dtype)
    if array.dtype != target:
        if array.size and array.dtype.kind not in "iubf":
            raise SchemaError.at(table, column.name, -1, array.dtype.name, "numbers are required")
        with np.errstate(invalid="ignore"):  # told by row below
            converted = array.astype(target)
        if target.kind == "i" and array.size and not np.array_equal(converted, array):
            row = int(np.flatnonzero(converted != array)[0])
            raise SchemaError.at(
                table, column.name, row, array[row].item(), f"it must fit {target}"
            )
        array = converted
    elif array.flags.writeable or not array.flags.owndata:
        array = array.copy()  # the caller may go on changing what it handed over
    return frozen(array)


def _series(column: schema.Column, values: NDArray[Any], strings: Strings) -> Any:
    import pandas as pd

    if column.coding == "string":
        # Only the texts in use become categories, so that value_counts() stays readable.
        occurs = np.zeros(len(strings) + 1, dtype=bool)
        occurs[values] = True  # the last one for null values, which are -1
        used = np.flatnonzero(occurs[:-1])
        position = np.full(len(strings) + 1, -1, dtype=np.int32)
        # Of texts that are decoded only now, two may be the same.
        place: dict[str, int] = {}
        position[used] = [place.setdefault(strings[code], len(place)) for code in used.tolist()]
        return pd.Categorical.from_codes(
            position[values], categories=pd.Index(list(place), dtype="str")
        )
    if column.coding:
        return pd.Categorical.from_codes(
            values, categories=pd.Index(schema.LISTS[column.coding], dtype="str")
        )
    if column.null is not None:
        return pd.arrays.IntegerArray(values.copy(), values == column.null)
    return values.copy()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EventTable(TableBase):
    """Intervals and points in time; see `schema.EVENTS`."""

    spec: ClassVar[schema.Table] = schema.EVENTS

    start_ns: I64Array
    dur_ns: I64Array
    kind: I8Array
    name: I32Array
    category: I8Array
    domain: I32Array
    track: I32Array
    parent: I32Array
    correlation: I64Array
    step: I32Array
    queued_ns: I64Array
    site: I32Array
    arg: I32Array
    earlier: I8Array

    @property
    def end_ns(self) -> I64Array:
        """End of each event, shape (n,), in ns."""
        return self.start_ns + self.dur_ns

    def is_category(self, *names: str) -> NDArray[np.bool_]:
        """Return a mask, shape (n,), of the events of the given categories."""
        codes = [schema.CATEGORIES.index(name) for name in names]
        return np.isin(self.category, codes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrackTable(TableBase):
    """Threads, workers and streams; see `schema.TRACKS`."""

    spec: ClassVar[schema.Table] = schema.TRACKS

    process: I32Array
    thread: I32Array
    device: I32Array
    backend: I32Array
    rank: I32Array
    role: I8Array
    name: I32Array
    order: I32Array
    pid_text: I32Array
    tid_text: I32Array

    def is_role(self, *names: str) -> NDArray[np.bool_]:
        """Return a mask, shape (n,), of the tracks of the given roles."""
        return np.isin(self.role, [schema.ROLES.index(name) for name in names])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FlowTable(TableBase):
    """Reasons why one event precedes another; see `schema.FLOWS`."""

    spec: ClassVar[schema.Table] = schema.FLOWS

    source: I32Array
    target: I32Array
    kind: I8Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CounterTable(TableBase):
    """Samples of counters; see `schema.COUNTERS`."""

    spec: ClassVar[schema.Table] = schema.COUNTERS

    time_ns: I64Array
    track: I32Array
    name: I32Array
    value: F64Array
    unit: I32Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SiteTable(TableBase):
    """Lines of source code; see `schema.SITES`."""

    spec: ClassVar[schema.Table] = schema.SITES

    file: I32Array
    line: I32Array
    function: I32Array
    text: I32Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArgTable(TableBase):
    """Details of events; see `schema.ARGS`."""

    spec: ClassVar[schema.Table] = schema.ARGS

    bytes: I64Array
    flops: I64Array
    shapes: I32Array
    dtype: I32Array
    raw: I32Array

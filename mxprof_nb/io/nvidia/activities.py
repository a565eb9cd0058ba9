"""Calls of the host, ranges around them, and what they made a device do, as rows of a trace.

Both databases tell the same story in tables of different shape; here it becomes one trace:

- a call is a span on its thread; ranges of NVTX are spans on theirs, those that overlap others
  without nesting free intervals (async);
- a kernel, copy or fill is a span on the stream of its process, with a flow "launch" from its
  call, found by correlation and process. The innermost range around that call leads to it by a
  flow "program", and its name is among the arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mxprof_nb._typing import BoolArray, I64Array
from mxprof_nb.io.nvidia.database import UNKNOWN
from mxprof_nb.trace import TraceBuilder, nesting, schema

__all__ = ["Activities", "Texts", "distinct"]

_SPAN, _ASYNC = (schema.KINDS.index(kind) for kind in ("span", "async"))
_USER = schema.CATEGORIES.index("user")
#: Odd numbers that scatter rows of whole numbers over 64 bits.
_SCATTER = np.random.default_rng(20).integers(2**62, 2**63, 64, dtype=np.uint64) | np.uint64(1)


def distinct(columns: Sequence[I64Array]) -> tuple[I64Array, I64Array]:
    """Return the first of each kind of row, and which kind each row is.

    Parameters
    ----------
    columns : sequence of ndarray of int64, shape (n,)
        At least one.

    Returns
    -------
    first : ndarray of int, shape (kinds,)
    kind : ndarray of int, shape (n,)
    """
    if len(columns) == 1:
        _, first, kind = np.unique(columns[0], return_index=True, return_inverse=True)
        return first, kind
    mixed = np.zeros(len(columns[0]), np.uint64)
    with np.errstate(over="ignore"):
        for number, column in enumerate(columns):
            mixed = (mixed ^ column.astype(np.uint64)) * _SCATTER[number % len(_SCATTER)]
            mixed ^= mixed >> np.uint64(29)
    _, first, kind = np.unique(mixed, return_index=True, return_inverse=True)
    if all(np.array_equal(column[first][kind], column) for column in columns):
        return first, kind
    # Two kinds scattered to one place, by chance or by design.
    _, first, kind = np.unique(
        np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return first, kind.reshape(-1)


class Texts:
    """A table of texts by number, of which a trace takes over only those that it uses.

    Such tables hold the environment and the output of the program as well.
    """

    def __init__(self, builder: TraceBuilder, texts: Mapping[int, str]) -> None:
        self._builder = builder
        self._texts = texts
        self._numbers = np.array(sorted(texts), dtype=np.int64)
        self._codes = np.full(len(texts) + 1, -2, dtype=np.int64)
        self._codes[-1] = -1

    def codes(self, numbers: I64Array) -> I64Array:
        """Return the codes of texts by their numbers, -1 where there is no such text."""
        place = np.searchsorted(self._numbers, numbers)
        place[place == len(self._numbers)] = -1
        if len(self._numbers):
            place[self._numbers[place] != numbers] = -1
        found: I64Array = self._codes[place]
        for new in np.unique(place[found == -2]).tolist():
            self._codes[new] = self._builder.string(self._texts[int(self._numbers[new])])
        return self._codes[place]

    def shown(self, codes: I64Array) -> dict[int, str]:
        """Return the texts of some codes that `codes` gave."""
        wanted = np.flatnonzero(np.isin(self._codes[:-1], codes))
        numbers = self._numbers[wanted].tolist()
        return {
            int(code): self._texts[number]
            for code, number in zip(self._codes[wanted].tolist(), numbers, strict=True)
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Calls:
    """Calls that may have launched something; arrays of shape (calls,)."""

    row: I64Array
    start: I64Array
    track: I64Array
    process: I64Array
    correlation: I64Array
    plain: BoolArray

    def take(self, chosen: BoolArray) -> _Calls:
        """Return some of the calls."""
        return _Calls(
            self.row[chosen], self.start[chosen], self.track[chosen],
            self.process[chosen], self.correlation[chosen], self.plain[chosen],
        )  # fmt: skip

    @classmethod
    def joined(cls, blocks: Sequence[_Calls]) -> _Calls:
        """Return all calls of several blocks."""
        none = np.empty(0, np.int64)
        return cls(
            np.concatenate([none, *(block.row for block in blocks)]),
            np.concatenate([none, *(block.start for block in blocks)]),
            np.concatenate([none, *(block.track for block in blocks)]),
            np.concatenate([none, *(block.process for block in blocks)]),
            np.concatenate([none, *(block.correlation for block in blocks)]),
            np.concatenate([none > 0, *(block.plain for block in blocks)]),
        )


class Activities:
    """One file on its way into a builder.

    Parameters
    ----------
    builder : TraceBuilder
    origin_ns : int
        Time of the file that becomes time 0 of the trace.
    """

    def __init__(self, builder: TraceBuilder, origin_ns: int = 0) -> None:
        self.builder = builder
        self.origin_ns = origin_ns
        self.unnamed = builder.string("(unnamed)")
        self._calls: list[_Calls] = []
        self._range: tuple[I64Array, I64Array, I64Array] | None = None
        self._range_names: I64Array = np.empty(0, np.int64)
        self._range_rows: I64Array = np.empty(0, np.int64)
        self._range_texts: dict[int, str] = {}
        self._found_around: I64Array | None = None
        self._processes: dict[int, int] = {}

    # Times

    def times(self, table: str, start: I64Array, end: I64Array) -> tuple[BoolArray, I64Array]:
        """Return which rows can be placed, and how long they last; tell of the others."""
        good = (start > UNKNOWN) & (np.abs(start - self.origin_ns) < 2**61)
        if left := int(len(start) - good.sum()):
            self.builder.note(
                "no_time", left, f"{_rows(left)} of {table} had no usable start; left out."
            )
        length = np.where(good & (end > UNKNOWN), end, start) - start
        wrong = good & ((length < 0) | (length > 2**61) | (end == UNKNOWN))
        if count := int(wrong.sum()):
            self.builder.note(
                "no_end",
                count,
                f"{_rows(count)} of {table} had no end, or one before the start; shown with "
                "duration 0.",
            )
        return good, np.where(wrong, 0, length)

    def add(self, table: str, start: I64Array, end: I64Array, **columns: Any) -> I64Array:
        """Add rows and return their numbers, -1 where a row has no time; see `times`."""
        good, length = self.times(table, start, end)
        kept = {
            name: values[good] if np.ndim(values) else values for name, values in columns.items()
        }
        begins = start[good] - self.origin_ns
        rows = np.full(len(start), -1, dtype=np.int64)
        rows[good] = self.builder.add_events(start_ns=begins, dur_ns=length[good], **kept)
        return rows

    # Host

    def add_ranges(
        self,
        table: str,
        start: I64Array,
        end: I64Array,
        *,
        names: Sequence[str],
        track: I64Array,
        free: BoolArray,
        apart: BoolArray,
        **columns: Any,
    ) -> None:
        """Add ranges of NVTX, once and before all calls.

        Parameters
        ----------
        free, apart : ndarray of bool, shape (n,)
            Which need not nest with others, and which ended on another thread.
        """
        name = np.array(self.builder.strings(names), dtype=np.int64)
        self._range_texts = dict(zip(name.tolist(), names, strict=True))
        good, length = self.times(table, start, end)
        stop = start + length
        chosen = np.flatnonzero(good)
        kind = np.full(len(start), _SPAN)
        kind[chosen] = np.where(
            apart[chosen] | _crossing(track[chosen], start[chosen], stop[chosen], free[chosen]),
            _ASYNC,
            _SPAN,
        )
        self._range = (track[chosen], start[chosen], stop[chosen])
        self._range_names = name[chosen]
        kept = {key: values[good] if np.ndim(values) else values for key, values in columns.items()}
        self._range_rows = self.add(
            table,
            start[good],
            stop[good],
            name=name[good],
            track=track[good],
            kind=kind[good],
            category=_USER,
            **kept,
        )

    def add_calls(
        self,
        table: str,
        start: I64Array,
        end: I64Array,
        *,
        name: I64Array,
        track: I64Array,
        process: I64Array,
        correlation: I64Array,
        plain: BoolArray,
        **columns: Any,
    ) -> None:
        """Add calls into the runtime or driver; ``plain`` ones are preferred as launches."""
        row = self.add(
            table,
            start,
            end,
            name=np.where(name < 0, self.unnamed, name),
            track=track,
            kind=_SPAN,
            correlation=self.correlations(process, correlation),
            **columns,
        )
        known = (row >= 0) & (correlation > UNKNOWN)
        calls = _Calls(row, start, track, process, correlation, plain)
        self._calls.append(calls.take(known))

    def correlations(self, process: I64Array, correlation: I64Array) -> I64Array:
        """Return correlations that those of other processes do not meet; -1 for none."""
        found, of = np.unique(process, return_inverse=True)
        number = self._processes.setdefault
        each = [number(one, len(self._processes)) for one in found.tolist()]
        numbers = np.array(each, dtype=np.int64)[of]
        known = (correlation >= 0) & (correlation < 2**32) & (numbers < 2**30)
        return np.where(known, correlation + (numbers << 32), -1)

    # Device

    def add_work(
        self,
        table: str,
        start: I64Array,
        end: I64Array,
        *,
        name: I64Array,
        track: I64Array,
        process: I64Array,
        correlation: I64Array,
        details: Callable[[int], dict[str, Any]] | None = None,
        alike: Sequence[I64Array] = (),
        size: I64Array | None = None,
        **columns: Any,
    ) -> I64Array:
        """Add what a device did, with the flows from the calls that launched it.

        Parameters
        ----------
        details : callable, optional
            Returns the arguments of a row; called once for rows that are alike in ``alike``, in
            ``size``, and in the range that launched them.
        alike : sequence of ndarray of int64, shape (n,)
        size : ndarray of int64, shape (n,), optional
            Bytes moved.

        Returns
        -------
        ndarray of int64, shape (n,)
            Row of the call that launched each, -1 where none is known.
        """
        calls = self._joined()
        call = _launches(calls, process, correlation)
        around = self._around(calls)
        inside = np.where(call >= 0, np.append(around, -1)[call], -1)
        bytes_ = np.full(len(start), -1) if size is None else np.where(size < 0, -1, size)
        arg = self._args(details, alike, bytes_, inside)
        begun = np.append(calls.start, 0)[call] - self.origin_ns
        row = self.add(
            table,
            start,
            end,
            name=np.where(name < 0, self.unnamed, name),
            track=track,
            correlation=self.correlations(process, correlation),
            queued_ns=np.where((call >= 0) & (begun >= 0), begun, -1),
            arg=arg,
            **columns,
        )
        launched = np.flatnonzero((call >= 0) & (row >= 0))
        if len(launched):
            self.builder.add_flows(calls.row[call[launched]], row[launched], "launch")
        ranged = launched[inside[launched] >= 0]
        if len(ranged):
            self.builder.add_flows(self._range_rows[inside[ranged]], row[ranged], "program")
        return np.where(call >= 0, np.append(calls.row, -1)[call], -1)

    def on_callers(
        self,
        process: I64Array,
        correlation: I64Array,
        otherwise: Callable[[BoolArray], I64Array],
    ) -> I64Array:
        """Return the tracks of the calls that rows belong to.

        Parameters
        ----------
        otherwise : callable
            Returns the tracks of rows, by a mask, whose call is not known.
        """
        calls = self._joined()
        call = _launches(calls, process, correlation)
        track: I64Array = np.append(calls.track, -1)[call]
        if (lost := call < 0).any():
            track[lost] = otherwise(lost)
        return track

    def _args(
        self,
        details: Callable[[int], dict[str, Any]] | None,
        alike: Sequence[I64Array],
        size: I64Array,
        inside: I64Array,
    ) -> I64Array:
        """Add rows of arguments, one for all rows that have the same; return them by row."""
        if not len(size):
            return size
        names = np.append(self._range_names, -1)[inside]
        first, kind = distinct([*alike, size, names])
        codes, texts = [], self.builder
        for row, range_name in zip(first.tolist(), names[first].tolist(), strict=True):
            told = dict(details(row)) if details else {}
            if range_name >= 0:
                told["nvtx_range"] = self._range_texts[range_name]
            codes.append(texts.string(json.dumps(told)) if told else -1)
        empty = (np.array(codes) < 0) & (size[first] < 0)
        rows = np.full(len(first), -1, dtype=np.int64)
        if not empty.all():
            rows[~empty] = self.builder.add_args(
                bytes=size[first][~empty], raw=np.array(codes)[~empty]
            )
        return rows[kind]

    def _joined(self) -> _Calls:
        if len(self._calls) != 1:
            self._calls = [_Calls.joined(self._calls)]
        return self._calls[0]

    def _around(self, calls: _Calls) -> I64Array:
        """Return the range around the start of each call, -1 for none; found once."""
        if self._range is None or not len(self._range[0]):
            return np.full(len(calls.row), -1)
        if self._found_around is None:
            self._found_around = _innermost(*self._range, calls.track, calls.start)
        return self._found_around


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _launches(calls: _Calls, process: I64Array, correlation: I64Array) -> I64Array:
    """Return the call of the same correlation and process of each row, -1 for none.

    Of several, plain calls go before backtraces of calls, and the innermost before its callers.
    """
    found = np.full(len(process), -1, dtype=np.int64)
    if not len(calls.row) or not len(process):
        return found
    pairs = ((calls.process, process), (calls.correlation, correlation))
    _, key = distinct([np.concatenate(pair) for pair in pairs])
    of_call, wanted = key[: len(calls.row)], key[len(calls.row) :]
    order = np.lexsort((-calls.start, ~calls.plain, of_call))
    place = np.searchsorted(of_call[order], wanted)
    place[place == len(order)] = 0
    hit = (of_call[order[place]] == wanted) & (correlation > UNKNOWN)
    found[hit] = order[place[hit]]
    return found


def _innermost(
    track: I64Array, start: I64Array, end: I64Array, point_track: I64Array, point_ns: I64Array
) -> I64Array:
    """Return the innermost range on the track of each point that is open there, -1 for none."""
    every_track = np.concatenate([track, point_track])
    begins = np.concatenate([start, point_ns])
    ends = np.concatenate([end, point_ns])
    order = nesting.sort_rows(every_track, begins, ends)
    parent, _ = nesting.nest(every_track[order], begins[order], ends[order])
    outer = np.full(len(order), -1, dtype=np.int64)
    outer[order] = np.where(parent >= 0, order[parent], -1)
    return outer[len(track) :]


def _crossing(track: I64Array, start: I64Array, end: I64Array, free: BoolArray) -> BoolArray:
    """Return which of the free ranges cannot be drawn inside one another with the bound ones."""
    apart = np.zeros(len(track), dtype=bool)
    for attempt in range(2):
        rows = np.flatnonzero(~apart)
        order = rows[nesting.sort_rows(track[rows], start[rows], end[rows])]
        parent, lane = nesting.nest(track[order], start[order], end[order])
        nested = lane == np.where(parent >= 0, lane[parent] + 1, 0)
        if attempt == 0:
            apart[order[~nested]] = free[order[~nested]]
        elif not nested.all():  # a bound one crosses a free one: all free ones of its track
            apart |= free & np.isin(track, track[order[~nested]])
    return apart

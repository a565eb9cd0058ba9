"""`ThreadBuffer`: where one thread puts its records, without a lock.

- A record is a run of integers appended to a flat list by one `list.extend`, which the
  interpreter does in one piece: no record is ever torn, and no lock is taken.
- Long lists are packed into a `Block`, by whichever thread finds them long, workers mostly: it
  copies a prefix of the list and deletes that prefix, each in one piece, while the owner may go
  on appending behind it. Whoever ends a recording packs the rest.
- Within a block each field is stored in as few bytes as its range needs.

Flat lists won over `struct.pack_into`, `array('q')` and lists of tuples inside a dispatch loop,
although packed buffers look equal in isolation; `python -m tests.benchmarks` measures the whole.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.record.config import RecordConfig

__all__ = [
    "CALL_FIELDS",
    "MEMORY_FIELDS",
    "OPERATOR_FIELDS",
    "SAMPLE",
    "TABLES",
    "USER_FIELDS",
    "Block",
    "ThreadBuffer",
    "ThreadInfo",
]

#: A call or wait of the host: begin, end, label, correlation, code object, offset in it.
CALL_FIELDS = ("start", "end", "label", "correlation", "code", "offset")
#: An operator run by a worker, with the memory it took (at its begin) or gave back (at its end).
OPERATOR_FIELDS = ("queued", "start", "end", "label", "correlation", "device", "bytes")
#: Memory taken by the host.
MEMORY_FIELDS = ("time", "device", "bytes")
#: What the program itself marks. The kind is a place in the schema's KINDS, or `SAMPLE`: one of a
#: counter, whose value is the bits of a float64.
USER_FIELDS = ("start", "end", "label", "kind", "value", "code", "offset")
SAMPLE = -1
#: The tables of a `Block` by name, and the fields of each.
TABLES = {
    "calls": CALL_FIELDS,
    "operators": OPERATOR_FIELDS,
    "memory": MEMORY_FIELDS,
    "user": USER_FIELDS,
}
#: A call, and a giving back of memory, that take less time than reading the clock does.
DROP_FIELDS = ("time", "label")
RELEASE_FIELDS = ("time", "label", "device", "bytes")

#: Records a thread collects before they are packed: about 1 ms of packing at a time.
PACK_AT = 4096


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """Who a buffer belongs to."""

    name: str
    role: str
    device: str | None
    order: int
    ident: int


#: Types for distances, and the largest that each holds.
_NARROW = ((2**8 - 1, np.uint8), (2**16 - 1, np.uint16), (2**32 - 1, np.uint32))


class Packed:
    """Records as columns, each as the distance from its smallest value in the fewest bytes.

    Times within a block lie close together and labels are small, so a record of seven fields
    takes about 20 bytes instead of 56.
    """

    __slots__ = ("_bases", "_columns")

    def __init__(self, records: I64Array) -> None:
        columns = records.T.copy()  # column by column in memory: four times quicker below
        if len(records):
            self._bases: list[int] = columns.min(axis=1).tolist()
            highest: list[int] = columns.max(axis=1).tolist()
        else:
            self._bases = highest = [0] * len(columns)
        self._columns: list[NDArray[Any]] = []
        for place, (values, high) in enumerate(zip(columns, highest, strict=True)):
            reach = high - self._bases[place]
            narrow = next((one for most, one in _NARROW if reach <= most), None)
            if narrow is None:
                self._bases[place] = 0  # distances might not fit
                self._columns.append(values.copy())
            else:
                self._columns.append(np.subtract(values, self._bases[place]).astype(narrow))

    def __len__(self) -> int:
        return len(self._columns[0])

    @property
    def nbytes(self) -> int:
        """Bytes that the columns take."""
        return sum(column.nbytes for column in self._columns)

    def column(self, place: int) -> I64Array:
        """Return one field, shape (n,)."""
        return self._columns[place].astype(np.int64) + self._bases[place]

    def where(self, chosen: NDArray[np.bool_]) -> Packed:
        """Return those that are chosen."""
        if chosen.all():
            return self
        part = Packed.__new__(Packed)
        part._bases = self._bases
        part._columns = [column[chosen] for column in self._columns]
        return part


def _none_of(fields: Sequence[str]) -> Packed:
    return Packed(np.empty((0, len(fields)), np.int64))


_NO_DROPS, _NO_RELEASES = _none_of(DROP_FIELDS), _none_of(RELEASE_FIELDS)


class Block:
    """Packed records of one thread; immutable.

    Parameters
    ----------
    thread : ThreadInfo
    calls, operators, memory, user : ndarray of int64, shape (records, fields), or Packed
    drops, releases : Packed, optional
        Kept in fewer bytes; among ``calls`` and ``operators`` they stand in full.

    Attributes
    ----------
    number : int
        Tells blocks of this process apart.
    """

    __slots__ = ("_tables", "number", "thread")

    _numbers = itertools.count()

    def __init__(
        self,
        thread: ThreadInfo,
        calls: I64Array | Packed,
        operators: I64Array | Packed,
        memory: I64Array | Packed,
        user: I64Array | Packed,
        drops: Packed = _NO_DROPS,
        releases: Packed = _NO_RELEASES,
    ) -> None:
        self.thread = thread
        self.number = next(self._numbers)
        self._tables = tuple(
            table if isinstance(table, Packed) else Packed(table)
            for table in (calls, operators, memory, user, drops, releases)
        )

    def __len__(self) -> int:
        return sum(map(len, self._tables))

    @property
    def nbytes(self) -> int:
        """Bytes that its records take."""
        return sum(table.nbytes for table in self._tables)

    def columns(self, kind: str) -> dict[str, I64Array]:
        """Return records of one kind, field name to values of shape (n,).

        Parameters
        ----------
        kind : {"calls", "operators", "memory", "user"}
            Calls too short to be timed are among the calls, with a duration of 0, and so is what
            gave memory back among the operators.
        """
        place = _KINDS.index(kind)
        fields, table = _FIELDS[place], self._tables[place]
        found = {name: table.column(n) for n, name in enumerate(fields)}
        short = self._tables[place + 4] if place < 2 else _NO_DROPS
        if not len(short):
            return found
        known = dict(
            zip(_FIELDS[place + 4], map(short.column, range(len(_FIELDS[place + 4]))), strict=False)
        )
        known["start"] = known["end"] = known.pop("time")
        missing = {"queued": 0, "correlation": 0} if place else {}
        for name in fields:
            more = known.get(name)
            if more is None:
                more = np.full(len(short), missing.get(name, -1), np.int64)
            found[name] = np.concatenate([found[name], more])
        return found

    def _records(self, kind: str) -> I64Array:
        return np.stack(list(self.columns(kind).values()), axis=1)

    @property
    def calls(self) -> I64Array:
        """Calls and waits, shape (n, 6): `CALL_FIELDS`."""
        return self._records("calls")

    @property
    def operators(self) -> I64Array:
        """Operators, shape (n, 7): `OPERATOR_FIELDS`."""
        return self._records("operators")

    @property
    def memory(self) -> I64Array:
        """Memory taken by the host, shape (n, 3): `MEMORY_FIELDS`."""
        return self._records("memory")

    @property
    def user(self) -> I64Array:
        """What the program marked, shape (n, 7): `USER_FIELDS`."""
        return self._records("user")

    def memory_changes(self) -> I64Array:
        """Return memory taken and given back, shape (n, 3), by the host and by operators."""
        operators = self.operators
        _, start, end, _, _, device, size = operators[operators[:, 5] >= 0].T
        moment = np.where(size > 0, start, end)
        return np.concatenate([self.memory, np.stack([moment, device, size], axis=1)])

    def of_kinds(self, config: RecordConfig, always: Collection[int] = ()) -> Block:
        """Return the records of the kinds that a configuration asks for; marks always are.

        So are operators of the labels in ``always``.
        """
        calls = self.calls if config.api else self.calls[:0]
        operators, memory = self.operators, self.memory
        if not (config.operators and config.memory):
            memory = self.memory_changes() if config.memory else memory[:0]
            if config.operators:
                operators = operators.copy()
            else:
                label = operators[:, OPERATOR_FIELDS.index("label")]
                operators = operators[np.isin(label, list(always))]
            operators[:, OPERATOR_FIELDS.index("device")] = -1  # memory has records of its own
        return Block(self.thread, calls, operators, memory, self.user)

    def ends(self) -> I64Array:
        """Return when these records ended, in no order, shape (n,)."""
        pairs = zip(self._tables, _ENDS, strict=True)
        return np.concatenate([table.column(place) for table, place in pairs])

    def first_end(self) -> int:
        """Return when the first of these records ended."""
        return int(self.ends().min())

    def between(
        self, begin: int, end: int | None, queued: Sequence[tuple[int, int]] | None = None
    ) -> Block:
        """Return the records that ended in ``[begin, end]``, without limit for None.

        Parameters
        ----------
        begin, end : int
        queued : sequence of (int, int), optional
            Ranges in order. With it what counts for operators is that they were queued in one of
            them, whenever they ended; those that nobody queues, such as giving memory back, have
            no number and count as all else.
        """
        inside = [
            _within(table.column(place), begin, end)
            for table, place in zip(self._tables, _ENDS, strict=True)
        ]
        if queued is not None:
            operators = self._tables[1]
            own = operators.column(OPERATOR_FIELDS.index("correlation")) == 0
            inside[1] = (inside[1] & own) | _in_any(operators.column(0), queued)
        chosen = [table.where(rows) for table, rows in zip(self._tables, inside, strict=True)]
        return Block(self.thread, *chosen)


_KINDS = tuple(TABLES)
_FIELDS = (*TABLES.values(), DROP_FIELDS, RELEASE_FIELDS)
#: Which field of each table says when a record ended.
_ENDS = tuple(fields.index("end" if "end" in fields else "time") for fields in _FIELDS)


def _within(times: NDArray[Any], begin: int, end: int | None) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = times >= begin
    return inside if end is None else inside & (times <= end)


def _in_any(times: NDArray[Any], ranges: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    begins, ends = np.array(ranges, dtype=np.int64).reshape(-1, 2).T
    if not len(begins):
        return np.zeros(len(times), np.bool_)
    before = np.searchsorted(begins, times, side="right") - 1
    inside: NDArray[np.bool_] = (before >= 0) & (times <= ends[before])
    return inside


@dataclass(slots=True)
class ThreadBuffer:
    """Records of one thread that are not packed yet, and the packed ones.

    Attributes
    ----------
    calls, operators, memory, user, drops, releases : list
        Flat; append whole records with ``extend``.
    """

    thread: ThreadInfo
    code_numbers: Callable[[list[CodeType | None]], Iterable[int]]
    calls: list[Any] = field(default_factory=list)
    operators: list[Any] = field(default_factory=list)
    memory: list[Any] = field(default_factory=list)
    user: list[Any] = field(default_factory=list)
    drops: list[Any] = field(default_factory=list)
    releases: list[Any] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    packing: threading.RLock = field(default_factory=threading.RLock)
    is_packing: bool = False

    def records(self) -> int:
        """Return about how many records are here, packed or not; any thread may ask."""
        fresh = (
            (self.calls, CALL_FIELDS),
            (self.operators, OPERATOR_FIELDS),
            (self.user, USER_FIELDS),
        )
        packed = sum(len(b.calls) + len(b.operators) + len(b.user) for b in list(self.blocks))
        return packed + sum(len(flat) // len(fields) for flat, fields in fresh)

    def pack(self, *, wait: bool = True, admit: Callable[[Block], bool] | None = None) -> None:
        """Turn what was collected into one packed block, which ``admit`` may refuse to keep.

        With ``wait=False`` nothing happens while somebody else packs: a finaliser that the
        garbage collector runs in the middle of packing would wait for itself.
        """
        if not self.packing.acquire(blocking=wait):
            return
        if self.is_packing:  # a signal handler struck in the middle of it
            self.packing.release()
            return
        self.is_packing = True
        try:
            block = Block(
                self.thread,
                self._take_placed(self.calls, CALL_FIELDS),
                _taken(self.operators, OPERATOR_FIELDS),
                _taken(self.memory, MEMORY_FIELDS),
                self._take_placed(self.user, USER_FIELDS),
                _taken(self.drops, DROP_FIELDS),
                _taken(self.releases, RELEASE_FIELDS),
            )
            if len(block) and (admit is None or admit(block)):
                self.blocks.append(block)
        finally:
            self.is_packing = False
            self.packing.release()

    def is_long(self) -> bool:
        """Whether it is time to pack."""
        lists = (self.calls, self.operators, self.memory, self.user, self.drops, self.releases)
        return sum(map(len, lists)) > 6 * PACK_AT

    def _take_placed(self, records: list[Any], names: Sequence[str]) -> Packed:
        """Take records that hold code objects, which get numbers."""
        fields, at = len(names), names.index("code")
        flat = _take(records, fields)
        flat[at::fields] = self.code_numbers(flat[at::fields])
        return _packed(flat, fields)


def _take(records: list[Any], fields: int) -> list[Any]:
    """Remove and return the whole records collected so far."""
    count = len(records) // fields * fields
    taken = records[:count]
    del records[:count]
    return taken


def _taken(records: list[Any], names: Sequence[str]) -> Packed:
    return _packed(_take(records, len(names)), len(names))


def _packed(flat: list[Any], fields: int) -> Packed:
    # Half the time of `np.array`, which looks at every item twice.
    return Packed(np.fromiter(flat, np.int64, len(flat)).reshape(-1, fields))

"""`ThreadBuffer`: where one thread puts its records, without a lock.

- A record is a run of integers appended to a flat list by one `list.extend`, which the
  interpreter does in one piece: no record is ever torn, and no lock is taken.
- A thread that has collected many packs them into an int64 array (8 bytes per field).
- Whoever ends a recording packs the rest: it copies a prefix of the list and deletes that prefix,
  each in one piece, while the owner may go on appending behind it.

Flat lists won over `struct.pack_into`, `array('q')` and lists of tuples inside a dispatch loop,
although packed buffers look equal in isolation; `python -m tests.benchmarks` measures the whole.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array

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
#: The arrays of a `Block` by name, and the fields of each.
TABLES = {
    "calls": CALL_FIELDS,
    "operators": OPERATOR_FIELDS,
    "memory": MEMORY_FIELDS,
    "user": USER_FIELDS,
}

#: Records a thread collects before it packs them: about 1 ms of packing at a time.
PACK_AT = 4096


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """Who a buffer belongs to."""

    name: str
    role: str
    device: str | None
    order: int
    ident: int


def _nothing_marked() -> I64Array:
    return np.empty((0, len(USER_FIELDS)), np.int64)


@dataclass(slots=True)
class Block:
    """Packed records of one thread, each array of shape (records, fields)."""

    thread: ThreadInfo
    calls: I64Array
    operators: I64Array
    memory: I64Array
    user: I64Array = field(default_factory=_nothing_marked)
    number: int = field(default_factory=itertools.count().__next__)

    def __len__(self) -> int:
        return len(self.calls) + len(self.operators) + len(self.memory) + len(self.user)

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take, in bytes."""
        return sum(getattr(self, name).nbytes for name in TABLES)

    def memory_changes(self) -> I64Array:
        """Return memory taken and given back, shape (n, 3), by the host and by operators."""
        _, start, end, _, _, device, size = self.operators[self.operators[:, 5] >= 0].T
        moment = np.where(size > 0, start, end)
        return np.concatenate([self.memory, np.stack([moment, device, size], axis=1)])

    def ends(self) -> I64Array:
        """Return when these records ended, in no order, shape (n,)."""
        return np.concatenate(
            [self.calls[:, 1], self.operators[:, 2], self.memory[:, 0], self.user[:, 1]]
        )

    def first_end(self) -> int:
        """Return when the first of these records ended."""
        return int(self.ends().min())

    def between(self, begin: int, end: int | None, queued: Sequence[tuple[int, int]] = ()) -> Block:
        """Return the records that ended in ``[begin, end]``, without limit for None, as a copy.

        Parameters
        ----------
        begin, end : int
        queued : sequence of (int, int), optional
            Ranges in order. An operator queued in one of them is returned whenever it ended.
        """
        operators = _within(self.operators[:, 2], begin, end)
        if queued:
            operators |= _in_any(self.operators[:, 0], queued)
        return Block(
            self.thread,
            self.calls[_within(self.calls[:, 1], begin, end)],
            self.operators[operators],
            self.memory[_within(self.memory[:, 0], begin, end)],
            self.user[_within(self.user[:, 1], begin, end)],
        )


def _within(times: NDArray[Any], begin: int, end: int | None) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = times >= begin
    return inside if end is None else inside & (times <= end)


def _in_any(times: NDArray[Any], ranges: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    begins, ends = np.array(ranges, dtype=np.int64).T
    before = np.searchsorted(begins, times, side="right") - 1
    inside: NDArray[np.bool_] = (before >= 0) & (times <= ends[before])
    return inside


@dataclass(slots=True)
class ThreadBuffer:
    """Records of one thread that are not packed yet, and the packed ones.

    Attributes
    ----------
    calls, operators, memory, user : list
        Flat; append whole records with ``extend``.
    """

    thread: ThreadInfo
    code_number: Callable[[CodeType | None], int]
    calls: list[Any] = field(default_factory=list)
    operators: list[Any] = field(default_factory=list)
    memory: list[Any] = field(default_factory=list)
    user: list[Any] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    packing: threading.Lock = field(default_factory=threading.Lock)

    def pack(self, *, wait: bool = True, admit: Callable[[Block], bool] | None = None) -> None:
        """Turn what was collected into one packed block, which ``admit`` may refuse to keep.

        With ``wait=False`` nothing happens while somebody else packs: a finaliser that the
        garbage collector runs in the middle of packing would wait for itself.
        """
        if not self.packing.acquire(blocking=wait):
            return
        try:
            block = Block(
                self.thread,
                self._take_placed(self.calls, CALL_FIELDS),
                _packed(_take(self.operators, len(OPERATOR_FIELDS)), len(OPERATOR_FIELDS)),
                _packed(_take(self.memory, len(MEMORY_FIELDS)), len(MEMORY_FIELDS)),
                self._take_placed(self.user, USER_FIELDS),
            )
            if len(block) and (admit is None or admit(block)):
                self.blocks.append(block)
        finally:
            self.packing.release()

    def _take_placed(self, records: list[Any], names: Sequence[str]) -> I64Array:
        """Take records that hold code objects, which get numbers."""
        fields, at = len(names), names.index("code")
        flat = _take(records, fields)
        number = self.code_number
        flat[at::fields] = [number(code) for code in flat[at::fields]]
        return _packed(flat, fields)


def _take(records: list[Any], fields: int) -> list[Any]:
    """Remove and return the whole records collected so far."""
    count = len(records) // fields * fields
    taken = records[:count]
    del records[:count]
    return taken


def _packed(flat: list[Any], fields: int) -> I64Array:
    return np.array(flat, dtype=np.int64).reshape(-1, fields)

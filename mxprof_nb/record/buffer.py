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
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array

__all__ = ["CALL_FIELDS", "MEMORY_FIELDS", "OPERATOR_FIELDS", "Block", "ThreadBuffer", "ThreadInfo"]

#: A call or wait of the host: begin, end, label, correlation, code object, offset in it.
CALL_FIELDS = ("start", "end", "label", "correlation", "code", "offset")
#: An operator run by a worker, with the memory it took (at its begin) or gave back (at its end).
OPERATOR_FIELDS = ("queued", "start", "end", "label", "correlation", "device", "bytes")
#: Memory taken by the host.
MEMORY_FIELDS = ("time", "device", "bytes")

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


@dataclass(slots=True)
class Block:
    """Packed records of one thread, each array of shape (records, fields)."""

    thread: ThreadInfo
    calls: I64Array
    operators: I64Array
    memory: I64Array
    number: int = field(default_factory=itertools.count().__next__)

    def __len__(self) -> int:
        return len(self.calls) + len(self.operators) + len(self.memory)

    def memory_changes(self) -> I64Array:
        """Return memory taken and given back, shape (n, 3), by the host and by operators."""
        _, start, end, _, _, device, size = self.operators[self.operators[:, 5] >= 0].T
        moment = np.where(size > 0, start, end)
        return np.concatenate([self.memory, np.stack([moment, device, size], axis=1)])

    def first_end(self) -> int:
        """Return when the first of these records ended."""
        ends = (self.calls[:, 1], self.operators[:, 2], self.memory[:, 0])
        return min(int(times.min()) for times in ends if len(times))

    def between(self, begin: int, end: int | None) -> Block:
        """Return the records that ended in ``[begin, end]``, without limit for None, as a copy."""
        return Block(
            self.thread,
            self.calls[_within(self.calls[:, 1], begin, end)],
            self.operators[_within(self.operators[:, 2], begin, end)],
            self.memory[_within(self.memory[:, 0], begin, end)],
        )


def _within(times: NDArray[Any], begin: int, end: int | None) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = times >= begin
    return inside if end is None else inside & (times <= end)


@dataclass(slots=True)
class ThreadBuffer:
    """Records of one thread that are not packed yet, and the packed ones.

    Attributes
    ----------
    calls, operators, memory : list
        Flat; append whole records with ``extend``.
    """

    thread: ThreadInfo
    code_number: Callable[[CodeType | None], int]
    calls: list[Any] = field(default_factory=list)
    operators: list[Any] = field(default_factory=list)
    memory: list[Any] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    packing: threading.Lock = field(default_factory=threading.Lock)

    def pack(self, *, wait: bool = True) -> None:
        """Turn what was collected into one packed block.

        With ``wait=False`` nothing happens while somebody else packs: a finaliser that the
        garbage collector runs in the middle of packing would wait for itself.
        """
        if not self.packing.acquire(blocking=wait):
            return
        try:
            block = Block(
                self.thread,
                self._take_calls(),
                _packed(_take(self.operators, len(OPERATOR_FIELDS)), len(OPERATOR_FIELDS)),
                _packed(_take(self.memory, len(MEMORY_FIELDS)), len(MEMORY_FIELDS)),
            )
            if len(block):
                self.blocks.append(block)
        finally:
            self.packing.release()

    def _take_calls(self) -> I64Array:
        fields = len(CALL_FIELDS)
        flat = _take(self.calls, fields)
        number = self.code_number
        at = CALL_FIELDS.index("code")
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

"""Memory for large arrays, used again instead of being given back to the system.

A fresh block of several megabytes costs more than most operators that write it: the system hands
out its pages one fault at a time. Blocks therefore wait here for the next array of about their
size. What profiles show as allocated does not change: that counts arrays, not blocks.

- A block comes back when the last array that shares it is gone, by itself.
- Arrays below `SMALLEST` bytes, where faults do not matter, and above `LARGEST` bypass the pool.
- At most `LIMIT` bytes wait. Blocks of the sizes that nobody asks for make room for others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from numpy.typing import NDArray as NumpyArray

__all__ = ["LARGEST", "LIMIT", "SMALLEST", "empty", "kept_bytes", "owned", "release", "watch"]

#: Bytes that may wait for their next use.
LIMIT = 256 * 2**20

SMALLEST = 64 * 2**10
LARGEST = LIMIT // 4


class _Block(np.ndarray[Any, np.dtype[np.uint8]]):
    """Memory that the pool made."""


_Shelf = deque[_Block]


class _Shelves:
    """The blocks that wait, by size.

    No lock is taken, for a block may come back inside any allocation, on any thread: deques are
    safe by themselves, and ``kept`` may drift by a lost update; each miss counts it anew.
    """

    def __init__(self) -> None:
        self.kept = 0
        self.by_size: dict[int, _Shelf] = {}
        self.watcher: Callable[[int], None] | None = None

    def take(self, size: int) -> _Block:
        shelf = self.by_size.get(size)
        if shelf:
            try:
                block = shelf.pop()  # the last one in: the caches may still hold some of it
            except IndexError:  # another thread was faster
                pass
            else:
                self.kept -= size
                if self.watcher is not None:
                    self.watcher(self.kept)
                return block
        self._make_room(size)
        return _Block(size, np.uint8)

    def _make_room(self, size: int) -> None:
        self.kept = self.count()
        if self.kept + size > LIMIT:  # the program has turned to other sizes
            for other in tuple(self.by_size):
                if other != size:
                    self.by_size[other].clear()
            self.kept = self.count()

    def count(self) -> int:
        # A tuple of the keys is made in one piece; pairs would be allocated, and a block come back.
        return sum(size * len(self.by_size[size]) for size in tuple(self.by_size))

    def put(self, block: _Block) -> None:
        size = block.nbytes
        if self.kept + size <= LIMIT:
            self.kept += size
            shelf = self.by_size.get(size)
            if shelf is None:
                shelf = self.by_size.setdefault(size, deque())
            shelf.append(block)
            if self.watcher is not None:
                self.watcher(self.kept)


_SHELVES = _Shelves()


class _Loan(np.ndarray[Any, np.dtype[np.uint8]]):
    """A block in use: the base of every array on it, and so gone when the last of them is.

    NumPy lets an array refer to the base of its base if that has the array's own type; hence a
    type for loans, and another for blocks.
    """

    def __del__(self, put: Callable[[_Block], None] = _SHELVES.put) -> None:
        block = self.base
        if type(block) is _Block:
            put(block)


def _rounded(nbytes: int) -> int:
    """Return the size of the block: four sizes between one power of two and the next."""
    step: int = 1 << (nbytes.bit_length() - 3)
    return -(-nbytes // step) * step


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> NumpyArray[Any]:
    """Return an array of arbitrary content, in C order.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype_like

    Returns
    -------
    ndarray
        Like that of ``numpy.empty``; a large one lies in a block that was used before.
    """
    kind = np.dtype(dtype)
    nbytes = prod(shape) * kind.itemsize
    if not SMALLEST <= nbytes <= LARGEST:
        return np.empty(shape, kind)
    loan = _SHELVES.take(_rounded(nbytes)).view(_Loan)
    return np.ndarray(shape, kind, loan)


def owned(data: NumpyArray[Any]) -> bool:
    """Whether an array has its memory to itself: its own, or a whole block of the pool.

    A view of another array does not, also where that one lies in the pool.
    """
    base = data.base
    return base is None or type(base) is _Loan


def kept_bytes() -> int:
    """Return how many bytes wait for their next use."""
    return _SHELVES.count()


def watch(call: Callable[[int], None] | None) -> None:
    """Have a function told how many bytes wait, whenever that changes; None ends it.

    It must take no lock: a block may come back inside any allocation.
    """
    _SHELVES.watcher = call


def release() -> None:
    """Give all blocks that wait back to the system."""
    for size in tuple(_SHELVES.by_size):
        _SHELVES.by_size[size].clear()
    _SHELVES.kept = _SHELVES.count()

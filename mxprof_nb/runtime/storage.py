"""Memory of arrays: a `Chunk` is a variable of the engine that owns a block of memory.

- Made with its memory (`allocate`) or without (`promise`): then the operator that writes it
  first brings the memory along.
- Given back by a worker, as an operator of its own, while a profile is being recorded; on the
  spot otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine import Operator, Variable, default_engine

__all__ = ["Chunk", "allocate", "memory_label", "promise"]

_now = RECORDER.clock.now
_memory_labels: dict[Context, int] = {}


def memory_label(context: Context) -> int:
    """Return the number of the label under which memory of a device is counted."""
    label = _memory_labels.get(context)
    if label is None:
        name = f"Memory: {context.label}"
        label = _memory_labels[context] = RECORDER.labels.define(name, "memory", context.label)
    return label


class Chunk(Variable):
    """A block of memory and the order in which operators use it.

    Attributes
    ----------
    data : ndarray or None
        The memory, C-contiguous; None until the first write is done.
    nbytes : int
        Its size; counted from the moment the memory is there.
    context : Context
        Where it lives.
    """

    __slots__ = ("context", "data", "nbytes")

    def __init__(self, nbytes: int, context: Context) -> None:
        super().__init__()
        self.data: NumpyArray[Any] | None = None
        self.nbytes = nbytes
        self.context = context

    def fill(self, data: NumpyArray[Any], when_ns: int) -> None:
        """Take over memory that an operator brought along."""
        fresh = self.data is None
        self.data = data
        if fresh and RECORDER.on:
            RECORDER.buffer().memory.extend((when_ns, memory_label(self.context), self.nbytes))

    def __del__(self) -> None:
        # Every queued operator holds its chunks, so nobody uses the memory any more. The records
        # made here must not take a lock: a finaliser can run inside any allocation.
        if self.data is not None and RECORDER.on:
            default_engine().release(_Release(self.data, self.nbytes, memory_label(self.context)))


class _Release:
    """Gives one block back when a worker calls it."""

    __slots__ = ("data", "label", "nbytes")

    def __init__(self, data: NumpyArray[Any], nbytes: int, label: int) -> None:
        self.data: NumpyArray[Any] | None = data
        self.nbytes = nbytes
        self.label = label

    def __call__(self, operator: Operator) -> None:
        self.data = None
        RECORDER.buffer().memory.extend((_now(), self.label, -self.nbytes))


def allocate(shape: tuple[int, ...], dtype: np.dtype[Any], context: Context) -> Chunk:
    """Return a chunk with uninitialised memory."""
    data = np.empty(shape, dtype)
    chunk = Chunk(data.nbytes, context)
    chunk.fill(data, _now())
    return chunk


def promise(nbytes: int, context: Context) -> Chunk:
    """Return a chunk whose memory comes with the first operator that writes it."""
    return Chunk(nbytes, context)

"""Memory of arrays: a `Chunk` is a variable of the engine that owns a block of memory.

- Made with its memory (`allocate`), or as a promise: then the operator that writes it first
  brings the memory along.
- Given back by a worker, as ``DeleteVariable``, while a profile is being recorded; on the spot
  otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine import Release, Variable, default_engine

__all__ = ["Chunk", "allocate", "bring", "finalise_with"]

_now = RECORDER.clock.now


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


def _give_back(chunk: Chunk) -> None:
    """Have a worker give the memory back; the finaliser of chunks while somebody records."""
    # Every queued operator holds its chunks, so nobody uses the memory any more.
    if chunk.data is not None:
        released = Release(chunk.data, chunk.context.memory_label, chunk.nbytes)
        chunk.data = None
        default_engine().release(released)


def finalise_with(kind: type, call: Callable[[Any], None]) -> None:
    """Give a class a finaliser while somebody records, and none otherwise.

    A finaliser costs time for every object, and swallows the Ctrl-C that strikes in it.
    """

    def switch(on: bool) -> None:
        if on:
            kind.__del__ = call  # type: ignore[attr-defined]
        elif "__del__" in vars(kind):
            del kind.__del__  # type: ignore[attr-defined]

    RECORDER.when_switched(switch)


finalise_with(Chunk, _give_back)


def allocate(shape: tuple[int, ...], dtype: np.dtype[Any], context: Context) -> Chunk:
    """Return a chunk with uninitialised memory."""
    chunk = Chunk(0, context)
    bring(chunk, np.empty(shape, dtype))
    return chunk


def bring(chunk: Chunk, data: NumpyArray[Any]) -> None:
    """Give a chunk memory on behalf of the host."""
    chunk.data = data
    chunk.nbytes = data.nbytes
    if RECORDER.on:
        RECORDER.buffer().memory.extend((_now(), chunk.context.memory_label, data.nbytes))

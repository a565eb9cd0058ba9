"""Memory of arrays: a `Chunk` is a variable of the engine that owns a block of memory.

- Made with its memory (`allocate`), or as a promise: then the operator that writes it first
  brings the memory along.
- Given back when the last array and the last queued operator that need it are gone, which a
  profile shows as ``DeleteVariable``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.calls import WORTH_TIMING, here
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine import NaiveEngine, Variable, default
from mxprof_nb.runtime.engine.inside import INSIDE, label_here
from mxprof_nb.runtime.finaliser import finalise_with

__all__ = ["Chunk", "allocate", "bring"]

_now = RECORDER.clock.now
_DELETE_VARIABLE = RECORDER.labels.define("DeleteVariable", "engine", "operator")


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
        # As `Variable.__init__` does, without the call: there is a chunk for every result.
        self.readers = 0
        self.writing = False
        self.queue = None
        self.failure = None
        self.data: NumpyArray[Any] | None = None
        self.nbytes = nbytes
        self.context = context


def _give_back(chunk: Chunk) -> None:
    """Give the memory back and say so; the finaliser of chunks while somebody records.

    Every queued operator holds its chunks, so nobody uses the memory any more. It goes at the
    moment and on the thread on which it goes without a profile: handing it to a worker, as MXNet
    does, made programs that reuse memory at once twice as slow under the profile. No lock is
    taken, for a finaliser can run inside any allocation.
    """
    try:
        if chunk.data is None:
            return
    except AttributeError:
        return  # Ctrl-C left it half made
    size, label = chunk.nbytes, _DELETE_VARIABLE
    if INSIDE and isinstance(default.engine, NaiveEngine):
        label = label_here(label)  # as MXNet has it; elsewhere its workers give memory back
    if size < WORTH_TIMING:
        here.release((_now(), label, chunk.context.memory_label, -size))
        return
    start = _now()
    chunk.data = None
    end = _now()
    here.operator((0, start, end, label, 0, chunk.context.memory_label, -size))


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
        here.buffer.memory.extend((_now(), chunk.context.memory_label, data.nbytes))

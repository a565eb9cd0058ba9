"""`Handle`: what the front end holds of an array: a chunk, and which part of it in which shape."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops import Aval
from mxprof_nb.runtime.storage import Chunk

__all__ = ["Handle", "View", "look"]

#: First element and shape of a contiguous part of a chunk; None means all of it, as it is.
View = tuple[int, tuple[int, ...]] | None


def look(data: NumpyArray[Any], view: View) -> NumpyArray[Any]:
    """Return the part of a chunk's memory that a view names, sharing the memory."""
    if view is None:
        return data
    first, shape = view
    size = 1
    for extent in shape:
        size *= extent
    return data.reshape(-1)[first : first + size].reshape(shape)


class Handle:
    """A promise of an array.

    Attributes
    ----------
    chunk : Chunk
        Memory it lives in, shared with its views.
    aval : Aval
        Its shape and type.
    view : View
        Which part of the chunk it is.
    entry : tuple of Node and int
        Its place on the tape of `mxprof_nb.runtime.tape`; only set where it has one.
    """

    __slots__ = ("__weakref__", "aval", "chunk", "entry", "view")

    chunk: Chunk
    aval: Aval
    view: View
    entry: tuple[Any, int]

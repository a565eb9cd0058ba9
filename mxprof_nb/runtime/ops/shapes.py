"""`Aval`: shape and type of an array whose value may not exist yet."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Aval", "aval"]


class Aval:
    """Shape and type of an array (an *abstract value*).

    Interned by `aval`, so that equal ones are the same object and hash by identity.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    size, nbytes : int
    """

    __slots__ = ("dtype", "nbytes", "shape", "size")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        size = 1
        for extent in shape:
            size *= extent
        self.size = size
        self.nbytes = size * dtype.itemsize

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


_AVALS: dict[tuple[tuple[int, ...], np.dtype[Any]], Aval] = {}


def aval(shape: tuple[int, ...], dtype: Any) -> Aval:
    """Return the one `Aval` of this shape and type."""
    key = (shape, np.dtype(dtype))
    found = _AVALS.get(key)
    if found is None:
        found = _AVALS.setdefault(key, Aval(shape, key[1]))
    return found

"""How a chosen part of an array travels to a kernel: hashable, and as NumPy wants it again."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxprof_nb.runtime.ops.registry import Aval

__all__ = ["Key", "as_index", "part_shape"]

#: Numbers, Ellipsis, None, and slices as (start, stop, step): slices cannot be hashed on 3.11.
Key = tuple[Any, ...]


def as_index(key: Key) -> tuple[Any, ...]:
    """Return the NumPy index for a key."""
    return tuple(slice(*part) if isinstance(part, tuple) else part for part in key)


def part_shape(operand: Aval, key: Key) -> tuple[int, ...]:
    """Return the shape of the chosen part.

    Raises
    ------
    IndexError
        The key leaves the array; the text is NumPy's.
    """
    # A zero-strided stand-in of the same shape: indexing it costs no memory.
    stand_in = np.broadcast_to(np.zeros((), operand.dtype), operand.shape)
    shape: tuple[int, ...] = stand_in[as_index(key)].shape
    return shape

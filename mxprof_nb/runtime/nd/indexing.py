"""What users write between brackets and in ``reshape``, in the form the layers below take."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.ops import Aval
from mxprof_nb.runtime.ops.indexing import Key

__all__ = ["filled_in", "hashable", "row"]


def row(position: int, rows: int) -> int:
    """Return the number of a row, counted from 0."""
    if not -rows <= position < rows:
        raise IndexError(f"index {position} is out of bounds for axis 0 with size {rows}")
    return position % rows


def hashable(key: Any) -> Key:
    """Return a basic index as a key; slices become tuples."""
    parts = key if isinstance(key, tuple) else (key,)
    made: list[Any] = []
    for part in parts:
        if isinstance(part, slice):
            made.append((_number(part.start), _number(part.stop), _number(part.step)))
        elif part is None or part is Ellipsis:
            made.append(part)
        elif isinstance(part, (int, np.integer)) and not isinstance(part, (bool, np.bool_)):
            made.append(int(part))
        else:
            raise IndexError(
                f"An NDArray is indexed by numbers, slices, ... and None; {part!r} is "
                f"{type(part).__name__}. For other choices go through .asnumpy()."
            )
    return tuple(made)


def _number(bound: Any) -> int | None:
    return None if bound is None else operator.index(bound)


def filled_in(operand: Aval, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape with one -1 replaced by what is left and 0 by the old extent."""
    kept = tuple(
        operand.shape[i] if extent == 0 and i < len(operand.shape) else extent
        for i, extent in enumerate(shape)
    )
    if kept.count(-1) > 1 or any(extent < -1 for extent in kept):
        raise ShapeError(f"reshape: shape {shape} may hold one -1 and no other negative number.")
    if -1 in kept:
        rest = -int(np.prod(kept)) or 1
        kept = tuple(operand.size // rest if extent == -1 else extent for extent in kept)
    return kept

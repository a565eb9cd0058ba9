"""Positions on several axes as one number, and back; they move in steps: no gradient flows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.registry import Aval, aval, refuse, register

__all__ = ["RAVEL_MULTI_INDEX", "UNRAVEL_INDEX"]

Array = NumpyArray[Any]
Shape = tuple[int, ...]


def _infer_ravel(data: Aval, shape: Shape) -> Aval:
    if len(data.shape) != 2 or data.shape[0] != len(shape) or not shape:
        raise refuse(
            "ravel_multi_index", f"it needs a row of positions for each axis of {shape}", data
        )
    return aval(data.shape[1:], data.dtype)


def _ravel(data: Array, shape: Shape) -> Array:
    places = data.astype(np.int64)
    made: Array = places[0]
    for extent, place in zip(shape[1:], places[1:], strict=True):
        made = made * extent + place
    return np.asarray(made, data.dtype)


RAVEL_MULTI_INDEX = register(
    "_ravel_multi_index",
    _infer_ravel,
    "Positions on the axes of a shape as one number each, counted in C order.",
)(_ravel)


def _infer_unravel(data: Aval, shape: Shape) -> Aval:
    if len(data.shape) != 1 or not shape:
        raise refuse("unravel_index", f"it needs numbers in a row and axes, not {shape}", data)
    if min(shape[1:], default=1) < 1:
        raise refuse("unravel_index", f"shape {shape} has no elements", data)
    return aval((len(shape), *data.shape), data.dtype)


def _unravel(data: Array, shape: Shape) -> Array:
    made = np.empty((len(shape), *data.shape), data.dtype)
    rest = data.astype(np.int64)
    for axis in range(len(shape) - 1, 0, -1):
        upper = np.sign(rest) * (np.abs(rest) // shape[axis])  # rounded towards 0, as in C
        made[axis] = rest - upper * shape[axis]
        rest = upper
    made[0] = rest  # as it is, also beyond the first axis
    return made


UNRAVEL_INDEX = register(
    "_unravel_index",
    _infer_unravel,
    "Positions on the axes of a shape, of elements counted in C order.",
)(_unravel)

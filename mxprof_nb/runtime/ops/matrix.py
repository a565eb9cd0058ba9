"""Products, diagonals and changes of shape that move data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.indexing import Key, as_index, part_shape
from mxprof_nb.runtime.ops.registry import Aval, aval, refuse, register

__all__ = ["COPY", "DIAG", "DOT", "SLICE", "TRANSPOSE"]

Array = NumpyArray[Any]


def _infer_dot(
    left: Aval, right: Aval, transpose_a: bool = False, transpose_b: bool = False
) -> Aval:
    if left.dtype != right.dtype:
        raise refuse(
            "dot", "the types differ", left, right, remedy="Convert one with .astype(...)."
        )
    if not left.shape or not right.shape:
        raise refuse("dot", "both need at least one axis", left, right)
    a = left.shape[1:] + left.shape[:1] if transpose_a else left.shape
    b = right.shape[-1:] + right.shape[:-1] if transpose_b else right.shape
    if a[-1] != b[0]:
        raise refuse(
            "dot",
            f"the last axis of the left ({a[-1]}) and the first of the right ({b[0]}) must agree",
            left,
            right,
            remedy="See transpose_a and transpose_b.",
        )
    return aval(a[:-1] + b[1:] or (1,), left.dtype)


def _dot(left: Array, right: Array, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    # The axis to sum over moves to where it is wanted, the others keep their order.
    a = np.moveaxis(left, 0, -1) if transpose_a else left
    b = np.moveaxis(right, -1, 0) if transpose_b else right
    product = np.dot(a, b) if b.ndim <= 2 else np.tensordot(a, b, axes=1)
    return np.atleast_1d(np.asarray(product, dtype=left.dtype))


DOT = register(
    "dot",
    _infer_dot,
    "Product over the last axis of the left and the first of the right.",
    blas=True,
)(_dot)


def _infer_diag(operand: Aval, k: int = 0) -> Aval:
    if len(operand.shape) == 1:
        extent = operand.shape[0] + abs(k)
        return aval((extent, extent), operand.dtype)
    if len(operand.shape) != 2:
        raise refuse("diag", "one or two axes are supported", operand)
    rows, columns = operand.shape
    length = min(rows + min(k, 0), columns - max(k, 0))
    if length <= 0:
        raise refuse("diag", f"there is no diagonal {k}", operand)
    return aval((length,), operand.dtype)


def _diag(operand: Array, k: int = 0) -> Array:
    return np.diag(operand, k)


DIAG = register("diag", _infer_diag, "Diagonal of a matrix, or the matrix with a given diagonal.")(
    _diag
)


def _infer_transpose(operand: Aval, axes: tuple[int, ...] = ()) -> Aval:
    rank = len(operand.shape)
    if not axes:
        return aval(operand.shape[::-1], operand.dtype)
    if sorted(axis % rank if -rank <= axis < rank else -1 for axis in axes) != list(range(rank)):
        raise refuse("transpose", f"axes {axes} must name each axis once", operand)
    return aval(tuple(operand.shape[axis] for axis in axes), operand.dtype)


def _transpose(operand: Array, axes: tuple[int, ...] = ()) -> Array:
    return np.ascontiguousarray(operand.transpose(axes or None))


TRANSPOSE = register("transpose", _infer_transpose, "Axes in another order.")(_transpose)


def _infer_slice(operand: Aval, key: Key) -> Aval:
    return aval(part_shape(operand, key) or (1,), operand.dtype)


def _slice(operand: Array, key: Key) -> Array:
    return np.ascontiguousarray(np.atleast_1d(operand[as_index(key)]))


SLICE = register("slice", _infer_slice, "Copy of a part chosen by numbers and slices.")(_slice)


def _infer_copy(operand: Aval, dtype: str = "") -> Aval:
    return aval(operand.shape, dtype) if dtype else operand


def _copy(operand: Array, dtype: str = "") -> Array:
    return operand.astype(dtype or operand.dtype, copy=True)


COPY = register(
    "CopyCPU2CPU", _infer_copy, "Copy of an array, in another type if one is named.", copies=True
)(_copy)

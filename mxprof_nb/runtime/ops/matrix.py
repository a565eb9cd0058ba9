"""Products of matrices, diagonals, and copies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of, of_one_type, without
from mxprof_nb.runtime.ops.cost import Rule, nothing
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register

__all__ = ["BATCH_DOT", "COPY", "DIAG", "DOT"]

Array = NumpyArray[Any]


def _flops(first: int) -> Rule:
    """Return the rule for products: ``first`` axis is summed over where ``transpose_a`` is set."""

    def count(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
        # A multiplication and an addition for each pair of elements that meet.
        return 2 * results[0].size * inputs[0].shape[first if attrs.get("transpose_a") else -1]

    return count


def _back_flops(first: int) -> Rule:
    """Return the rule for the gradients: each is a product as large as the forward one."""
    forward = _flops(first)

    def count(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
        return len(results) * forward(attrs["like"], inputs[:1], attrs)

    return count


# dot


def _infer_dot(
    left: Aval, right: Aval, transpose_a: bool = False, transpose_b: bool = False
) -> Aval:
    of_one_type("dot", left, right)
    if len(left.shape) == len(right.shape) == 1 and (transpose_a or transpose_b):
        raise refuse("dot", "vectors cannot be transposed", left, right)
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


def _as_matrices(
    left: Array, right: Array, transpose_a: bool, transpose_b: bool
) -> tuple[Array, Array]:
    """Return both with one axis to sum over and all others as one; views, so no copies."""
    # np.dot of more than two axes goes without BLAS.
    common = left.shape[0 if transpose_a else -1]
    rows, columns = (
        math.prod(shape[1:] if first else shape[:-1])
        for shape, first in ((left.shape, transpose_a), (right.shape, not transpose_b))
    )
    a = left.reshape(common, rows).T if transpose_a else left.reshape(rows, common)
    b = right.reshape(columns, common).T if transpose_b else right.reshape(common, columns)
    return a, b


def _product(a: Array, b: Array, shape: tuple[int, ...]) -> Array:
    made = np.empty(shape, a.dtype)
    np.matmul(a, b, out=made.reshape(len(a), b.shape[1]))
    return made


def _dot(left: Array, right: Array, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    if left.ndim == right.ndim == 2:  # what is common, and costs more to fold than to multiply
        a, b = left.T if transpose_a else left, right.T if transpose_b else right
        return np.dot(a, b)  # type: ignore[no-any-return]
    shape_a = left.shape[1:] if transpose_a else left.shape[:-1]
    shape_b = right.shape[:-1] if transpose_b else right.shape[1:]
    a, b = _as_matrices(left, right, transpose_a, transpose_b)
    return _product(a, b, shape_a + shape_b or (1,))


def _dot_back(
    head: Array,
    left: Array,
    right: Array,
    wanted: tuple[int, ...],
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> tuple[Array | None, ...]:
    a, b = _as_matrices(left, right, transpose_a, transpose_b)
    g = head.reshape(len(a), b.shape[1])
    grad_left = grad_right = None
    if 0 in wanted:
        one, other = (b, g.T) if transpose_a else (g, b.T)
        grad_left = _product(one, other, left.shape)
    if 1 in wanted:
        one, other = (g.T, a) if transpose_b else (a.T, g)
        grad_right = _product(one, other, right.shape)
    return grad_left, grad_right


DOT = register(
    "dot",
    _infer_dot,
    "Product over the last axis of the left and the first of the right.",
    gradient=Gradient("_backward_dot", _dot_back, inputs=(0, 1), flops=_back_flops(0), blas=True),
    flops=_flops(0),
    blas=True,
)(_dot)


# One product for each of a batch


def _infer_batch_dot(
    left: Aval, right: Aval, transpose_a: bool = False, transpose_b: bool = False
) -> Aval:
    of_one_type("batch_dot", left, right)
    if len(left.shape) < 3 or left.shape[:-2] != right.shape[:-2]:
        raise refuse(
            "batch_dot", "both need three axes or more, the same but the last two", left, right
        )
    m, k = left.shape[:-3:-1] if transpose_a else left.shape[-2:]
    k_right, n = right.shape[:-3:-1] if transpose_b else right.shape[-2:]
    if k != k_right:
        raise refuse(
            "batch_dot",
            f"{k} columns of the left meet {k_right} rows of the right",
            left,
            right,
            remedy="See transpose_a and transpose_b.",
        )
    return aval((*left.shape[:-2], m, n), left.dtype)


def _turned(operand: Array, turn: bool) -> Array:
    return operand.swapaxes(-1, -2) if turn else operand


def _batch_dot(
    left: Array, right: Array, transpose_a: bool = False, transpose_b: bool = False
) -> Array:
    made: Array = np.matmul(_turned(left, transpose_a), _turned(right, transpose_b))
    return made


def _batch_dot_back(
    head: Array,
    left: Array,
    right: Array,
    wanted: tuple[int, ...],
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> tuple[Array | None, ...]:
    a, b = _turned(left, transpose_a), _turned(right, transpose_b)
    grads: list[Array | None] = [None, None]
    if 0 in wanted:
        b_turned = b.swapaxes(-1, -2)
        grads[0] = np.matmul(b, _turned(head, True)) if transpose_a else np.matmul(head, b_turned)
    if 1 in wanted:
        a_turned = a.swapaxes(-1, -2)
        grads[1] = np.matmul(_turned(head, True), a) if transpose_b else np.matmul(a_turned, head)
    return tuple(grads)


BATCH_DOT = register(
    "batch_dot",
    _infer_batch_dot,
    "Products of the matrices in two batches.",
    gradient=Gradient(
        "batch_dot", _batch_dot_back, inputs=(0, 1), flops=_back_flops(-2), blas=True
    ),
    flops=_flops(-2),
    blas=True,
)(_batch_dot)


# Diagonals


def _infer_diag(operand: Aval, k: int = 0, axis1: int = 0, axis2: int = 1) -> Aval:
    if len(operand.shape) == 1:
        extent = operand.shape[0] + abs(k)
        return aval((extent, extent), operand.dtype)
    one, other = (axis_of("diag", operand, axis) for axis in (axis1, axis2))
    if one == other:
        raise refuse("diag", f"axes {axis1} and {axis2} are the same", operand)
    length = min(operand.shape[one] + min(k, 0), operand.shape[other] - max(k, 0))
    if length < 0:
        raise refuse("diag", f"there is no diagonal {k}", operand)
    return aval((*without(operand.shape, one, other), length), operand.dtype)


def _diag(operand: Array, k: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    if operand.ndim == 1:
        return np.diag(operand, k)
    return np.diagonal(operand, k, axis1, axis2).copy()


def _diag_back(
    head: Array, like: tuple[Aval, ...], k: int = 0, axis1: int = 0, axis2: int = 1
) -> Array:
    shape = like[0].shape
    if len(shape) == 1:
        return np.diagonal(head, k).copy()
    made = np.zeros(shape, head.dtype)
    place = np.arange(head.shape[-1])
    matrices = np.moveaxis(made, (axis1, axis2), (-2, -1))
    matrices[..., place + max(-k, 0), place + max(k, 0)] = head
    return made


DIAG = register(
    "diag",
    _infer_diag,
    "Diagonal of matrices, or the matrix with a given diagonal.",
    gradient=Gradient("_backward_diag", _diag_back, flops=nothing),
    flops=nothing,
)(_diag)


# Copies


def _infer_copy(operand: Aval, dtype: str = "") -> Aval:
    return aval(operand.shape, dtype) if dtype else operand


def _copy(operand: Array, dtype: str = "") -> Array:
    return operand.astype(dtype or operand.dtype, copy=True)


def _copy_back(head: Array, like: tuple[Aval, ...], dtype: str = "") -> Array:
    return head.astype(like[0].dtype, copy=True)


COPY = register(
    "CopyCPU2CPU",
    _infer_copy,
    "Copy of an array, in another type if one is named.",
    gradient=Gradient("CopyCPU2CPU", _copy_back, flops=nothing),
    flops=nothing,
    copies=True,
)(_copy)

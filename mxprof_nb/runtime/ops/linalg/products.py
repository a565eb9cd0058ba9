"""Products of matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of
from mxprof_nb.runtime.ops.linalg.matrices import (
    check_matrices,
    cubic,
    register_linalg,
    turned,
)
from mxprof_nb.runtime.ops.registry import Aval, aval, refuse

Array = NumpyArray[Any]


def _multiplied(
    name: str, a: Aval, b: Aval, transpose_a: bool, transpose_b: bool, axis: int
) -> Aval:
    check_matrices(name, a, b)
    rows = axis_of(name, a, axis)
    if rows == len(a.shape) - 1 or len(a.shape) != len(b.shape):
        raise refuse(name, f"axis {axis} cannot count the rows of both", a, b)
    shape_a, shape_b = list(a.shape), list(b.shape)
    m, k = shape_a.pop(rows), shape_a.pop()
    k_right, n = shape_b.pop(rows), shape_b.pop()
    m, k = (k, m) if transpose_a else (m, k)
    k_right, n = (n, k_right) if transpose_b else (k_right, n)
    if k != k_right or shape_a != shape_b:
        raise refuse(name, f"{k} columns of the left meet {k_right} rows of the right", a, b)
    shape_a.insert(rows, m)
    return aval((*shape_a, n), a.dtype)


def _infer_gemm2(
    a: Aval,
    b: Aval,
    transpose_a: bool = False,
    transpose_b: bool = False,
    axis: int = -2,
    alpha: float = 1.0,
) -> Aval:
    return _multiplied("_linalg_gemm2", a, b, transpose_a, transpose_b, axis)


def _infer_gemm(
    a: Aval,
    b: Aval,
    c: Aval,
    transpose_a: bool = False,
    transpose_b: bool = False,
    axis: int = -2,
    **scale: float,
) -> Aval:
    made = _multiplied("_linalg_gemm", a, b, transpose_a, transpose_b, axis)
    if c is not made:
        raise refuse("_linalg_gemm", f"the product is {made}, the third must be too", a, b, c)
    return made


def _rows_last(operand: Array, axis: int) -> Array:
    return operand if axis in (-2, operand.ndim - 2) else np.moveaxis(operand, axis, -2)


def _gemm2(
    a: Array,
    b: Array,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
) -> Array:
    left, right = (_rows_last(each, axis) for each in (a, b))
    made: Array = np.matmul(turned(left, transpose_a), turned(right, transpose_b))
    if alpha != 1:
        made *= a.dtype.type(alpha)
    return made if axis == -2 else np.moveaxis(made, -2, axis).copy()


def _gemm(
    a: Array, b: Array, c: Array, alpha: float = 1.0, beta: float = 1.0, **attrs: Any
) -> Array:
    made = _gemm2(a, b, alpha=alpha, **attrs)
    made += c if beta == 1 else c * a.dtype.type(beta)
    return made


def _gemm2_back(
    head: Array,
    a: Array,
    b: Array,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
) -> tuple[Array, ...]:
    g, left, right = (_rows_last(each, axis) for each in (head, a, b))
    left, right = turned(left, transpose_a), turned(right, transpose_b)
    grads = (
        np.matmul(right, turned(g)) if transpose_a else np.matmul(g, turned(right)),
        np.matmul(turned(g), left) if transpose_b else np.matmul(turned(left), g),
    )
    for grad in grads:
        grad *= head.dtype.type(alpha)
    return grads if axis == -2 else tuple(np.moveaxis(grad, -2, axis).copy() for grad in grads)


def _gemm_back(
    head: Array, a: Array, b: Array, alpha: float = 1.0, beta: float = 1.0, **attrs: Any
) -> tuple[Array, ...]:
    return (*_gemm2_back(head, a, b, alpha=alpha, **attrs), head * head.dtype.type(beta))


def _gemm_flops(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
    turned = attrs.get("transpose_a", False)
    common = inputs[0].shape[attrs.get("axis", -2) if turned else -1]
    return 2 * results[0].size * common


register_linalg(
    "gemm2", _infer_gemm2, "alpha A B.", _gemm2, _gemm2_back, inputs=(0, 1), flops=_gemm_flops
)
register_linalg(
    "gemm", _infer_gemm, "alpha A B + beta C.", _gemm, _gemm_back, inputs=(0, 1), flops=_gemm_flops
)


def _infer_syrk(a: Aval, transpose: bool = False, alpha: float = 1.0) -> Aval:
    check_matrices("_linalg_syrk", a)
    extent = a.shape[-1 if transpose else -2]
    return aval((*a.shape[:-2], extent, extent), a.dtype)


def _syrk(a: Array, transpose: bool = False, alpha: float = 1.0) -> Array:
    made: Array = np.matmul(turned(a, transpose), turned(a, not transpose))
    made *= a.dtype.type(alpha)
    return made


def _syrk_back(head: Array, a: Array, transpose: bool = False, alpha: float = 1.0) -> Array:
    both = head + turned(head)
    made: Array = np.matmul(a, both) if transpose else np.matmul(both, a)
    made *= a.dtype.type(alpha)
    return made


register_linalg(
    "syrk",
    _infer_syrk,
    "alpha A A^T, or alpha A^T A.",
    _syrk,
    _syrk_back,
    inputs=(0,),
    flops=cubic(1),
)

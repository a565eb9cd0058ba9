"""Products and equations with triangular matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.linalg.matrices import (
    check_matrices,
    check_square,
    cubic,
    register_linalg,
    turned,
)
from mxprof_nb.runtime.ops.registry import Aval, refuse

Array = NumpyArray[Any]


def _half(matrix: Array, lower: bool) -> Array:
    return np.tril(matrix) if lower else np.triu(matrix)


def _infer_triangular(name: str) -> Callable[..., Aval]:
    def infer(a: Aval, b: Aval, rightside: bool = False, **attrs: Any) -> Aval:
        check_square(name, a)
        check_matrices(name, a, b)
        if a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-1 if rightside else -2]:
            raise refuse(name, "the matrices do not fit each other", a, b)
        return b

    return infer


def _trmm(
    a: Array,
    b: Array,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
) -> Array:
    half = turned(_half(a, lower), transpose)
    made: Array = np.matmul(b, half) if rightside else np.matmul(half, b)
    made *= a.dtype.type(alpha)
    return made


def _trmm_back(
    head: Array,
    a: Array,
    b: Array,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
) -> tuple[Array, Array]:
    half = turned(_half(a, lower), transpose)
    scale = a.dtype.type(alpha)
    g = head * scale
    grad_half = np.matmul(turned(b), g) if rightside else np.matmul(g, turned(b))
    grad_b = np.matmul(g, turned(half)) if rightside else np.matmul(turned(half), g)
    return _half(turned(grad_half, transpose), lower), grad_b


register_linalg(
    "trmm",
    _infer_triangular("_linalg_trmm"),
    "alpha A B, or alpha B A, A triangular.",
    _trmm,
    _trmm_back,
    inputs=(0, 1),
    flops=cubic(1),
)


def _trsm(
    a: Array,
    b: Array,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
) -> Array:
    half = turned(_half(a, lower), transpose)
    # NumPy has no solver for triangles; the general one costs a third of a product more.
    solved = (
        turned(np.linalg.solve(turned(half), turned(b))) if rightside else np.linalg.solve(half, b)
    )
    return np.ascontiguousarray(solved * a.dtype.type(alpha))


def _trsm_back(
    head: Array,
    a: Array,
    b: Array,
    solution: Array,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
) -> tuple[Array, Array]:
    half = turned(_half(a, lower), transpose)
    if rightside:
        g = turned(np.linalg.solve(half, turned(head)))
        grad_half = -np.matmul(turned(solution), g)
    else:
        g = np.linalg.solve(turned(half), head)
        grad_half = -np.matmul(g, turned(solution))
    grad_a = _half(turned(grad_half, transpose), lower)
    return grad_a, np.ascontiguousarray(g * a.dtype.type(alpha))


register_linalg(
    "trsm",
    _infer_triangular("_linalg_trsm"),
    "X of A X = alpha B, or of X A = alpha B.",
    _trsm,
    _trsm_back,
    inputs=(0, 1),
    outputs=(0,),
    flops=cubic(1),
)

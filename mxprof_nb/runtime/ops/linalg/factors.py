"""Factors, inverses and determinants of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.linalg.matrices import (
    check_square,
    cubic,
    per_matrix,
    register_linalg,
    turned,
)
from mxprof_nb.runtime.ops.registry import Aval

Array = NumpyArray[Any]


def _potrf(a: Array) -> Array:
    return np.linalg.cholesky(a)


def _potrf_back(head: Array, factor: Array) -> Array:
    middle = np.tril(np.matmul(turned(factor), head))
    extent = np.arange(factor.shape[-1])
    middle[..., extent, extent] *= factor.dtype.type(0.5)
    left = np.linalg.solve(turned(factor), middle)
    grad = turned(np.linalg.solve(turned(factor), turned(left)))
    made: Array = (grad + turned(grad)) * factor.dtype.type(0.5)
    return made


register_linalg(
    "potrf",
    lambda a: check_square("_linalg_potrf", a),
    "Lower triangular L with A = L L^T; fails unless A is positive definite.",
    _potrf,
    _potrf_back,
    outputs=(0,),
    flops=cubic(1 / 3),
)


def _potri(a: Array) -> Array:
    if not np.diagonal(a, 0, -2, -1).all():
        raise np.linalg.LinAlgError("a 0 on the diagonal: there is no inverse")
    half = np.tril(a)
    return np.linalg.inv(np.matmul(half, turned(half)))


def _potri_back(head: Array, a: Array, inverse: Array) -> Array:
    both = np.matmul(inverse, np.matmul(head + turned(head), inverse))
    return np.tril(-np.matmul(both, np.tril(a)))


register_linalg(
    "potri",
    lambda a: check_square("_linalg_potri", a),
    "Inverse of L L^T.",
    _potri,
    _potri_back,
    inputs=(0,),
    outputs=(0,),
    flops=cubic(3),
)


def _inverse(a: Array) -> Array:
    return np.linalg.inv(a)


def _inverse_back(head: Array, inverse: Array) -> Array:
    back = turned(inverse)
    made: Array = -np.matmul(back, np.matmul(head, back))
    return made


register_linalg(
    "inverse",
    lambda a: check_square("_linalg_inverse", a),
    "Inverse of A.",
    _inverse,
    _inverse_back,
    outputs=(0,),
    flops=cubic(2),
)


def _det(a: Array) -> Array:
    return np.atleast_1d(np.linalg.det(a))


def _det_back(head: Array, a: Array, det: Array) -> Array:
    factor: Array = (head * det).reshape(*a.shape[:-2], 1, 1)
    return np.ascontiguousarray(factor * turned(np.linalg.inv(a)))


register_linalg(
    "det",
    per_matrix("_linalg_det"),
    "Determinant.",
    _det,
    _det_back,
    inputs=(0,),
    outputs=(0,),
    flops=cubic(2 / 3),
)


def _infer_slogdet(a: Aval) -> tuple[Aval, Aval]:
    made = per_matrix("_linalg_slogdet")(a)
    return made, made


def _slogdet(a: Array) -> tuple[Array, Array]:
    sign, log = np.linalg.slogdet(a)
    return np.atleast_1d(sign), np.atleast_1d(log)


def _slogdet_back(sign_head: Array, log_head: Array, a: Array) -> Array:
    # The sign is constant where it has a derivative.
    factor = log_head.reshape(*a.shape[:-2], 1, 1)
    return np.ascontiguousarray(factor * turned(np.linalg.inv(a)))


register_linalg(
    "slogdet",
    _infer_slogdet,
    "Sign and logarithm of the determinant's size.",
    _slogdet,
    _slogdet_back,
    inputs=(0,),
    heads=None,
    flops=cubic(2 / 3),
)

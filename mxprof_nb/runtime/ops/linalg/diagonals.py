"""Diagonals of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import per_input
from mxprof_nb.runtime.ops.linalg.matrices import (
    check_square,
    per_matrix,
    register_linalg,
)
from mxprof_nb.runtime.ops.registry import Aval, aval, refuse

Array = NumpyArray[Any]


def _diagonal(a: Array, offset: int) -> Array:
    return np.diagonal(a, offset, -2, -1)


def _sumlogdiag(a: Array) -> Array:
    return np.atleast_1d(np.add.reduce(np.log(_diagonal(a, 0)), -1))


def _on_diagonal(values: Array, extent: int, offset: int) -> Array:
    made = np.zeros((*values.shape[:-1], extent, extent), values.dtype)
    place = np.arange(values.shape[-1])
    made[..., place + max(-offset, 0), place + max(offset, 0)] = values
    return made


def _sumlogdiag_back(head: Array, a: Array) -> Array:
    heads = head.reshape(*a.shape[:-2], 1)
    return _on_diagonal(heads / _diagonal(a, 0), a.shape[-1], 0)


register_linalg(
    "sumlogdiag",
    per_matrix("_linalg_sumlogdiag"),
    "Sum of the diagonal's logarithms.",
    _sumlogdiag,
    _sumlogdiag_back,
    inputs=(0,),
    flops=per_input,
    blas=False,
)


def _infer_extractdiag(a: Aval, offset: int = 0) -> Aval:
    length = check_square("_linalg_extractdiag", a).shape[-1] - abs(offset)
    if length < 1:
        raise refuse("_linalg_extractdiag", f"there is no diagonal {offset}", a)
    return aval((*a.shape[:-2], length), a.dtype)


def _extractdiag(a: Array, offset: int = 0) -> Array:
    return _diagonal(a, offset).copy()


def _extractdiag_back(head: Array, like: tuple[Aval, ...], offset: int = 0) -> Array:
    return _on_diagonal(head, like[0].shape[-1], offset)


register_linalg(
    "extractdiag",
    _infer_extractdiag,
    "Diagonals of matrices.",
    _extractdiag,
    _extractdiag_back,
    blas=False,
)


def _infer_makediag(a: Aval, offset: int = 0) -> Aval:
    extent = a.shape[-1] + abs(offset)
    return aval((*a.shape[:-1], extent, extent), a.dtype)


def _makediag(a: Array, offset: int = 0) -> Array:
    return _on_diagonal(a, a.shape[-1] + abs(offset), offset)


def _makediag_back(head: Array, offset: int = 0) -> Array:
    return _diagonal(head, offset).copy()


register_linalg(
    "makediag",
    _infer_makediag,
    "Matrices with given diagonals.",
    _makediag,
    _makediag_back,
    blas=False,
)

"""Operators without inputs: constants and ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.ops.cost import nothing
from mxprof_nb.runtime.ops.registry import Aval, aval, register
from mxprof_nb.runtime.ops.scalar import number_as

__all__ = ["ARANGE", "EYE", "FULL", "LINSPACE", "ONES", "ZEROS"]

Array = NumpyArray[Any]
Shape = tuple[int, ...]

# Nothing flows back to numbers, so none of these has a gradient.


def _zeros(shape: Shape, dtype: str) -> Array:
    # Written, not merely mapped: the cost stands where the work is, as on real devices.
    return np.full(shape, 0, dtype)


ZEROS = register("_zeros", aval, "Array of zeros.", flops=nothing)(_zeros)


def _ones(shape: Shape, dtype: str) -> Array:
    return np.ones(shape, dtype)


ONES = register("_ones", aval, "Array of ones.", flops=nothing)(_ones)


def _full(value: float, shape: Shape, dtype: str) -> Array:
    return np.full(shape, number_as(np.dtype(dtype), value))


FULL = register("_full", aval, "Array of one value.", flops=nothing)(_full)


def _steps(start: float, stop: float, step: float) -> int:
    return max(0, math.ceil((stop - start) / step))


def _infer_arange(start: float, stop: float, step: float, repeat: int, dtype: str) -> Aval:
    if step == 0 or repeat < 1:
        raise ShapeError(f"_arange: step {step} must not be 0, repeat {repeat} must be positive.")
    return aval((_steps(start, stop, step) * repeat,), dtype)


def _arange(start: float, stop: float, step: float, repeat: int, dtype: str) -> Array:
    made = np.arange(_steps(start, stop, step), dtype=np.float64)
    if step != 1:
        made *= step
    if start:
        made += start
    if repeat != 1:
        made = np.repeat(made, repeat)
    return made.astype(dtype, copy=False)


ARANGE = register("_arange", _infer_arange, "Evenly spaced numbers, by their distance.")(_arange)


def _infer_linspace(start: float, stop: float, num: int, endpoint: bool, dtype: str) -> Aval:
    return aval((num,), dtype)


def _linspace(start: float, stop: float, num: int, endpoint: bool, dtype: str) -> Array:
    return np.linspace(start, stop, num, endpoint, dtype=np.float64).astype(dtype, copy=False)


LINSPACE = register("_linspace", _infer_linspace, "Evenly spaced numbers, by their count.")(
    _linspace
)


def _infer_eye(rows: int, columns: int, k: int, dtype: str) -> Aval:
    return aval((rows, columns if columns > 0 else rows), dtype)


def _eye(rows: int, columns: int, k: int, dtype: str) -> Array:
    return np.eye(rows, columns if columns > 0 else rows, k, dtype)


EYE = register("_eye", _infer_eye, "Matrix of zeros but for one diagonal of ones.", flops=nothing)(
    _eye
)

"""Operators without inputs: constants, ranges, random numbers; and assignment to a part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.ops.elementwise import number_as
from mxprof_nb.runtime.ops.indexing import Key, as_index, part_shape
from mxprof_nb.runtime.ops.registry import Aval, aval, refuse, register

__all__ = [
    "ARANGE",
    "FULL",
    "ONES",
    "RANDOM_NORMAL",
    "RANDOM_UNIFORM",
    "SLICE_ASSIGN",
    "SLICE_ASSIGN_SCALAR",
    "ZEROS",
]

Array = NumpyArray[Any]
Shape = tuple[int, ...]


def _of_shape(shape: Shape, dtype: str) -> Aval:
    if any(extent < 0 for extent in shape):
        raise ShapeError(f"shape {shape}: no extent may be negative.")
    return aval(shape, dtype)


def _zeros(shape: Shape, dtype: str) -> Array:
    # Written, not merely mapped: the cost stands where the work is, as on real devices.
    return np.full(shape, 0, dtype)


ZEROS = register("_zeros", _of_shape, "Array of zeros.")(_zeros)


def _ones(shape: Shape, dtype: str) -> Array:
    return np.ones(shape, dtype)


ONES = register("_ones", _of_shape, "Array of ones.")(_ones)


def _full(value: float, shape: Shape, dtype: str) -> Array:
    return np.full(shape, number_as(np.dtype(dtype), value))


FULL = register("_full", _of_shape, "Array of one value.")(_full)


def _infer_arange(start: float, stop: float, step: float, repeat: int, dtype: str) -> Aval:
    if step == 0:
        raise ShapeError("arange: step is 0; choose another.")
    length = max(0, int(np.ceil((stop - start) / step))) * repeat
    return aval((length,), dtype)


def _arange(start: float, stop: float, step: float, repeat: int, dtype: str) -> Array:
    return np.repeat(np.arange(start, stop, step), repeat).astype(dtype)


ARANGE = register("_arange", _infer_arange, "Evenly spaced numbers.")(_arange)


def _random_uniform(
    generator: np.random.Generator, low: float, high: float, shape: Shape, dtype: str
) -> Array:
    single = np.dtype(dtype) == np.float32
    numbers = generator.random(shape, dtype=np.float32 if single else np.float64)
    numbers *= high - low
    numbers += low
    return numbers.astype(dtype, copy=False)


RANDOM_UNIFORM = register(
    "_random_uniform", _of_shape, "Uniform random numbers.", workspace=True, draws=True
)(_random_uniform)


def _random_normal(
    generator: np.random.Generator, loc: float, scale: float, shape: Shape, dtype: str
) -> Array:
    if not scale > 0:  # found by the kernel and not at the call, as in MXNet (sample_op.h)
        raise ValueError(f"scale={scale}: the scale of a normal distribution must be above 0")
    single = np.dtype(dtype) == np.float32
    numbers = generator.standard_normal(shape, dtype=np.float32 if single else np.float64)
    numbers *= scale
    numbers += loc
    return numbers.astype(dtype, copy=False)


RANDOM_NORMAL = register(
    "_random_normal", _of_shape, "Normal random numbers.", workspace=True, draws=True
)(_random_normal)


def _infer_assign(target: Aval, *rest: Aval, key: Key) -> Aval:
    part = part_shape(target, key)
    if rest and rest[0].shape != (1,):
        try:
            fits = np.broadcast_shapes(part, rest[0].shape) == part
        except ValueError:
            fits = False
        if not fits:
            raise refuse("_slice_assign", f"the chosen part has shape {part}", target, rest[0])
    return target


def _slice_assign(target: Array, value: Array, key: Key) -> Array:
    # Shape (1,) stands for a number; NumPy would not put it where one element was chosen.
    target[as_index(key)] = value.reshape(()) if value.shape == (1,) else value
    return target


SLICE_ASSIGN = register(
    "_slice_assign", _infer_assign, "Array with one part replaced by another array."
)(_slice_assign)


def _slice_assign_scalar(target: Array, value: float, key: Key) -> Array:
    target[as_index(key)] = number_as(target.dtype, value)
    return target


SLICE_ASSIGN_SCALAR = register(
    "_slice_assign_scalar", _infer_assign, "Array with one part replaced by a number."
)(_slice_assign_scalar)

"""`UpSampling`: images enlarged by repeating each element."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import nothing, per_input
from mxprof_nb.runtime.ops.nn.checks import floating
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["UP_SAMPLING"]

Array = NumpyArray[Any]


def _infer(data: Aval, scale: int) -> Aval:
    floating("UpSampling", data)
    if len(data.shape) != 4:
        raise refuse("UpSampling", "data must have shape (sample, channel, row, column)", data)
    if scale < 1:
        raise refuse("UpSampling", f"scale={scale} must be 1 or more", data)
    samples, channels, height, width = data.shape
    return aval((samples, channels, height * scale, width * scale), data.dtype)


def _in_squares(image: Array, scale: int) -> Array:
    """Return the enlarged image as (..., row, row in a square, column, column in a square)."""
    samples, channels, height, width = image.shape
    return image.reshape(samples, channels, height // scale, scale, width // scale, scale)


def _forward(data: Array, scale: int) -> Array:
    samples, channels, height, width = data.shape
    result = empty((samples, channels, height * scale, width * scale), data.dtype)
    _in_squares(result, scale)[...] = data[:, :, :, None, :, None]
    return result


def _backward(head: Array, scale: int) -> Array:
    by_row = _in_squares(head, scale).sum(axis=3)
    return np.array(by_row.sum(axis=4))


UP_SAMPLING = register(
    "UpSampling",
    _infer,
    "Image enlarged by a whole number: each element becomes a square.",
    gradient=Gradient("_backward_UpSampling", _backward, flops=per_input),
    flops=nothing,
)(_forward)

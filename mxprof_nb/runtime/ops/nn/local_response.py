"""`LRN`: each element divided by the size of its neighbours in the channels beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.nn.checks import floating, in_single
from mxprof_nb.runtime.ops.registry import Aval, Gradient, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["LRN"]

Array = NumpyArray[Any]


def _infer(
    data: Aval, nsize: int, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0
) -> tuple[Aval, Aval]:
    floating("LRN", data)
    if len(data.shape) != 4:
        raise refuse("LRN", "data must have shape (sample, channel, row, column)", data)
    if nsize < 1 or nsize % 2 == 0:
        raise refuse(
            "LRN", f"nsize={nsize} must be odd, with as many channels on either side", data
        )
    return data, data


def _around(values: Array, nsize: int) -> Array:
    """Sum over each channel and those beside it, as far as there are any."""
    total = empty(values.shape, values.dtype)
    total[...] = values
    for far in range(1, min(nsize // 2, values.shape[1] - 1) + 1):
        total[:, far:] += values[:, :-far]
        total[:, :-far] += values[:, far:]
    return total


@in_single
def _forward(
    data: Array, nsize: int, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0
) -> tuple[Array, Array]:
    norm = _around(np.square(data), nsize)
    norm *= alpha / nsize
    norm += knorm
    result = np.power(norm, -beta, out=empty(data.shape, data.dtype))
    result *= data
    return result, norm


@in_single
def _backward(
    head: Array,
    data: Array,
    norm: Array,
    nsize: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    knorm: float = 2.0,
) -> Array:
    scale = np.power(norm, -beta)
    slope: Array = np.multiply(head, scale, out=empty(data.shape, data.dtype))
    shared = _around(slope * data / norm, nsize)
    shared *= data
    shared *= 2 * alpha * beta / nsize
    slope -= shared
    return slope


#: Its second result is what the elements are divided by, before the power.
LRN = register(
    "LRN",
    _infer,
    "Each element divided by a power of its neighbours' size in the channels beside it.",
    gradient=Gradient("_backward_LRN", _backward, inputs=(0,), outputs=(1,), flops=times(8)),
    flops=times(6),
)(_forward)

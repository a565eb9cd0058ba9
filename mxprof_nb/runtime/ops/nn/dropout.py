"""`Dropout`: sets elements to 0 at random, and scales up what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of
from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.nn.checks import choice, floating
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["DROPOUT"]

Array = NumpyArray[Any]


def _drops(p: float, mode: str, train: bool) -> bool:
    return p > 0 and (train or mode == "always")


def _infer(
    data: Aval,
    p: float = 0.5,
    mode: str = "training",
    axes: tuple[int, ...] = (),
    train: bool = False,
) -> tuple[Aval, Aval]:
    choice("Dropout", "mode", mode, ("always", "training"))
    floating("Dropout", data)
    if not 0 <= p <= 1:
        raise refuse("Dropout", f"p={p} must lie between 0 and 1")
    same = {axis_of("Dropout", data, axis, from_end=False) for axis in axes}
    if not _drops(p, mode, train):
        return data, aval((0,), data.dtype)  # nothing is dropped: there is no mask
    shape = tuple(1 if axis in same else extent for axis, extent in enumerate(data.shape))
    return data, aval(shape, data.dtype)


def _forward(
    generator: np.random.Generator,
    data: Array,
    p: float = 0.5,
    mode: str = "training",
    axes: tuple[int, ...] = (),
    train: bool = False,
) -> tuple[Array, Array]:
    result = empty(data.shape, data.dtype)
    if not _drops(p, mode, train):
        result[...] = data
        return result, np.empty((0,), data.dtype)
    same = {axis % data.ndim for axis in axes}
    shape = tuple(1 if axis in same else extent for axis, extent in enumerate(data.shape))
    single = data.dtype.itemsize < 8
    drawn = empty(shape, np.float32 if single else np.float64)
    generator.random(dtype=np.float32 if single else np.float64, out=drawn)
    mask = empty(shape, data.dtype)
    # At p = 1 all is 0; MXNet divides by 0 there.
    np.multiply(drawn >= p, np.asarray(1 / (1 - p) if p < 1 else 0, data.dtype), out=mask)
    np.multiply(data, mask, out=result)
    return result, mask


def _backward(
    head: Array,
    mask: Array,
    p: float = 0.5,
    mode: str = "training",
    axes: tuple[int, ...] = (),
    train: bool = False,
) -> Array:
    result = empty(head.shape, head.dtype)
    if _drops(p, mode, train):
        np.multiply(head, mask, out=result)
    else:
        result[...] = head
    return result


#: Its second result is the mask, which its gradient needs.
DROPOUT = register(
    "Dropout",
    _infer,
    "Array with elements set to 0 at random and the others scaled up, while training.",
    gradient=Gradient("_backward_Dropout", _backward, outputs=(1,)),
    flops=times(1),
    workspace=True,
    draws=True,
)(_forward)

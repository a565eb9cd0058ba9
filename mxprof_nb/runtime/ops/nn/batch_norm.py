"""`BatchNorm`: each channel with mean 0 and deviation 1 over the batch.

The moving averages that prediction uses are inputs. As in MXNet 1.9.1 the *gradient* brings them
up to date: a pass forward alone, even for training, leaves them as they are.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of
from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.nn.checks import floating, matching
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["BATCH_NORM"]

Array = NumpyArray[Any]


def _infer(
    data: Aval,
    gamma: Aval,
    beta: Aval,
    moving_mean: Aval,
    moving_var: Aval,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    axis: int = 1,
    train: bool = False,
) -> tuple[Aval, Aval, Aval]:
    name = "BatchNorm"
    floating(name, data)
    # float16 keeps its statistics in float32.
    wanted = np.dtype(np.float32) if data.dtype == np.float16 else data.dtype
    channels = (data.shape[axis_of(name, data, axis)],)
    for argument, given in (
        ("gamma", gamma),
        ("beta", beta),
        ("moving_mean", moving_mean),
        ("moving_var", moving_var),
    ):
        matching(name, argument, given, channels, f"the extent of axis {axis}")
        if given.dtype != wanted:
            raise refuse(name, f"{argument} must be {wanted.name}", data, given)
    one = aval(channels, wanted)
    return data, one, one


def _by_channel(array: Array, axis: int) -> Array:
    """Return an array as (before, channel, after), sharing memory."""
    place = axis % array.ndim
    shape = array.shape
    return array.reshape(prod(shape[:place]), shape[place], prod(shape[place + 1 :]))


def _sums(array: Array, other: Array | None = None) -> Array:
    """Sum an array, or the product of two, for each channel."""
    if array.shape[2] < 16:  # many short rows: not worth a product of matrices each
        rows = (array if other is None else array * other).sum(axis=2)
    elif other is None:
        rows = np.matmul(array, np.ones(array.shape[2], array.dtype))
    else:
        rows = np.matmul(array[:, :, None, :], other[:, :, :, None])[:, :, 0, 0]
    total: Array = rows.sum(axis=0)
    return total


def _forward(
    data: Array,
    gamma: Array,
    beta: Array,
    moving_mean: Array,
    moving_var: Array,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    axis: int = 1,
    train: bool = False,
) -> tuple[Array, Array, Array]:
    result = empty(data.shape, gamma.dtype)
    values, target = _by_channel(data, axis), _by_channel(result, axis)
    if train and not use_global_stats:
        count = values.shape[0] * values.shape[2]
        values = values.astype(gamma.dtype, copy=False)
        mean = _sums(values) / count
        np.subtract(values, mean[:, None], out=target)
        inverse = 1 / np.sqrt(_sums(target, target) / count + eps)
        scale = inverse if fix_gamma else inverse * gamma
        target *= scale[:, None]
        target += beta[:, None]
    else:
        mean = moving_mean.copy()
        inverse = 1 / np.sqrt(moving_var + eps)
        scale = inverse if fix_gamma else inverse * gamma
        np.multiply(values, scale[:, None], out=target)
        target += (beta - mean * scale)[:, None]
    of_type = gamma.dtype
    return (
        result.astype(data.dtype, copy=False),
        mean.astype(of_type, copy=False),
        inverse.astype(of_type, copy=False),
    )


def _backward(
    head: Array,
    data: Array,
    gamma: Array,
    moving_mean: Array,
    moving_var: Array,
    mean: Array,
    inverse: Array,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    axis: int = 1,
    train: bool = False,
) -> tuple[Array, Array, Array]:
    of_batch = train and not use_global_stats
    if of_batch:
        moving_mean *= momentum
        moving_mean += mean * (1 - momentum)
        moving_var *= momentum
        moving_var += (1 / np.square(inverse) - eps) * (1 - momentum)
    wide = head.astype(gamma.dtype, copy=False)
    pull = _by_channel(wide, axis)
    slope = empty(data.shape, gamma.dtype)
    target = _by_channel(slope, axis)
    np.subtract(_by_channel(data, axis), mean[:, None], out=target)
    of_beta = _sums(pull)
    along = _sums(pull, target)
    scale = inverse if fix_gamma else inverse * gamma
    if of_batch:
        count = pull.shape[0] * pull.shape[2]
        # scale * (pull - mean of pull - standardised data * mean of their product)
        target *= (-scale * np.square(inverse) * along / count)[:, None]
        target += pull * scale[:, None]
        target -= (scale * of_beta / count)[:, None]
    else:
        np.multiply(pull, scale[:, None], out=target)
    of_gamma = np.zeros_like(gamma) if fix_gamma else along * inverse
    return slope.astype(data.dtype, copy=False), of_gamma, of_beta


#: Its results are the data, the mean, and 1 / the standard deviation.
BATCH_NORM = register(
    "BatchNorm",
    _infer,
    "Mean 0 and deviation 1 for each channel over the batch, then a scale and a shift.",
    gradient=Gradient(
        "_backward_BatchNorm",
        _backward,
        inputs=(0, 1, 3, 4),
        outputs=(1, 2),
        wrt=(0, 1, 2),
        mutates=(3, 4),
        flops=times(4),
    ),
    flops=times(5),
    mutates=(3, 4),
    workspace=True,
)(_forward)

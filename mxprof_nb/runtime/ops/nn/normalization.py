"""Normalization: subtract a mean, divide by a standard deviation, scale and shift."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of
from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.nn.checks import floating, in_single, matching
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["GROUP_NORM", "INSTANCE_NORM", "LAYER_NORM"]

Array = NumpyArray[Any]


def _standardised(data: Array, axis: int, eps: float) -> tuple[Array, Array, Array]:
    """Return data with mean 0 and deviation 1 along an axis, the mean and the deviation."""
    mean = data.mean(axis=axis, keepdims=True)
    result = np.subtract(data, mean, out=empty(data.shape, data.dtype))
    squares = np.square(result, out=empty(data.shape, data.dtype))
    deviation = squares.mean(axis=axis, keepdims=True)
    deviation += eps
    np.sqrt(deviation, out=deviation)
    result /= deviation
    return result, mean, deviation


def _standardised_again(data: Array, mean: Array, deviation: Array) -> Array:
    result = empty(data.shape, data.dtype)
    np.subtract(data, mean, out=result)
    result /= deviation
    return result


def _of_data(pull: Array, standard: Array, deviation: Array, axis: int, slope: Array) -> None:
    """Write the gradient for the data, from that for what `_standardised` gives."""
    np.multiply(pull, standard, out=slope)
    share = slope.mean(axis=axis, keepdims=True)
    np.multiply(standard, share, out=slope)
    np.subtract(pull, slope, out=slope)
    slope -= pull.mean(axis=axis, keepdims=True)
    slope /= deviation


# LayerNorm: along one axis, with a scale and a shift for each place on it.


def _infer_layer(
    data: Aval, gamma: Aval, beta: Aval, axis: int = -1, eps: float = 1e-5
) -> tuple[Aval, Aval, Aval]:
    name = "LayerNorm"
    floating(name, data, gamma, beta)
    place = axis_of(name, data, axis)
    for argument, given in (("gamma", gamma), ("beta", beta)):
        matching(name, argument, given, (data.shape[place],), f"the extent of axis {axis}")
    shape = tuple(1 if i == place else extent for i, extent in enumerate(data.shape))
    one = aval(shape, data.dtype)
    return data, one, one


def _along(vector: Array, rank: int, axis: int) -> Array:
    """Return a vector lying along an axis, ready to be broadcast."""
    return vector.reshape(-1, *(1,) * (rank - axis % rank - 1))


@in_single
def _layer(
    data: Array, gamma: Array, beta: Array, axis: int = -1, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    result, mean, deviation = _standardised(data, axis, eps)
    result *= _along(gamma, data.ndim, axis)
    result += _along(beta, data.ndim, axis)
    return result, mean, deviation


def _kept(array: Array, others: tuple[int, ...]) -> Array:
    """Sum over the other axes, of which there may be none."""
    return np.array(array.sum(axis=others)) if others else array.copy()


@in_single
def _layer_backward(
    head: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    deviation: Array,
    axis: int = -1,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:
    standard = _standardised_again(data, mean, deviation)
    others = tuple(i for i in range(data.ndim) if i != axis % data.ndim)
    slope = np.multiply(head, standard, out=empty(head.shape, head.dtype))
    of_gamma, of_beta = _kept(slope, others), _kept(head, others)
    pull = np.multiply(head, _along(gamma, data.ndim, axis), out=empty(head.shape, head.dtype))
    _of_data(pull, standard, deviation, axis, slope)
    return slope, of_gamma, of_beta


#: Its results are the data, the mean and the standard deviation.
LAYER_NORM = register(
    "LayerNorm",
    _infer_layer,
    "Mean 0 and deviation 1 along an axis, then a scale and a shift for each place on it.",
    gradient=Gradient(
        "_backward_LayerNorm", _layer_backward, inputs=(0, 1), outputs=(1, 2), flops=times(4)
    ),
    flops=times(6),
    workspace=True,
)(_layer)


# GroupNorm: over groups of channels and all of space; with a group for each channel InstanceNorm.


def _infer_group(
    data: Aval, gamma: Aval, beta: Aval, num_groups: int = 1, eps: float = 1e-5
) -> tuple[Aval, Aval, Aval]:
    name = "GroupNorm"
    floating(name, data, gamma, beta)
    if len(data.shape) < 3:
        raise refuse(name, "data must have shape (sample, channel, ...)", data)
    if num_groups < 1 or data.shape[1] % num_groups:
        raise refuse(name, f"num_groups={num_groups} must divide {data.shape[1]} channels", data)
    for argument, given in (("gamma", gamma), ("beta", beta)):
        matching(name, argument, given, (num_groups,), "one number for each group")
    one = aval((data.shape[0], num_groups), data.dtype)
    return data, one, one


def _by_group(array: Array, groups: int) -> Array:
    return array.reshape(len(array), groups, -1)


@in_single
def _group(
    data: Array, gamma: Array, beta: Array, num_groups: int = 1, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    standard, mean, deviation = _standardised(_by_group(data, num_groups), 2, eps)
    result = empty(data.shape, data.dtype)
    target = _by_group(result, num_groups)
    np.multiply(standard, gamma[:, None], out=target)
    target += beta[:, None]
    return result, np.array(mean[..., 0]), np.array(deviation[..., 0])


@in_single
def _group_backward(
    head: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    deviation: Array,
    num_groups: int = 1,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:
    pulls, values = _by_group(head, num_groups), _by_group(data, num_groups)
    standard = _standardised_again(values, mean[..., None], deviation[..., None])
    of_gamma = (pulls * standard).sum(axis=(0, 2))
    of_beta = pulls.sum(axis=(0, 2))
    slope = empty(data.shape, data.dtype)
    target = _by_group(slope, num_groups)
    _of_data(pulls * gamma[:, None], standard, deviation[..., None], 2, target)
    return slope, of_gamma, of_beta


#: Its results are the data, the mean and the standard deviation.
GROUP_NORM = register(
    "GroupNorm",
    _infer_group,
    "Mean 0 and deviation 1 over groups of channels, then a scale and a shift for each group.",
    gradient=Gradient(
        "_backward_GroupNorm", _group_backward, inputs=(0, 1), outputs=(1, 2), flops=times(4)
    ),
    flops=times(6),
    workspace=True,
)(_group)


def _infer_instance(data: Aval, gamma: Aval, beta: Aval, eps: float = 1e-3) -> Any:
    name = "InstanceNorm"
    floating(name, data, gamma, beta)
    if len(data.shape) < 3:
        raise refuse(name, "data must have shape (sample, channel, ...)", data)
    for argument, given in (("gamma", gamma), ("beta", beta)):
        matching(name, argument, given, (data.shape[1],), "one number for each channel")
    one = aval(data.shape[:2], data.dtype)
    return data, one, one


def _instance(data: Array, gamma: Array, beta: Array, eps: float = 1e-3) -> Any:
    return _group(data, gamma, beta, num_groups=data.shape[1], eps=eps)


def _instance_backward(
    head: Array, data: Array, gamma: Array, mean: Array, deviation: Array, eps: float = 1e-3
) -> Any:
    return _group_backward(head, data, gamma, mean, deviation, num_groups=data.shape[1], eps=eps)


#: Its results are the data, the mean and the standard deviation.
INSTANCE_NORM = register(
    "InstanceNorm",
    _infer_instance,
    "Mean 0 and deviation 1 for each channel of each sample, then a scale and a shift.",
    gradient=Gradient(
        "_backward_InstanceNorm", _instance_backward, inputs=(0, 1), outputs=(1, 2), flops=times(4)
    ),
    flops=times(6),
    workspace=True,
)(_instance)

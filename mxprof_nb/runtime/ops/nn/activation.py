"""Activation functions: `Activation` and `LeakyReLU`, each a family chosen by ``act_type``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.nn.checks import choice, floating, in_single
from mxprof_nb.runtime.ops.registry import Aval, Gradient, refuse, register
from mxprof_nb.runtime.ops.special import erf
from mxprof_nb.runtime.pool import empty

__all__ = ["ACTIVATION", "LEAKY_RELU"]

Array = NumpyArray[Any]


def _like(x: Array) -> Array:
    return empty(x.shape, x.dtype)


def _number(x: Array, value: float) -> Array:
    # A typed number: converting a Python one costs a ufunc more than a small array does.
    return np.asarray(value, x.dtype)


# Activation: every derivative can be told from the result alone.


def _relu(x: Array) -> Array:
    return np.maximum(x, _number(x, 0), out=_like(x))


def _relu_slope(y: Array) -> Array:
    return y > 0


def _sigmoid(x: Array) -> Array:
    y = np.negative(x, out=_like(x))
    np.exp(y, out=y)  # infinite for very negative x, and its reciprocal 0
    y += 1
    return np.reciprocal(y, out=y)


def _sigmoid_slope(y: Array) -> Array:
    slope = np.subtract(1, y, out=_like(y))
    slope *= y
    return slope


def _tanh(x: Array) -> Array:
    return np.tanh(x, out=_like(x))


def _tanh_slope(y: Array) -> Array:
    slope = np.multiply(y, y, out=_like(y))
    return np.subtract(1, slope, out=slope)


def _softrelu(x: Array) -> Array:
    y = np.abs(x, out=_like(x))
    np.negative(y, out=y)
    np.exp(y, out=y)
    np.log1p(y, out=y)
    y += np.maximum(x, _number(x, 0))
    return y


def _softrelu_slope(y: Array) -> Array:
    slope = np.negative(y, out=_like(y))
    np.expm1(slope, out=slope)
    return np.negative(slope, out=slope)


def _softsign(x: Array) -> Array:
    y = np.abs(x, out=_like(x))
    y += 1
    return np.divide(x, y, out=y)


def _softsign_slope(y: Array) -> Array:
    slope = np.abs(y, out=_like(y))
    np.subtract(1, slope, out=slope)
    return np.square(slope, out=slope)


_ACTIVATIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "relu": (_relu, _relu_slope),
    "sigmoid": (_sigmoid, _sigmoid_slope),
    "tanh": (_tanh, _tanh_slope),
    "softrelu": (_softrelu, _softrelu_slope),
    "softsign": (_softsign, _softsign_slope),
}


def _infer_activation(data: Aval, act_type: str) -> Aval:
    choice("Activation", "act_type", act_type, _ACTIVATIONS)
    floating("Activation", data)
    return data


@in_single
def _activation(data: Array, act_type: str) -> Array:
    return _ACTIVATIONS[act_type][0](data)


@in_single
def _activation_backward(head: Array, result: Array, act_type: str) -> Array:
    slope = _ACTIVATIONS[act_type][1](result)
    return np.multiply(head, slope, out=_like(head) if slope.dtype == bool else slope)


@in_single
def _activation_over_head(head: Array, result: Array, act_type: str) -> Array:
    return np.multiply(head, _ACTIVATIONS[act_type][1](result), out=head)


ACTIVATION = register(
    "Activation",
    _infer_activation,
    "Activation function named by act_type, element by element.",
    gradient=Gradient(
        "_backward_Activation",
        _activation_backward,
        outputs=(0,),
        over_head=_activation_over_head,
    ),
)(_activation)


# LeakyReLU: x where x > 0, and something smaller than x elsewhere.

# Klambauer et al., Self-Normalizing Neural Networks, 2017.
_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805
_TYPES = ("elu", "gelu", "leaky", "prelu", "rrelu", "selu")


def _infer_leaky(
    data: Aval,
    *gamma: Aval,
    act_type: str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    train: bool = False,
) -> Aval:
    choice("LeakyReLU", "act_type", act_type, _TYPES)
    floating("LeakyReLU", data, *gamma)
    if train and lower_bound > upper_bound:
        raise refuse(
            "LeakyReLU", f"lower_bound={lower_bound} is above upper_bound={upper_bound}", data
        )
    if len(gamma) != (act_type == "prelu"):
        raise refuse("LeakyReLU", "gamma is for act_type='prelu', which needs it", data, *gamma)
    if gamma:
        shape, channels = gamma[0].shape, data.shape[1:2]
        if shape != (1,) and shape != channels:
            raise refuse("LeakyReLU", "gamma needs one number, or one a channel", data, *gamma)
    return data


def _slope_below(
    data: Array, gamma: Array, act_type: str, slope: float, lower_bound: float, upper_bound: float
) -> Array:
    """Return the slope of the types that are straight lines, ready to be broadcast."""
    if act_type == "prelu":
        return gamma.reshape(-1, *(1,) * (data.ndim - 2)) if gamma.size > 1 else gamma
    return _number(data, slope if act_type == "leaky" else (lower_bound + upper_bound) / 2)


def _normal_below(x: Array) -> Array:
    """Return the standard normal distribution function."""
    below = erf(x * _number(x, 0.5**0.5))
    below += 1
    below *= 0.5
    return below


@in_single
def _leaky(
    *arrays: Any,
    act_type: str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    train: bool = False,
) -> Array:
    generator, data, *gamma = arrays if train else (None, *arrays)
    if generator is not None and act_type == "rrelu":
        return _randomly_leaky(generator, data, lower_bound, upper_bound)
    if act_type == "gelu":
        result = _normal_below(data)
        result *= data
        return result
    result = _like(data)
    if act_type not in ("elu", "selu"):
        given = gamma[0] if gamma else data
        below = _slope_below(data, given, act_type, slope, lower_bound, upper_bound)
        if (below <= 1).all():
            np.multiply(data, below, out=result)
            np.maximum(data, result, out=result)
            return result
    # Both sides of 0 apart, and their sum: faster than to choose element by element.
    zero = _number(data, 0)
    np.minimum(data, zero, out=result)
    if act_type in ("elu", "selu"):
        np.expm1(result, out=result)
        result *= slope if act_type == "elu" else _ALPHA
    else:
        result *= below
    result += np.maximum(data, zero, out=_like(data))
    if act_type == "selu":
        result *= _SCALE
    return result


def _randomly_leaky(generator: np.random.Generator, data: Array, low: float, high: float) -> Array:
    kind = np.float32 if data.dtype == np.float32 else np.float64
    result: Array = empty(data.shape, kind)
    generator.random(dtype=kind, out=result)
    result *= high - low
    result += low
    result *= data
    np.copyto(result, data, where=data > 0)
    return result.astype(data.dtype, copy=False)


def _slopes_drawn(data: Array, result: Array) -> Array:
    """Return the slopes that training drew: what they made of each element tells them."""
    slopes = _like(data)
    slopes.fill(1)
    return np.divide(result, data, out=slopes, where=data < 0)


@in_single
def _leaky_backward(
    head: Array,
    data: Array,
    gamma: Array,
    result: Array,
    act_type: str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    train: bool = False,
    wanted: tuple[int, ...] = (0, 1),
) -> tuple[Array | None, ...]:
    of_data = of_gamma = None
    if 1 in wanted:
        of_gamma = _of_gamma(head, data, gamma)
    if 0 in wanted:
        if act_type == "gelu":
            of_data = _gelu_slope(data)
        elif act_type == "rrelu" and train:
            of_data = _slopes_drawn(data, result)
        elif act_type in ("elu", "selu"):
            of_data = _elu_slope(data, slope if act_type == "elu" else _ALPHA)
            if act_type == "selu":
                of_data *= _SCALE
        else:
            below = _slope_below(data, gamma, act_type, slope, lower_bound, upper_bound)
            of_data = _above_0(data, 1 - below)
            of_data += below
        of_data *= head
    return of_data, of_gamma


def _above_0(data: Array, value: Any) -> Array:
    """Return a value where the data are above 0, and 0 elsewhere."""
    result = _like(data)
    np.greater(data, 0, out=result, casting="unsafe")
    result *= value
    return result


def _elu_slope(data: Array, scale: float) -> Array:
    powers = np.minimum(data, _number(data, 0), out=_like(data))
    np.exp(powers, out=powers)
    powers *= scale
    powers += _above_0(data, 1 - scale)  # what is missing to 1
    return powers


def _gelu_slope(data: Array) -> Array:
    slope = np.multiply(data, data, out=_like(data))
    slope *= -0.5
    np.exp(slope, out=slope)
    slope *= (2 * np.pi) ** -0.5
    slope *= data
    slope += _normal_below(data)
    return slope


def _of_gamma(head: Array, data: Array, gamma: Array) -> Array:
    parts = np.minimum(data, _number(data, 0))
    parts *= head
    axes = tuple(axis for axis in range(data.ndim) if gamma.size == 1 or axis != 1)
    total: Array = parts.sum(axis=axes)
    return total.reshape(gamma.shape)


LEAKY_RELU = register(
    "LeakyReLU",
    _infer_leaky,
    "Rectifier that lets something through below 0, as act_type says.",
    # Its last input is gamma for prelu, and the data for all others, which have no gamma.
    gradient=Gradient(
        "_backward_LeakyReLU", _leaky_backward, inputs=(0, -1), outputs=(0,), flops=times(2)
    ),
    flops=times(2),
    draws_if="train",
)(_leaky)

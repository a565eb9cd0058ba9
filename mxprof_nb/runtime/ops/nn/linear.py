"""`FullyConnected`: a product with a matrix of weights, plus a bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.nn.checks import floating, in_single, matching, with_bias
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, register
from mxprof_nb.runtime.pool import empty

__all__ = ["FULLY_CONNECTED"]

Array = NumpyArray[Any]
_NAME = "FullyConnected"


def _infer(
    data: Aval,
    weight: Aval,
    *bias: Aval,
    num_hidden: int,
    no_bias: bool = False,
    flatten: bool = True,
) -> Aval:
    floating(_NAME, data, weight, *bias)
    with_bias(_NAME, no_bias, data, weight, *bias)
    rows, features = (
        (data.shape[:1], data.shape[1:]) if flatten else (data.shape[:-1], data.shape[-1:])
    )
    matching(
        _NAME,
        "weight",
        weight,
        (num_hidden, prod(features)),
        f"for num_hidden={num_hidden} and data of shape {data.shape}, flatten={flatten}",
    )
    if bias:
        matching(_NAME, "bias", bias[0], (num_hidden,), f"for num_hidden={num_hidden}")
    return aval((*rows, num_hidden), data.dtype)


def _flops(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
    return (2 * inputs[1].shape[1] + (len(inputs) > 2)) * results[0].size


def _flops_backward(
    inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]
) -> int:
    head, _, weight = inputs[:3]
    # Whoever asks for the gradient of the bias gets a vector, the others take a product each.
    products: int = sum(position < 2 for position in attrs["wanted"])
    return (2 * weight.shape[1] * products + len(results) - products) * head.size


@in_single
def _forward(data: Array, weight: Array, *bias: Array, flatten: bool = True, **_: Any) -> Array:
    features = weight.shape[1]
    rows = (data.shape[0],) if flatten else data.shape[:-1]
    result = empty((*rows, weight.shape[0]), data.dtype)
    np.matmul(data.reshape(-1, features), weight.T, out=result.reshape(-1, weight.shape[0]))
    if bias:
        result += bias[0]
    return result


@in_single
def _backward(
    head: Array, data: Array, weight: Array, wanted: tuple[int, ...] = (0, 1, 2), **_: Any
) -> tuple[Array | None, ...]:
    hidden, features = weight.shape
    slopes = head.reshape(-1, hidden)
    of_data = of_weight = of_bias = None
    if 0 in wanted:
        of_data = empty(data.shape, data.dtype)
        np.matmul(slopes, weight, out=of_data.reshape(-1, features))
    if 1 in wanted:
        of_weight = empty(weight.shape, weight.dtype)
        np.matmul(slopes.T, data.reshape(-1, features), out=of_weight)
    if 2 in wanted:
        # A product with ones: several times as fast as a sum over the first axis.
        of_bias = np.matmul(np.ones(len(slopes), slopes.dtype), slopes)
    return of_data, of_weight, of_bias


FULLY_CONNECTED = register(
    _NAME,
    _infer,
    "Product of the rows of an array and a matrix of weights, plus a bias.",
    gradient=Gradient(
        "_backward_FullyConnected", _backward, inputs=(0, 1), flops=_flops_backward, blas=True
    ),
    flops=_flops,
    blas=True,
)(_forward)

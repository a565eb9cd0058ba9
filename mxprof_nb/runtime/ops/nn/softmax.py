"""The softmax family: exponentials along an axis, divided by their sum."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of
from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.nn.checks import choice, floating, in_single
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["LOG_SOFTMAX", "SOFTMAX", "SOFTMAX_ACTIVATION", "SOFTMIN", "shifted_softmax"]

Array = NumpyArray[Any]


def _infer(name: str) -> Callable[..., Aval]:
    def infer(
        data: Aval,
        *length: Aval,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str = "",
        use_length: bool = False,
    ) -> Aval:
        floating(name, data)
        if dtype and np.dtype(dtype).kind != "f":
            raise refuse(name, f"dtype {dtype} is no type of floating point numbers", data)
        place = axis_of(name, data, axis)
        if len(length) != use_length:
            raise refuse(name, "give length together with use_length=True", data, *length)
        if length:
            if length[0].dtype.kind not in "iu":
                raise refuse(name, "length must hold integers", data, *length)
            rest = data.shape[:place] + data.shape[place + 1 :]
            if length[0].shape != (rest or (1,)):
                raise refuse(name, f"length must have shape {rest or (1,)}", data, *length)
        return aval(data.shape, dtype) if dtype else data

    return infer


def _divisor(sign: int, temperature: float | None) -> float:
    return sign if temperature is None else sign * temperature


def _divided(data: Array, divisor: float) -> Array:
    """Return the data over the temperature: itself where that changes nothing."""
    return data if divisor == 1 else np.divide(data, divisor, out=empty(data.shape, data.dtype))


def shifted_softmax(data: Array, axis: int) -> Array:
    """Return softmax along an axis; the largest is subtracted so that exp cannot overflow."""
    result = empty(data.shape, data.dtype)
    np.subtract(data, data.max(axis=axis, keepdims=True, initial=-np.inf), out=result)
    np.exp(result, out=result)
    result /= result.sum(axis=axis, keepdims=True)
    return result


def _softmax(data: Array, length: Array | None, axis: int) -> Array:
    if length is None:
        return shifted_softmax(data, axis)
    place = axis % data.ndim
    reach = np.arange(data.shape[place]).reshape(-1, *(1,) * (data.ndim - place - 1))
    outside = reach >= np.expand_dims(
        length.reshape(data.shape[:place] + data.shape[place + 1 :]), place
    )
    result = shifted_softmax(np.where(outside, -np.inf, data).astype(data.dtype, copy=False), axis)
    result[outside] = 0  # also where nothing was inside, and 0 was divided by 0
    return result


def _log_softmax(data: Array, length: Array | None, axis: int) -> Array:
    result = empty(data.shape, data.dtype)
    np.subtract(data, data.max(axis=axis, keepdims=True, initial=-np.inf), out=result)
    powers = np.exp(result, out=empty(data.shape, data.dtype))
    result -= np.log(powers.sum(axis=axis, keepdims=True))
    return result


def _kernel(
    function: Callable[[Array, Array | None, int], Array], sign: int
) -> Callable[..., Array]:
    @in_single
    def compute(data: Array, length: Array | None, axis: int, divisor: float) -> Array:
        return function(_divided(data, divisor), length, axis)

    def run(
        data: Array,
        *length: Array,
        axis: int = -1,
        temperature: float | None = None,
        dtype: str = "",
        use_length: bool = False,
    ) -> Array:
        if dtype and np.dtype(dtype).itemsize > data.itemsize:
            data = data.astype(dtype)
        result: Array = compute(
            data,
            length[0] if length else None,
            axis,
            _divisor(sign, temperature),
        )
        return result.astype(dtype or data.dtype, copy=False)

    return run


def _backward(log: bool, sign: int) -> Callable[..., Array]:
    @in_single
    def compute(head: Array, result: Array, axis: int, divisor: float) -> Array:
        if log:
            slope = np.exp(result, out=empty(result.shape, result.dtype))
            slope *= head.sum(axis=axis, keepdims=True)
            np.subtract(head, slope, out=slope)
        else:
            slope = np.multiply(head, result, out=empty(result.shape, result.dtype))
            total = slope.sum(axis=axis, keepdims=True)
            np.subtract(head, total, out=slope)
            slope *= result
        if divisor != 1:
            slope /= divisor
        return slope

    def run(
        head: Array,
        result: Array,
        like: tuple[Aval, ...],
        axis: int = -1,
        temperature: float | None = None,
        dtype: str = "",
        use_length: bool = False,
    ) -> Array:
        slope: Array = compute(head, result, axis, _divisor(sign, temperature))
        return slope.astype(like[0].dtype, copy=False)

    return run


def _family(name: str, doc: str, function: Callable[..., Array], log: bool, sign: int) -> Any:
    # All ask for workspace, as MXNet's reductions do.
    gradient = Gradient(
        f"_backward_{name}", _backward(log, sign), outputs=(0,), wrt=(0,), flops=times(4)
    )
    make = register(name, _infer(name), doc, gradient=gradient, flops=times(4), workspace=True)
    return make(_kernel(function, sign))


SOFTMAX = _family(
    "softmax", "Exponentials along an axis, summing to 1.", _softmax, log=False, sign=1
)
LOG_SOFTMAX = _family("log_softmax", "Logarithm of softmax.", _log_softmax, log=True, sign=1)
SOFTMIN = _family("softmin", "Softmax of the negated array.", _softmax, log=False, sign=-1)


def _infer_activation(data: Aval, mode: str = "instance") -> Aval:
    choice("SoftmaxActivation", "mode", mode, ("channel", "instance"))
    floating("SoftmaxActivation", data)
    least = 3 if mode == "channel" else 2
    if len(data.shape) < least:
        raise refuse("SoftmaxActivation", f"mode={mode!r} needs {least} axes or more", data)
    return data


def _rows(data: Array, mode: str) -> Array:
    return data if mode == "channel" else data.reshape(len(data), prod(data.shape[1:]))


@in_single
def _activation(data: Array, mode: str = "instance") -> Array:
    result = empty(data.shape, data.dtype)
    result[...] = shifted_softmax(_rows(data, mode), 1).reshape(data.shape)
    return result


@in_single
def _activation_backward(head: Array, result: Array, mode: str = "instance") -> Array:
    slope = empty(result.shape, result.dtype)
    np.multiply(head, result, out=slope)
    total = _rows(slope, mode).sum(axis=1, keepdims=True)
    rows = _rows(slope, mode)
    np.subtract(_rows(head, mode), total, out=rows)
    slope *= result
    return slope


SOFTMAX_ACTIVATION = register(
    "SoftmaxActivation",
    _infer_activation,
    "Softmax over the features of each sample, or over its channels at each place.",
    gradient=Gradient(
        "_backward_SoftmaxActivation", _activation_backward, outputs=(0,), flops=times(4)
    ),
    flops=times(4),
)(_activation)

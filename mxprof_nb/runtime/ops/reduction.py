"""Operators that reduce axes, and the softmax family, which does so inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.registry import Aval, aval, refuse, register

__all__ = ["ARGMAX", "ARGMIN", "LOG_SOFTMAX", "REDUCE", "SOFTMAX"]

Array = NumpyArray[Any]
Axis = tuple[int, ...]


def _normal_axes(name: str, operand: Aval, axis: Axis) -> Axis:
    """Return axes counted from 0; an empty tuple means all, as in MXNet."""
    rank = len(operand.shape)
    for one in axis:
        if not -rank <= one < rank:
            raise refuse(name, f"axis {one} does not exist", operand)
    axes = sorted({one % rank for one in axis})
    if len(axes) < len(axis):
        raise refuse(name, f"axes {axis} name one axis twice", operand)
    return tuple(axes) or tuple(range(rank))


def _reduced(name: str) -> Callable[..., Aval]:
    def infer(operand: Aval, axis: Axis = (), keepdims: bool = False) -> Aval:
        axes = _normal_axes(name, operand, axis)
        if keepdims:
            shape = tuple(1 if i in axes else n for i, n in enumerate(operand.shape))
        else:
            shape = tuple(n for i, n in enumerate(operand.shape) if i not in axes)
        # MXNet 1.x has no 0-d arrays: reducing everything leaves shape (1,).
        return aval(shape or (1,), operand.dtype)

    return infer


def _reducing(function: Callable[..., Any]) -> Callable[..., Array]:
    def reduce(operand: Array, axis: Axis = (), keepdims: bool = False) -> Array:
        result = function(operand, axis=axis or None, keepdims=keepdims)
        return np.atleast_1d(np.asarray(result, dtype=operand.dtype))

    return reduce


#: Name to operator; all ask for workspace, as MXNet's reductions do.
REDUCE = {
    name: register(name, _reduced(name), doc, workspace=True)(_reducing(function))
    for name, doc, function in (
        ("sum", "Sum over axes.", np.sum),
        ("mean", "Mean over axes.", np.mean),
        ("max", "Largest element over axes.", np.max),
        ("min", "Smallest element over axes.", np.min),
        ("prod", "Product over axes.", np.prod),
    )
}


def _positions(function: Callable[..., Any]) -> Callable[..., Array]:
    def find(operand: Array, axis: Axis = (), keepdims: bool = False) -> Array:
        result = function(operand, axis=axis[0] if axis else None, keepdims=keepdims)
        # MXNet answers in the operand's type (`mshadow/extension/reduce_with_axis.h`).
        return np.atleast_1d(np.asarray(result, dtype=operand.dtype))

    return find


def _one_axis(name: str) -> Callable[..., Aval]:
    reduced = _reduced(name)

    def infer(operand: Aval, axis: Axis = (), keepdims: bool = False) -> Aval:
        if len(axis) > 1:
            raise refuse(name, f"axis must be one number or None, not {axis}", operand)
        return reduced(operand, axis, keepdims)

    return infer


ARGMAX = register("argmax", _one_axis("argmax"), "Position of the largest element.")(
    _positions(np.argmax)
)
ARGMIN = register("argmin", _one_axis("argmin"), "Position of the smallest element.")(
    _positions(np.argmin)
)


def _same_shape(name: str) -> Callable[..., Aval]:
    def infer(operand: Aval, axis: int = -1) -> Aval:
        _normal_axes(name, operand, (axis,))
        if operand.dtype.kind != "f":
            raise refuse(
                name, "floating point numbers are needed", operand, remedy="See .astype(...)."
            )
        return operand

    return infer


def _shifted(operand: Array, axis: int) -> Array:
    """Subtract the largest element, so that exp cannot overflow."""
    shifted: Array = operand - operand.max(axis=axis, keepdims=True)
    return shifted


def _softmax(operand: Array, axis: int = -1) -> Array:
    powers = np.exp(_shifted(operand, axis))
    powers /= powers.sum(axis=axis, keepdims=True)
    return powers


def _log_softmax(operand: Array, axis: int = -1) -> Array:
    shifted = _shifted(operand, axis)
    result: Array = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return result


SOFTMAX = register(
    "softmax", _same_shape("softmax"), "Exponentials along an axis, summing to 1.", workspace=True
)(_softmax)
LOG_SOFTMAX = register(
    "log_softmax", _same_shape("log_softmax"), "Logarithm of softmax.", workspace=True
)(_log_softmax)

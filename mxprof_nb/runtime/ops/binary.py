"""Operators on two arrays, element by element: ``broadcast_*`` and ``elemwise_*``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.registry import Aval, Gradient, OpSpec, aval, refuse, register

__all__ = ["BINARY", "COMPARISONS", "ELEMWISE", "KERNELS", "summed_to"]

Array = NumpyArray[Any]
Kernel = Callable[[Any, Any], Array]


def _pair(name: str, left: Aval, right: Aval) -> None:
    if left.dtype is not right.dtype and left.dtype != right.dtype:
        raise refuse(name, "the types differ", left, right, remedy="Convert one with .astype(...).")
    if left.dtype.kind == "b":
        raise refuse(
            name, "numbers are needed", left, right, remedy="Convert with .astype('float32')."
        )


def _broadcast(name: str) -> Callable[..., Aval]:
    def infer(left: Aval, right: Aval) -> Aval:
        _pair(name, left, right)
        if left.shape == right.shape:
            return left
        try:
            shape = np.broadcast_shapes(left.shape, right.shape)
        except ValueError:
            raise refuse(name, "the shapes cannot be broadcast together", left, right) from None
        return aval(shape, left.dtype)

    return infer


def _alike(name: str) -> Callable[..., Aval]:
    def infer(left: Aval, right: Aval) -> Aval:
        _pair(name, left, right)
        if left.shape != right.shape:
            raise refuse(
                name,
                "the shapes differ",
                left,
                right,
                remedy=f"See broadcast_{name.removeprefix('elemwise').lstrip('_')}.",
            )
        return left

    return infer


def _keeping_type(ufunc: np.ufunc) -> Kernel:
    """Return a comparison that answers in the type of its operands, as MXNet does."""

    def compare(left: Array, right: Array) -> Array:
        answer: Array = ufunc(left, right).astype(left.dtype)
        return answer

    return compare


def _div(left: Array, right: Array) -> Array:
    """Divide; whole numbers stay whole and are rounded towards zero, as in C."""
    if left.dtype.kind == "f":
        return np.divide(left, right)
    if left.dtype.itemsize < 8:
        return np.trunc(np.divide(left, right)).astype(left.dtype)
    # Numbers of 64 bits do not fit a float64.
    quotient, rest = np.divmod(left, right)
    quotient += (rest != 0) & ((rest < 0) != (left < 0))
    return quotient


def _mod(left: Array, right: Array) -> Array:
    """Return the remainder with the sign of the right; 0 where that is 0, as in MXNet."""
    return np.where(right == 0, right, np.mod(left, right))


def _power(left: Array, right: Array) -> Array:
    if left.dtype.kind == "i" and (right < 0).any():  # MXNet rounds 1/x towards zero
        powers: Array = np.trunc(np.power(left.astype(float), right)).astype(left.dtype)
    else:
        powers = np.power(left, right)
    return powers


def _hypot(left: Array, right: Array) -> Array:
    if left.dtype.kind == "f":
        return np.hypot(left, right)
    return np.hypot(left, right, dtype=np.float64).astype(left.dtype)


#: Operations that answer yes or no, and lead no gradient back.
COMPARISONS: dict[str, Kernel] = {
    "equal": _keeping_type(np.equal),
    "not_equal": _keeping_type(np.not_equal),
    "greater": _keeping_type(np.greater),
    "greater_equal": _keeping_type(np.greater_equal),
    "lesser": _keeping_type(np.less),
    "lesser_equal": _keeping_type(np.less_equal),
    "logical_and": _keeping_type(np.logical_and),
    "logical_or": _keeping_type(np.logical_or),
    "logical_xor": _keeping_type(np.logical_xor),
}

#: Operation to kernel of two arrays.
KERNELS: dict[str, Kernel] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": _div,
    "mod": _mod,
    "power": _power,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "hypot": _hypot,
    **COMPARISONS,
}


def summed_to(gradient: Array, like: Aval, head: Array) -> Array:
    """Sum a gradient over the axes along which its operand was broadcast; always new memory."""
    shape = like.shape
    if gradient.shape != shape:
        more = gradient.ndim - len(shape)
        stretched = tuple(
            axis
            for axis in range(gradient.ndim)
            if axis < more or shape[axis - more] < gradient.shape[axis]
        )
        gradient = gradient.sum(axis=stretched, dtype=like.dtype).reshape(shape)
    elif gradient is head:
        return head.astype(like.dtype)
    return gradient.astype(like.dtype, copy=False)


#: Gradient by the left and by the right: functions of the head and, if ``True``, both operands.
_SLOPES: dict[str, tuple[bool, Callable[..., Any], Callable[..., Any]]] = {
    "add": (False, lambda head: head, lambda head: head),
    "sub": (False, lambda head: head, np.negative),
    "mul": (True, lambda head, x, y: head * y, lambda head, x, y: head * x),
    "div": (True, lambda head, x, y: head / y, lambda head, x, y: -head * x / (y * y)),
    "mod": (True, lambda head, x, y: head, lambda head, x, y: -head * np.floor(x / y)),
    "power": (
        True,
        lambda head, x, y: head * y * np.power(x, y - 1),
        lambda head, x, y: head * np.power(x, y) * np.log(x),
    ),
    "maximum": (True, lambda head, x, y: head * (x >= y), lambda head, x, y: head * (x < y)),
    "minimum": (True, lambda head, x, y: head * (x <= y), lambda head, x, y: head * (x > y)),
    "hypot": (
        True,
        lambda head, x, y: head * x / np.hypot(x, y),
        lambda head, x, y: head * y / np.hypot(x, y),
    ),
}


def _gradient(name: str, operation: str) -> Gradient | None:
    if operation not in _SLOPES:
        return None
    needs, *sides = _SLOPES[operation]

    def kernel(
        head: Array, *operands: Array, like: tuple[Aval, ...], wanted: tuple[int, ...]
    ) -> tuple[Array | None, ...]:
        if needs and head.dtype.kind != "f":  # slopes of whole numbers are seldom whole
            head, *operands = (each.astype(np.float64) for each in (head, *operands))  # type: ignore[assignment]
        return tuple(
            summed_to(side(head, *operands), like[place], head) if place in wanted else None
            for place, side in enumerate(sides)
        )

    return Gradient(name, kernel, inputs=(0, 1) if needs else ())


#: ``x + y``: operation to operator, e.g. ``"add"`` to ``broadcast_add``.
BINARY: dict[str, OpSpec] = {
    operation: register(
        f"broadcast_{operation}",
        _broadcast(f"broadcast_{operation}"),
        f"Element-wise {operation} of two arrays, broadcasting.",
        gradient=_gradient(f"_backward_broadcast_{operation}", operation),
    )(kernel)
    for operation, kernel in KERNELS.items()
}

#: Operations that MXNet calls ``elemwise_`` for arrays of one shape; others have a ``_`` alone.
_SIGNS = ("add", "sub", "mul", "div")

#: The same for arrays of one shape, which MXNet's symbols and Gluon use.
ELEMWISE: dict[str, OpSpec] = {
    operation: register(
        name := f"elemwise_{operation}" if operation in _SIGNS else f"_{operation}",
        _alike(name),
        f"Element-wise {operation} of two arrays of one shape.",
        gradient=_gradient("_copy" if operation == "add" else f"_backward_{operation}", operation),
    )(KERNELS[operation])
    for operation in KERNELS
}

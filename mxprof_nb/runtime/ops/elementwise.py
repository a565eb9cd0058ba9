"""Operators that work element by element: arithmetic, comparison, functions of one array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.registry import Aval, OpSpec, aval, refuse, register

__all__ = ["BINARY", "SCALAR", "UNARY", "number_as"]

Array = NumpyArray[Any]


def _broadcast(name: str) -> Callable[..., Aval]:
    def infer(left: Aval, right: Aval) -> Aval:
        if left.dtype is not right.dtype and left.dtype != right.dtype:
            raise refuse(
                name, "the types differ", left, right, remedy="Convert one with .astype(...)."
            )
        if left.shape == right.shape:
            return left
        try:
            shape = np.broadcast_shapes(left.shape, right.shape)
        except ValueError:
            raise refuse(name, "the shapes cannot be broadcast together", left, right) from None
        return aval(shape, left.dtype)

    return infer


def _same(operand: Aval) -> Aval:
    return operand


def _keeping_type(ufunc: np.ufunc) -> Callable[[Array, Array], Array]:
    """Return a comparison that answers in the type of its operands, as MXNet does."""

    def compare(left: Array, right: Array) -> Array:
        answer: Array = ufunc(left, right).astype(left.dtype)
        return answer

    return compare


_ARITHMETIC: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "mod": np.mod,
    "power": np.power,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
_COMPARISON: dict[str, Any] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
}
#: Operation to kernel of two arrays.
_KERNELS: dict[str, Callable[[Array, Array], Array]] = {
    **_ARITHMETIC,
    **{name: _keeping_type(ufunc) for name, ufunc in _COMPARISON.items()},
}


def _division(kernel: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return a division that keeps integers integers and rounds towards zero, as C does."""

    def divide(left: Array, right: Array) -> Array:
        result = kernel(left, right)
        return result if result.dtype == left.dtype else np.trunc(result).astype(left.dtype)

    return divide


def _mod(left: Array, right: Array) -> Array:
    """Return the remainder with the sign of the right; 0 where that is 0, as in MXNet."""
    return np.where(right == 0, right, np.mod(left, right))


def _power(left: Array, right: Array) -> Array:
    if left.dtype.kind == "i" and (right < 0).any():  # MXNet rounds 1/x towards zero
        powers: Array = np.trunc(np.power(left.astype(float), right)).astype(left.dtype)
    else:
        powers = np.power(left, right)
    return powers


_KERNELS |= {"div": _division(np.divide), "mod": _mod, "power": _power}

#: ``x + y``: operation to operator, e.g. ``"add"`` to ``broadcast_add``.
BINARY: dict[str, OpSpec] = {
    name: register(
        f"broadcast_{name}",
        _broadcast(f"broadcast_{name}"),
        f"Element-wise {name} of two arrays, broadcasting.",
    )(kernel)
    for name, kernel in _KERNELS.items()
}


def number_as(dtype: np.dtype[Any], number: float) -> Array:
    """Return a number as a 0-d array; one that does not fit an integer type wraps, as in C."""
    # Converting a Python float inside a ufunc costs more than a small add.
    if dtype.kind == "f":
        return np.asarray(number, dtype=dtype)
    return np.asarray(number).astype(dtype)


def _with_scalar(
    kernel: Callable[[Array, Array], Array], reverse: bool
) -> Callable[[Array, float], Array]:
    def apply(operand: Array, scalar: float) -> Array:
        value = number_as(operand.dtype, scalar)
        return kernel(value, operand) if reverse else kernel(operand, value)

    return apply


#: MXNet's internal names of ``x + 2``; those with an ``r`` have the scalar on the left.
_SCALAR_NAMES = {
    "add": "_plus_scalar",
    "sub": "_minus_scalar",
    "rsub": "_rminus_scalar",
    "mul": "_mul_scalar",
    "div": "_div_scalar",
    "rdiv": "_rdiv_scalar",
    "mod": "_mod_scalar",
    "rmod": "_rmod_scalar",
    "power": "_power_scalar",
    "rpower": "_rpower_scalar",
    "maximum": "_maximum_scalar",
    "minimum": "_minimum_scalar",
    **{name: f"_{name}_scalar" for name in _COMPARISON},
}

#: ``x + 2``: operation to operator, e.g. ``"add"`` to ``_plus_scalar``.
SCALAR: dict[str, OpSpec] = {
    name: register(internal, _same, f"Element-wise {name} of an array and a number.")(
        _with_scalar(_KERNELS[name if name in _KERNELS else name[1:]], reverse=name not in _KERNELS)
    )
    for name, internal in _SCALAR_NAMES.items()
}


def _relu(operand: Array) -> Array:
    return np.maximum(operand, np.zeros((), operand.dtype))


def _sigmoid(operand: Array) -> Array:
    # exp of a negative number only: no overflow at either end.
    small = np.exp(-np.abs(operand))
    return np.where(operand >= 0, 1 / (1 + small), small / (1 + small)).astype(operand.dtype)


def _floating(kernel: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a kernel that answers in the operand's type, also for integers."""

    def apply(operand: Array) -> Array:
        return kernel(operand).astype(operand.dtype, copy=False)

    return apply


UNARY: dict[str, OpSpec] = {
    name: register(name, _same, doc)(kernel)
    for name, doc, kernel in (
        ("exp", "Element-wise e to the power of x.", _floating(np.exp)),
        ("log", "Element-wise natural logarithm.", _floating(np.log)),
        ("sqrt", "Element-wise square root.", _floating(np.sqrt)),
        ("square", "Element-wise square.", np.square),
        ("abs", "Element-wise absolute value.", np.abs),
        ("tanh", "Element-wise hyperbolic tangent.", _floating(np.tanh)),
        ("sigmoid", "Element-wise logistic function.", _floating(_sigmoid)),
        ("relu", "Element-wise maximum of x and 0.", _relu),
    )
}

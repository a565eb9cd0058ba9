"""Operators on an array and a number, element by element: ``_plus_scalar`` and its kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.binary import COMPARISONS, KERNELS
from mxprof_nb.runtime.ops.registry import Aval, Gradient, OpSpec, aval, register
from mxprof_nb.runtime.ops.unary import NEGATIVE

__all__ = ["SCALAR", "number_as"]

Array = NumpyArray[Any]


def number_as(dtype: np.dtype[Any], number: float) -> Array:
    """Return a number as a 0-d array; one that does not fit an integer type wraps, as in C."""
    # Converting a Python float inside a ufunc costs more than a small add.
    if dtype.kind == "f":
        return np.asarray(number, dtype=dtype)
    return np.asarray(number).astype(dtype)


def _infer(operand: Aval) -> Aval:
    # A truth value and a number make whole numbers, as in MXNet.
    return aval(operand.shape, np.int64) if operand.dtype.kind == "b" else operand


def _with_scalar(kernel: Callable[..., Array], reverse: bool) -> Callable[[Array, float], Array]:
    def apply(operand: Array, scalar: float) -> Array:
        if operand.dtype.kind == "b":
            operand = operand.astype(np.int64)
        value = number_as(operand.dtype, scalar)
        return kernel(value, operand) if reverse else kernel(operand, value)

    return apply


def _sloped(slope: Callable[..., Any]) -> Callable[..., Array]:
    """Return the kernel of a gradient: the head times a slope from operand and number."""

    def kernel(head: Array, *known: Any) -> Array:
        operand, number = known if len(known) == 2 else (None, known[0])
        value = number_as(head.dtype, number)
        if head.dtype.kind != "f":  # slopes of whole numbers are seldom whole
            operand = None if operand is None else operand.astype(np.float64)
            value = value.astype(np.float64)
        product = head * slope(operand, value)
        return product.astype(head.dtype, copy=False)  # type: ignore[no-any-return]

    return kernel


def _known(name: str, slope: Callable[..., Any]) -> Gradient:
    return Gradient(f"_backward_{name}_scalar", _sloped(slope), inputs=(0,))


def _unknown(name: str, slope: Callable[..., Any]) -> Gradient:
    return Gradient(f"_backward_{name}_scalar", _sloped(slope))


_COPY = Gradient("_copy", lambda head, number: head.copy())

#: Operation, MXNet's name, gradient. An ``r`` in front of the operation: the number comes first.
_OPERATORS: tuple[tuple[str, str, Gradient | None], ...] = (
    ("add", "_plus_scalar", _COPY),
    ("sub", "_minus_scalar", _COPY),
    ("rsub", "_rminus_scalar", Gradient("negative", lambda head, number: NEGATIVE.forward(head))),
    ("mul", "_mul_scalar", _unknown("mul", lambda x, number: number)),
    ("div", "_div_scalar", _unknown("div", lambda x, number: 1 / number)),
    ("rdiv", "_rdiv_scalar", _known("rdiv", lambda x, number: -number / (x * x))),
    ("mod", "_mod_scalar", _unknown("mod", lambda x, number: 1)),
    ("rmod", "_rmod_scalar", _known("rmod", lambda x, number: -np.floor(number / x))),
    ("power", "_power_scalar", _known("power", lambda x, n: n * np.power(x, n - 1))),
    ("rpower", "_rpower_scalar", _known("rpower", lambda x, n: np.power(n, x) * np.log(n))),
    ("maximum", "_maximum_scalar", _known("maximum", lambda x, number: x >= number)),
    ("minimum", "_minimum_scalar", _known("minimum", lambda x, number: x <= number)),
    ("hypot", "_hypot_scalar", _known("hypot", lambda x, number: x / np.hypot(x, number))),
    # Steps: no gradient flows.
    *((operation, f"_{operation}_scalar", None) for operation in COMPARISONS),
)

#: ``x + 2``: operation to operator, e.g. ``"add"`` to ``_plus_scalar``.
SCALAR: dict[str, OpSpec] = {
    operation: register(
        name, _infer, f"Element-wise {operation} of an array and a number.", gradient=gradient
    )(
        _with_scalar(
            KERNELS[operation if operation in KERNELS else operation[1:]],
            reverse=operation not in KERNELS,
        )
    )
    for operation, name, gradient in _OPERATORS
}

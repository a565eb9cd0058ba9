"""Operators on one array, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops import special
from mxprof_nb.runtime.ops.registry import Aval, Gradient, OpSpec, refuse, register

__all__ = ["HARD_SIGMOID", "NEGATIVE", "UNARY", "numeric"]

Array = NumpyArray[Any]
Function = Callable[..., Any]


def numeric(name: str) -> Callable[..., Aval]:
    """Return the inference of an operator that keeps shape and type, and refuses truth values."""

    def infer(operand: Aval, **attrs: Any) -> Aval:
        if operand.dtype.kind == "b":
            raise refuse(
                name, "numbers are needed", operand, remedy="Convert with .astype('float32')."
            )
        return operand

    return infer


def _keeping_type(function: Function) -> Callable[[Array], Array]:
    """Return a kernel that answers in the operand's type; whole numbers are cut, as in C."""

    def kernel(operand: Array) -> Array:
        if operand.dtype.kind == "f":
            answer: Array = function(operand)
            return answer
        answer = function(operand.astype(np.float64))
        return answer.astype(operand.dtype)

    return kernel


def _widened(function: Function) -> Function:
    """Return a function of half precision computed in single precision."""

    def compute(operand: Array) -> Array:
        if operand.dtype == np.float16:
            return function(operand.astype(np.float32)).astype(np.float16)  # type: ignore[no-any-return]
        return function(operand)  # type: ignore[no-any-return]

    return compute


def _slope(derivative: Function) -> Function:
    """Return the kernel of a gradient: the head times the derivative, in the head's type."""

    def kernel(head: Array, known: Array) -> Array:
        slope = derivative(known)
        slope = np.multiply(slope, head, out=slope if slope.dtype == head.dtype else None)
        return slope.astype(head.dtype, copy=False)

    return kernel


def _times(factor: float) -> Callable[[Array], Array]:
    """Return the kernel of a gradient whose slope is the same everywhere."""

    def kernel(head: Array) -> Array:
        return (head * factor).astype(head.dtype, copy=False)

    return kernel


def _at_input(name: str, derivative: Function) -> Gradient:
    """Return a gradient whose derivative is a function of the input."""
    return Gradient(f"_backward_{name}", _slope(derivative), inputs=(0,))


def _at_output(name: str, derivative: Function) -> Gradient:
    """Return a gradient whose derivative is a function of the output."""
    return Gradient(f"_backward_{name}", _slope(derivative), outputs=(0,))


def _rint(x: Array) -> Array:
    """Round to the nearest whole number, halves down, as MXNet does."""
    below = np.floor(x)
    below += x - below > 0.5
    return below


def _round(x: Array) -> Array:
    """Round to the nearest whole number, halves away from 0."""
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x)  # type: ignore[no-any-return]


def _sigmoid(x: Array) -> Array:
    powers = np.negative(x)
    np.exp(powers, out=powers)  # infinite for very negative numbers: their answer is 0
    powers += 1
    return np.reciprocal(powers, out=powers)


def _softsign(x: Array) -> Array:
    below = np.abs(x)
    below += 1
    return np.divide(x, below, out=below)


def _rsqrt(x: Array) -> Array:
    roots: Array = np.sqrt(x)
    return np.reciprocal(roots, out=roots)


def _rcbrt(x: Array) -> Array:
    roots: Array = np.cbrt(x)
    return np.reciprocal(roots, out=roots)


_TO_DEGREES, _TO_RADIANS = 180 / math.pi, math.pi / 180
_ERF_AT_0 = 2 / math.sqrt(math.pi)

#: Functions worked out in floating point: name, sentence, function, gradient.
_FLOATING: tuple[tuple[str, str, Function, Gradient | None], ...] = (
    # Steps: flat wherever they have a slope, so no gradient flows.
    ("ceil", "Whole number above.", np.ceil, None),
    ("floor", "Whole number below.", np.floor, None),
    ("rint", "Nearest whole number, halves down.", _rint, None),
    ("round", "Nearest whole number, halves away from 0.", _round, None),
    ("trunc", "Whole number towards 0.", np.trunc, None),
    ("fix", "Whole number towards 0.", np.trunc, None),
    # Powers and logarithms.
    (
        "exp",
        "e to the power of x.",
        np.exp,
        Gradient("elemwise_mul", np.multiply, outputs=(0,)),
    ),
    ("expm1", "e to the power of x, minus 1.", np.expm1, _at_output("expm1", lambda y: y + 1)),
    ("log", "Natural logarithm.", np.log, _at_input("log", np.reciprocal)),
    ("log2", "Logarithm to base 2.", np.log2, _at_input("log2", lambda x: 1 / (x * math.log(2)))),
    (
        "log10",
        "Logarithm to base 10.",
        np.log10,
        _at_input("log10", lambda x: 1 / (x * math.log(10))),
    ),
    ("log1p", "Logarithm of 1 + x.", np.log1p, _at_input("log1p", lambda x: 1 / (1 + x))),
    ("sqrt", "Square root.", np.sqrt, _at_output("sqrt", lambda y: 0.5 / y)),
    ("rsqrt", "1 over the square root.", _rsqrt, _at_output("rsqrt", lambda y: -0.5 * y * y * y)),
    ("cbrt", "Cube root.", np.cbrt, _at_output("cbrt", lambda y: 1 / (3 * y * y))),
    ("rcbrt", "1 over the cube root.", _rcbrt, _at_output("rcbrt", lambda y: y * y * y * y / -3)),
    ("reciprocal", "1 over x.", lambda x: 1 / x, _at_input("reciprocal", lambda x: -1 / (x * x))),
    # Angles and hyperbolas.
    ("sin", "Sine.", np.sin, _at_input("sin", np.cos)),
    ("cos", "Cosine.", np.cos, _at_input("cos", lambda x: -np.sin(x))),
    ("tan", "Tangent.", np.tan, _at_output("tan", lambda y: y * y + 1)),
    ("arcsin", "Inverse sine.", np.arcsin, _at_input("arcsin", lambda x: 1 / np.sqrt(1 - x * x))),
    (
        "arccos",
        "Inverse cosine.",
        np.arccos,
        _at_input("arccos", lambda x: -1 / np.sqrt(1 - x * x)),
    ),
    ("arctan", "Inverse tangent.", np.arctan, _at_input("arctan", lambda x: 1 / (x * x + 1))),
    ("sinh", "Hyperbolic sine.", np.sinh, _at_input("sinh", np.cosh)),
    ("cosh", "Hyperbolic cosine.", np.cosh, _at_input("cosh", np.sinh)),
    ("tanh", "Hyperbolic tangent.", np.tanh, _at_output("tanh", lambda y: 1 - y * y)),
    (
        "arcsinh",
        "Inverse hyperbolic sine.",
        np.arcsinh,
        _at_input("arcsinh", lambda x: 1 / np.sqrt(x * x + 1)),
    ),
    (
        "arccosh",
        "Inverse hyperbolic cosine.",
        np.arccosh,
        _at_input("arccosh", lambda x: 1 / np.sqrt(x * x - 1)),
    ),
    (
        "arctanh",
        "Inverse hyperbolic tangent.",
        np.arctanh,
        _at_input("arctanh", lambda x: 1 / (1 - x * x)),
    ),
    (
        "degrees",
        "Radians in degrees.",
        lambda x: x * _TO_DEGREES,
        Gradient("_backward_degrees", _times(_TO_DEGREES)),
    ),
    (
        "radians",
        "Degrees in radians.",
        lambda x: x * _TO_RADIANS,
        Gradient("_backward_radians", _times(_TO_RADIANS)),
    ),
    # Special functions.
    (
        "erf",
        "Error function.",
        _widened(special.erf),
        _at_input("erf", lambda x: np.exp(-x * x) * _ERF_AT_0),
    ),
    (
        "erfinv",
        "Inverse of the error function.",
        _widened(special.erfinv),
        _at_output("erfinv", lambda y: np.exp(y * y) / _ERF_AT_0),
    ),
    (
        "gamma",
        "Gamma function.",
        _widened(special.gamma),
        _at_input("gamma", _widened(lambda x: special.gamma(x) * special.digamma(x))),
    ),
    (
        "gammaln",
        "Logarithm of the size of the gamma function.",
        _widened(special.gammaln),
        _at_input("gammaln", _widened(special.digamma)),
    ),
    # Activations.
    ("sigmoid", "Logistic function.", _sigmoid, _at_output("sigmoid", lambda y: y * (1 - y))),
    (
        "softsign",
        "x over 1 + its size.",
        _softsign,
        _at_input("softsign", lambda x: 1 / np.square(1 + np.abs(x))),
    ),
)


def _relu(operand: Array) -> Array:
    return np.maximum(operand, np.zeros((), operand.dtype))


def _logical_not(operand: Array) -> Array:
    return np.equal(operand, 0).astype(operand.dtype)


NEGATIVE = Gradient("negative", np.negative)

#: Functions that are as simple for whole numbers.
_SIMPLE: tuple[tuple[str, str, Function, Gradient | None], ...] = (
    ("abs", "Absolute value.", np.abs, _at_input("abs", np.sign)),
    ("sign", "-1, 0 or 1.", np.sign, Gradient("_backward_sign", np.zeros_like)),
    ("square", "Square.", np.square, _at_input("square", lambda x: x * 2)),
    ("negative", "-x.", np.negative, NEGATIVE),
    (
        "relu",
        "Larger of x and 0.",
        _relu,
        Gradient("_backward_relu", lambda head, y: head * (y > 0), outputs=(0,)),
    ),
    ("logical_not", "1 where x is 0, else 0.", _logical_not, None),  # a step: flat
)

#: Functions of one array: name to operator.
UNARY: dict[str, OpSpec] = {
    name: register(name, numeric(name), f"Element by element: {sentence}", gradient=gradient)(
        kernel
    )
    for name, sentence, kernel, gradient in (
        *((n, s, _keeping_type(function), g) for n, s, function, g in _FLOATING),
        *_SIMPLE,
    )
}


def _infer_hard_sigmoid(operand: Aval) -> Aval:
    if operand.dtype.kind != "f":
        raise refuse(
            "hard_sigmoid",
            "floating point numbers are needed",
            operand,
            remedy="See .astype(...).",
        )
    return operand


def _hard_sigmoid_gradient(head: Array, y: Array, alpha: float, beta: float) -> Array:
    return head * np.where((y > 0) & (y < 1), head.dtype.type(alpha), head.dtype.type(0))  # type: ignore[no-any-return]


@register(
    "hard_sigmoid",
    _infer_hard_sigmoid,
    "Element by element: alpha x + beta, cut to 0 and 1.",
    gradient=Gradient("_backward_hard_sigmoid", _hard_sigmoid_gradient, outputs=(0,)),
)
def HARD_SIGMOID(operand: Array, alpha: float, beta: float) -> Array:
    """Return ``alpha x + beta``, cut to 0 and 1."""
    line = operand * alpha
    line += beta
    return np.clip(line, 0, 1, out=line)

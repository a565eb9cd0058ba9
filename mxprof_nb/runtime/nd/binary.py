"""Functions of two arrays, or of an array and a number, element by element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from mxprof_nb.runtime.nd.arithmetic import NUMBERS
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.ops.elementwise import BINARY, ELEMWISE, SCALAR

__all__ = [
    "add",
    "broadcast_add",
    "broadcast_div",
    "broadcast_equal",
    "broadcast_greater",
    "broadcast_greater_equal",
    "broadcast_hypot",
    "broadcast_lesser",
    "broadcast_lesser_equal",
    "broadcast_logical_and",
    "broadcast_logical_or",
    "broadcast_logical_xor",
    "broadcast_maximum",
    "broadcast_minimum",
    "broadcast_minus",
    "broadcast_mod",
    "broadcast_mul",
    "broadcast_not_equal",
    "broadcast_plus",
    "broadcast_power",
    "broadcast_sub",
    "divide",
    "elemwise_add",
    "elemwise_div",
    "elemwise_mul",
    "elemwise_sub",
    "equal",
    "greater",
    "greater_equal",
    "hypot",
    "lesser",
    "lesser_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "modulo",
    "multiply",
    "not_equal",
    "power",
    "subtract",
    "true_divide",
]

#: What two numbers make without any array.
_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "mod": operator.mod,
    "power": operator.pow,
    "maximum": max,
    "minimum": min,
    "hypot": math.hypot,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "lesser": operator.lt,
    "lesser_equal": operator.le,
    "logical_and": lambda lhs, rhs: bool(lhs) and bool(rhs),
    "logical_or": lambda lhs, rhs: bool(lhs) or bool(rhs),
    "logical_xor": lambda lhs, rhs: bool(lhs) != bool(rhs),
}

#: The operation that gives the same with its sides exchanged.
_EXCHANGED = {
    "sub": "rsub",
    "div": "rdiv",
    "mod": "rmod",
    "power": "rpower",
    "greater": "lesser",
    "greater_equal": "lesser_equal",
    "lesser": "greater",
    "lesser_equal": "greater_equal",
}


def _combine(operation: str, lhs: Any, rhs: Any) -> Any:
    """Queue an operation on two arrays, or an array and a number on either side."""
    left, right = isinstance(lhs, NDArray), isinstance(rhs, NDArray)
    if left and right:
        return apply(BINARY[operation], (lhs, rhs))
    if left and isinstance(rhs, NUMBERS):
        return apply(SCALAR[operation], (lhs,), (), (rhs,))
    if right and isinstance(lhs, NUMBERS):
        return apply(SCALAR[_EXCHANGED.get(operation, operation)], (rhs,), (), (lhs,))
    if isinstance(lhs, NUMBERS) and isinstance(rhs, NUMBERS):
        answer = _NUMBERS[operation](lhs, rhs)
        return int(answer) if isinstance(answer, bool) else answer
    raise TypeError(
        f"{operation} needs an NDArray or a number on either side, not {type(lhs).__name__} and "
        f"{type(rhs).__name__}. Make an array with nd.array(...)."
    )


def add(lhs: Any, rhs: Any) -> Any:
    """Return lhs + rhs: arrays that broadcast, or numbers."""
    return _combine("add", lhs, rhs)


def subtract(lhs: Any, rhs: Any) -> Any:
    """Return lhs - rhs: arrays that broadcast, or numbers."""
    return _combine("sub", lhs, rhs)


def multiply(lhs: Any, rhs: Any) -> Any:
    """Return lhs * rhs: arrays that broadcast, or numbers."""
    return _combine("mul", lhs, rhs)


def divide(lhs: Any, rhs: Any) -> Any:
    """Return lhs / rhs: arrays that broadcast, or numbers."""
    return _combine("div", lhs, rhs)


def true_divide(lhs: Any, rhs: Any) -> Any:
    """Return lhs / rhs: arrays that broadcast, or numbers."""
    return _combine("div", lhs, rhs)


def modulo(lhs: Any, rhs: Any) -> Any:
    """Return the remainder of lhs / rhs in the sign of rhs: arrays that broadcast, or numbers."""
    return _combine("mod", lhs, rhs)


def power(base: Any, exp: Any) -> Any:
    """Return base to the power of exp: arrays that broadcast, or numbers."""
    return _combine("power", base, exp)


def maximum(lhs: Any, rhs: Any) -> Any:
    """Return the larger of both: arrays that broadcast, or numbers."""
    return _combine("maximum", lhs, rhs)


def minimum(lhs: Any, rhs: Any) -> Any:
    """Return the smaller of both: arrays that broadcast, or numbers."""
    return _combine("minimum", lhs, rhs)


def hypot(lhs: Any, rhs: Any) -> Any:
    """Return the root of the sum of both squares; in MXNet only symbols have it."""
    return _combine("hypot", lhs, rhs)


def equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where lhs = rhs and 0 elsewhere, in the type of the arrays."""
    return _combine("equal", lhs, rhs)


def not_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where lhs and rhs differ and 0 elsewhere, in the type of the arrays."""
    return _combine("not_equal", lhs, rhs)


def greater(lhs: Any, rhs: Any) -> Any:
    """Return 1 where lhs > rhs and 0 elsewhere, in the type of the arrays."""
    return _combine("greater", lhs, rhs)


def greater_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where lhs >= rhs and 0 elsewhere, in the type of the arrays."""
    return _combine("greater_equal", lhs, rhs)


def lesser(lhs: Any, rhs: Any) -> Any:
    """Return 1 where lhs < rhs and 0 elsewhere, in the type of the arrays."""
    return _combine("lesser", lhs, rhs)


def lesser_equal(lhs: Any, rhs: Any) -> Any:
    """Return 1 where lhs <= rhs and 0 elsewhere, in the type of the arrays."""
    return _combine("lesser_equal", lhs, rhs)


def logical_and(lhs: Any, rhs: Any) -> Any:
    """Return 1 where neither is 0 and 0 elsewhere, in the type of the arrays."""
    return _combine("logical_and", lhs, rhs)


def logical_or(lhs: Any, rhs: Any) -> Any:
    """Return 1 where not both are 0 and 0 elsewhere, in the type of the arrays."""
    return _combine("logical_or", lhs, rhs)


def logical_xor(lhs: Any, rhs: Any) -> Any:
    """Return 1 where exactly one is 0 and 0 elsewhere, in the type of the arrays."""
    return _combine("logical_xor", lhs, rhs)


# By MXNet's names of the operators: arrays only


def broadcast_add(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs + rhs, broadcasting."""
    return apply(BINARY["add"], (lhs, rhs), out=out)


def broadcast_sub(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs - rhs, broadcasting."""
    return apply(BINARY["sub"], (lhs, rhs), out=out)


def broadcast_mul(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs * rhs, broadcasting."""
    return apply(BINARY["mul"], (lhs, rhs), out=out)


def broadcast_div(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs / rhs, broadcasting."""
    return apply(BINARY["div"], (lhs, rhs), out=out)


def broadcast_mod(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the remainder of lhs / rhs in the sign of rhs, broadcasting."""
    return apply(BINARY["mod"], (lhs, rhs), out=out)


def broadcast_power(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs to the power of rhs, broadcasting."""
    return apply(BINARY["power"], (lhs, rhs), out=out)


def broadcast_maximum(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the larger of both, broadcasting."""
    return apply(BINARY["maximum"], (lhs, rhs), out=out)


def broadcast_minimum(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the smaller of both, broadcasting."""
    return apply(BINARY["minimum"], (lhs, rhs), out=out)


def broadcast_hypot(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the root of the sum of both squares, broadcasting."""
    return apply(BINARY["hypot"], (lhs, rhs), out=out)


def broadcast_equal(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where lhs = rhs and 0 elsewhere, broadcasting."""
    return apply(BINARY["equal"], (lhs, rhs), out=out)


def broadcast_not_equal(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where lhs and rhs differ and 0 elsewhere, broadcasting."""
    return apply(BINARY["not_equal"], (lhs, rhs), out=out)


def broadcast_greater(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where lhs > rhs and 0 elsewhere, broadcasting."""
    return apply(BINARY["greater"], (lhs, rhs), out=out)


def broadcast_greater_equal(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where lhs >= rhs and 0 elsewhere, broadcasting."""
    return apply(BINARY["greater_equal"], (lhs, rhs), out=out)


def broadcast_lesser(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where lhs < rhs and 0 elsewhere, broadcasting."""
    return apply(BINARY["lesser"], (lhs, rhs), out=out)


def broadcast_lesser_equal(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where lhs <= rhs and 0 elsewhere, broadcasting."""
    return apply(BINARY["lesser_equal"], (lhs, rhs), out=out)


def broadcast_logical_and(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where neither is 0 and 0 elsewhere, broadcasting."""
    return apply(BINARY["logical_and"], (lhs, rhs), out=out)


def broadcast_logical_or(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where not both are 0 and 0 elsewhere, broadcasting."""
    return apply(BINARY["logical_or"], (lhs, rhs), out=out)


def broadcast_logical_xor(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return 1 where exactly one is 0 and 0 elsewhere, broadcasting."""
    return apply(BINARY["logical_xor"], (lhs, rhs), out=out)


def elemwise_add(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs + rhs of arrays of one shape."""
    return apply(ELEMWISE["add"], (lhs, rhs), out=out)


def elemwise_sub(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs - rhs of arrays of one shape."""
    return apply(ELEMWISE["sub"], (lhs, rhs), out=out)


def elemwise_mul(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs * rhs of arrays of one shape."""
    return apply(ELEMWISE["mul"], (lhs, rhs), out=out)


def elemwise_div(lhs: NDArray, rhs: NDArray, out: NDArray | None = None) -> NDArray:
    """Return lhs / rhs of arrays of one shape."""
    return apply(ELEMWISE["div"], (lhs, rhs), out=out)


broadcast_plus, broadcast_minus = broadcast_add, broadcast_sub

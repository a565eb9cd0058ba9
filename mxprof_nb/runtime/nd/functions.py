"""The functions of `mx.nd`: creation, products, reductions, functions of one array, waiting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime import api
from mxprof_nb.runtime.context import Context, current_context
from mxprof_nb.runtime.nd.array import Axis, NDArray, apply, axes_of
from mxprof_nb.runtime.ops import OpSpec, creation
from mxprof_nb.runtime.ops.elementwise import BINARY, SCALAR, UNARY
from mxprof_nb.runtime.ops.matrix import DIAG, DOT
from mxprof_nb.runtime.ops.reduction import ARGMAX, ARGMIN, LOG_SOFTMAX, REDUCE, SOFTMAX

Shape = int | Sequence[int]


def _shape(shape: Shape) -> tuple[int, ...]:
    given = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    try:
        return tuple(int(extent) for extent in given)
    except (TypeError, ValueError):
        raise ShapeError(f"shape {shape!r} must be a number or numbers.") from None


def _type(dtype: Any) -> str:
    return "float32" if dtype is None else np.dtype(dtype).name


# Creation


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array with the values of anything that NumPy can read.

    Parameters
    ----------
    source_array : NDArray or array_like
    ctx : Context, optional
        Device; ``cpu(0)`` by default.
    dtype : optional
        Type of the elements. By default float32, as in MXNet, unless the source is an
        `NDArray`, whose type is kept.
    """
    if isinstance(source_array, NDArray):
        wanted = np.dtype(dtype or source_array.dtype)
        source_array = source_array.asnumpy()
    else:
        wanted = np.dtype(_type(dtype))
    data = np.asarray(source_array)
    made = empty(data.shape or (1,), ctx, wanted)
    made._sync_copyfrom(data)
    return made


def empty(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array of arbitrary content."""
    chunk, aval = api.create(_shape(shape), np.dtype(_type(dtype)), ctx or current_context())
    return NDArray._of(chunk, aval)


def _constant(op: OpSpec, shape: Shape, ctx: Context | None, dtype: Any) -> NDArray:
    attrs = (("shape", _shape(shape)), ("dtype", _type(dtype)))
    return apply(op, (), attrs, context=ctx or current_context())


def zeros(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array of zeros."""
    return _constant(creation.ZEROS, shape, ctx, dtype)


def ones(shape: Shape, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array of ones."""
    return _constant(creation.ONES, shape, ctx, dtype)


def full(shape: Shape, val: float, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Return an array filled with one value."""
    made = empty(shape, ctx, dtype)
    made[:] = val
    return made


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    ctx: Context | None = None,
    dtype: Any = None,
) -> NDArray:
    """Return evenly spaced numbers in ``[start, stop)``, or in ``[0, start)``."""
    begin, end = (0.0, start) if stop is None else (start, stop)
    attrs = (
        ("start", float(begin)),
        ("stop", float(end)),
        ("step", float(step)),
        ("repeat", int(repeat)),
        ("dtype", _type(dtype)),
    )
    return apply(creation.ARANGE, (), attrs, context=ctx or current_context())


# Products and changes of shape


def dot(
    lhs: NDArray, rhs: NDArray, transpose_a: bool = False, transpose_b: bool = False
) -> NDArray:
    """Return the product over the last axis of ``lhs`` and the first of ``rhs``."""
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return apply(DOT, (lhs, rhs), tuple((name, True) for name, given in flags.items() if given))


def diag(data: NDArray, k: int = 0) -> NDArray:
    """Return the diagonal of a matrix, or the matrix with the given diagonal."""
    return apply(DIAG, (data,), (("k", int(k)),) if k else ())


def transpose(data: NDArray, axes: Sequence[int] = ()) -> NDArray:
    """Return a copy with the axes in another order, reversed by default."""
    return data.transpose(axes)


def reshape(data: NDArray, shape: Sequence[int]) -> NDArray:
    """Return the array in another shape, sharing memory."""
    return data.reshape(tuple(shape))


# Reductions and the softmax family


def _reduce(op: OpSpec, data: NDArray, axis: Axis, keepdims: bool) -> NDArray:
    return apply(op, (data,), (("axis", axes_of(axis)), ("keepdims", bool(keepdims))))


def sum(data: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """Return the sum over axes, all by default."""
    return _reduce(REDUCE["sum"], data, axis, keepdims)


def mean(data: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """Return the mean over axes, all by default."""
    return _reduce(REDUCE["mean"], data, axis, keepdims)


def max(data: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """Return the largest element over axes, all by default."""
    return _reduce(REDUCE["max"], data, axis, keepdims)


def min(data: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """Return the smallest element over axes, all by default."""
    return _reduce(REDUCE["min"], data, axis, keepdims)


def prod(data: NDArray, axis: Axis = None, keepdims: bool = False) -> NDArray:
    """Return the product over axes, all by default."""
    return _reduce(REDUCE["prod"], data, axis, keepdims)


def argmax(data: NDArray, axis: int | None = None, keepdims: bool = False) -> NDArray:
    """Return the position of the largest element along an axis, in the type of the array."""
    return _reduce(ARGMAX, data, axis, keepdims)


def argmin(data: NDArray, axis: int | None = None, keepdims: bool = False) -> NDArray:
    """Return the position of the smallest element along an axis, in the type of the array."""
    return _reduce(ARGMIN, data, axis, keepdims)


def softmax(data: NDArray, axis: int = -1) -> NDArray:
    """Return exponentials along an axis, summing to 1."""
    return apply(SOFTMAX, (data,), (("axis", int(axis)),))


def log_softmax(data: NDArray, axis: int = -1) -> NDArray:
    """Return the logarithm of softmax."""
    return apply(LOG_SOFTMAX, (data,), (("axis", int(axis)),))


# Functions of one array


def exp(data: NDArray) -> NDArray:
    """Return e to the power of x, element by element."""
    return apply(UNARY["exp"], (data,))


def log(data: NDArray) -> NDArray:
    """Return the natural logarithm, element by element."""
    return apply(UNARY["log"], (data,))


def sqrt(data: NDArray) -> NDArray:
    """Return the square root, element by element."""
    return apply(UNARY["sqrt"], (data,))


def square(data: NDArray) -> NDArray:
    """Return the square, element by element."""
    return apply(UNARY["square"], (data,))


def abs(data: NDArray) -> NDArray:
    """Return the absolute value, element by element."""
    return apply(UNARY["abs"], (data,))


def tanh(data: NDArray) -> NDArray:
    """Return the hyperbolic tangent, element by element."""
    return apply(UNARY["tanh"], (data,))


def sigmoid(data: NDArray) -> NDArray:
    """Return the logistic function, element by element."""
    return apply(UNARY["sigmoid"], (data,))


def relu(data: NDArray) -> NDArray:
    """Return the larger of x and 0, element by element."""
    return apply(UNARY["relu"], (data,))


# Two arrays, or an array and a number


def _combine(name: str, lhs: Any, rhs: Any) -> NDArray:
    result: Any = NotImplemented
    if isinstance(lhs, NDArray):
        result = lhs._combine(name, rhs)
    elif isinstance(rhs, NDArray) and name in _COMMUTES:
        result = rhs._combine(name, lhs)
    if isinstance(result, NDArray):
        return result
    raise TypeError(f"{name} needs an NDArray, not {type(lhs).__name__} and {type(rhs).__name__}.")


_COMMUTES = (
    {"add", "mul", "maximum", "minimum", "equal", "not_equal"} & BINARY.keys() & SCALAR.keys()
)


def add(lhs: Any, rhs: Any) -> NDArray:
    """Return lhs + rhs."""
    return _combine("add", lhs, rhs)


def subtract(lhs: NDArray, rhs: Any) -> NDArray:
    """Return lhs - rhs."""
    return _combine("sub", lhs, rhs)


def multiply(lhs: Any, rhs: Any) -> NDArray:
    """Return lhs * rhs."""
    return _combine("mul", lhs, rhs)


def divide(lhs: NDArray, rhs: Any) -> NDArray:
    """Return lhs / rhs."""
    return _combine("div", lhs, rhs)


def maximum(lhs: Any, rhs: Any) -> NDArray:
    """Return the larger of both, element by element."""
    return _combine("maximum", lhs, rhs)


def minimum(lhs: Any, rhs: Any) -> NDArray:
    """Return the smaller of both, element by element."""
    return _combine("minimum", lhs, rhs)


def equal(lhs: Any, rhs: Any) -> NDArray:
    """Return 1 where both are equal and 0 elsewhere, in the type of the arrays."""
    return _combine("equal", lhs, rhs)


def waitall() -> None:
    """Wait until nothing is queued; raises the first failure that was not raised yet."""
    api.wait_all()

"""Operators that reduce axes to one element, and running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of, distinct_axes
from mxprof_nb.runtime.ops.cost import per_input
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register

__all__ = [
    "CUMSUM",
    "REDUCE",
    "Axis",
    "add_over",
    "chosen",
    "reduced",
    "spread",
]

Array = NumpyArray[Any]
Axis = tuple[int, ...]

# NumPy types these for a ``keepdims`` that is known beforehand only.
add_over: Any = np.add.reduce
_multiply_over: Any = np.multiply.reduce
_largest_over: Any = np.maximum.reduce
_smallest_over: Any = np.minimum.reduce


def chosen(rank: int, axis: Axis, exclude: bool = False) -> Axis:
    """Return the axes to reduce, counted from 0; none named means all, as in MXNet."""
    named = {one % rank for one in axis} if axis else set(range(rank))
    if exclude and axis:
        named = set(range(rank)) - named
    return tuple(sorted(named))


def reduced(shape: tuple[int, ...], axes: Axis, keepdims: bool) -> tuple[int, ...]:
    """Return a shape less the axes; MXNet 1.x has no 0-d arrays: nothing left is (1,)."""
    if keepdims:
        return tuple(1 if place in axes else extent for place, extent in enumerate(shape))
    return tuple(extent for place, extent in enumerate(shape) if place not in axes) or (1,)


def spread(result: Array, shape: tuple[int, ...], axes: Axis) -> Array:
    """Return what a reduction made as a view that repeats it over the axes reduced."""
    kept = tuple(1 if place in axes else extent for place, extent in enumerate(shape))
    return np.broadcast_to(result.reshape(kept), shape)


def _infer(name: str, needs_elements: bool = False) -> Callable[..., Aval]:
    def infer(
        operand: Aval, axis: Axis = (), keepdims: bool = False, exclude: bool = False
    ) -> Aval:
        distinct_axes(name, operand, axis)
        axes = chosen(len(operand.shape), axis, exclude)
        if needs_elements and 0 in [operand.shape[place] for place in axes]:
            raise refuse(name, "there is no element to choose from", operand)
        return aval(reduced(operand.shape, axes, keepdims), operand.dtype)

    return infer


def _kernel(function: Callable[[Array, Axis, bool], Any]) -> Callable[..., Array]:
    def reduce(
        operand: Array, axis: Axis = (), keepdims: bool = False, exclude: bool = False
    ) -> Array:
        result = function(operand, chosen(operand.ndim, axis, exclude), keepdims)
        return np.atleast_1d(np.asarray(result, dtype=operand.dtype))

    return reduce


def _sum(operand: Array, axes: Axis, keepdims: bool) -> Any:
    # Half precision is summed in single; whole numbers wrap in their own type.
    dtype = np.float32 if operand.dtype == np.float16 else operand.dtype
    return add_over(operand, axis=axes, keepdims=keepdims, dtype=dtype)


def _product(operand: Array, axes: Axis, keepdims: bool) -> Any:
    dtype = np.float32 if operand.dtype == np.float16 else operand.dtype
    return _multiply_over(operand, axis=axes, keepdims=keepdims, dtype=dtype)


def _mean(operand: Array, axes: Axis, keepdims: bool) -> Any:
    count = prod(operand.shape[place] for place in axes)
    if operand.dtype.kind != "f":
        return add_over(operand, axis=axes, keepdims=keepdims, dtype=np.float64) / max(count, 1)
    total = np.asarray(_sum(operand, axes, keepdims))
    return np.divide(total, count, out=total)


def _max(operand: Array, axes: Axis, keepdims: bool) -> Any:
    return _largest_over(operand, axis=axes, keepdims=keepdims)


def _min(operand: Array, axes: Axis, keepdims: bool) -> Any:
    return _smallest_over(operand, axis=axes, keepdims=keepdims)


def _without_nan(operand: Array, instead: float) -> Array:
    if operand.dtype.kind != "f":
        return operand
    missing = np.isnan(operand)
    if not missing.any():
        return operand
    filled = operand.copy()
    np.copyto(filled, instead, where=missing)
    return filled


def _nansum(operand: Array, axes: Axis, keepdims: bool) -> Any:
    return _sum(_without_nan(operand, 0), axes, keepdims)


def _nanprod(operand: Array, axes: Axis, keepdims: bool) -> Any:
    return _product(_without_nan(operand, 1), axes, keepdims)


# Gradients. Each gets the head, what it asks for besides, and the axes reduced.


def _backward(
    slope: Callable[..., Array], known: tuple[Axis, Axis] = ((), ())
) -> Callable[[str], Gradient]:
    def kernel(
        head: Array,
        *arrays: Array,
        like: tuple[Aval, ...],
        axis: Axis = (),
        keepdims: bool = False,
        exclude: bool = False,
    ) -> Array:
        (operand,) = like
        axes = chosen(len(operand.shape), axis, exclude)
        made = slope(head, *arrays, operand.shape, axes)
        return np.ascontiguousarray(made, dtype=operand.dtype)

    inputs, outputs = known
    return lambda name: Gradient(name, kernel, inputs=inputs, outputs=outputs, flops=_per_result)


def _per_result(inputs: Sequence[Aval], results: Sequence[Aval], attrs: object) -> int:
    return sum(result.size for result in results)


def _sum_slope(head: Array, shape: tuple[int, ...], axes: Axis) -> Array:
    return spread(head, shape, axes).copy()


def _mean_slope(head: Array, shape: tuple[int, ...], axes: Axis) -> Array:
    return spread(head / prod(shape[place] for place in axes), shape, axes).copy()


def _extreme_slope(head: Array, x: Array, y: Array, shape: tuple[int, ...], axes: Axis) -> Array:
    """Give the head to each element that is the extreme one, all of several alike."""
    return spread(head, shape, axes) * (x == spread(y, shape, axes))  # type: ignore[no-any-return]


def _product_slope(head: Array, x: Array, y: Array, shape: tuple[int, ...], axes: Axis) -> Array:
    """Give the head times the product of the others, also where elements are 0."""
    zero = x == 0
    if not zero.any():
        return spread(head * y, shape, axes) / x
    zeros = add_over(zero, axis=axes, keepdims=True, dtype=np.int64)
    others = np.where(zero, x.dtype.type(1), x)
    rest = _multiply_over(others, axis=axes, keepdims=True)
    alone = np.where(zero, zeros == 1, zeros == 0)
    others = np.where(alone, rest / others, x.dtype.type(0))
    return spread(head, shape, axes) * others  # type: ignore[no-any-return]


def _nansum_slope(head: Array, x: Array, shape: tuple[int, ...], axes: Axis) -> Array:
    return np.where(np.isnan(x), head.dtype.type(0), spread(head, shape, axes))


def _nanprod_slope(head: Array, x: Array, y: Array, shape: tuple[int, ...], axes: Axis) -> Array:
    slope = _product_slope(head, _without_nan(x, 1), y, shape, axes)
    return np.where(np.isnan(x), head.dtype.type(0), slope)


_X: tuple[Axis, Axis] = ((0,), ())
_X_AND_Y: tuple[Axis, Axis] = ((0,), (0,))

#: Name to operator; all ask for workspace, as MXNet's reductions do.
REDUCE = {
    name: register(
        name,
        _infer(name, needs_elements=name in ("max", "min")),
        doc,
        gradient=backward(f"_backward_{name}"),
        flops=per_input,
        workspace=True,
    )(_kernel(function))
    for name, doc, function, backward in (
        ("sum", "Sum over axes.", _sum, _backward(_sum_slope)),
        ("mean", "Mean over axes.", _mean, _backward(_mean_slope)),
        ("max", "Largest element over axes.", _max, _backward(_extreme_slope, _X_AND_Y)),
        ("min", "Smallest element over axes.", _min, _backward(_extreme_slope, _X_AND_Y)),
        ("prod", "Product over axes.", _product, _backward(_product_slope, _X_AND_Y)),
        ("nansum", "Sum over axes without NaN.", _nansum, _backward(_nansum_slope, _X)),
        (
            "nanprod",
            "Product over axes without NaN.",
            _nanprod,
            _backward(_nanprod_slope, _X_AND_Y),
        ),
    )
}


# Running sums


def _infer_cumsum(operand: Aval, axis: int | None = None, dtype: str | None = None) -> Aval:
    made = dtype or ("int64" if operand.dtype.kind == "b" else operand.dtype)
    if axis is None:
        return aval((operand.size,), made)
    axis_of("cumsum", operand, axis, from_end=False)
    return aval(operand.shape, made)


def _cumsum(operand: Array, axis: int | None = None, dtype: str | None = None) -> Array:
    made = dtype or (np.int64 if operand.dtype.kind == "b" else operand.dtype)
    return np.cumsum(operand, axis=axis, dtype=made)


def _cumsum_gradient(
    head: Array, like: tuple[Aval, ...], axis: int | None = None, dtype: str | None = None
) -> Array:
    place = axis or 0
    sums = np.flip(np.cumsum(np.flip(head, place), axis=place), place)
    return np.array(sums.reshape(like[0].shape), dtype=like[0].dtype, order="C")


CUMSUM = register(
    "_np_cumsum",
    _infer_cumsum,
    "Running sums along an axis.",
    gradient=Gradient("_backward_np_cumsum", _cumsum_gradient),
)(_cumsum)

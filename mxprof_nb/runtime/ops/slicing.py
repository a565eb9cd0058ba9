"""Operators that copy a part of an array, or write to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of
from mxprof_nb.runtime.ops.cost import nothing
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.ops.scalar import number_as

__all__ = ["SLICE", "SLICE_ASSIGN", "SLICE_ASSIGN_SCALAR", "SLICE_AXIS", "SLICE_LIKE"]

Array = NumpyArray[Any]
Bounds = tuple[int | None, ...]


def _index(begin: Bounds, end: Bounds, step: Bounds = ()) -> tuple[slice, ...]:
    return tuple(map(slice, begin, end, step or (None,) * len(begin)))


def _part(name: str, operand: Aval, begin: Bounds, end: Bounds, step: Bounds) -> Aval:
    """Return shape and type of the part that bounds choose, by the rules of Python's slices."""
    rank = len(operand.shape)
    if len(begin) != len(end) or len(step) not in (0, len(begin)) or len(begin) > rank:
        raise refuse(
            name, f"begin {begin}, end {end} and step {step} must name its axes in order", operand
        )
    if 0 in step:
        raise refuse(name, "a step is 0", operand)
    chosen = [
        len(range(*part.indices(extent)))
        for part, extent in zip(_index(begin, end, step), operand.shape, strict=False)
    ]
    return aval((*chosen, *operand.shape[len(chosen) :]), operand.dtype)


def _infer_slice(operand: Aval, begin: Bounds, end: Bounds, step: Bounds = ()) -> Aval:
    return _part("slice", operand, begin, end, step)


def _slice(operand: Array, begin: Bounds, end: Bounds, step: Bounds = ()) -> Array:
    return operand[_index(begin, end, step)].copy()


def _slice_back(
    head: Array, like: tuple[Aval, ...], begin: Bounds, end: Bounds, step: Bounds = ()
) -> Array:
    made = np.zeros(like[0].shape, like[0].dtype)
    made[_index(begin, end, step)] = head
    return made


SLICE = register(
    "slice",
    _infer_slice,
    "Copy of the part between bounds, in steps.",
    gradient=Gradient("_backward_slice", _slice_back, flops=nothing),
    flops=nothing,
)(_slice)


# Along one axis


def _along(rank: int, axis: int, begin: int, end: int | None) -> tuple[slice, ...]:
    return (*(slice(None),) * (axis % rank), slice(begin, end))


def _infer_slice_axis(operand: Aval, axis: int, begin: int, end: int | None) -> Aval:
    place = axis_of("slice_axis", operand, axis)
    extent = operand.shape[place]
    first = begin + extent if begin < 0 else begin
    last = extent if end is None else end + extent if end < 0 else end
    if not 0 <= first < last <= extent:
        raise refuse(
            "slice_axis", f"{begin} to {end} is no part of axis {axis}, {extent} long", operand
        )
    return aval((*operand.shape[:place], last - first, *operand.shape[place + 1 :]), operand.dtype)


def _slice_axis(operand: Array, axis: int, begin: int, end: int | None) -> Array:
    return operand[_along(operand.ndim, axis, begin, end)].copy()


def _slice_axis_back(
    head: Array, like: tuple[Aval, ...], axis: int, begin: int, end: int | None
) -> Array:
    made = np.zeros(like[0].shape, like[0].dtype)
    made[_along(made.ndim, axis, begin, end)] = head
    return made


SLICE_AXIS = register(
    "slice_axis",
    _infer_slice_axis,
    "Copy of a part of one axis.",
    gradient=Gradient("_backward_slice_axis", _slice_axis_back, flops=nothing),
    flops=nothing,
)(_slice_axis)


def _infer_slice_like(operand: Aval, like: Aval, axes: tuple[int, ...] = ()) -> Aval:
    if not axes and len(operand.shape) != len(like.shape):
        raise refuse("slice_like", "without axes= both need as many axes", operand, like)
    shape = list(operand.shape)
    for axis in axes or range(len(shape)):
        extent = like.shape[axis_of("slice_like", like, axis)]
        place = axis_of("slice_like", operand, axis)
        if extent > shape[place]:
            raise refuse("slice_like", f"axis {axis} is shorter than {extent}", operand, like)
        shape[place] = extent
    return aval(tuple(shape), operand.dtype)


def _first(shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(extent) for extent in shape)


def _slice_like(operand: Array, like: Array, axes: tuple[int, ...] = ()) -> Array:
    given, other = (aval(each.shape, each.dtype) for each in (operand, like))
    return operand[_first(_infer_slice_like(given, other, axes).shape)].copy()


def _slice_like_back(head: Array, like: tuple[Aval, ...], axes: tuple[int, ...] = ()) -> Array:
    made = np.zeros(like[0].shape, like[0].dtype)
    made[_first(head.shape)] = head
    return made


SLICE_LIKE = register(
    "slice_like",
    _infer_slice_like,
    "Copy of as much of one array as another has.",
    gradient=Gradient("_backward_slice_like", _slice_like_back, wrt=(0,), flops=nothing),
    flops=nothing,
)(_slice_like)


# Writing to a part, in place; MXNet has no gradient for it either.


def _infer_assign(target: Aval, value: Aval, begin: Bounds, end: Bounds, step: Bounds = ()) -> Aval:
    part = _part("_slice_assign", target, begin, end, step)
    if value is not part:
        raise refuse("_slice_assign", f"the chosen part is {part}", target, value)
    return target


def _slice_assign(
    target: Array, value: Array, begin: Bounds, end: Bounds, step: Bounds = ()
) -> Array:
    target[_index(begin, end, step)] = value
    return target


SLICE_ASSIGN = register(
    "_slice_assign",
    _infer_assign,
    "Array with one part replaced by another array.",
    flops=nothing,
)(_slice_assign)


def _infer_assign_scalar(target: Aval, begin: Bounds, end: Bounds, step: Bounds = ()) -> Aval:
    _part("_slice_assign_scalar", target, begin, end, step)
    return target


def _slice_assign_scalar(
    target: Array, value: float, begin: Bounds, end: Bounds, step: Bounds = ()
) -> Array:
    target[_index(begin, end, step)] = number_as(target.dtype, value)
    return target


SLICE_ASSIGN_SCALAR = register(
    "_slice_assign_scalar",
    _infer_assign_scalar,
    "Array with one part replaced by a number.",
    flops=nothing,
)(_slice_assign_scalar)

"""Operators whose result repeats or surrounds their input: broadcasting, tiling, padding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of
from mxprof_nb.runtime.ops.cost import nothing, per_input
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register

__all__ = ["BROADCAST_AXIS", "BROADCAST_LIKE", "BROADCAST_TO", "PAD", "REPEAT", "TILE"]

Array = NumpyArray[Any]
Shape = tuple[int, ...]


# Broadcasting


def _spread(operand: Array, shape: Shape) -> Array:
    made = np.empty(shape, operand.dtype)
    made[...] = operand
    return made


def _spread_back(head: Array, like: tuple[Aval, ...], **attrs: Any) -> Array:
    axes = tuple(
        axis
        for axis, (old, new) in enumerate(zip(like[0].shape, head.shape, strict=True))
        if old != new
    )
    return np.add.reduce(head, axes, dtype=head.dtype, keepdims=True) if axes else head.copy()


_BACK = Gradient("_broadcast_backward", _spread_back, wrt=(0,))


def _may_spread(name: str, operand: Aval, shape: Shape) -> Aval:
    if len(shape) != len(operand.shape) or any(
        old not in (1, new) for old, new in zip(operand.shape, shape, strict=True)
    ):
        raise refuse(name, f"it cannot be broadcast to {shape}", operand)
    return aval(shape, operand.dtype)


def _infer_broadcast_to(operand: Aval, shape: Shape) -> Aval:
    if len(shape) == len(operand.shape):  # 0 keeps an axis
        shape = tuple(new or old for old, new in zip(operand.shape, shape, strict=True))
    return _may_spread("broadcast_to", operand, shape)


def _broadcast_to(operand: Array, shape: Shape) -> Array:
    return _spread(
        operand, tuple(new or old for old, new in zip(operand.shape, shape, strict=True))
    )


BROADCAST_TO = register(
    "broadcast_to",
    _infer_broadcast_to,
    "Axes of one element repeated to fill a shape.",
    gradient=_BACK,
    flops=nothing,
)(_broadcast_to)


def _infer_broadcast_axis(operand: Aval, axis: Shape = (), size: Shape = ()) -> Aval:
    if len(axis) != len(size):
        raise refuse("broadcast_axis", f"axis {axis} and size {size} differ in length", operand)
    shape = list(operand.shape)
    for one, extent in zip(axis, size, strict=True):
        place = axis_of("broadcast_axis", operand, one, from_end=False)
        if operand.shape[place] != 1:
            raise refuse("broadcast_axis", f"axis {one} must have one element", operand)
        shape[place] = extent
    return aval(tuple(shape), operand.dtype)


def _broadcast_axis(operand: Array, axis: Shape = (), size: Shape = ()) -> Array:
    shape = list(operand.shape)
    for one, extent in zip(axis, size, strict=True):
        shape[one] = extent
    return _spread(operand, tuple(shape))


BROADCAST_AXIS = register(
    "broadcast_axis",
    _infer_broadcast_axis,
    "Axes of one element repeated to sizes.",
    gradient=_BACK,
    flops=nothing,
)(_broadcast_axis)


def _shape_like(
    operand: Aval, like: Aval, lhs_axes: Shape | None = None, rhs_axes: Shape | None = None
) -> Shape:
    if lhs_axes is None or rhs_axes is None:
        return like.shape
    if len(lhs_axes) != len(rhs_axes) or not lhs_axes:
        raise refuse(
            "broadcast_like", f"axes {lhs_axes} and {rhs_axes} differ in number", operand, like
        )
    shape = list(operand.shape)
    for axis, other in zip(lhs_axes, rhs_axes, strict=True):
        place = axis_of("broadcast_like", operand, axis)
        if operand.shape[place] != 1:
            raise refuse("broadcast_like", f"axis {axis} must have one element", operand, like)
        shape[place] = like.shape[axis_of("broadcast_like", like, other)]
    return tuple(shape)


def _infer_broadcast_like(operand: Aval, like: Aval, **attrs: Any) -> Aval:
    return _may_spread("broadcast_like", operand, _shape_like(operand, like, **attrs))


def _broadcast_like(operand: Array, like: Array, **attrs: Any) -> Array:
    given, other = (aval(each.shape, each.dtype) for each in (operand, like))
    return _spread(operand, _shape_like(given, other, **attrs))


BROADCAST_LIKE = register(
    "broadcast_like",
    _infer_broadcast_like,
    "Axes of one element repeated to fill the shape of another array.",
    gradient=_BACK,
    flops=nothing,
)(_broadcast_like)


# Copies beside each other


def _aligned(operand: Shape, reps: Shape) -> tuple[Shape, Shape]:
    """Return shape and repetitions with as many axes, counted from the right."""
    rank = max(len(operand), len(reps))
    shape = (*(1,) * (rank - len(operand)), *operand)
    return shape, (*(1,) * (rank - len(reps)), *reps)


def _infer_tile(operand: Aval, reps: Shape) -> Aval:
    if any(times < 1 for times in reps):
        raise refuse("tile", f"reps {reps} must be positive", operand)
    shape, times = _aligned(operand.shape, reps)
    return aval(tuple(map(int.__mul__, shape, times)), operand.dtype)


def _pairs(first: Shape, second: Shape) -> Shape:
    return tuple(extent for pair in zip(first, second, strict=True) for extent in pair)


def _tile(operand: Array, reps: Shape) -> Array:
    # One strided copy; np.tile makes one for each axis, and holds the interpreter meanwhile.
    shape, times = _aligned(operand.shape, reps)
    made = np.empty(tuple(map(int.__mul__, shape, times)), operand.dtype)
    made.reshape(_pairs(times, shape))[...] = operand.reshape(_pairs((1,) * len(shape), shape))
    return made


def _tile_back(head: Array, like: tuple[Aval, ...], reps: Shape) -> Array:
    shape, times = _aligned(like[0].shape, reps)
    parts = head.reshape(_pairs(times, shape))
    made = np.empty(like[0].shape, head.dtype)
    np.add.reduce(parts, tuple(range(0, parts.ndim, 2)), out=made.reshape(shape))
    return made


TILE = register(
    "tile",
    _infer_tile,
    "Copies beside each other along axes.",
    gradient=Gradient("_backward_tile", _tile_back, flops=per_input),
    flops=nothing,
)(_tile)


def _infer_repeat(operand: Aval, repeats: int, axis: int | None = None) -> Aval:
    if repeats < 0:
        raise refuse("repeat", f"repeats {repeats} is negative", operand)
    if axis is None:
        return aval((operand.size * repeats,), operand.dtype)
    place = axis_of("repeat", operand, axis)
    extent = operand.shape[place] * repeats
    return aval((*operand.shape[:place], extent, *operand.shape[place + 1 :]), operand.dtype)


def _repeat(operand: Array, repeats: int, axis: int | None = None) -> Array:
    return np.repeat(operand, repeats, axis)


def _repeat_back(
    head: Array, like: tuple[Aval, ...], repeats: int, axis: int | None = None
) -> Array:
    shape = like[0].shape
    place = len(shape) - 1 if axis is None else axis % len(shape)
    parts = head.reshape(*shape[: place + 1], repeats, *shape[place + 1 :])
    made: Array = np.add.reduce(parts, place + 1, dtype=head.dtype)
    return made


REPEAT = register(
    "repeat",
    _infer_repeat,
    "Each element several times along an axis, or of all elements in a row.",
    gradient=Gradient("_backward_repeat", _repeat_back, flops=per_input),
    flops=nothing,
)(_repeat)


# Padding

_MODES = ("constant", "edge", "reflect")


def _infer_pad(operand: Aval, mode: str, pad_width: Shape, constant_value: float = 0.0) -> Aval:
    if mode not in _MODES:
        raise refuse("Pad", f"mode {mode!r} must be one of {', '.join(_MODES)}")
    rank = len(operand.shape)
    if rank not in (4, 5) or operand.dtype.kind != "f":
        raise refuse("Pad", "it needs floating point numbers on four or five axes", operand)
    before, after = pad_width[::2], pad_width[1::2]
    if len(pad_width) != 2 * rank or any(pad_width[:4]) or min(pad_width) < 0:
        raise refuse(
            "Pad",
            f"pad_width {pad_width} must hold two numbers for each axis, 0 for the first two axes",
            operand,
        )
    if mode == "reflect" and any(
        max(pair) >= extent
        for pair, extent in zip(zip(before, after, strict=True), operand.shape, strict=True)
        if any(pair)
    ):
        raise refuse("Pad", f"pad_width {pad_width} reflects more than there is", operand)
    shape = tuple(map(sum, zip(before, operand.shape, after, strict=True)))
    return aval(shape, operand.dtype)


def _widths(pad_width: Shape) -> tuple[tuple[int, int], ...]:
    return tuple(zip(pad_width[::2], pad_width[1::2], strict=True))


def _pad(operand: Array, mode: str, pad_width: Shape, constant_value: float = 0.0) -> Array:
    widths = _widths(pad_width)
    if mode == "constant":
        return np.pad(operand, widths, constant_values=constant_value)
    return np.pad(operand, widths, "edge" if mode == "edge" else "reflect")


def _pad_back(
    head: Array,
    like: tuple[Aval, ...],
    mode: str,
    pad_width: Shape,
    constant_value: float = 0.0,
) -> Array:
    made = head
    for axis, ((before, after), extent) in enumerate(
        zip(_widths(pad_width), like[0].shape, strict=True)
    ):
        rows = np.moveaxis(made, axis, 0)
        inner = rows[before : before + extent].copy()
        if mode == "edge":
            inner[:1] += np.add.reduce(rows[:before], 0, dtype=head.dtype, keepdims=True)
            inner[-1:] += np.add.reduce(rows[before + extent :], 0, dtype=head.dtype, keepdims=True)
        elif mode == "reflect":
            inner[1 : before + 1] += rows[:before][::-1]
            inner[extent - 1 - after : extent - 1] += rows[before + extent :][::-1]
        made = np.moveaxis(inner, 0, axis)
    return np.ascontiguousarray(made)


PAD = register(
    "Pad",
    _infer_pad,
    "Array with a border of a constant, of its edge or of its reflection.",
    gradient=Gradient("_backward_Pad", _pad_back),
    flops=nothing,
)(_pad)

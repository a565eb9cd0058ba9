"""Operators that change the shape or the order of axes; each copies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of, distinct_axes
from mxprof_nb.runtime.ops.cost import nothing
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register

__all__ = [
    "DEPTH_TO_SPACE",
    "EXPAND_DIMS",
    "FLATTEN",
    "RESHAPE",
    "RESHAPE_LIKE",
    "REVERSE",
    "SHAPE_ARRAY",
    "SIZE_ARRAY",
    "SPACE_TO_DEPTH",
    "SQUEEZE",
    "SWAP_AXIS",
    "TRANSPOSE",
    "reshaped",
]

Array = NumpyArray[Any]
Shape = tuple[int, ...]


# The same elements in another shape


def _back(head: Array, like: tuple[Aval, ...], **attrs: Any) -> Array:
    return head.reshape(like[0].shape).copy()


_BACK = Gradient("_backward_reshape", _back, wrt=(0,), flops=nothing)
_BACK_COPY = Gradient("_backward_copy", _back, wrt=(0,), flops=nothing)


def reshaped(operand: Aval, shape: Shape, reverse: bool = False) -> Shape:
    """Return the shape that a request for a shape means, as MXNet reads it.

    Parameters
    ----------
    operand : Aval
        What is to be reshaped.
    shape : tuple of int
        0 copies an axis, -1 (once) is what is left, -2 copies all remaining axes, -3 merges two
        axes, and -4 splits one axis into the two extents that follow, one of which may be -1.
    reverse : bool
        Whether to read both shapes from the right.

    Raises
    ------
    ShapeError
        The request cannot be met.
    """
    step = -1 if reverse else 1
    found, open_place = _read(operand, shape, operand.shape[::step], shape[::step])
    size = 1
    for extent in found:
        size *= extent
    if open_place is not None:
        found[open_place] = operand.size // size if size else 0
        size *= found[open_place]
    if size != operand.size or not found:
        raise refuse(
            "reshape",
            f"shape {shape} holds {size:,} elements, not {operand.size:,}"
            if found
            else "arrays have at least one axis",
            operand,
        )
    return tuple(found[::step])


def _read(operand: Aval, shape: Shape, old: Shape, wanted: Shape) -> tuple[list[int], int | None]:
    """Return the extents read off from left to right, with 1 at the place that is left open."""
    found: list[int] = []
    open_place: int | None = None
    place, source = 0, iter(old)
    try:
        while place < len(wanted):
            extent = wanted[place]
            if extent == 0:
                found.append(next(source))
            elif extent == -2:
                found.extend(source)
            elif extent == -3:
                found.append(next(source) * next(source))
            elif extent == -4:
                found.extend(_halves(next(source), *wanted[place + 1 : place + 3]))
                place += 2
            elif extent == -1 and open_place is None:
                open_place = len(found)
                found.append(1)
                next(source, None)
            elif extent > 0:
                found.append(extent)
                next(source, None)
            else:
                raise ValueError(extent)
            place += 1
    except (StopIteration, TypeError, ValueError):
        raise refuse(
            "reshape",
            f"shape {shape} is no request it can meet",
            operand,
            remedy="0 copies an axis, -1 (once) is what is left, -2 copies the rest, -3 merges "
            "two axes, -4 splits one into the two extents that follow.",
        ) from None
    return found, open_place


def _halves(extent: int, left: int, right: int) -> Shape:
    if left == -1 and right > 0:
        left = extent // right
    elif right == -1 and left > 0:
        right = extent // left
    if left * right != extent or left < 0:
        raise ValueError(extent)
    return left, right


def _infer_reshape(operand: Aval, shape: Shape, reverse: bool = False) -> Aval:
    return aval(reshaped(operand, shape, reverse), operand.dtype)


def _reshape(operand: Array, shape: Shape, reverse: bool = False) -> Array:
    target = reshaped(aval(operand.shape, operand.dtype), shape, reverse)
    return operand.reshape(target).copy()


RESHAPE = register(
    "Reshape", _infer_reshape, "The elements in another shape.", gradient=_BACK, flops=nothing
)(_reshape)


def _infer_flatten(operand: Aval) -> Aval:
    first = operand.shape[0]
    return aval((first, operand.size // first if first else 0), operand.dtype)


def _flatten(operand: Array) -> Array:
    return operand.reshape(_infer_flatten(aval(operand.shape, operand.dtype)).shape).copy()


FLATTEN = register(
    "Flatten", _infer_flatten, "All axes but the first as one.", gradient=_BACK_COPY, flops=nothing
)(_flatten)


def _infer_expand_dims(operand: Aval, axis: int) -> Aval:
    place = axis_of("expand_dims", operand, axis, more=1)
    return aval((*operand.shape[:place], 1, *operand.shape[place:]), operand.dtype)


def _expand_dims(operand: Array, axis: int) -> Array:
    return np.expand_dims(operand, axis).copy()


EXPAND_DIMS = register(
    "expand_dims", _infer_expand_dims, "With one axis more.", gradient=_BACK, flops=nothing
)(_expand_dims)


def _squeezed(operand: Aval, axis: Shape | None) -> Shape:
    if axis is None:
        kept = tuple(extent for extent in operand.shape if extent != 1)
    else:
        gone = distinct_axes("squeeze", operand, axis)
        if wide := [place for place in gone if operand.shape[place] != 1]:
            raise refuse("squeeze", f"axis {wide[0]} has more than one element", operand)
        kept = tuple(extent for place, extent in enumerate(operand.shape) if place not in gone)
    return kept or (1,)


def _infer_squeeze(operand: Aval, axis: Shape | None = None) -> Aval:
    return aval(_squeezed(operand, axis), operand.dtype)


def _squeeze(operand: Array, axis: Shape | None = None) -> Array:
    return operand.reshape(_squeezed(aval(operand.shape, operand.dtype), axis)).copy()


SQUEEZE = register(
    "squeeze",
    _infer_squeeze,
    "Without axes of one element.",
    gradient=Gradient("_backward_squeeze", _back, flops=nothing),
    flops=nothing,
)(_squeeze)


def _infer_reshape_like(
    operand: Aval,
    like: Aval,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
) -> Aval:
    def cut(given: Aval, begin: int | None, end: int | None) -> tuple[int, int]:
        rank = len(given.shape)
        first, last = (
            default if bound is None else bound % rank if bound < 0 else bound
            for bound, default in ((begin, 0), (end, rank))
        )
        if not 0 <= first <= last <= rank:
            raise refuse("reshape_like", f"axes {begin} to {end} are no part of it", given)
        return first, last

    first, last = cut(operand, lhs_begin, lhs_end)
    begin, end = cut(like, rhs_begin, rhs_end)
    shape = (*operand.shape[:first], *like.shape[begin:end], *operand.shape[last:])
    made = aval(shape, operand.dtype)
    if made.size != operand.size:
        raise refuse("reshape_like", f"shape {shape} holds {made.size:,} elements", operand, like)
    return made


def _reshape_like(operand: Array, like: Array, **attrs: Any) -> Array:
    given, other = (aval(each.shape, each.dtype) for each in (operand, like))
    return operand.reshape(_infer_reshape_like(given, other, **attrs).shape).copy()


RESHAPE_LIKE = register(
    "reshape_like",
    _infer_reshape_like,
    "The elements of one array in the shape of another.",
    gradient=_BACK_COPY,
    flops=nothing,
)(_reshape_like)


# The axes in another order


def _infer_transpose(operand: Aval, axes: Shape = ()) -> Aval:
    if not axes:
        return aval(operand.shape[::-1], operand.dtype)
    if sorted(axes) != [*range(len(operand.shape))]:
        raise refuse("transpose", f"axes {axes} must name each axis once", operand)
    return aval(tuple(operand.shape[axis] for axis in axes), operand.dtype)


def _transpose(operand: Array, axes: Shape = ()) -> Array:
    return operand.transpose(axes or None).copy()


def _transpose_back(head: Array, axes: Shape = ()) -> Array:
    order = np.argsort(axes) if axes else None
    return head.transpose(order).copy()


TRANSPOSE = register(
    "transpose",
    _infer_transpose,
    "Axes in another order.",
    gradient=Gradient("transpose", _transpose_back, flops=nothing),
    flops=nothing,
)(_transpose)


def _infer_swap_axis(operand: Aval, dim1: int = 0, dim2: int = 0) -> Aval:
    one, other = (axis_of("SwapAxis", operand, dim) for dim in (dim1, dim2))
    shape = list(operand.shape)
    shape[one], shape[other] = shape[other], shape[one]
    return aval(tuple(shape), operand.dtype)


def _swap_axis(operand: Array, dim1: int = 0, dim2: int = 0) -> Array:
    return operand.swapaxes(dim1, dim2).copy()


SWAP_AXIS = register(
    "SwapAxis",
    _infer_swap_axis,
    "With two axes exchanged.",
    gradient=Gradient("_backward_SwapAxis", _swap_axis, flops=nothing),
    flops=nothing,
)(_swap_axis)


def _infer_reverse(operand: Aval, axis: Shape) -> Aval:
    for one in axis:
        axis_of("reverse", operand, one, from_end=False)
    return operand


def _reverse(operand: Array, axis: Shape) -> Array:
    # As in MXNet an axis that is named twice is reversed twice.
    return np.flip(operand, tuple({one for one in axis if axis.count(one) % 2})).copy()


REVERSE = register(
    "reverse",
    _infer_reverse,
    "Elements in reverse order along axes.",
    gradient=Gradient("_backward_reverse", _reverse, flops=nothing),
    flops=nothing,
)(_reverse)


# Blocks of an image against its channels


def _infer_depth_to_space(operand: Aval, block_size: int) -> Aval:
    name, block = "depth_to_space", block_size
    if len(operand.shape) != 4 or block < 1:
        raise refuse(name, f"it needs four axes and a block of 1 or more, not {block}", operand)
    count, depth, height, width = operand.shape
    if depth % block**2:
        raise refuse(name, f"axis 1 must be a multiple of {block}x{block}", operand)
    return aval((count, depth // block**2, height * block, width * block), operand.dtype)


def _depth_to_space(operand: Array, block_size: int) -> Array:
    count, depth, height, width = operand.shape
    block = block_size
    parts = operand.reshape(count, block, block, depth // block**2, height, width)
    made = np.empty((count, depth // block**2, height * block, width * block), operand.dtype)
    made.reshape(count, -1, height, block, width, block)[...] = parts.transpose(0, 3, 4, 1, 5, 2)
    return made


def _infer_space_to_depth(operand: Aval, block_size: int) -> Aval:
    name, block = "space_to_depth", block_size
    if len(operand.shape) != 4 or block < 1:
        raise refuse(name, f"it needs four axes and a block of 1 or more, not {block}", operand)
    count, depth, height, width = operand.shape
    if height % block or width % block:
        raise refuse(name, f"axes 2 and 3 must be multiples of {block}", operand)
    return aval((count, depth * block**2, height // block, width // block), operand.dtype)


def _space_to_depth(operand: Array, block_size: int) -> Array:
    count, depth, height, width = operand.shape
    block = block_size
    parts = operand.reshape(count, depth, height // block, block, width // block, block)
    made = np.empty((count, depth * block**2, height // block, width // block), operand.dtype)
    made.reshape(count, block, block, depth, height // block, width // block)[...] = (
        parts.transpose(0, 3, 5, 1, 2, 4)
    )
    return made


DEPTH_TO_SPACE = register(
    "depth_to_space",
    _infer_depth_to_space,
    "Channels laid out as blocks of the image.",
    gradient=Gradient("space_to_depth", _space_to_depth, flops=nothing),
    flops=nothing,
)(_depth_to_space)
SPACE_TO_DEPTH = register(
    "space_to_depth",
    _infer_space_to_depth,
    "Blocks of the image laid out as channels.",
    gradient=Gradient("depth_to_space", _depth_to_space, flops=nothing),
    flops=nothing,
)(_space_to_depth)


# What is known about an array, as an array; MXNet's gradient is zero too.


def _shape_array(operand: Array) -> Array:
    return np.array(operand.shape, "int64")


SHAPE_ARRAY = register(
    "shape_array",
    lambda operand: aval((len(operand.shape),), "int64"),
    "The shape.",
    flops=nothing,
)(_shape_array)


def _size_array(operand: Array) -> Array:
    return np.array([operand.size], "int64")


SIZE_ARRAY = register(
    "size_array", lambda operand: aval((1,), "int64"), "The number of elements.", flops=nothing
)(_size_array)

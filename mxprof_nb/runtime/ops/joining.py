"""Operators that join arrays along an axis, and split one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of, of_one_type, without
from mxprof_nb.runtime.ops.cost import nothing
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register

__all__ = ["CONCAT", "SLICE_CHANNEL", "SPLIT_V2", "STACK"]

Array = NumpyArray[Any]


def _infer_concat(*operands: Aval, dim: int = 1) -> Aval:
    first = operands[0]
    axis = axis_of("Concat", first, dim)
    of_one_type("Concat", *operands)
    for other in operands[1:]:
        same_rank = len(other.shape) == len(first.shape)
        if not same_rank or without(other.shape, axis) != without(first.shape, axis):
            raise refuse("Concat", f"the shapes may differ on axis {axis} only", first, other)
    shape = list(first.shape)
    shape[axis] = sum(operand.shape[axis] for operand in operands)
    return aval(tuple(shape), first.dtype)


def _concat(*operands: Array, dim: int = 1) -> Array:
    return np.concatenate(operands, dim)


def _concat_back(
    head: Array, like: tuple[Aval, ...], wanted: tuple[int, ...], dim: int = 1
) -> tuple[Array | None, ...]:
    ends = np.cumsum([operand.shape[dim] for operand in like])
    parts = np.split(head, ends[:-1], dim)
    return tuple(part.copy() if place in wanted else None for place, part in enumerate(parts))


CONCAT = register(
    "Concat",
    _infer_concat,
    "Arrays joined along an axis they have.",
    gradient=Gradient("_backward_Concat", _concat_back, flops=nothing),
    flops=nothing,
)(_concat)


def _infer_stack(*operands: Aval, axis: int = 0) -> Aval:
    first = operands[0]
    place = axis_of("stack", first, axis, more=1)
    of_one_type("stack", *operands)
    for other in operands[1:]:
        if other.shape != first.shape:
            raise refuse("stack", "the shapes differ", first, other)
    return aval((*first.shape[:place], len(operands), *first.shape[place:]), first.dtype)


def _stack(*operands: Array, axis: int = 0) -> Array:
    return np.stack(operands, axis)


def _stack_back(
    head: Array, like: tuple[Aval, ...], wanted: tuple[int, ...], axis: int = 0
) -> tuple[Array | None, ...]:
    parts = np.moveaxis(head, axis, 0)
    return tuple(part.copy() if place in wanted else None for place, part in enumerate(parts))


STACK = register(
    "stack",
    _infer_stack,
    "Arrays joined along a new axis.",
    gradient=Gradient("_backward_stack", _stack_back, flops=nothing),
    flops=nothing,
)(_stack)


# Splitting


def _pieces(operand: Aval, axis: int, lengths: list[int], squeeze: bool) -> Any:
    """Return the avals of parts of these lengths: one, or a tuple of several."""
    made = []
    for length in lengths:
        rest = operand.shape[axis + 1 :] if squeeze else (length, *operand.shape[axis + 1 :])
        made.append(aval((*operand.shape[:axis], *rest) or (1,), operand.dtype))
    return tuple(made)


def _copies(parts: list[Array], axis: int, squeeze: bool) -> Any:
    if squeeze:
        parts = [np.atleast_1d(part.squeeze(axis)) for part in parts]
    copies = tuple([part.copy() for part in parts])
    return copies if len(copies) > 1 else copies[0]


def _infer_slice_channel(
    operand: Aval, num_outputs: int, axis: int = 1, squeeze_axis: bool = False
) -> Any:
    place = axis_of("SliceChannel", operand, axis)
    extent = operand.shape[place]
    if num_outputs < 1 or extent % num_outputs:
        raise refuse(
            "SliceChannel",
            f"axis {axis} with {extent} elements cannot be split into {num_outputs} equal parts",
            operand,
        )
    if squeeze_axis and extent != num_outputs:
        raise refuse(
            "SliceChannel",
            f"parts of {extent // num_outputs} elements leave axis {axis} in place",
            operand,
            remedy="Leave squeeze_axis out.",
        )
    return _pieces(operand, place, [extent // num_outputs] * num_outputs, squeeze_axis)


def _slice_channel(
    operand: Array, num_outputs: int, axis: int = 1, squeeze_axis: bool = False
) -> Any:
    return _copies(np.split(operand, num_outputs, axis), axis, squeeze_axis)


def _rejoined(heads: tuple[Array, ...], like: Aval, axis: int, squeeze: bool) -> Array:
    if squeeze:
        part = list(like.shape)
        part[axis] = 1
        heads = tuple(head.reshape(part) for head in heads)
    return np.concatenate(heads, axis)


def _slice_channel_back(
    *heads: Array,
    like: tuple[Aval, ...],
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool = False,
) -> Array:
    return _rejoined(heads, like[0], axis, squeeze_axis)


SLICE_CHANNEL = register(
    "SliceChannel",
    _infer_slice_channel,
    "Equal parts along an axis.",
    gradient=Gradient("_backward_SliceChannel", _slice_channel_back, heads=None, flops=nothing),
    flops=nothing,
)(_slice_channel)


def _infer_split_v2(
    operand: Aval, indices: tuple[int, ...], axis: int = 0, squeeze_axis: bool = False
) -> Any:
    place = axis_of("_split_v2", operand, axis)
    extent = operand.shape[place]
    lengths = [end - begin for begin, end in pairwise((0, *indices, extent))]
    if min(lengths) < 0:
        raise refuse("_split_v2", f"cuts {indices} do not lie in order on axis {axis}", operand)
    if squeeze_axis and set(lengths) != {1}:
        raise refuse(
            "_split_v2", f"parts of {lengths} elements leave axis {axis} in place", operand
        )
    return _pieces(operand, place, lengths, squeeze_axis)


def _split_v2(
    operand: Array, indices: tuple[int, ...], axis: int = 0, squeeze_axis: bool = False
) -> Any:
    return _copies(np.split(operand, indices, axis), axis, squeeze_axis)


def _split_v2_back(
    *heads: Array,
    like: tuple[Aval, ...],
    indices: tuple[int, ...],
    axis: int = 0,
    squeeze_axis: bool = False,
) -> Array:
    made = np.zeros(like[0].shape, like[0].dtype)  # parts may overlap or leave gaps
    for part, head in zip(np.split(made, indices, axis), heads, strict=True):
        part += head.reshape(part.shape)
    return made


SPLIT_V2 = register(
    "_split_v2",
    _infer_split_v2,
    "Parts along an axis, cut at given places.",
    gradient=Gradient("_split_v2_backward", _split_v2_back, heads=None, flops=nothing),
    flops=nothing,
)(_split_v2)

"""Operators that choose elements by positions in another array, and add or write back to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of, of_one_type, without
from mxprof_nb.runtime.ops.cost import nothing, per_input
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.ops.scalar import number_as

__all__ = [
    "BATCH_TAKE",
    "BOOLEAN_MASK",
    "EMBEDDING",
    "GATHER_ND",
    "ONE_HOT",
    "PICK",
    "SCATTER_ND",
    "SCATTER_SET_ND",
    "TAKE",
]

Array = NumpyArray[Any]
Shape = tuple[int, ...]


def _chosen_bytes(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
    """Return the bytes of the positions, and of what they choose read and written."""
    positions = sum(each.nbytes for each in inputs) - max(each.nbytes for each in inputs)
    return positions + 2 * sum(result.nbytes for result in results)


def _positions(indices: Array) -> Array:
    """Return positions of any type as integers; fractions are cut off, as in MXNet."""
    return indices.astype(np.intp, copy=False)


def _within(indices: Array, extent: int, mode: str) -> Array:
    found = _positions(indices)
    return np.clip(found, 0, extent - 1) if mode == "clip" else found % extent


def _add_rows(target: Array, rows: Array, positions: Array) -> None:
    """Set rows of zeros, by their positions, to the sum of the rows given for each.

    Rows are sorted and summed in runs: many times faster than adding them one by one.
    """
    if rows.size:
        order = np.argsort(positions, kind="stable")
        ordered = positions[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        target[ordered[starts]] = np.add.reduceat(rows[order], starts, axis=0, dtype=rows.dtype)


def _one_of(name: str, mode: str, *modes: str) -> None:
    if mode not in modes:
        raise refuse(name, f"mode {mode!r} must be one of {', '.join(modes)}")


# Along an axis


def _infer_take(operand: Aval, indices: Aval, axis: int = 0, mode: str = "clip") -> Aval:
    _one_of("take", mode, "clip", "wrap", "raise")
    place = axis_of("take", operand, axis)
    if not operand.shape[place] and indices.size:
        raise refuse("take", f"axis {axis} has no elements", operand, indices)
    shape = (*operand.shape[:place], *indices.shape, *operand.shape[place + 1 :])
    return aval(shape, operand.dtype)


def _take(operand: Array, indices: Array, axis: int = 0, mode: str = "clip") -> Array:
    positions = _positions(indices)
    if mode == "raise" and positions.size:
        extent = operand.shape[axis]
        low, high = positions.min(), positions.max()
        if low < 0 or high >= extent:
            raise IndexError(
                f"position {low if low < 0 else high} is not in [0, {extent}) of axis {axis}"
            )
    return operand.take(positions, axis, mode="wrap" if mode == "wrap" else "clip")


def _take_back(
    head: Array, indices: Array, like: tuple[Aval, ...], axis: int = 0, mode: str = "clip"
) -> Array:
    shape = like[0].shape
    place = axis % len(shape)
    positions = _within(indices, shape[place], mode).ravel()
    ahead = head.reshape(*shape[:place], positions.size, *shape[place + 1 :])
    made = np.zeros(shape, head.dtype)
    _add_rows(np.moveaxis(made, place, 0), np.moveaxis(ahead, place, 0), positions)
    return made


TAKE = register(
    "take",
    _infer_take,
    "Elements along an axis, by position.",
    gradient=Gradient("_backward_take", _take_back, inputs=(1,), wrt=(0,)),
    flops=nothing,
    bytes=_chosen_bytes,
)(_take)


def _infer_embedding(
    indices: Aval, weight: Aval, input_dim: int, output_dim: int, sparse_grad: bool = False
) -> Aval:
    if weight.shape != (input_dim, output_dim):
        raise refuse(
            "Embedding", f"the weight must have shape {(input_dim, output_dim)}", indices, weight
        )
    if not input_dim and 0 not in indices.shape:
        raise refuse("Embedding", "the weight has no rows to choose from", indices, weight)
    return aval((*indices.shape, output_dim), weight.dtype)


def _embedding(indices: Array, weight: Array, **attrs: Any) -> Array:
    return np.take(weight, _positions(indices), axis=0, mode="clip")


def _embedding_back(head: Array, indices: Array, like: tuple[Aval, ...], **attrs: Any) -> Array:
    words, width = like[1].shape
    positions = _within(indices, words, "clip").ravel()
    made = np.zeros((words, width), head.dtype)
    _add_rows(made, head.reshape(positions.size, width), positions)
    return made


EMBEDDING = register(
    "Embedding",
    _infer_embedding,
    "Rows of a table, by number.",
    gradient=Gradient("_backward_Embedding", _embedding_back, inputs=(0,), wrt=(1,)),
    flops=nothing,
    bytes=_chosen_bytes,
)(_embedding)


def _infer_one_hot(
    indices: Aval,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: str = "float32",
) -> Aval:
    if depth < 0:
        raise refuse("one_hot", f"depth {depth} is negative", indices)
    return aval((*indices.shape, depth), dtype)


def _one_hot(
    indices: Array,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: str = "float32",
) -> Array:
    on, off = (number_as(np.dtype(dtype), value) for value in (on_value, off_value))
    made = np.full((*indices.shape, depth), off)
    columns = _positions(indices).ravel()
    rows = np.flatnonzero((columns >= 0) & (columns < depth))
    made.reshape(columns.size, depth)[rows, columns[rows]] = on
    return made


# No gradient flows to positions.
ONE_HOT = register(
    "one_hot", _infer_one_hot, "Vectors with one element set, by position.", flops=nothing
)(_one_hot)


def _infer_pick(
    operand: Aval, index: Aval, axis: int = -1, keepdims: bool = False, mode: str = "clip"
) -> Aval:
    _one_of("pick", mode, "clip", "wrap")
    place = axis_of("pick", operand, axis)
    if not operand.shape[place]:
        raise refuse("pick", f"axis {axis} has no elements", operand, index)
    rest = without(operand.shape, place) or (1,)
    kept = (*operand.shape[:place], 1, *operand.shape[place + 1 :])
    if index.shape not in (rest, kept):
        raise refuse("pick", f"the index must have shape {rest} or {kept}", operand, index)
    return aval(kept if keepdims else rest, operand.dtype)


def _along_axis(index: Array, shape: Shape, axis: int, mode: str) -> Array:
    place = axis % len(shape)
    positions = _within(index, shape[place], mode)
    return positions.reshape(*shape[:place], 1, *shape[place + 1 :])


def _pick(
    operand: Array, index: Array, axis: int = -1, keepdims: bool = False, mode: str = "clip"
) -> Array:
    positions = _along_axis(index, operand.shape, axis, mode)
    picked = np.take_along_axis(operand, positions, axis)
    return picked if keepdims else picked.reshape(without(picked.shape, axis % picked.ndim) or (1,))


def _pick_back(
    head: Array,
    index: Array,
    like: tuple[Aval, ...],
    axis: int = -1,
    keepdims: bool = False,
    mode: str = "clip",
) -> Array:
    made = np.zeros(like[0].shape, like[0].dtype)
    positions = _along_axis(index, made.shape, axis, mode)
    np.put_along_axis(made, positions, head.reshape(positions.shape), axis)
    return made


PICK = register(
    "pick",
    _infer_pick,
    "One element of each row along an axis.",
    gradient=Gradient("_backward_pick", _pick_back, inputs=(1,), wrt=(0,)),
    flops=nothing,
    bytes=_chosen_bytes,
)(_pick)


def _infer_batch_take(operand: Aval, indices: Aval) -> Aval:
    if indices.dtype != np.int32:
        raise refuse(
            "batch_take", "positions must be int32", operand, indices, remedy="See also pick."
        )
    rows, *rest = operand.shape
    if len(rest) != 1 or indices.shape != (rows,):
        raise refuse(
            "batch_take", "it needs a matrix and a position for each row", operand, indices
        )
    return aval((rows,), operand.dtype)


def _batch_take(operand: Array, indices: Array) -> Array:
    columns = _within(indices, operand.shape[1], "clip")
    return operand[np.arange(len(operand)), columns]


# MXNet has no gradient for it; `pick` has one.
BATCH_TAKE = register(
    "batch_take",
    _infer_batch_take,
    "One element of each row of a matrix.",
    flops=nothing,
    bytes=_chosen_bytes,
)(_batch_take)


# By position on several axes


def _infer_gather_nd(operand: Aval, indices: Aval) -> Aval:
    axes = indices.shape[0]
    if len(indices.shape) < 2 or not 1 <= axes <= len(operand.shape):
        raise refuse(
            "gather_nd",
            "the second needs two axes or more, the first of which counts axes of the other",
            operand,
            indices,
        )
    return aval((*indices.shape[1:], *operand.shape[axes:]), operand.dtype)


def _gather_nd(operand: Array, indices: Array) -> Array:
    return np.ascontiguousarray(operand[tuple(_positions(indices))])


def _gather_nd_back(head: Array, indices: Array, like: tuple[Aval, ...]) -> Array:
    shape = like[0].shape
    axes = len(indices)
    places = tuple(
        np.where(position < 0, position + extent, position)
        for position, extent in zip(_positions(indices), shape, strict=False)
    )
    flat = np.ravel_multi_index(places, shape[:axes]).ravel()
    made = np.zeros(shape, head.dtype)
    rows = made.reshape(math.prod(shape[:axes]), *shape[axes:])
    _add_rows(rows, head.reshape(flat.size, *shape[axes:]), flat)
    return made


GATHER_ND = register(
    "gather_nd",
    _infer_gather_nd,
    "Elements by their positions on the first axes.",
    gradient=Gradient("_backward_gather_nd", _gather_nd_back, inputs=(1,), wrt=(0,)),
    flops=nothing,
    bytes=_chosen_bytes,
)(_gather_nd)


def _check_scatter(name: str, data: Aval, indices: Aval, shape: Shape) -> None:
    axes = indices.shape[0]
    if (
        len(indices.shape) < 2
        or not 1 <= axes <= len(shape)
        or data.shape != (*indices.shape[1:], *shape[axes:])
    ):
        raise refuse(name, f"they do not say where to write in shape {shape}", data, indices)


def _infer_scatter_nd(data: Aval, indices: Aval, shape: Shape) -> Aval:
    _check_scatter("scatter_nd", data, indices, shape)
    return aval(shape, data.dtype)


def _scatter_nd(data: Array, indices: Array, shape: Shape) -> Array:
    made = np.zeros(shape, data.dtype)
    made[tuple(_positions(indices))] = data
    return made


def _scatter_nd_back(head: Array, indices: Array, shape: Shape) -> Array:
    return _gather_nd(head, indices)


SCATTER_ND = register(
    "scatter_nd",
    _infer_scatter_nd,
    "Zeros but for elements given by their positions on the first axes.",
    gradient=Gradient("gather_nd", _scatter_nd_back, inputs=(1,), wrt=(0,), flops=nothing),
    flops=nothing,
)(_scatter_nd)


def _infer_scatter_set_nd(target: Aval, data: Aval, indices: Aval) -> Aval:
    of_one_type("_scatter_set_nd", target, data)
    _check_scatter("_scatter_set_nd", data, indices, target.shape)
    return target


def _scatter_set_nd(target: Array, data: Array, indices: Array) -> Array:
    target[tuple(_positions(indices))] = data
    return target


# In place, like _slice_assign; no gradient in MXNet.
SCATTER_SET_ND = register(
    "_scatter_set_nd",
    _infer_scatter_set_nd,
    "Array with elements replaced, by their positions on the first axes.",
    flops=nothing,
    bytes=_chosen_bytes,
)(_scatter_set_nd)


# By truth


def _infer_boolean_mask(operand: Aval, mask: Aval, rows: int) -> Aval:
    if mask.shape != operand.shape[:1]:
        raise refuse("boolean_mask", "the mask needs one element for each row", operand, mask)
    return aval((rows, *operand.shape[1:]), operand.dtype)


def _boolean_mask(operand: Array, mask: Array, rows: int) -> Array:
    made: Array = operand[mask != 0]
    return made


def _boolean_mask_back(head: Array, mask: Array, like: tuple[Aval, ...], rows: int) -> Array:
    made = np.zeros(like[0].shape, like[0].dtype)
    made[mask != 0] = head
    return made


BOOLEAN_MASK = register(
    "_contrib_boolean_mask",
    _infer_boolean_mask,
    "Rows where a mask is not 0; ``rows`` says how many.",
    gradient=Gradient(
        "_backward_contrib_boolean_mask",
        _boolean_mask_back,
        inputs=(1,),
        wrt=(0,),
        flops=nothing,
    ),
    flops=per_input,
)(_boolean_mask)

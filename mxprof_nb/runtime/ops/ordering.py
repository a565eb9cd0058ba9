"""Operators that compare elements with each other: positions, order, the largest few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import axis_of
from mxprof_nb.runtime.ops.cost import per_input
from mxprof_nb.runtime.ops.reduction import Axis, chosen, reduced
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register

__all__ = ["ARGMAX", "ARGMAX_CHANNEL", "ARGMIN", "ARGSORT", "SORT", "TOPK"]

Array = NumpyArray[Any]

#: Types that positions may have.
_POSITIONS = ("uint8", "int32", "int64", "float16", "float32", "float64")


def _numbers(name: str, operand: Aval) -> None:
    if operand.dtype.kind == "b":
        raise refuse(name, "numbers are needed", operand, remedy="Convert with .astype('uint8').")


# Positions of the largest and smallest. A position moves in steps: no gradient flows.


def _infer_position(name: str) -> Callable[..., Aval]:
    def infer(operand: Aval, axis: Axis = (), keepdims: bool = False) -> Aval:
        _numbers(name, operand)
        if len(axis) > 1:
            raise refuse(name, f"axis must be one number or None, not {axis}", operand)
        for one in axis:
            axis_of(name, operand, one)
        axes = chosen(len(operand.shape), axis)
        if 0 in [operand.shape[place] for place in axes]:
            raise refuse(name, "there is no element to choose from", operand)
        # MXNet answers in the operand's type.
        return aval(reduced(operand.shape, axes, keepdims), operand.dtype)

    return infer


def _position(function: Callable[..., Any]) -> Callable[..., Array]:
    def find(operand: Array, axis: Axis = (), keepdims: bool = False) -> Array:
        result = function(operand, axis=axis[0] if axis else None, keepdims=keepdims)
        return np.atleast_1d(np.asarray(result, dtype=operand.dtype))

    return find


ARGMAX = register(
    "argmax",
    _infer_position("argmax"),
    "Position of the largest element.",
    flops=per_input,
    workspace=True,
)(_position(np.argmax))
ARGMIN = register(
    "argmin",
    _infer_position("argmin"),
    "Position of the smallest element.",
    flops=per_input,
    workspace=True,
)(_position(np.argmin))


def _infer_channel(operand: Aval) -> Aval:
    _numbers("argmax_channel", operand)
    if len(operand.shape) < 2 or operand.shape[1] == 0:
        raise refuse("argmax_channel", "a second axis with elements is needed", operand)
    return aval(reduced(operand.shape, (1,), False), operand.dtype)


@register(
    "argmax_channel",
    _infer_channel,
    "Position of the largest element along the second axis.",
    flops=per_input,
)
def ARGMAX_CHANNEL(operand: Array) -> Array:
    """Return positions along axis 1, in the operand's type."""
    return np.argmax(operand, axis=1).astype(operand.dtype)  # type: ignore[no-any-return]


# Order. Elements that are equal keep their order; NaN counts as the largest.


def _order(operand: Array, axis: int, is_ascend: bool) -> Array:
    """Return the positions of the elements in order."""
    if is_ascend:
        return np.argsort(operand, axis=axis, kind="stable")
    # Backwards and back again, so that what is equal keeps its order.
    backwards = np.argsort(np.flip(operand, axis), axis=axis, kind="stable")
    order: Array = operand.shape[axis] - 1 - np.flip(backwards, axis)
    return order


def _flat(operand: Array, axis: int | None) -> tuple[Array, int]:
    """Return the operand and the axis to sort along; without axis all in one row."""
    return (operand.reshape(-1), 0) if axis is None else (operand, axis)


def _sorting(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Any) -> int:
    """Count n log2 n comparisons for each line."""
    operand, axis = inputs[0], attrs.get("axis", -1)
    length = operand.size if axis is None else operand.shape[axis]
    return operand.size * max(1, (length - 1).bit_length())


def _infer_order(name: str, operand: Aval, axis: int | None, dtype: Any) -> Aval:
    _numbers(name, operand)
    if axis is None:
        return aval((operand.size,), dtype)
    axis_of(name, operand, axis)
    return aval(operand.shape, dtype)


def _known_type(name: str, dtype: str) -> None:
    if dtype not in _POSITIONS:
        raise refuse(name, f"dtype={dtype!r} is none of {', '.join(_POSITIONS)}")


def _infer_argsort(
    operand: Aval, axis: int | None = -1, is_ascend: bool = True, dtype: str = "float32"
) -> Aval:
    _known_type("argsort", dtype)
    return _infer_order("argsort", operand, axis, dtype)


@register(
    "argsort",
    _infer_argsort,
    "Positions of the elements in order.",
    flops=_sorting,
    workspace=True,
)
def ARGSORT(
    operand: Array, axis: int | None = -1, is_ascend: bool = True, dtype: str = "float32"
) -> Array:
    """Return positions along an axis; they move in steps, so no gradient flows."""
    return np.array(_order(*_flat(operand, axis), is_ascend), dtype=dtype, order="C")


def _infer_sort(operand: Aval, axis: int | None = -1, is_ascend: bool = True) -> Aval:
    return _infer_order("sort", operand, axis, operand.dtype)


def _put(head: Array, operand: Array, axis: int | None, count: int, is_ascend: bool) -> Array:
    """Return zeros with the head where the first elements in order were."""
    lines, place = _flat(operand, axis)
    result = np.zeros(lines.shape, operand.dtype)
    np.put_along_axis(result, _first(lines, place, count, is_ascend), head, place)
    return result if result.shape == operand.shape else result.reshape(operand.shape).copy()


def _sort_gradient(
    head: Array, operand: Array, axis: int | None = -1, is_ascend: bool = True
) -> Array:
    return _put(head, operand, axis, 0, is_ascend)


@register(
    "sort",
    _infer_sort,
    "Elements in order.",
    gradient=Gradient("_backward_topk", _sort_gradient, inputs=(0,)),
    flops=_sorting,
    workspace=True,
)
def SORT(operand: Array, axis: int | None = -1, is_ascend: bool = True) -> Array:
    """Return the elements along an axis in order."""
    lines, place = _flat(operand, axis)
    ordered = np.sort(lines, axis=place)
    return ordered if is_ascend else np.flip(ordered, place).copy()


# The first few


def _first(lines: Array, axis: int, count: int, is_ascend: bool) -> Array:
    """Return the positions of the first elements in order, of all for 0."""
    if count == 1 and not is_ascend:
        return np.argmax(lines, axis=axis, keepdims=True)  # type: ignore[no-any-return]
    order = _order(lines, axis, is_ascend)
    if count <= 0:
        return order
    return np.take(order, np.arange(count), axis=axis)


def _infer_topk(
    operand: Aval,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: str = "float32",
) -> Aval | tuple[Aval, Aval]:
    _numbers("topk", operand)
    _known_type("topk", dtype)
    if ret_typ not in ("value", "indices", "mask", "both"):
        raise refuse("topk", f"ret_typ={ret_typ!r} is none of value, indices, mask, both")
    shape = [operand.size] if axis is None else list(operand.shape)
    place = 0 if axis is None else axis_of("topk", operand, axis)
    if k > shape[place] or shape[place] == 0:
        raise refuse("topk", f"there are no {k} elements along the axis", operand)
    shape[place] = k if k > 0 else shape[place]
    if ret_typ == "mask":
        return operand
    values, positions = aval(tuple(shape), operand.dtype), aval(tuple(shape), dtype)
    if ret_typ == "both":
        return values, positions
    return values if ret_typ == "value" else positions


def _topk(
    operand: Array,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: str = "float32",
) -> Array | tuple[Array, Array]:
    if ret_typ == "mask":
        return _put(operand.dtype.type(1), operand, axis, k, is_ascend)
    lines, place = _flat(operand, axis)
    first = _first(lines, place, k, is_ascend)
    if ret_typ == "value":
        return np.take_along_axis(lines, first, place)
    positions = np.array(first, dtype=dtype, order="C")
    if ret_typ == "indices":
        return positions
    return np.take_along_axis(lines, first, place), positions


def _topk_gradient(
    head: Array,
    operand: Array,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: str = "float32",
) -> Array:
    if ret_typ in ("value", "both"):
        return _put(head, operand, axis, k, is_ascend)
    return np.zeros_like(operand)  # positions move in steps


TOPK = register(
    "topk",
    _infer_topk,
    "First elements in order: values, positions, both, or a mask.",
    gradient=Gradient("_backward_topk", _topk_gradient, inputs=(0,)),
    flops=_sorting,
    workspace=True,
)(_topk)

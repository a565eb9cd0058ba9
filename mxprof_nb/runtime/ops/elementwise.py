"""Element-wise operators that are more than one formula: choice, sums of many, casts, losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.binary import BINARY, ELEMWISE
from mxprof_nb.runtime.ops.cost import nothing, times
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.ops.scalar import SCALAR, number_as
from mxprof_nb.runtime.ops.unary import HARD_SIGMOID, UNARY, numeric

__all__ = [
    "ADD_N",
    "BINARY",
    "BLOCK_GRAD",
    "CAST",
    "CLIP",
    "ELEMWISE",
    "HARD_SIGMOID",
    "IDENTITY",
    "LOSS",
    "MAKE_LOSS",
    "ONES_LIKE",
    "SCALAR",
    "SMOOTH_L1",
    "UNARY",
    "WHERE",
    "ZEROS_LIKE",
    "number_as",
]

Array = NumpyArray[Any]


def _same(operand: Aval) -> Aval:
    return operand


# Copies


def _copy(operand: Array) -> Array:
    return operand.copy()


IDENTITY = register(
    "_copy",
    _same,
    "Copy of an array.",
    gradient=Gradient("_copy", lambda head: head.copy(), flops=nothing),
    flops=nothing,
)(_copy)

#: No gradient flows: that is what it is for.
BLOCK_GRAD = register(
    "BlockGrad", _same, "Copy of an array that lets no gradient through.", flops=nothing
)(_copy)


def _infer_cast(operand: Aval, dtype: str) -> Aval:
    return aval(operand.shape, dtype)


def _cast(operand: Array, dtype: str) -> Array:
    return operand.astype(dtype)


def _cast_gradient(head: Array, like: tuple[Aval, ...], dtype: str) -> Array:
    return head.astype(like[0].dtype)


CAST = register(
    "Cast",
    _infer_cast,
    "Array in another type.",
    gradient=Gradient("_backward_cast", _cast_gradient, flops=nothing),
    flops=nothing,
)(_cast)


# Constants: the same whatever the input holds, so no gradient flows.


def _written(inputs: Sequence[Aval], results: Sequence[Aval], attrs: object) -> int:
    """Return the bytes of the results: the input is not read."""
    return sum(result.nbytes for result in results)


def _zeros_like(operand: Array) -> Array:
    # Written, not merely mapped, as by `_zeros`.
    return np.full(operand.shape, 0, operand.dtype)


ZEROS_LIKE = register(
    "zeros_like", _same, "Zeros in the shape of an array.", flops=nothing, bytes=_written
)(_zeros_like)


def _ones_like(operand: Array) -> Array:
    return np.ones(operand.shape, operand.dtype)


ONES_LIKE = register(
    "ones_like", _same, "Ones in the shape of an array.", flops=nothing, bytes=_written
)(_ones_like)


# Losses


MAKE_LOSS = register(
    "make_loss",
    _same,
    "Copy of an array whose gradient is 1, whatever follows.",
    gradient=Gradient("ones_like", _ones_like, flops=nothing),
    flops=nothing,
)(_copy)


def _infer_loss(operand: Aval, normalization: str = "null") -> Aval:
    if operand.dtype.kind != "f":
        raise refuse(
            "MakeLoss", "floating point numbers are needed", operand, remedy="See .astype(...)."
        )
    if normalization not in ("null", "batch", "valid"):
        raise refuse(
            "MakeLoss",
            f"normalization={normalization!r} is not 'null', 'batch' or 'valid'",
            operand,
        )
    return operand


def _loss_gradient(
    head: Array,
    operand: Array,
    grad_scale: float,
    valid_thresh: float,
    normalization: str = "null",
) -> Array:
    parts = 1
    if normalization == "batch":
        parts = operand.shape[0]
    elif normalization == "valid":
        parts = max(1, int(np.count_nonzero(operand > valid_thresh)))
    return np.full(operand.shape, grad_scale / parts, operand.dtype)


@register(
    "MakeLoss",
    _infer_loss,
    "Copy of an array whose gradient is one number, whatever follows.",
    gradient=Gradient("_backward_MakeLoss", _loss_gradient, inputs=(0,)),
    flops=nothing,
)
def LOSS(
    operand: Array, grad_scale: float, valid_thresh: float, normalization: str = "null"
) -> Array:
    """Return a copy."""
    return operand.copy()


# Choice


def _infer_where(condition: Aval, x: Aval, y: Aval) -> Aval:
    if x is not y:
        raise refuse("where", "x and y must agree in shape and type", x, y)
    if condition.shape != x.shape and condition.shape != x.shape[:1]:
        raise refuse(
            "where",
            "the condition must have the shape of x, or one element for each of its rows",
            condition,
            x,
        )
    return x


def _chosen(condition: Array, like: Array) -> Array:
    """Return where a condition holds, in a shape that broadcasts to that of ``like``."""
    holds = condition if condition.dtype.kind == "b" else condition != 0
    if holds.ndim < like.ndim:
        holds = holds.reshape(-1, *(1,) * (like.ndim - 1))
    return holds


def _where(condition: Array, x: Array, y: Array) -> Array:
    return np.where(_chosen(condition, x), x, y)


def _where_gradient(head: Array, condition: Array) -> tuple[Array, Array]:
    holds, none = _chosen(condition, head), head.dtype.type(0)
    return np.where(holds, head, none), np.where(holds, none, head)


WHERE = register(
    "where",
    _infer_where,
    "Elements of one array where a condition holds, of another elsewhere.",
    gradient=Gradient("_backward_where", _where_gradient, inputs=(0,), wrt=(1, 2)),
)(_where)


def _bound(dtype: np.dtype[Any], number: float) -> Array:
    """Return a bound in a type, the end of its range for one outside."""
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        number = int(min(max(number, limits.min), limits.max))
    return np.asarray(number, dtype=dtype)


def _clip(operand: Array, a_min: float, a_max: float) -> Array:
    least, most = _bound(operand.dtype, a_min), _bound(operand.dtype, a_max)
    if a_min > a_max:  # MXNet looks at the upper bound first
        return np.where(operand > most, most, np.maximum(operand, least))
    return np.clip(operand, least, most)


def _clip_gradient(head: Array, operand: Array, a_min: float, a_max: float) -> Array:
    return head * ((operand >= a_min) & (operand <= a_max))


CLIP = register(
    "clip",
    numeric("clip"),
    "Elements cut to an interval.",
    gradient=Gradient("_backward_clip", _clip_gradient, inputs=(0,)),
)(_clip)


def _smooth_l1(operand: Array, scalar: float) -> Array:
    squared = scalar * scalar
    size = np.abs(operand)
    limit = 1 / squared if squared else math.inf
    parabola, line = size * size * (0.5 * squared), size - 0.5 * limit
    return np.where(size <= limit, parabola, line).astype(operand.dtype, copy=False)


def _smooth_l1_gradient(head: Array, operand: Array, scalar: float) -> Array:
    slope = np.clip(operand * (scalar * scalar), -1, 1)
    return (head * slope).astype(head.dtype, copy=False)


SMOOTH_L1 = register(
    "smooth_l1",
    numeric("smooth_l1"),
    "Parabola near 0, line elsewhere.",
    gradient=Gradient("_backward_smooth_l1", _smooth_l1_gradient, inputs=(0,)),
    flops=times(4),
)(_smooth_l1)


# Sums of many arrays


def _infer_add_n(*operands: Aval) -> Aval:
    if not operands:
        raise refuse("add_n", "nothing to add", remedy="Give at least one array.")
    first = operands[0]
    for operand in operands:
        if operand is not first:
            raise refuse("add_n", "shapes and types must agree", first, operand)
    return first


def _add_n(*operands: Array) -> Array:
    if len(operands) == 1:
        return operands[0].copy()
    total: Array = operands[0] + operands[1]
    for operand in operands[2:]:
        total += operand
    return total


def _add_n_gradient(
    head: Array, like: tuple[Aval, ...], wanted: tuple[int, ...]
) -> tuple[Array | None, ...]:
    return tuple(head.copy() if place in wanted else None for place in range(len(like)))


def _additions(inputs: Sequence[Aval], results: Sequence[Aval], attrs: object) -> int:
    return (len(inputs) - 1) * results[0].size


ADD_N = register(
    "add_n",
    _infer_add_n,
    "Sum of arrays.",
    gradient=Gradient("_copy", _add_n_gradient, flops=nothing),
    flops=_additions,
)(_add_n)

"""Sizes of vectors: `norm`, and arrays divided by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import distinct_axes
from mxprof_nb.runtime.ops.cost import per_input, times
from mxprof_nb.runtime.ops.reduction import Axis, add_over, chosen, reduced, spread
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register

__all__ = ["L2_NORMALIZATION", "NORM"]

Array = NumpyArray[Any]


def _infer_norm(
    operand: Aval,
    ord: int = 2,
    axis: Axis = (),
    out_dtype: str | None = None,
    keepdims: bool = False,
) -> Aval:
    if ord not in (1, 2):
        raise refuse("norm", f"ord={ord}: only 1 and 2 are supported")
    distinct_axes("norm", operand, axis)
    shape = reduced(operand.shape, chosen(len(operand.shape), axis), keepdims)
    return aval(shape, out_dtype or operand.dtype)


def _norm(
    operand: Array,
    ord: int = 2,
    axis: Axis = (),
    out_dtype: str | None = None,
    keepdims: bool = False,
) -> Array:
    made = np.dtype(out_dtype or operand.dtype)
    # Squares of half precision soon overflow it, and a root of whole numbers is none.
    wide = np.result_type(operand.dtype, made, np.float32)
    values = operand.astype(wide, copy=False)
    axes = chosen(operand.ndim, axis)
    if ord == 1:
        size = add_over(np.abs(values), axis=axes, keepdims=keepdims)
    elif len(axes) == operand.ndim and not keepdims:
        line = values.reshape(-1)
        size = np.sqrt(np.dot(line, line))
    else:
        size = np.sqrt(add_over(np.square(values), axis=axes, keepdims=keepdims))
    return np.atleast_1d(np.asarray(size, dtype=made))


def _norm_gradient(
    head: Array,
    operand: Array,
    size: Array,
    ord: int = 2,
    axis: Axis = (),
    out_dtype: str | None = None,
    keepdims: bool = False,
) -> Array:
    axes = chosen(operand.ndim, axis)
    if ord == 1:
        slope = np.sign(operand) * spread(head, operand.shape, axes)
    else:
        # A vector of zeros has no direction; 0 is as good as any, and no NaN.
        share = np.where(size == 0, head.dtype.type(0), head / size)
        slope = operand * spread(share, operand.shape, axes)
    return slope.astype(operand.dtype, copy=False)


NORM = register(
    "norm",
    _infer_norm,
    "Sum of sizes, or root of the sum of squares, over axes.",
    gradient=Gradient("_backward_norm", _norm_gradient, inputs=(0,), outputs=(0,)),
    flops=times(2, per_input),
    workspace=True,
    blas=True,
)(_norm)


def _vector_axes(rank: int, mode: str) -> Axis:
    """Return the axes of one vector."""
    return {"instance": tuple(range(1, rank)), "channel": (1,), "spatial": tuple(range(2, rank))}[
        mode
    ]


def _infer_normalization(operand: Aval, eps: float = 1e-10, mode: str = "instance") -> Aval:
    name = "L2Normalization"
    if operand.dtype.kind != "f":
        raise refuse(name, "floating point numbers are needed", operand, remedy="See .astype(...).")
    if mode not in ("instance", "channel", "spatial"):
        raise refuse(name, f"mode={mode!r} is not 'instance', 'channel' or 'spatial'")
    if mode != "instance" and len(operand.shape) < 3:
        raise refuse(name, f"mode={mode!r} needs at least three axes", operand)
    return operand


def _sizes(operand: Array, eps: float, axes: Axis) -> Array:
    wide = np.float32 if operand.dtype == np.float16 else operand.dtype
    squares = np.square(operand, dtype=wide)
    sizes = add_over(squares, axis=axes, keepdims=True)
    sizes += eps
    return np.sqrt(sizes, out=sizes)  # type: ignore[no-any-return]


def _normalized(operand: Array, eps: float = 1e-10, mode: str = "instance") -> Array:
    sizes = _sizes(operand, eps, _vector_axes(operand.ndim, mode))
    return np.divide(operand, sizes, dtype=sizes.dtype).astype(operand.dtype, copy=False)


def _normalized_gradient(
    head: Array, operand: Array, result: Array, eps: float = 1e-10, mode: str = "instance"
) -> Array:
    axes = _vector_axes(operand.ndim, mode)
    along = add_over(head * result, axis=axes, keepdims=True)
    slope = (head - result * along) / _sizes(operand, eps, axes)
    return slope.astype(operand.dtype, copy=False)  # type: ignore[no-any-return]


L2_NORMALIZATION = register(
    "L2Normalization",
    _infer_normalization,
    "Array divided by the size of its vectors.",
    gradient=Gradient(
        "_backward_L2Normalization",
        _normalized_gradient,
        inputs=(0,),
        outputs=(0,),
        flops=times(5),
    ),
    flops=times(3),
    workspace=True,
)(_normalized)

"""Element-wise functions with parameters of their own: choice, sums of many, casts, losses."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime.nd.arguments import clipping, number
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.ops import elementwise as ops

__all__ = [
    "BlockGrad",
    "Cast",
    "ElementWiseSum",
    "MakeLoss",
    "add_n",
    "cast",
    "clip",
    "identity",
    "make_loss",
    "ones_like",
    "smooth_l1",
    "stop_gradient",
    "where",
    "zeros_like",
]


def identity(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return a copy."""
    return apply(ops.IDENTITY, (data,), out=out)


def BlockGrad(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return a copy that lets no gradient through."""
    return apply(ops.BLOCK_GRAD, (data,), out=out)


stop_gradient = BlockGrad


def make_loss(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return a copy whose gradient is 1, whatever follows."""
    return apply(ops.MAKE_LOSS, (data,), out=out)


def MakeLoss(
    data: NDArray,
    grad_scale: float = 1.0,
    valid_thresh: float = 0.0,
    normalization: str = "null",
    out: NDArray | None = None,
) -> NDArray:
    """Return a copy whose gradient is one number, whatever follows.

    Parameters
    ----------
    data : NDArray
        Floating point numbers.
    grad_scale : float
        That number.
    valid_thresh : float
        Elements above it count as valid.
    normalization : {'null', 'batch', 'valid'}
        By what the number is divided: 1, the length of the first axis, the count of valid
        elements.
    """
    attrs = (("normalization", normalization),)
    return apply(
        ops.LOSS,
        (data,),
        attrs,
        (
            float(number("MakeLoss", "grad_scale", grad_scale)),
            float(number("MakeLoss", "valid_thresh", valid_thresh)),
        ),
        out,
    )


def Cast(data: NDArray, dtype: Any, out: NDArray | None = None) -> NDArray:
    """Return the array in another type."""
    return apply(ops.CAST, (data,), (("dtype", dtype_name(dtype)),), out=out)


cast = Cast


def zeros_like(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return zeros in the shape and type of an array."""
    return apply(ops.ZEROS_LIKE, (data,), out=out)


def ones_like(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return ones in the shape and type of an array."""
    return apply(ops.ONES_LIKE, (data,), out=out)


def where(condition: NDArray, x: NDArray, y: NDArray, out: NDArray | None = None) -> NDArray:
    """Return elements of ``x`` where a condition is not 0, of ``y`` elsewhere.

    Parameters
    ----------
    condition : NDArray
        In the shape of ``x``, or one element for each of its rows.
    x, y : NDArray
        Arrays of one shape and type.
    """
    return apply(ops.WHERE, (condition, x, y), out=out)


def clip(data: NDArray, a_min: float, a_max: float, out: NDArray | None = None) -> NDArray:
    """Return the elements cut to an interval."""
    return apply(ops.CLIP, (data,), (), clipping(a_min, a_max), out)


def smooth_l1(data: NDArray, scalar: float = 1.0, out: NDArray | None = None) -> NDArray:
    """Return ``(scalar x)² / 2`` up to ``1 / scalar²``, ``abs(x) - 0.5 / scalar²`` beyond."""
    return apply(ops.SMOOTH_L1, (data,), (), (float(number("smooth_l1", "scalar", scalar)),), out)


def add_n(*args: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the sum of arrays of one shape and type."""
    return apply(ops.ADD_N, args, out=out)


ElementWiseSum = add_n

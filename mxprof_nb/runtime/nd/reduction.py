"""Functions that reduce axes, and running sums."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime.nd.arguments import Axis, real, reduction, whole
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.ops.norm import L2_NORMALIZATION, NORM
from mxprof_nb.runtime.ops.reduction import CUMSUM, REDUCE

__all__ = [
    "L2Normalization",
    "cumsum",
    "max",
    "max_axis",
    "mean",
    "min",
    "min_axis",
    "nanprod",
    "nansum",
    "norm",
    "prod",
    "sum",
    "sum_axis",
]


def sum(
    data: NDArray,
    axis: Axis = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the sum over axes, all by default; ``exclude`` means all but those."""
    return apply(REDUCE["sum"], (data,), reduction(axis, keepdims, exclude), out=out)


def nansum(
    data: NDArray,
    axis: Axis = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the sum without NaN over axes, all by default; ``exclude`` means all but those."""
    return apply(REDUCE["nansum"], (data,), reduction(axis, keepdims, exclude), out=out)


def mean(
    data: NDArray,
    axis: Axis = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the mean over axes, all by default; ``exclude`` means all but those."""
    return apply(REDUCE["mean"], (data,), reduction(axis, keepdims, exclude), out=out)


def prod(
    data: NDArray,
    axis: Axis = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the product over axes, all by default; ``exclude`` means all but those."""
    return apply(REDUCE["prod"], (data,), reduction(axis, keepdims, exclude), out=out)


def nanprod(
    data: NDArray,
    axis: Axis = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the product without NaN over axes; ``exclude`` means all but those."""
    return apply(REDUCE["nanprod"], (data,), reduction(axis, keepdims, exclude), out=out)


def max(
    data: NDArray,
    axis: Axis = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the largest element over axes, all by default; ``exclude`` means all but those."""
    return apply(REDUCE["max"], (data,), reduction(axis, keepdims, exclude), out=out)


def min(
    data: NDArray,
    axis: Axis = None,
    keepdims: bool = False,
    exclude: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the smallest element over axes, all by default; ``exclude`` means all but those."""
    return apply(REDUCE["min"], (data,), reduction(axis, keepdims, exclude), out=out)


sum_axis, max_axis, min_axis = sum, max, min


def norm(
    data: NDArray,
    ord: int = 2,
    axis: Axis = None,
    out_dtype: Any = None,
    keepdims: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the size of vectors.

    Parameters
    ----------
    data : NDArray
    ord : {1, 2}
        1 for the sum of sizes, 2 for the root of the sum of squares.
    axis : int or sequence of int, optional
        Axes of one vector, all by default.
    out_dtype : optional
        Type of the result, that of ``data`` by default.
    keepdims : bool
    """
    attrs = (("ord", whole(ord)), *reduction(axis, keepdims))
    if out_dtype is not None:
        attrs = (*attrs, ("out_dtype", dtype_name(out_dtype)))
    return apply(NORM, (data,), attrs, out=out)


def L2Normalization(
    data: NDArray, eps: float = 1e-10, mode: str = "instance", out: NDArray | None = None
) -> NDArray:
    """Return an array divided by the size of its vectors.

    Parameters
    ----------
    data : NDArray
        Floating point numbers; the first axis is the batch.
    eps : float
        Added to the sum of squares.
    mode : {'instance', 'channel', 'spatial'}
        What makes a vector: an example, its second axis, the axes from the third on.
    """
    attrs = (("eps", real(eps)), ("mode", mode))
    return apply(L2_NORMALIZATION, (data,), attrs, out=out)


def cumsum(
    a: NDArray, axis: int | None = None, dtype: Any = None, out: NDArray | None = None
) -> NDArray:
    """Return running sums along an axis, by default of all elements in one row."""
    attrs = (
        ("axis", None if axis is None else whole(axis)),
        ("dtype", None if dtype is None else dtype_name(dtype)),
    )
    return apply(CUMSUM, (a,), attrs, out=out)

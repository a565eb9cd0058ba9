"""Arrays made from nothing, or from what NumPy reads."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime import api
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.nd.arguments import device_of, flag, real, whole
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.nd.dtypes import dtype_name, host_data
from mxprof_nb.runtime.ops import OpSpec, creation

__all__ = [
    "arange",
    "array",
    "empty",
    "eye",
    "full",
    "linspace",
    "ones",
    "zeros",
]

Shape = int | Sequence[int]


def shape_of(shape: Shape) -> tuple[int, ...]:
    """Return a shape as a tuple; a number means one axis.

    Raises
    ------
    ShapeError
        It holds something else than whole numbers, or nothing.
    """
    try:
        found = (
            (operator.index(shape),)
            if isinstance(shape, (int, np.integer))
            else tuple(operator.index(extent) for extent in shape)
        )
    except TypeError:
        raise ShapeError(f"shape {shape!r:.60} must be a whole number or several.") from None
    if not found:
        raise ShapeError("shape (): arrays have at least one axis; (1,) holds one number.")
    return found


def array(
    source_array: Any,
    ctx: Context | None = None,
    dtype: Any = None,
    device: Context | None = None,
) -> NDArray:
    """Return an array with the values of anything that NumPy can read.

    Parameters
    ----------
    source_array : NDArray or array_like
    ctx, device : Context, optional
        Where it lives; ``cpu(0)`` by default.
    dtype : optional
        Type of the elements. By default float32, as in MXNet, unless the source is an
        `NDArray`, whose type is kept.

    Raises
    ------
    TypeError
        The source does not consist of numbers.
    """
    kept = source_array.aval.dtype.name if isinstance(source_array, NDArray) else "float32"
    context = device_of(ctx, device)
    return NDArray._from_numpy(host_data(source_array), dtype_name(dtype, kept), context)


def empty(
    shape: Shape,
    ctx: Context | None = None,
    dtype: Any = None,
    device: Context | None = None,
) -> NDArray:
    """Return an array of arbitrary content."""
    context = device_of(ctx, device)
    return NDArray._of(*api.create(shape_of(shape), np.dtype(dtype_name(dtype)), context))


def _constant(
    op: OpSpec, shape: Shape, context: Context | None, dtype: Any, out: NDArray | None
) -> NDArray:
    attrs = (("shape", shape_of(shape)), ("dtype", dtype_name(dtype)))
    return apply(op, (), attrs, (), out, device_of(context))


def zeros(
    shape: Shape,
    ctx: Context | None = None,
    dtype: Any = None,
    device: Context | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return an array of zeros."""
    return _constant(creation.ZEROS, shape, ctx or device, dtype, out)


def ones(
    shape: Shape,
    ctx: Context | None = None,
    dtype: Any = None,
    device: Context | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return an array of ones."""
    return _constant(creation.ONES, shape, ctx or device, dtype, out)


def full(
    shape: Shape,
    val: Any,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return an array filled with one value, or with the values of an array, broadcast."""
    made = empty(shape, ctx or device, dtype) if out is None else out
    made[:] = val
    return made


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: Any = None,
    device: Context | None = None,
) -> NDArray:
    """Return evenly spaced numbers in ``[start, stop)``, or in ``[0, start)``.

    Parameters
    ----------
    start, stop, step : float
    repeat : int
        How often each comes.
    infer_range : bool, optional
        Without effect, as in MXNet.
    ctx, device : Context, optional
    dtype : optional
        float32 by default.
    """
    begin, end = (0.0, start) if stop is None else (start, stop)
    attrs = (
        ("start", real(begin)),
        ("stop", real(end)),
        ("step", real(step)),
        ("repeat", whole(repeat)),
        ("dtype", dtype_name(dtype)),
    )
    return apply(creation.ARANGE, (), attrs, context=device_of(ctx, device))


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Context | None = None,
    dtype: Any = None,
    device: Context | None = None,
) -> NDArray:
    """Return ``num`` evenly spaced numbers from ``start`` to ``stop``, the last included."""
    attrs = (
        ("start", real(start)),
        ("stop", real(stop)),
        ("num", whole(num)),
        ("endpoint", flag(endpoint)),
        ("dtype", dtype_name(dtype)),
    )
    return apply(creation.LINSPACE, (), attrs, context=device_of(ctx, device))


def eye(
    N: int,
    M: int = 0,
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
    device: Context | None = None,
) -> NDArray:
    """Return an N x M matrix, square for M = 0, with ones on diagonal ``k``."""
    attrs = (
        ("rows", whole(N)),
        ("columns", whole(M)),
        ("k", whole(k)),
        ("dtype", dtype_name(dtype)),
    )
    return apply(creation.EYE, (), attrs, context=device_of(ctx, device))

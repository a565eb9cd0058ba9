"""Functions that choose parts of arrays: by bounds, by position, by truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import bounds, flag, integers, real, whole
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.ops import indexing, positions, slicing

__all__ = [
    "Embedding",
    "batch_take",
    "choose_element_0index",
    "crop",
    "gather_nd",
    "one_hot",
    "pick",
    "ravel_multi_index",
    "scatter_nd",
    "slice",
    "slice_axis",
    "slice_like",
    "take",
    "unravel_index",
]

Bounds = int | Sequence[int | None] | None


# By bounds


def slice(
    data: NDArray, begin: Bounds, end: Bounds, step: Bounds = (), out: NDArray | None = None
) -> NDArray:
    """Return a copy of the part between bounds, on the first axes; None leaves a bound open."""
    attrs: Attrs = (("begin", bounds(begin)), ("end", bounds(end)), ("step", bounds(step)))
    return apply(slicing.SLICE, (data,), attrs, out=out)


crop = slice


def slice_axis(
    data: NDArray, axis: int, begin: int, end: int | None, out: NDArray | None = None
) -> NDArray:
    """Return a copy of ``begin`` to ``end`` along one axis; None means to its end."""
    attrs: Attrs = (
        ("axis", whole(axis)),
        ("begin", whole(begin)),
        ("end", None if end is None else whole(end)),
    )
    return apply(slicing.SLICE_AXIS, (data,), attrs, out=out)


def slice_like(
    data: NDArray, shape_like: NDArray, axes: int | Sequence[int] = (), out: NDArray | None = None
) -> NDArray:
    """Return a copy of as much of ``data`` as ``shape_like`` has, on all axes or those named."""
    return apply(slicing.SLICE_LIKE, (data, shape_like), (("axes", integers(axes)),), out=out)


# By position


def take(
    a: NDArray, indices: NDArray, axis: int = 0, mode: str = "clip", out: NDArray | None = None
) -> NDArray:
    """Return elements along an axis, by position.

    Parameters
    ----------
    a, indices : NDArray
        Fractions of positions are cut off.
    axis : int
    mode : {'clip', 'wrap', 'raise'}
        Positions beyond the ends mean the ends, count round, or fail where the result is read.
    out : NDArray, optional
    """
    attrs: Attrs = (("axis", whole(axis)), ("mode", str(mode)))
    return apply(indexing.TAKE, (a, indices), attrs, out=out)


def pick(
    data: NDArray,
    index: NDArray,
    axis: int = -1,
    keepdims: bool = False,
    mode: str = "clip",
    out: NDArray | None = None,
) -> NDArray:
    """Return one element of each row along an axis, by position.

    Parameters
    ----------
    data, index : NDArray
        The index has the shape of ``data`` less the axis, or with one element on it.
    axis : int
    keepdims : bool
        Whether the axis stays, with one element.
    mode : {'clip', 'wrap'}
        Positions beyond the ends mean the ends, or count round.
    out : NDArray, optional
    """
    attrs: Attrs = (
        ("axis", whole(axis)),
        ("keepdims", flag(keepdims)),
        ("mode", str(mode)),
    )
    return apply(indexing.PICK, (data, index), attrs, out=out)


choose_element_0index = pick


def one_hot(
    indices: NDArray,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: Any = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return vectors of ``depth`` elements, one of which is ``on_value``; none beyond the ends."""
    attrs: Attrs = (
        ("depth", whole(depth)),
        ("dtype", dtype_name(dtype)),
        ("off_value", real(off_value)),
        ("on_value", real(on_value)),
    )
    return apply(indexing.ONE_HOT, (indices,), attrs, out=out)


def Embedding(
    data: NDArray,
    weight: NDArray,
    input_dim: int,
    output_dim: int,
    dtype: Any = None,
    sparse_grad: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return rows of a table, by number; numbers beyond its ends mean the ends.

    Parameters
    ----------
    data, weight : NDArray
        Numbers of rows, and the table of shape ``(input_dim, output_dim)``.
    input_dim, output_dim : int
    dtype : optional
        Without effect, as in MXNet: the type is that of the table.
    sparse_grad : bool
        Without effect: gradients are dense here.
    out : NDArray, optional
    """
    attrs: Attrs = (
        ("input_dim", whole(input_dim)),
        ("output_dim", whole(output_dim)),
    )
    return apply(indexing.EMBEDDING, (data, weight), attrs, out=out)


def batch_take(a: NDArray, indices: NDArray, out: NDArray | None = None) -> NDArray:
    """Return one element of each row of a matrix, by position; see `pick`."""
    return apply(indexing.BATCH_TAKE, (a, indices), out=out)


def gather_nd(data: NDArray, indices: NDArray, out: NDArray | None = None) -> NDArray:
    """Return elements by their positions on the first axes: a row of ``indices`` for each."""
    return apply(indexing.GATHER_ND, (data, indices), out=out)


def scatter_nd(
    data: NDArray, indices: NDArray, shape: int | Sequence[int], out: NDArray | None = None
) -> NDArray:
    """Return zeros but for elements at positions on the first axes; the reverse of `gather_nd`."""
    return apply(indexing.SCATTER_ND, (data, indices), (("shape", integers(shape)),), out=out)


def ravel_multi_index(
    data: NDArray, shape: int | Sequence[int], out: NDArray | None = None
) -> NDArray:
    """Return positions on the axes of a shape, a row of ``data`` for each, as one number each."""
    attrs: Attrs = (("shape", integers(shape)),)
    return apply(positions.RAVEL_MULTI_INDEX, (data,), attrs, out=out)


def unravel_index(data: NDArray, shape: int | Sequence[int], out: NDArray | None = None) -> NDArray:
    """Return rows of positions on the axes of a shape; the reverse of `ravel_multi_index`."""
    return apply(positions.UNRAVEL_INDEX, (data,), (("shape", integers(shape)),), out=out)

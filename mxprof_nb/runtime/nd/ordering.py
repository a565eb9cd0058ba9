"""Functions that compare elements with each other: positions, order, the first few."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime.nd.arguments import ordering, position, whole
from mxprof_nb.runtime.nd.array import NDArray, apply, apply_several
from mxprof_nb.runtime.ops.ordering import ARGMAX, ARGMAX_CHANNEL, ARGMIN, ARGSORT, SORT, TOPK

__all__ = ["argmax", "argmax_channel", "argmin", "argsort", "sort", "topk"]


def argmax(
    data: NDArray, axis: int | None = None, keepdims: bool = False, out: NDArray | None = None
) -> NDArray:
    """Return the position of the largest element along an axis, in the type of the array."""
    return apply(ARGMAX, (data,), position(axis, keepdims), out=out)


def argmin(
    data: NDArray, axis: int | None = None, keepdims: bool = False, out: NDArray | None = None
) -> NDArray:
    """Return the position of the smallest element along an axis, in the type of the array."""
    return apply(ARGMIN, (data,), position(axis, keepdims), out=out)


def argmax_channel(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the position of the largest element along the second axis."""
    return apply(ARGMAX_CHANNEL, (data,), out=out)


def argsort(
    data: NDArray,
    axis: int | None = -1,
    is_ascend: bool = True,
    dtype: Any = "float32",
    out: NDArray | None = None,
) -> NDArray:
    """Return the positions of the elements in order, along an axis or for None in one row."""
    return apply(ARGSORT, (data,), ordering(axis, is_ascend, dtype), out=out)


def sort(
    data: NDArray, axis: int | None = -1, is_ascend: bool = True, out: NDArray | None = None
) -> NDArray:
    """Return the elements in order, along an axis or for None in one row."""
    return apply(SORT, (data,), ordering(axis, is_ascend), out=out)


def topk(
    data: NDArray,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: str = "indices",
    is_ascend: bool = False,
    dtype: Any = "float32",
    out: Any = None,
) -> Any:
    """Return the first elements in order along an axis.

    Parameters
    ----------
    data : NDArray
    axis : int or None
        None for all elements in one row.
    k : int
        How many; all if less than 1.
    ret_typ : {'indices', 'value', 'mask', 'both'}
        Positions, values, ones where they stand and zeros elsewhere, or a list of values and
        positions.
    is_ascend : bool
        Smallest first; largest first by default.
    dtype : optional
        Type of the positions.

    Raises
    ------
    ShapeError
        There are fewer than ``k`` elements, or a parameter is none of the above.
    """
    attrs = (*ordering(axis, is_ascend, dtype), ("k", whole(k)), ("ret_typ", ret_typ))
    if ret_typ == "both":
        return apply_several(TOPK, (data,), attrs, out=out)
    return apply(TOPK, (data,), attrs, out=out)

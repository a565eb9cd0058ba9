"""Batches cut into one part for each device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.nd import NDArray

__all__ = ["split_and_load", "split_data"]


def split_data(
    data: NDArray, num_slice: int, batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Return consecutive parts of a batch, along its axis.

    Parameters
    ----------
    data : NDArray
    num_slice : int
    batch_axis : int
    even_split : bool
        Whether parts must be equal; if not, the first ones may have one sample more.

    Raises
    ------
    ShapeError
        The batch cannot be cut like that.
    """
    if num_slice < 1:
        raise ArgumentError(f"split_data: num_slice={num_slice} must be 1 or more.")
    size = data.shape[batch_axis]
    each, extra = divmod(size, num_slice)
    if extra and even_split:
        raise ShapeError(
            f"split_data: {size} samples (shape {data.shape}, axis {batch_axis}) are no multiple "
            f"of {num_slice} slices. Choose another batch size, or say even_split=False."
        )
    parts = []
    begin = 0
    for number in range(num_slice):
        end = begin + each + (number < extra)
        if batch_axis == 0:
            parts.append(data[begin:end])
        else:
            parts.append(nd.slice_axis(data, axis=batch_axis, begin=begin, end=end))
        begin = end
    return parts


def split_and_load(
    data: Any, ctx_list: Sequence[Context], batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Return one part of a batch on each device, see `split_data`.

    Parameters
    ----------
    data : NDArray or array_like
    ctx_list : sequence of Context
    batch_axis, even_split
    """
    if not ctx_list:
        raise ArgumentError("split_and_load: ctx_list names no device.")
    array = data if isinstance(data, NDArray) else nd.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [array.as_in_context(ctx_list[0])]
    parts = split_data(array, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(parts, ctx_list, strict=True)]

"""`Pooling`: the largest element, the mean or the sum of a moving window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import per_input
from mxprof_nb.runtime.ops.nn.checks import choice, floating, in_single
from mxprof_nb.runtime.ops.nn.convolution import as_pair
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["POOLING"]

Array = NumpyArray[Any]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Axis:
    """How windows move along one axis of space.

    Attributes
    ----------
    taps : tuple of (slice, slice)
        For each position in the window, which windows find an element there, and which elements
        these are.
    counts : ndarray
        Elements of each window, with padding or without.
    apart : bool
        Whether no element lies in two windows.
    covered : bool
        Whether every element lies in a window.
    """

    taps: tuple[tuple[slice, slice], ...]
    counts: Array
    apart: bool
    covered: bool

    @property
    def windows(self) -> int:
        return len(self.counts)


@lru_cache(maxsize=1000)
def _axis(extent: int, kernel: int, stride: int, pad: int, convention: str, padding: bool) -> _Axis:
    if convention == "same":
        windows = -(-extent // stride)
        pad = max(0, (windows - 1) * stride + kernel - extent) // 2
    else:
        room = extent + 2 * pad - kernel
        windows = (-(-room // stride) if convention == "full" else room // stride) + 1
    starts = np.arange(windows) * stride - pad
    ends = np.minimum(starts + kernel, extent + pad)
    inside = np.minimum(ends, extent) - np.maximum(starts, 0)
    taps = []
    for tap in range(kernel):
        found = np.flatnonzero((starts + tap >= 0) & (starts + tap < extent))
        if len(found):
            low, high = int(found[0]), int(found[-1]) + 1
            first = int(starts[low]) + tap
            elements = slice(first, first + (high - low - 1) * stride + 1, stride)
            taps.append((slice(low, high), elements))
    counts = np.maximum(ends - starts if padding else inside, 1)
    covered = stride <= kernel and int(starts[-1]) + kernel >= extent
    return _Axis(tuple(taps), counts, stride >= kernel, covered)


def _axes(
    shape: Shape,
    kernel: Shape,
    stride: Shape,
    pad: Shape,
    convention: str,
    everything: bool,
    padding: bool,
) -> tuple[_Axis, _Axis]:
    image = shape[2:]
    if everything:
        kernel, stride, pad, convention = image, (), (), "valid"
    rank = len(kernel)
    extents, kernels = as_pair(image, rank, 1), as_pair(kernel, rank, 1)
    strides, pads = as_pair(stride, rank, 1), as_pair(pad, rank, 0)
    rows, columns = (
        _axis(extents[i], kernels[i], strides[i], pads[i], convention, padding) for i in (0, 1)
    )
    return rows, columns


def _infer(
    data: Aval,
    kernel: Shape = (),
    pool_type: str = "max",
    global_pool: bool = False,
    pooling_convention: str = "valid",
    stride: Shape = (),
    pad: Shape = (),
    count_include_pad: bool = True,
    layout: str | None = None,
) -> Aval:
    name = "Pooling"
    choice(name, "pool_type", pool_type, ("avg", "max", "sum"))
    choice(name, "pooling_convention", pooling_convention, ("full", "same", "valid"))
    floating(name, data)
    image = data.shape[2:]
    if layout not in (None, "NCW", "NCHW"):
        raise refuse(name, f"layout={layout!r}: only NCW and NCHW are known")
    if len(image) == 3:
        raise refuse(name, "three axes of space are not supported here, only one or two", data)
    if len(image) not in (1, 2):
        raise refuse(
            name, "data must have shape (sample, channel, ...), one or two axes more", data
        )
    for argument, values, least in (("kernel", kernel, 1), ("stride", stride, 1), ("pad", pad, 0)):
        needed = argument == "kernel" and not global_pool
        if (values or needed) and len(values) != len(image):
            raise refuse(name, f"{argument}={values} needs one number for each axis of space", data)
        if values and min(values) < least:
            raise refuse(name, f"{argument}={values} must be {least} or more", data)
    if not global_pool:
        if pooling_convention == "same" and any(pad):
            raise refuse(name, "pooling_convention='same' chooses pad itself", data)
        for extent, window, border in zip(image, kernel, pad or (0,) * len(image), strict=True):
            if window > extent + 2 * border and pooling_convention != "same":
                raise refuse(name, f"the window {kernel} is larger than the padded image", data)
            if border >= window:
                raise refuse(name, f"pad={pad} must be smaller than the window {kernel}", data)
    rows, columns = _axes(
        data.shape, kernel, stride, pad, pooling_convention, global_pool, count_include_pad
    )
    places = (rows.windows, columns.windows)
    return aval((*data.shape[:2], *places[2 - len(image) :]), data.dtype)


def _image(array: Array) -> Array:
    return array[:, :, None] if array.ndim == 3 else array


def _gather(
    combine: Callable[..., Array], start: float, source: Array, target: Array, axis: _Axis
) -> None:
    """Combine the elements of each window along the last axis but one."""
    whole = slice(0, axis.windows)
    taps = sorted(axis.taps, key=lambda tap: tap[0] != whole)  # those that every window finds first
    if len(taps) > 1 and taps[0][0] == taps[1][0] == whole:
        combine(source[..., taps[0][1], :], source[..., taps[1][1], :], out=target)
        taps = taps[2:]
    elif taps and taps[0][0] == whole:
        target[...] = source[..., taps[0][1], :]
        taps = taps[1:]
    else:
        target.fill(start)
    for windows, elements in taps:
        part = target[..., windows, :]
        combine(part, source[..., elements, :], out=part)


@in_single
def _forward(
    data: Array,
    kernel: Shape = (),
    pool_type: str = "max",
    global_pool: bool = False,
    pooling_convention: str = "valid",
    stride: Shape = (),
    pad: Shape = (),
    count_include_pad: bool = True,
    layout: str | None = None,
) -> Array:
    rows, columns = _axes(
        data.shape, kernel, stride, pad, pooling_convention, global_pool, count_include_pad
    )
    places = (rows.windows, columns.windows)
    result = empty((*data.shape[:2], *places[4 - data.ndim :]), data.dtype)
    if global_pool:
        _of_everything(data, result, pool_type)
        return result
    # Over rows first: their elements lie side by side, so that this pass is fast, and what is
    # left for the slower pass over columns is small.
    image, target = _image(data), _image(result)
    largest = pool_type == "max"
    combine, start = (np.maximum, np.finfo(data.dtype).min) if largest else (np.add, 0)
    by_row = empty((*image.shape[:2], rows.windows, image.shape[3]), data.dtype)
    _gather(combine, start, image, by_row, rows)
    _gather(combine, start, by_row.swapaxes(2, 3), target.swapaxes(2, 3), columns)
    if pool_type == "avg":
        target /= rows.counts[:, None].astype(data.dtype) * columns.counts.astype(data.dtype)
    return result


def _of_everything(data: Array, result: Array, pool_type: str) -> None:
    flat = data.reshape(*data.shape[:2], -1)
    target = result.reshape(data.shape[:2])
    if pool_type == "max":
        flat.max(axis=2, out=target)
    else:
        flat.sum(axis=2, out=target)
        if pool_type == "avg":
            target /= flat.shape[2]


@in_single
def _backward(
    head: Array,
    data: Array,
    result: Array,
    kernel: Shape = (),
    pool_type: str = "max",
    global_pool: bool = False,
    pooling_convention: str = "valid",
    stride: Shape = (),
    pad: Shape = (),
    count_include_pad: bool = True,
    layout: str | None = None,
) -> Array:
    slope = empty(data.shape, data.dtype)
    rows, columns = _axes(
        data.shape, kernel, stride, pad, pooling_convention, global_pool, count_include_pad
    )
    pull, target = _image(head), _image(slope)
    if pool_type == "max" and global_pool:
        slope.fill(0)
        flat = data.reshape(*data.shape[:2], -1)
        first = flat.argmax(axis=2, keepdims=True)
        np.put_along_axis(slope.reshape(flat.shape), first, head.reshape(first.shape), axis=2)
    elif pool_type == "max":
        _to_first_largest(pull, _image(data), _image(result), target, rows, columns)
    else:
        if pool_type == "avg":
            pull = pull / (
                rows.counts[:, None].astype(data.dtype) * columns.counts.astype(data.dtype)
            )
        by_row = empty((*pull.shape[:3], target.shape[3]), data.dtype)
        _scatter(pull.swapaxes(2, 3), by_row.swapaxes(2, 3), columns)
        _scatter(by_row, target, rows)
    return slope


def _scatter(source: Array, target: Array, axis: _Axis) -> None:
    """Give what each window got to all its elements, along the last axis but one."""
    if not (axis.apart and axis.covered):
        target.fill(0)
    for windows, elements in axis.taps:
        part = target[..., elements, :]
        if axis.apart:
            part[...] = source[..., windows, :]
        else:
            part += source[..., windows, :]


def _to_first_largest(
    pull: Array, data: Array, result: Array, slope: Array, rows: _Axis, columns: _Axis
) -> None:
    """Give what each window got to its largest element, the first one if there are several."""
    apart = rows.apart and columns.apart
    if not (apart and rows.covered and columns.covered):
        slope.fill(0)
    waiting = np.ones(result.shape, bool)
    for windows_y, y in rows.taps:
        for windows_x, x in columns.taps:
            here = (..., windows_y, windows_x)
            found = data[..., y, x] == result[here]
            found &= waiting[here]
            waiting[here] ^= found
            part = slope[..., y, x]
            if apart:
                np.multiply(pull[here], found, out=part)
            else:
                part += pull[here] * found


POOLING = register(
    "Pooling",
    _infer,
    "Largest element, mean or sum of a moving window.",
    gradient=Gradient("_backward_Pooling", _backward, inputs=(0,), outputs=(0,), flops=per_input),
    flops=per_input,
)(_forward)

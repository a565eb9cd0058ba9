"""How a convolution becomes products of matrices: windows unfolded along the rows of an image.

Each row of the padded image is copied once for each column of the kernel, shifted, so that the
products with one row of the kernel read a contiguous piece and need no further copy. That is a
kernel's height less memory than unfolding whole windows (im2col), and faster. With a stride along
the height, rows that one row of the kernel reads are put together: first those at 0, s, 2 s, ...,
then those at 1, s + 1, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.pool import empty

__all__ = ["Geometry", "correlate", "spread", "weigh"]

Array = NumpyArray[Any]
Pair = tuple[int, int]

#: Bytes that the unfolded samples of one block take at most: the memory that it costs, and about
#: what the caches hold.
BLOCK = 2 * 2**20


@dataclass(frozen=True, slots=True)
class Geometry:
    """Which window of which size looks at which part of an image; rows first, then columns."""

    image: Pair
    kernel: Pair
    stride: Pair
    dilate: Pair
    pad: Pair

    @property
    def places(self) -> Pair:
        """How many windows there are; not positive if the window is larger than the image."""
        return (self._places(0), self._places(1))

    def _places(self, axis: int) -> int:
        reach = self.dilate[axis] * (self.kernel[axis] - 1) + 1
        return (self.image[axis] + 2 * self.pad[axis] - reach) // self.stride[axis] + 1

    @property
    def plain(self) -> bool:
        """Whether the unfolded image is the image."""
        return (self.kernel[1], *self.stride, *self.pad) == (1, 1, 1, 0, 0)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The unfolded image: (column of the kernel, row modulo stride, row, column of the result).

    Attributes
    ----------
    shape : tuple of int
    pieces : tuple
        Pairs of index into the unfolded image and index into the image; what no index names is
        padding.
    rows : tuple
        For each row of the kernel the index of the piece that it reads.
    full : bool
        Whether there is no padding.
    """

    shape: tuple[int, int, int, int]
    pieces: tuple[tuple[Any, Any], ...]
    rows: tuple[Any, ...]
    full: bool


@lru_cache(maxsize=1000)
def _layout(geometry: Geometry) -> _Layout:
    (height, width), (kernel_h, kernel_w) = geometry.image, geometry.kernel
    (stride_h, stride_w), (dilate_h, dilate_w) = geometry.stride, geometry.dilate
    (pad_h, pad_w), (out_h, out_w) = geometry.pad, geometry.places
    phases = {dilate_h * row % stride_h for row in range(kernel_h)}
    each = -(-(height + 2 * pad_h) // stride_h)
    pieces = []
    for column in range(kernel_w):
        x, to_x = _overlap(dilate_w * column - pad_w, stride_w, out_w, width)
        for phase in phases:
            y, to_y = _overlap(phase - pad_h, stride_h, each, height)
            pieces.append(((..., column, phase, to_y, to_x), (..., y, x)))
    rows = tuple(
        (..., dilate_h * row % stride_h, slice(start, start + out_h), slice(None))
        for row in range(kernel_h)
        for start in [dilate_h * row // stride_h]
    )
    return _Layout((kernel_w, stride_h, each, out_w), tuple(pieces), rows, not (pad_h or pad_w))


def _overlap(start: int, step: int, count: int, extent: int) -> tuple[slice, slice]:
    """Return which of start, start + step, ... lie in an image, and which of them those are."""
    low = max(0, -(start // step)) if start < 0 else 0
    high = max(low, min(count, (extent - 1 - start) // step + 1))
    return slice(start + low * step, max(0, start + (high - 1) * step + 1), step), slice(low, high)


def _blocks(samples: int, nbytes: int) -> Iterator[slice]:
    """Return slices of samples whose unfolded images take about `BLOCK` bytes together."""
    count = max(1, -(-samples * nbytes // BLOCK))
    step = max(1, -(-samples // count))  # alike, so that each finds the memory of the one before
    for start in range(0, samples, step):
        yield slice(start, min(start + step, samples))


def _windows(image: Array, geometry: Geometry, layout: _Layout) -> list[Array]:
    """Unfold some samples: for each row of the kernel (sample, group, feature, place)."""
    samples, groups, channels = image.shape[:3]
    places = geometry.places[0] * geometry.places[1]
    if geometry.plain:
        unfolded = image.reshape(samples, groups, channels, *layout.shape)
    else:
        unfolded = empty((samples, groups, channels, *layout.shape), image.dtype)
        if not layout.full:
            unfolded.fill(0)
        for target, source in layout.pieces:
            unfolded[target] = image[source]
    features = channels * geometry.kernel[1]
    joined = unfolded.reshape(samples, groups, features, *layout.shape[1:])
    return [joined[row].reshape(samples, groups, features, places) for row in layout.rows]


def _matrices(weight: Array, groups: int) -> list[Array]:
    """Return weights (group, filter, feature) for each row of the kernel."""
    filters, channels, height, width = weight.shape
    rows = weight.reshape(groups, filters // groups, channels, height, width)
    return [
        np.ascontiguousarray(rows[:, :, :, row]).reshape(groups, filters // groups, -1)
        for row in range(height)
    ]


def _grouped(images: Array, groups: int) -> Array:
    samples, channels, height, width = images.shape
    return images.reshape(samples, groups, channels // groups, height, width)


def _bytes_a_sample(images: Array, layout: _Layout) -> int:
    return prod((images.shape[1], *layout.shape, images.itemsize))


def correlate(images: Array, weight: Array, result: Array, geometry: Geometry, groups: int) -> None:
    """Write what each filter sees at each place: a convolution, as neural networks call it."""
    layout = _layout(geometry)
    matrices = _matrices(weight, groups)
    samples, filters, *places = result.shape
    seen = result.reshape(samples, groups, filters // groups, places[0] * places[1])
    grouped = _grouped(images, groups)
    for block in _blocks(samples, _bytes_a_sample(images, layout)):
        total = seen[block]
        windows = _windows(grouped[block], geometry, layout)
        np.matmul(matrices[0], windows[0], out=total)
        part = empty(total.shape, total.dtype) if len(matrices) > 1 else total
        for matrix, window in zip(matrices[1:], windows[1:], strict=True):
            total += np.matmul(matrix, window, out=part)


def weigh(images: Array, slopes: Array, result: Array, geometry: Geometry, groups: int) -> None:
    """Write the gradient for the weights, from that for what `correlate` gives."""
    samples, filters = slopes.shape[:2]
    channels = images.shape[1] // groups
    layout = _layout(geometry)
    height, width = geometry.kernel
    by_row = result.reshape(groups, filters // groups, channels, height, width)
    grouped = _grouped(images, groups)
    pulls = slopes.reshape(samples, groups, filters // groups, -1).swapaxes(2, 3)
    places = pulls.shape[2]
    result.fill(0)
    for block in _blocks(samples, _bytes_a_sample(images, layout)):
        pull = pulls[block]
        if places < channels * width:  # else the copy costs more than the faster product gains
            turned = empty(pull.shape, pull.dtype)
            turned[...] = pull
            pull = turned
        parts = empty((len(pull), groups, channels * width, pull.shape[3]), pull.dtype)
        ones = np.ones(len(pull), pull.dtype)
        for row, window in enumerate(_windows(grouped[block], geometry, layout)):
            np.matmul(window, pull, out=parts)
            # A product with ones: faster than a sum over the first axis.
            total = np.matmul(ones, parts.reshape(len(pull), -1))
            total = total.reshape(groups, channels, width, -1)
            by_row[:, :, :, row] += total.transpose(0, 3, 1, 2)


def spread(slopes: Array, weight: Array, result: Array, geometry: Geometry, groups: int) -> None:
    """Write the gradient for the images: each place of the result is added to its window."""
    layout = _layout(geometry)
    matrices = [matrix.swapaxes(1, 2) for matrix in _matrices(weight, groups)]
    samples, filters = slopes.shape[:2]
    channels, width = weight.shape[1], geometry.kernel[1]
    result.fill(0)
    grouped = _grouped(result, groups)
    pulls = slopes.reshape(samples, groups, filters // groups, -1)
    for block in _blocks(samples, _bytes_a_sample(result, layout)):
        pull, target = pulls[block], grouped[block]
        unfolded = empty((len(pull), groups, channels, *layout.shape), slopes.dtype)
        joined = unfolded.reshape(len(pull), groups, channels * width, *layout.shape[1:])
        part = empty((len(pull), groups, channels * width, pull.shape[3]), slopes.dtype)
        rows = list(zip(matrices, layout.rows, strict=True))
        if layout.shape[1] == 1:  # the first row needs no sum, and its piece none of the zeros
            matrix, row = rows.pop(0)
            np.matmul(matrix, pull, out=joined[row].reshape(part.shape))
            joined[..., geometry.places[0] :, :] = 0
        else:
            unfolded.fill(0)
        for matrix, row in rows:
            piece = joined[row]
            piece += np.matmul(matrix, pull, out=part).reshape(piece.shape)
        for source, place in layout.pieces:
            target[place] += unfolded[source]

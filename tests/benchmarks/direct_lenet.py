"""The tutorial's network in direct NumPy calls: what its iteration costs without any runtime.

Each step is in the fastest formulation that is known to us: convolutions unfold along the rows of
an image and multiply small matrices that are read along rows, pooling takes two maxima, sums are
products with ones, activations work in place. Large arrays are made once and used again, or in
each iteration anew, as most programs do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

__all__ = ["DirectLeNet"]

Array = NDArray[np.float32]
KERNEL = 5


class Scratch:
    """Arrays of an iteration: if kept, each place of the program gets what it had last time."""

    def __init__(self, keep: bool) -> None:
        self._keep = keep
        self._kept: list[Array] = []
        self._next = 0

    def begin(self) -> None:
        """Begin a new iteration."""
        self._next = 0

    def empty(self, *shape: int) -> Array:
        """Return an array of arbitrary content."""
        if not self._keep:
            return np.empty(shape, np.float32)
        if self._next == len(self._kept):
            self._kept.append(np.empty(shape, np.float32))
        found = self._kept[self._next]
        self._next += 1
        assert found.shape == shape
        return found


class DirectLeNet:
    """Two convolutions with pooling, two dense layers, softmax cross-entropy, gradient descent.

    Parameters
    ----------
    weights : sequence of ndarray
        Weight and bias of each layer, in float32; `step` changes them.
    images : ndarray, (sample, 1, 28, 28)
    labels : ndarray of int, (sample,)
    rate : float
        What the gradient of the sum of the losses is multiplied by.
    keep : bool
        Whether to use large arrays again.
    """

    def __init__(
        self,
        weights: Sequence[Array],
        images: Array,
        labels: Any,
        rate: float,
        keep: bool = True,
    ) -> None:
        self.weights = [weight.copy() for weight in weights]
        self.images = images
        self.labels = labels
        self.rate = np.float32(rate)
        self._scratch = Scratch(keep)
        self._every = np.arange(len(images))
        self._zero = np.asarray(0, np.float32)

    def step(self) -> Array:
        """Do one iteration and return the losses of the samples."""
        self._scratch.begin()
        w1, b1, w2, b2, w3, b3, w4, b4 = self.weights
        seen1 = self._relu(self._convolve(self.images, w1, b1))
        pooled1 = self._pool(seen1)
        seen2 = self._relu(self._convolve(pooled1, w2, b2))
        pooled2 = self._pool(seen2)
        flat = pooled2.reshape(len(pooled2), -1)
        hidden = self._relu(self._dense(flat, w3, b3))
        losses, g = self._loss(self._dense(hidden, w4, b4))

        of_w4, of_b4 = g.T @ hidden, self._summed(g)
        g = self._relu_back(g @ w4, hidden)
        of_w3, of_b3 = g.T @ flat, self._summed(g)
        g = self._pool_back(seen2, pooled2, (g @ w3).reshape(pooled2.shape))
        g = self._relu_back(g, seen2)
        of_w2, of_b2 = self._of_weight(pooled1, g), self._of_bias(g)
        g = self._pool_back(seen1, pooled1, self._of_data(w2, g, pooled1.shape))
        g = self._relu_back(g, seen1)
        of_w1, of_b1 = self._of_weight(self.images, g), self._of_bias(g)
        slopes = (of_w1, of_b1, of_w2, of_b2, of_w3, of_b3, of_w4, of_b4)
        for weight, slope in zip(self.weights, slopes, strict=True):
            slope *= self.rate
            weight -= slope
        return losses

    # Forward

    def _unfold(self, x: Array) -> Array:
        n, c, h, w = x.shape
        unfolded = self._scratch.empty(n, c, KERNEL, h, w - KERNEL + 1)
        np.copyto(unfolded, sliding_window_view(x, KERNEL, axis=3).transpose(0, 1, 4, 2, 3))
        return unfolded.reshape(n, c * KERNEL, -1)

    def _convolve(self, x: Array, weight: Array, bias: Array) -> Array:
        (n, _, h, w), filters = x.shape, len(weight)
        out_h, out_w = h - KERNEL + 1, w - KERNEL + 1
        unfolded, places = self._unfold(x), out_h * out_w
        result = self._scratch.empty(n, filters, places)
        part = self._scratch.empty(n, filters, places)
        for row, matrix in enumerate(_rows(weight)):
            window = unfolded[:, :, row * out_w : row * out_w + places]
            if row:
                result += np.matmul(matrix, window, out=part)
            else:
                np.matmul(matrix, window, out=result)
        result += bias[:, None]
        return result.reshape(n, filters, out_h, out_w)

    def _relu(self, x: Array) -> Array:
        return np.maximum(x, self._zero, out=x)

    def _pool(self, x: Array) -> Array:
        n, c, h, w = x.shape
        by_row = self._scratch.empty(n, c, h // 2, w)
        np.maximum(x[:, :, ::2], x[:, :, 1::2], out=by_row)
        result = self._scratch.empty(n, c, h // 2, w // 2)
        return np.maximum(by_row[..., ::2], by_row[..., 1::2], out=result)

    def _dense(self, x: Array, weight: Array, bias: Array) -> Array:
        result: Array = x @ weight.T
        result += bias
        return result

    def _loss(self, x: Array) -> tuple[Array, Array]:
        x -= x.max(axis=1, keepdims=True)
        powers = np.exp(x)
        sums = powers.sum(axis=1, keepdims=True)
        losses = np.log(sums[:, 0]) - x[self._every, self.labels]
        powers /= sums
        powers[self._every, self.labels] -= 1
        return losses, powers

    # Backward

    def _summed(self, slopes: Array) -> Array:
        total: Array = np.ones(len(slopes), np.float32) @ slopes
        return total

    def _relu_back(self, slopes: Array, result: Array) -> Array:
        return np.multiply(slopes, result > self._zero, out=slopes)

    def _pool_back(self, x: Array, result: Array, slopes: Array) -> Array:
        found = self._scratch.empty(*x.shape)
        waiting = np.ones(result.shape, bool)
        for row in (0, 1):
            for column in (0, 1):
                here = x[:, :, row::2, column::2] == result
                here &= waiting
                waiting ^= here
                np.multiply(slopes, here, out=found[:, :, row::2, column::2])
        return found

    def _of_bias(self, slopes: Array) -> Array:
        n, filters = slopes.shape[:2]
        flat = slopes.reshape(n * filters, -1)
        sums: Array = flat @ np.ones(flat.shape[1], np.float32)
        total: Array = sums.reshape(n, filters).sum(axis=0)
        return total

    def _of_weight(self, x: Array, slopes: Array) -> Array:
        n, filters, out_h, out_w = slopes.shape
        c, places = x.shape[1], out_h * out_w
        unfolded = self._unfold(x)
        pull = slopes.reshape(n, filters, places).swapaxes(1, 2)
        if places < c * KERNEL:
            turned = self._scratch.empty(n, places, filters)
            np.copyto(turned, pull)
            pull = turned
        parts = self._scratch.empty(n, c * KERNEL, filters)
        result = np.empty((filters, c, KERNEL, KERNEL), np.float32)
        for row in range(KERNEL):
            window = unfolded[:, :, row * out_w : row * out_w + places]
            total = self._summed(np.matmul(window, pull, out=parts).reshape(n, -1))
            result[:, :, row] = total.reshape(c, KERNEL, filters).transpose(2, 0, 1)
        return result

    def _of_data(self, weight: Array, slopes: Array, shape: tuple[int, ...]) -> Array:
        n, c, h, w = shape
        filters, out_h, out_w = slopes.shape[1:]
        places = out_h * out_w
        pull = slopes.reshape(n, filters, places)
        unfolded = self._scratch.empty(n, c * KERNEL, h * out_w)
        part = self._scratch.empty(n, c * KERNEL, places)
        unfolded[:, :, places:] = 0
        for row, matrix in enumerate(_rows(weight)):
            piece = unfolded[:, :, row * out_w : row * out_w + places]
            if row:
                piece += np.matmul(matrix.T, pull, out=part)
            else:
                np.matmul(matrix.T, pull, out=piece)
        result = self._scratch.empty(n, c, h, w)
        result.fill(0)
        columns = unfolded.reshape(n, c, KERNEL, h, out_w)
        for column in range(KERNEL):
            result[..., column : column + out_w] += columns[:, :, column]
        return result


def _rows(weight: Array) -> list[Array]:
    """Return the weights of each row of the kernel as a matrix."""
    return [
        np.ascontiguousarray(weight[:, :, row]).reshape(len(weight), -1) for row in range(KERNEL)
    ]

"""Initializers without chance."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.initializer.base import Initializer
from mxprof_nb.runtime.initializer.registry import alias, register
from mxprof_nb.runtime.nd import NDArray

__all__ = ["Bilinear", "Constant", "LSTMBias", "One", "Zero"]


@register
@alias("zeros")
class Zero(Initializer):
    """Fills weights with 0."""

    _init_weight = Initializer._init_zero


@register
@alias("ones")
class One(Initializer):
    """Fills weights with 1."""

    _init_weight = Initializer._init_one


@register
class Constant(Initializer):
    """Fills weights with one value, a number or an array of their shape."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = self.value

    def dumps(self) -> str:
        """Return kind and value as JSON."""
        value = self.value.asnumpy() if isinstance(self.value, NDArray) else np.asarray(self.value)
        return json.dumps(["constant", {"value": value.tolist()}])


@register
class Bilinear(Initializer):
    """Fills the filters of an enlarging layer so that they interpolate between pixels."""

    def _init_weight(self, name: str, arr: NDArray) -> None:
        shape = arr.shape
        if len(shape) != 4:
            raise ShapeError(
                f"Bilinear fills filters of shape (channel, channel, row, column), not "
                f"{str(name)!r} of shape {shape}."
            )
        # Both axes by the extent of the last one, as MXNet.
        half = -(-shape[3] // 2)
        centre = (2 * half - 1 - half % 2) / (2 * half)
        rows, columns = (1 - np.abs(np.arange(extent) / half - centre) for extent in shape[2:])
        arr[:] = np.broadcast_to(np.outer(rows, columns), shape).astype(np.float32)


@register
class LSTMBias(Initializer):
    """Fills the biases of an LSTM cell with 0, those of its forget gate with a number.

    Parameters
    ----------
    forget_bias : float
    """

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        arr[:] = 0.0
        units = arr.shape[0] // 4
        arr[units : 2 * units] = self.forget_bias

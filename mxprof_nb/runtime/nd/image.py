"""`mx.nd.image`: pictures made ready for a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import real
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.ops.image import NORMALIZE, TO_TENSOR

__all__ = ["normalize", "to_tensor"]

Numbers = float | Sequence[float]


def to_tensor(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return a picture, or several, as float32 numbers with the channels first.

    Parameters
    ----------
    data : NDArray
        Shape (height, width, channel) or (picture, height, width, channel), bytes from 0 to 255.
    out : NDArray, optional

    Returns
    -------
    NDArray
        ``data / 255`` in shape (channel, height, width) or (picture, channel, height, width).
    """
    return apply(TO_TENSOR, (data,), out=out)


def normalize(
    data: NDArray, mean: Numbers = 0.0, std: Numbers = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return ``(data - mean) / std``, channel by channel, in the type of the data.

    Parameters
    ----------
    data : NDArray
        Shape (channel, height, width) or (picture, channel, height, width).
    mean, std : float or sequence of float
        One number, or one for each channel.
    out : NDArray, optional
    """
    attrs: Attrs = (("mean", _numbers(mean)), ("std", _numbers(std)))
    return apply(NORMALIZE, (data,), attrs, out=out)


def _numbers(given: Any) -> tuple[Any, ...]:
    return tuple(map(real, given)) if isinstance(given, (list, tuple)) else (real(given),)

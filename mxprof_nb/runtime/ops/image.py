"""Pictures: from bytes with the channels last to numbers with the channels first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["NORMALIZE", "TO_TENSOR"]

Array = NumpyArray[Any]
Numbers = tuple[float, ...]


def _infer_to_tensor(data: Aval) -> Aval:
    if len(data.shape) not in (3, 4):
        raise refuse(
            "_image_to_tensor",
            "a picture has shape (height, width, channel), several (picture, height, width, "
            "channel)",
            data,
        )
    *first, height, width, channels = data.shape
    return aval((*first, channels, height, width), "float32")


def _to_tensor(data: Array) -> Array:
    turned = np.moveaxis(data, -1, -3)
    made = empty(turned.shape, np.float32)
    # The type is told, as NumPy 1 would divide bytes by a small number in half precision.
    np.divide(turned, 255, out=made, dtype=np.float32, casting="same_kind")
    return made


TO_TENSOR = register(
    "_image_to_tensor",
    _infer_to_tensor,
    "Pictures of bytes as numbers from 0 to 1, the channels first.",
)(_to_tensor)


def _infer_normalize(data: Aval, mean: Numbers, std: Numbers) -> Aval:
    name = "_image_normalize"
    if len(data.shape) not in (3, 4):
        raise refuse(
            name,
            "the channels come first, (channel, height, width) or "
            "(picture, channel, height, width)",
            data,
            remedy="ToTensor brings a picture into this form.",
        )
    channels = data.shape[-3]
    for told, numbers in (("mean", mean), ("std", std)):
        if len(numbers) not in (1, channels):
            raise refuse(
                name,
                f"{told} has {len(numbers)} numbers; give one, or one for each of the {channels} "
                "channels",
                data,
            )
    return data


def _by_channel(numbers: Numbers, dtype: Any) -> Array:
    """Return one number for each channel, shape (channel, 1, 1)."""
    return np.array(numbers, dtype).reshape(-1, 1, 1)


def _normalize(data: Array, mean: Numbers, std: Numbers) -> Array:
    precise = data.dtype if data.dtype.kind == "f" and data.itemsize > 2 else np.dtype("float32")
    made = empty(data.shape, precise)
    np.subtract(data, _by_channel(mean, precise), out=made, casting="same_kind")
    made /= _by_channel(std, precise)
    return made.astype(data.dtype, copy=False)


def _normalize_back(head: Array, mean: Numbers, std: Numbers) -> Array:
    made = empty(head.shape, head.dtype)
    np.divide(head, _by_channel(std, head.dtype), out=made)
    return made


NORMALIZE = register(
    "_image_normalize",
    _infer_normalize,
    "Pictures less the mean of each channel, divided by its deviation.",
    gradient=Gradient("_backward_image_normalize", _normalize_back),
    flops=times(2),
)(_normalize)

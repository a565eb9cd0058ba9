"""`mx.gluon.data.vision.transforms`: blocks that make pictures ready for a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NoReturn

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.gluon import absent
from mxprof_nb.runtime.gluon.block import Block, HybridBlock
from mxprof_nb.runtime.gluon.nn import HybridSequential, Sequential

__all__ = ["Cast", "Compose", "Normalize", "ToTensor"]


class Compose(Sequential):
    """Several transforms, one after the other.

    Parameters
    ----------
    transforms : iterable of Block
        Those of several in a row that are `HybridBlock` become one, as in MXNet.
    """

    def __init__(self, transforms: Iterable[Block]) -> None:
        super().__init__()
        if not isinstance(transforms, Iterable):
            raise ArgumentError(
                f"Compose takes a list of transforms, not {type(transforms).__name__}."
            )
        for hybrid, some in groupby(transforms, lambda each: isinstance(each, HybridBlock)):
            blocks = list(some)
            if hybrid and len(blocks) > 1:
                together = HybridSequential()
                together.add(*blocks)
                together.hybridize()
                blocks = [together]
            self.add(*blocks)


class Cast(HybridBlock):
    """The same numbers in another type, float32 by default."""

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the array in the type."""
        return F.cast(x, self._dtype)


class ToTensor(HybridBlock):
    """Bytes from 0 to 255 as float32 numbers from 0 to 1, the channels first.

    Takes a picture of shape (height, width, channel), or several, (picture, height, width,
    channel).
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the picture, or pictures, in the new form."""
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """Less a mean, divided by a deviation, channel by channel.

    Parameters
    ----------
    mean, std : float or sequence of float
        One number, or one for each channel of a picture of shape (channel, height, width).
    """

    def __init__(self, mean: float | Sequence[float] = 0.0, std: float | Sequence[float] = 1.0):
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the picture, or pictures, normalized."""
        return F.image.normalize(x, self._mean, self._std)


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name("gluon.data.vision.transforms", name, __all__)

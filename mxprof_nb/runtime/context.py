"""Devices: ``cpu(0)``, ``cpu(1)``, as `mxnet.context` has them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Context", "cpu", "current_context"]


@dataclass(frozen=True, slots=True)
class Context:
    """A device that arrays live on and operators run on.

    Attributes
    ----------
    device_type : str
        ``"cpu"``; the embedded runtime has no other.
    device_id : int
        Number of the device, from 0.
    """

    device_type: str = "cpu"
    device_id: int = 0

    def __str__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    @property
    def label(self) -> str:
        """The device as profiles write it, e.g. ``cpu/0``."""
        return f"{self.device_type}/{self.device_id}"


@lru_cache(maxsize=64)
def cpu(device_id: int = 0) -> Context:
    """Return the CPU context of the given number."""
    return Context("cpu", device_id)


def current_context() -> Context:
    """Return the context in which arrays are made when none is named."""
    return cpu(0)

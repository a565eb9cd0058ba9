"""Devices: ``cpu(0)``, ``cpu(1)``, as `mxnet.context` has them."""

from __future__ import annotations

import threading
from typing import Any

from mxprof_nb.errors import EngineError
from mxprof_nb.record import RECORDER

__all__ = ["Context", "cpu", "current_context", "gpu", "num_gpus"]

_known: dict[tuple[str, int], Context] = {}


class Context:
    """A device that arrays live on and operators run on.

    Equal contexts are the same object, so they compare and hash by identity. ``with mx.cpu(1):``
    makes one current for the thread.

    Attributes
    ----------
    device_type : str
        ``"cpu"``; the embedded runtime has no other.
    device_id : int
        Number of the device, from 0.
    memory_label : int
        Label under which profiles count its memory.
    lane, copy_lane : int
        Where the engine runs its operators, and its copies; see `mxprof_nb.runtime.engine`.
    """

    __slots__ = ("copy_lane", "device_id", "device_type", "lane", "memory_label")

    device_type: str
    device_id: int
    memory_label: int
    lane: int
    copy_lane: int

    def __new__(cls, device_type: str = "cpu", device_id: int = 0) -> Context:
        """Return the context of this type and number.

        Raises
        ------
        EngineError
            The device does not exist here.
        """
        found = _known.get((device_type, device_id))
        if found is not None:
            return found
        if device_type != "cpu" or device_id < 0:
            raise EngineError(
                f"There is no device {device_type}({device_id}): the embedded runtime runs on "
                "cpu(0), cpu(1), ... only."
            )
        made = super().__new__(cls)
        made.device_type = device_type
        made.device_id = device_id
        made.lane, made.copy_lane = 2 * device_id, 2 * device_id + 1
        made.memory_label = RECORDER.labels.define(f"Memory: {made.label}", "memory", made.label)
        return _known.setdefault((device_type, device_id), made)

    def __reduce__(self) -> Any:
        return Context, (self.device_type, self.device_id)

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __enter__(self) -> Context:
        _entered.stack = (*_entered.stack, self)
        return self

    def __exit__(self, *error: object) -> None:
        _entered.stack = _entered.stack[:-1]

    @property
    def label(self) -> str:
        """The device as profiles write it, e.g. ``cpu/0``."""
        return f"{self.device_type}/{self.device_id}"


def cpu(device_id: int = 0) -> Context:
    """Return the CPU context of the given number."""
    return Context("cpu", device_id)


def gpu(device_id: int = 0) -> Context:
    """Refuse: the embedded runtime computes with NumPy.

    Raises
    ------
    EngineError
        Always; see `num_gpus`.
    """
    raise EngineError(
        f"gpu({device_id}) cannot be used: the embedded runtime computes with NumPy, on cpu(0), "
        "cpu(1), ... only. Choose by mx.context.num_gpus(), which is 0 here."
    )


def num_gpus() -> int:
    """Return 0: the embedded runtime uses no GPU."""
    return 0


def current_context() -> Context:
    """Return the context in which arrays are made when none is named."""
    return _entered.stack[-1] if _entered.stack else _CPU


class _Entered(threading.local):
    """Contexts whose ``with`` blocks this thread is in."""

    stack: tuple[Context, ...] = ()


_entered = _Entered()
_CPU = cpu()

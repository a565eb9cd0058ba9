"""Devices: ``cpu(0)``, ``cpu(1)``, as `mxnet.context` has them."""

from __future__ import annotations

import threading
from typing import Any

from mxprof_nb.errors import EngineError
from mxprof_nb.record import RECORDER
from mxprof_nb.record.labels import memory_label

__all__ = [
    "Context",
    "Device",
    "ScopedContext",
    "cpu",
    "current_context",
    "current_device",
    "gpu",
    "num_gpus",
]

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
        made.memory_label = RECORDER.labels.number(memory_label(made.label))
        return _known.setdefault((device_type, device_id), made)

    @property
    def base(self) -> Context:
        """The device itself, whatever its memory is counted under."""
        return self

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


class ScopedContext(Context):
    """A device as arrays made in a scope of the profiler have it: their memory counts apart.

    It equals the device everywhere else. Python asks a subclass first, so comparing and hashing
    plain contexts costs what it did.
    """

    __slots__ = ("_base",)

    _base: Context

    def __new__(cls, base: Context, scope: str) -> ScopedContext:
        """Return a device under the name of a scope."""
        made = object.__new__(cls)
        made._base = base
        made.device_type, made.device_id = base.device_type, base.device_id
        made.lane, made.copy_lane = base.lane, base.copy_lane
        made.memory_label = RECORDER.labels.number(memory_label(base.label, scope))
        return made

    @property
    def base(self) -> Context:
        """The device itself."""
        return self._base

    def __eq__(self, other: object) -> bool:
        return self._base is (other.base if isinstance(other, Context) else other)

    def __hash__(self) -> int:
        return hash(self._base)


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


#: The names of MXNet's next generation.
Device, current_device = Context, current_context


class _Entered(threading.local):
    """Contexts whose ``with`` blocks this thread is in."""

    stack: tuple[Context, ...] = ()


_entered = _Entered()
_CPU = cpu()

"""`RecordConfig`: the one vocabulary for what to record."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, fields
from numbers import Integral
from typing import Any

__all__ = ["RecordConfig"]


@dataclass(frozen=True, slots=True)
class RecordConfig:
    """What to record; magic flags, `mx.profiler.set_config` and backends map onto it.

    Attributes
    ----------
    operators : bool
        Operators run by the workers.
    api : bool
        Calls into the runtime, and the waits inside them.
    memory : bool
        Memory taken and given back, per device.
    sites : bool
        The line of the program each call came from, and each operator was queued on.
    lines : bool
        Which line of a profiled cell ran when. On by default where it costs little, from
        Python 3.12 on; before, every call of a function pays for it.
    python : bool
        Python functions called meanwhile (no backend records them yet).
    max_events : int
        Rows kept at most; what is beyond is counted and said in the trace's health.
    max_bytes : int
        Bytes of packed records held in memory at most, likewise.
    """

    operators: bool = True
    api: bool = True
    memory: bool = True
    sites: bool = True
    lines: bool = sys.version_info >= (3, 12)
    python: bool = False
    max_events: int = 5_000_000
    max_bytes: int = 512 * 2**20

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, bool) and not isinstance(value, bool):
                raise TypeError(f"{field.name}={value!r}: say True or False.")
            if not isinstance(value, Integral):  # bool is one, too
                raise TypeError(f"{field.name}={value!r}: a whole number is needed.")
        if self.max_events < 1:
            raise ValueError(
                f"max_events={self.max_events}: at least one event must be allowed; "
                "leave it out for the default of 5 million."
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as a plain dict, for ``Meta.config``."""
        return asdict(self)

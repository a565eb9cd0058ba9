"""What the environment says: whether the profiler starts at import, and what it records then."""

from __future__ import annotations

import math
import os

from mxprof_nb.errors import ProfilerOptionError
from mxprof_nb.record import RecordConfig

__all__ = ["LIMIT", "initial_config", "memory_limit", "starts_by_itself"]

AUTOSTART, MODE = "MXNET_PROFILER_AUTOSTART", "MXNET_PROFILER_MODE"
LIMIT = "MXPROF_NB_MEMORY_LIMIT"
_ON, _OFF = ("true", "yes", "on", "y", "t"), ("", "false", "no", "off", "n", "f")
#: Bits of the mode (``src/profiler/profiler.h``); 1 stands for symbols.
_SYMBOLIC, _IMPERATIVE, _API, _MEMORY = 1, 2, 4, 8
_ALL = _SYMBOLIC | _IMPERATIVE | _API | _MEMORY


def memory_limit() -> int:
    """Return how many bytes of records may wait in memory, by ``MXPROF_NB_MEMORY_LIMIT`` in MB.

    Raises
    ------
    ProfilerOptionError
        Its value is no positive number.
    """
    value = os.environ.get(LIMIT, "").strip()
    if not value:
        return RecordConfig().max_bytes
    try:
        megabytes = float(value)
    except ValueError:
        megabytes = math.nan
    if not 0 < megabytes < math.inf:
        raise ProfilerOptionError(
            f"{LIMIT}={value!r}: it is the number of MB that records may take in memory, more "
            "than 0; unset it for 512."
        )
    return round(megabytes * 2**20)


def starts_by_itself() -> bool:
    """Return whether ``MXNET_PROFILER_AUTOSTART`` asks for the profiler to start at import.

    Raises
    ------
    ProfilerOptionError
        Its value is no way of saying yes or no.
    """
    value = os.environ.get(AUTOSTART, "").strip().lower()
    if _is_number(value):
        return int(value) != 0
    if value not in (*_ON, *_OFF):
        raise ProfilerOptionError(
            f"{AUTOSTART}={value!r} says neither yes nor no: set it to 1 or 0, or unset it."
        )
    return value in _ON


def initial_config() -> RecordConfig:
    """Return what is recorded before `set_config` is called, by ``MXNET_PROFILER_MODE``.

    Raises
    ------
    ProfilerOptionError
        Its value is no sum of the four bits.
    """
    value = os.environ.get(MODE, "").strip()
    mode = int(value) if _is_number(value) else -1
    if not value:
        mode = _ALL
    if not 0 <= mode <= _ALL:
        raise ProfilerOptionError(
            f"{MODE}={value!r}: it is the sum of 1 for symbols, 2 for operators on arrays, 4 for "
            "calls and 8 for memory; unset it to record all of it."
        )
    return RecordConfig(
        operators=bool(mode & _IMPERATIVE),
        api=bool(mode & _API),
        memory=bool(mode & _MEMORY),
        max_bytes=memory_limit(),
    )


def _is_number(value: str) -> bool:
    return value.isascii() and value.removeprefix("-").isdigit()

"""What `set_config` takes: each option with its type and MXNet's default, read whole or not at all.

Values are read as MXNet reads them: as text, so ``True``, ``1``, ``"1"`` and ``"true"`` are one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import ProfilerOptionError, close_match
from mxprof_nb.record import RecordConfig
from mxprof_nb.runtime.profiler.environment import memory_limit

__all__ = ["Options", "choice", "parse", "process", "yes_or_no"]

#: A limit that nothing reaches, and that JSON can hold.
ANY_NUMBER = 2**53


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `set_config` with MXNet's defaults (``src/profiler/profiler.h``).

    ``profile_pool`` is not among MXNet's, whose pool for GPUs is always recorded.
    """

    filename: StrPath = "profile.json"
    profile_all: bool = False
    profile_symbolic: bool = True
    profile_imperative: bool = True
    profile_memory: bool = True
    profile_api: bool = True
    continuous_dump: bool = True
    dump_period: float = 1.0
    aggregate_stats: bool = False
    profile_process: str = "worker"
    profile_pool: bool = False  # ours

    def record_config(self) -> RecordConfig:
        """Return what they ask to record; operators on arrays are the imperative ones.

        What is dumped continuously has no limit but that of what waits in memory.
        """
        return RecordConfig(
            max_events=ANY_NUMBER if self.continuous_dump else RecordConfig().max_events,
            max_bytes=memory_limit(),
            operators=self.profile_all or self.profile_imperative,
            memory=self.profile_all or self.profile_memory,
            api=self.profile_all or self.profile_api,
        )


def parse(given: Mapping[str, Any]) -> Options:
    """Return options from what a program gave.

    Raises
    ------
    ProfilerOptionError
        An option does not exist, or a value is none that it can have.
    """
    known = [field.name for field in fields(Options)]
    for name in given:
        if name not in known:
            raise ProfilerOptionError(
                f"set_config has no option {name!r}.{close_match(name, known)} "
                f"Options are {', '.join(known)}."
            )
    read = {}
    for name, value in given.items():
        reader: Callable[[str, Any], Any] = _READ.get(name, yes_or_no)
        read[name] = reader(name, value)
    options = Options(**read)
    if options.continuous_dump and options.dump_period <= 0:
        raise ProfilerOptionError(
            f"set_config(dump_period={options.dump_period}): with continuous_dump the file is "
            "brought up to date every dump_period seconds, which must be more than 0."
        )
    return options


def yes_or_no(name: str, value: Any) -> bool:
    """Return a truth value as MXNet spells it: True, False, 1, 0, or these as text."""
    told = _SPELLINGS.get(str(value).lower())
    if told is None:
        raise ProfilerOptionError(
            f"{name}={value!r} is neither true nor false: give True or False (1, 0, 'true' and "
            "'false' are understood too)."
        )
    return told


_SPELLINGS = {"true": True, "1": True, "false": False, "0": False}


def choice(name: str, value: Any, known: list[str]) -> str:
    """Return a text that must be one of a few."""
    if value not in known:
        raise ProfilerOptionError(
            f"{name}={value!r} does not exist.{close_match(str(value), known)} "
            f"Choose one of {', '.join(map(repr, known))}."
        )
    return str(value)


def process(name: str, value: Any) -> str:
    """Return which process is meant, of which there is one: this worker."""
    told = choice(name, value, ["worker", "server"])
    if told == "server":
        raise ProfilerOptionError(
            f"{name}='server': there are no parameter servers, so none can be profiled. "
            "Leave it out to profile this process."
        )
    return told


def _path(name: str, value: Any) -> StrPath:
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise ProfilerOptionError(f"{name}={value!r}: a path is a str or a PathLike of one.")
    if not os.fspath(value):
        raise ProfilerOptionError(f"{name}='' names no file; leave it out for 'profile.json'.")
    try:
        possible = b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ProfilerOptionError(f"{name}={value!r}: no file can have this name.")
    return value


def _seconds(name: str, value: Any) -> float:
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise ProfilerOptionError(f"{name}={value!r} is no number of seconds.")
    return seconds


_READ: Mapping[str, Callable[[str, Any], Any]] = {
    "filename": _path,
    "dump_period": _seconds,
    "profile_process": process,
}

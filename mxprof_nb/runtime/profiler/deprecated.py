"""Names that MXNet's profiler had before 1.3; they warn, and do what their successors do."""

from __future__ import annotations

import warnings

from mxprof_nb._typing import StrPath
from mxprof_nb.runtime.profiler.config import choice
from mxprof_nb.runtime.profiler.control import dump, set_config, set_state

__all__ = ["dump_profile", "profiler_set_config", "profiler_set_state"]

_MODES = ["symbolic", "imperative", "api", "memory", "all"]


def profiler_set_config(mode: str = "symbolic", filename: StrPath = "profile.json") -> None:
    """Say what to record and where to write it; use `set_config`.

    Parameters
    ----------
    mode : {"symbolic", "imperative", "api", "memory", "all"}
        Switches one flag on; as in MXNet, all but ``profile_all`` are on anyhow.
    filename : str or PathLike

    Raises
    ------
    ProfilerOptionError
        There is no such mode, or the path is none.
    """
    _warn("profiler_set_config", "set_config")
    told = choice("profiler_set_config: mode", mode, _MODES)
    set_config(**{f"profile_{told}": True, "filename": filename})


def profiler_set_state(state: str = "stop") -> None:
    """Start or stop recording; use `set_state`."""
    _warn("profiler_set_state", "set_state")
    set_state(state)


def dump_profile() -> None:
    """Write a finished file; use `dump`."""
    _warn("dump_profile", "dump")
    dump(True)


def _warn(old: str, new: str) -> None:
    warnings.warn(
        f"profiler.{old}() is deprecated; call profiler.{new}() instead.",
        DeprecationWarning,
        stacklevel=3,
    )

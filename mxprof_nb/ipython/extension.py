"""The extension: what ``%load_ext mxprof_nb`` puts into a shell, and takes out again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from IPython import get_ipython
from IPython.core.interactiveshell import InteractiveShell

from mxprof_nb.capture import Profile
from mxprof_nb.errors import NotRecordingError
from mxprof_nb.ipython.hooks import CellHooks
from mxprof_nb.ipython.magics import ProfileMagics

__all__ = [
    "another",
    "begin",
    "last_profile",
    "load_ipython_extension",
    "unload_ipython_extension",
]

_MAGIC = "mxprofile"


@dataclass(slots=True)
class _Loaded:
    hooks: CellHooks
    #: Magics of the same name that were there before, by kind.
    before: dict[str, Any]


_loaded: WeakKeyDictionary[InteractiveShell, _Loaded] = WeakKeyDictionary()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add ``%%mxprofile`` to a shell; doing it again changes nothing."""
    if shell in _loaded:
        return
    tables = shell.magics_manager.magics
    before = {kind: table[_MAGIC] for kind, table in tables.items() if _MAGIC in table}
    hooks = CellHooks(shell)
    shell.register_magics(ProfileMagics(shell, hooks))
    hooks.install()
    _loaded[shell] = _Loaded(hooks, before)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take ``%%mxprofile`` out again and leave the shell as it was before."""
    loaded = _loaded.pop(shell, None)
    if loaded is None:
        return
    loaded.hooks.remove()
    manager = shell.magics_manager
    manager.registry.pop(ProfileMagics.__name__, None)
    for kind, table in manager.magics.items():
        table.pop(_MAGIC, None)
        if kind in loaded.before:
            table[_MAGIC] = loaded.before[kind]


def last_profile() -> Profile:
    """Return the profile that the last ``%%mxprofile`` of this shell made.

    Raises
    ------
    NotRecordingError
        No cell was profiled yet, or this is no shell with the extension.
    """
    loaded = _loaded.get(get_ipython())
    last = None if loaded is None else loaded.hooks.kept.last
    if last is None:
        raise NotRecordingError(
            "No cell was profiled yet. Run one that starts with %%mxprofile, after "
            "%load_ext mxprof_nb."
        )
    return last


def another() -> bool:
    """Begin a repetition of a cell; written there by `mxprof_nb.ipython.repetition.Repeated`."""
    loaded = _loaded.get(get_ipython())
    return loaded is not None and loaded.hooks.another()


def begin(arguments: str, source: str) -> None:
    """Start to record in the middle of a cell; written there by `CellHooks.transform`."""
    loaded = _loaded.get(get_ipython())
    if loaded is not None:
        loaded.hooks.begin(arguments, source, sys._getframe(1))

"""Backends by name: the built-in table and the entry points of installed packages.

A package adds a backend without a change here, by one line of its own metadata::

    [project.entry-points."mxprof_nb.backends"]
    mine = "my_package.backend:MyBackend"
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from mxprof_nb.backends.protocols import Backend
from mxprof_nb.errors import BackendNotFoundError, BackendUnavailableError

__all__ = ["GROUP", "BackendInfo", "describe_backends", "find_backend", "list_backends"]

#: Entry-point group that third parties register in.
GROUP = "mxprof_nb.backends"

#: What comes with the package, as texts: a backend is imported when it is asked for.
_BUILT_IN = {"embedded": "mxprof_nb.backends.embedded:EmbeddedBackend"}


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """One known backend and whether it can record here.

    Attributes
    ----------
    name : str
        What to pass as ``backend=`` or ``-b``.
    available : bool
        Whether it can record here.
    origin : str
        Where it is defined, ``"module:attribute"``.
    capabilities : frozenset of str
        Which of "operators", "api", "memory", "sites", "queue" it can record; empty when the
        backend could not be loaded.
    reason, remedy : str
        Why it is not available and what to do; empty when it is.
    """

    name: str
    available: bool
    origin: str
    capabilities: frozenset[str] = frozenset()
    reason: str = ""
    remedy: str = ""


def find_backend(name: str) -> Backend:
    """Return the backend called ``name``, ready to record.

    Parameters
    ----------
    name : str
        A built-in name, or one that an installed package registered; built-in ones win.

    Raises
    ------
    BackendNotFoundError
        No backend has that name; the message lists the known ones and the closest.
    BackendUnavailableError
        It is known, and it, or what it needs, cannot be used here.
    """
    if name in _BUILT_IN:
        point = _built_in(name)  # without reading what else is installed, which takes a while
    elif name in (known := _known()):
        point = known[name]
    else:
        raise BackendNotFoundError.named(name, sorted(known))
    backend = _load(point)
    found = backend.availability()
    if not found.ok:
        raise BackendUnavailableError.because(name, found.reason, found.remedy)
    return backend


def list_backends() -> list[str]:
    """Return the names of the backends that are known; `find_backend` says if one can record."""
    return sorted(_known())


def describe_backends() -> list[BackendInfo]:
    """Return what is known of every backend, in order of name.

    A backend that cannot be loaded is listed with the reason, never left out.
    """
    return [_describe(point) for _, point in sorted(_known().items())]


def _built_in(name: str) -> EntryPoint:
    return EntryPoint(name, _BUILT_IN[name], GROUP)


def _known() -> dict[str, EntryPoint]:
    installed = {point.name: point for point in entry_points(group=GROUP)}
    return installed | {name: _built_in(name) for name in _BUILT_IN}


def _load(point: EntryPoint) -> Backend:
    """Import a backend; what its package raises meanwhile becomes one error with the cause."""
    try:
        loaded = point.load()
        backend = loaded() if isinstance(loaded, type) else loaded
    except Exception as cause:
        raise BackendUnavailableError.because(
            point.name,
            f"loading {point.value} raised {type(cause).__name__}: {cause}.",
            f"Reinstall or remove {point.dist.name if point.dist else 'mxprof-nb'}, "
            "which registers it.",
        ) from cause
    return cast(Backend, backend)


def _describe(point: EntryPoint) -> BackendInfo:
    try:
        backend = _load(point)
    except BackendUnavailableError as error:
        return BackendInfo(point.name, False, point.value, reason=str(error))
    found = backend.availability()
    return BackendInfo(
        point.name, found.ok, point.value, backend.capabilities, found.reason, found.remedy
    )

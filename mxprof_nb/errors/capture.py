"""Errors about recording, backends and names."""

from __future__ import annotations

from collections.abc import Sequence

from mxprof_nb.errors.base import MxprofError, close_match

__all__ = [
    "AlreadyRecordingError",
    "BackendError",
    "BackendNotFoundError",
    "BackendUnavailableError",
    "CaptureError",
    "MarkError",
    "MissingModuleError",
    "MissingPackageError",
    "NameTakenError",
    "NotRecordingError",
    "UnknownNameError",
]


class CaptureError(MxprofError, RuntimeError):
    """Recording could not be started or stopped."""


class AlreadyRecordingError(CaptureError):
    """A profile was started while one runs in the same thread."""

    @classmethod
    def in_thread(cls, thread: str, name: str) -> AlreadyRecordingError:
        """Build the error for a second profile in one thread."""
        return cls(
            f"A profile ({name}) already runs in thread {thread!r}, and one thread records one "
            "profile at a time. Leave its `with` block or its cell first."
        )


class NotRecordingError(CaptureError):
    """Recording was stopped or read although none runs."""


class MarkError(CaptureError, ValueError):
    """What the program marks (a span, mark, counter or step) has no valid name or number."""


class BackendError(MxprofError, RuntimeError):
    """A backend cannot record."""


class BackendNotFoundError(BackendError, LookupError):
    """There is no backend of that name."""

    name: str = ""

    @classmethod
    def named(cls, name: str, known: Sequence[str]) -> BackendNotFoundError:
        """Build the error that lists the known backends."""
        error = cls(
            f"There is no backend named {name!r}.{close_match(name, known)} "
            f"Known backends: {', '.join(sorted(known))}."
        )
        error.name = name
        return error


class BackendUnavailableError(BackendError, ImportError):
    """The backend is known, and what it needs is not installed."""

    @classmethod
    def because(cls, backend: str, reason: str, remedy: str) -> BackendUnavailableError:
        """Build the error that says what is missing and how to get it."""
        return cls(f"Backend {backend!r} cannot be used here: {reason} {remedy}")


class MissingPackageError(MxprofError, ImportError):
    """A format needs a package that is not installed.

    Attributes
    ----------
    package : str
        What to install.
    """

    package: str = ""

    @classmethod
    def of(cls, package: str, purpose: str, extra: str) -> MissingPackageError:
        """Build the error that says what to install."""
        error = cls(
            f"{purpose} need the package {package!r}, which is not installed. Install it with "
            f"`pip install 'mxprof-nb[{extra}]'` or `pip install {package}`."
        )
        error.package = package
        return error


class UnknownNameError(MxprofError, LookupError):
    """The glossary has no entry of that name."""


class NameTakenError(MxprofError, ImportError):
    """The embedded runtime was to get a name that another package has."""

    @classmethod
    def by(cls, name: str, how: str, origin: str) -> NameTakenError:
        """Build the error that says what has the name."""
        place = f" ({origin})" if origin else ""
        return cls(
            f"A package {name!r} {how}{place}, so `import {name}` gives that one. "
            "Write `import mxprof_nb.runtime as mx` for the embedded runtime, or use an "
            f"environment without {name}."
        )


class MissingModuleError(MxprofError, ModuleNotFoundError):
    """The embedded runtime, under its own or MXNet's name, lacks a module that MXNet has."""

    @classmethod
    def below(
        cls, package: str, fullname: str, child: str, known: Sequence[str]
    ) -> MissingModuleError:
        """Build the error for a module, with those there are."""
        there = f" There {'is' if len(known) == 1 else 'are'} {', '.join(known)}." if known else ""
        return cls(
            f"No {fullname!r}: the embedded runtime, which stands in for {package} here, has no "
            f"{child!r}.{close_match(child, known)}{there}"
        )

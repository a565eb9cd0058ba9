"""Every exception that mxprof_nb raises on purpose.

::

    MxprofError
    ├── TraceError                      (ValueError)
    │   ├── SchemaError                 table, column, row, value
    │   ├── AlignmentError              traces that have nothing in common to join them by
    │   ├── EmptyTraceError
    │   └── MissingDataError            what is missing, who provides it
    ├── ReadError                       (ValueError) path, place
    │   ├── UnknownFormatError
    │   ├── CorruptTraceError
    │   ├── UnsupportedVersionError
    │   └── LimitExceededError
    ├── WriteError                      (OSError) path
    ├── CaptureError                    (RuntimeError)
    │   ├── AlreadyRecordingError
    │   ├── NotRecordingError
    │   ├── MarkError                   (ValueError) a span, mark, counter or step is not valid
    │   └── ProfilerError               (EngineError) `mx.profiler` cannot do that now
    │       └── ProfilerOptionError     (ValueError) an option or choice of it does not exist
    ├── BackendError                    (RuntimeError)
    │   ├── BackendNotFoundError        (LookupError) name, known names
    │   └── BackendUnavailableError     (ImportError) why, how to install
    ├── MissingPackageError             (ImportError) a format needs a package: how to install it
    ├── UnknownNameError                (LookupError) the glossary has no such name
    ├── NameTakenError                  (ImportError) `register_as` a name that something else has
    ├── MissingModuleError              (ModuleNotFoundError) the runtime lacks a module
    └── EngineError                     (RuntimeError) the embedded runtime, see `mxprof_nb.runtime`
        ├── OperatorError               operator, shapes, site, first cause
        │   └── PositionError           (IndexError)
        ├── ArgumentError               (ValueError)
        │   └── ShapeError
        ├── GradientError               what cannot be differentiated
        │   └── StaleGradientError      (UserWarning) a step without a backward before
        ├── ScheduledRateError          (UserWarning) a schedule sets the learning rate
        ├── DatasetError                (ValueError) a file of a dataset is damaged
        │   └── MissingDatasetError     (FileNotFoundError)
        ├── LoadingTimeoutError         (TimeoutError) a batch did not come in time
        ├── ParameterError              a parameter of a network has no value, or not there
        │   ├── DeferredInitializationError  its shape is not known yet
        │   └── ParameterFileError      (ValueError) a file does not fit the network
        └── UnknownOperatorError        (LookupError)

Each derives from the builtin that fits, so ``except ValueError`` works for people who do not
know this tree. Messages say what happened, the value and the place, and what to do; they are
built by the classmethods below so that tests compare fields and the wording lives in one place.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

__all__ = [
    "AlignmentError",
    "AlreadyRecordingError",
    "ArgumentError",
    "BackendError",
    "BackendNotFoundError",
    "BackendUnavailableError",
    "CaptureError",
    "CorruptTraceError",
    "DatasetError",
    "DeferredInitializationError",
    "EmptyTraceError",
    "EngineError",
    "GradientError",
    "LimitExceededError",
    "LoadingTimeoutError",
    "MarkError",
    "MissingDataError",
    "MissingDatasetError",
    "MissingModuleError",
    "MissingPackageError",
    "MxprofError",
    "NameTakenError",
    "NotRecordingError",
    "OperatorError",
    "ParameterError",
    "ParameterFileError",
    "PositionError",
    "ProfilerError",
    "ProfilerOptionError",
    "ReadError",
    "ScheduledRateError",
    "SchemaError",
    "ShapeError",
    "StaleGradientError",
    "TraceError",
    "UnknownFormatError",
    "UnknownNameError",
    "UnknownOperatorError",
    "UnsupportedVersionError",
    "WriteError",
    "close_match",
]


def close_match(word: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the closest known word, or an empty string."""
    found = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {found[0]!r}?" if found else ""


class MxprofError(Exception):
    """Base of all errors that mxprof_nb raises on purpose."""


class TraceError(MxprofError, ValueError):
    """A trace, or a request made of one, is not valid."""


class SchemaError(TraceError):
    """A table does not follow its schema.

    Attributes
    ----------
    table, column : str
        Where the offending value stands.
    row : int
        Its row, -1 when the whole column is meant.
    """

    table: str = ""
    column: str = ""
    row: int = -1

    @classmethod
    def at(cls, table: str, column: str, row: int, value: object, rule: str) -> SchemaError:
        """Build the error for one value that breaks ``rule``."""
        place = f"row {row}" if row >= 0 else "the column"
        error = cls(
            f"Table {table!r}, column {column!r}, {place}: {value!r} is not allowed; {rule}."
        )
        error.table, error.column, error.row = table, column, row
        return error


class AlignmentError(TraceError):
    """Traces cannot be put on one time line: they have nothing in common."""


class EmptyTraceError(TraceError):
    """The trace holds no row of the kind that was asked for."""


class MissingDataError(TraceError):
    """An analysis needs data that this trace does not hold."""

    @classmethod
    def needs(cls, analysis: str, missing: str, provider: str) -> MissingDataError:
        """Build the error that names what is missing and who records it."""
        return cls(f"{analysis} needs {missing}, which this trace does not hold. {provider}")


class ReadError(MxprofError, ValueError):
    """A file could not be read as a trace.

    Attributes
    ----------
    path : str
        The file, ``"<bytes>"`` for data in memory.
    place : str
        Where in it, in words: ``"event 12"``, ``"byte 408"``.
    """

    path: str = ""
    place: str = ""

    @classmethod
    def at(cls, path: str, place: str, problem: str, remedy: str) -> ReadError:
        """Build the error for one place of one file."""
        where = f"{path}, {place}" if place else path
        error = cls(f"{where}: {problem} {remedy}".rstrip())
        error.path, error.place = path, place
        return error


class UnknownFormatError(ReadError):
    """No reader recognises the content."""


class CorruptTraceError(ReadError):
    """A reader recognised the format, and the content breaks its rules."""


class UnsupportedVersionError(ReadError):
    """The format is known, this version of it is not."""


class LimitExceededError(ReadError):
    """The content is larger than the reader was allowed to take."""


class WriteError(MxprofError, OSError):
    """A file could not be written; what was recorded is still in memory."""

    path: str = ""

    @classmethod
    def to(cls, path: str, cause: OSError | ValueError) -> WriteError:
        """Build the error for a path that cannot be written."""
        reason = getattr(cause, "strerror", None) or str(cause)
        error = cls(
            f"Cannot write {path}: {reason}. Nothing is lost: the profile is still in memory; "
            "save it under a path that can be written."
        )
        error.path = path
        return error


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


class EngineError(MxprofError, RuntimeError):
    """The embedded runtime failed; MXNet's counterpart is ``mxnet.base.MXNetError``."""


class OperatorError(EngineError):
    """An operator failed while a worker ran it; raised where its result is first needed.

    Attributes
    ----------
    operator : str
        Name of the operator that failed first.
    site : str
        File, line and text of the call that queued it, empty when unknown.
    """

    operator: str = ""
    site: str = ""

    @classmethod
    def failed(
        cls, operator: str, shapes: Sequence[tuple[int, ...]], site: str, cause: BaseException
    ) -> OperatorError:
        """Build the error for one failed operator; ``cause`` is what its kernel raised."""
        told = f" on inputs {', '.join(map(str, shapes))}" if shapes else ""
        queued = f"\nIt was queued at {site}" if site else ""
        try:
            reason = str(cause)
        except Exception as trouble:
            reason = f"(its text cannot be shown: {type(trouble).__name__})"
        kind = PositionError if isinstance(cause, IndexError) else cls
        error = kind(
            f"Operator {operator!r} failed{told}: {type(cause).__name__}: {reason}{queued}"
        )
        error.operator, error.site = operator, site
        return error


class PositionError(OperatorError, IndexError):
    """An operator failed because a position lies outside of an array; MXNet's is an IndexError."""


class ArgumentError(EngineError, ValueError):
    """An operator was called without something it needs, or with what it does not take."""


class ShapeError(ArgumentError):
    """Shapes or types of the inputs do not fit the operator; raised when it is called.

    Attributes
    ----------
    layer : str
        Name of the layer that called it, empty if none did.
    """

    layer: str = ""


class GradientError(EngineError):
    """`mx.autograd` was asked for a gradient that does not exist, or that would be wrong."""


class StaleGradientError(GradientError, UserWarning):
    """A step was asked for with a gradient that no backward has computed since the last one.

    Attributes
    ----------
    parameter : str
        Name of the first parameter concerned.
    """

    parameter: str = ""

    @classmethod
    def of(cls, parameter: str, context: object, number: int, total: int) -> StaleGradientError:
        """Build the error for the first of some parameters of a trainer."""
        error = cls(
            f"Gradient of Parameter `{parameter}` on context {context} has not been updated by "
            f"backward since last `step` ({number} of {total} parameters). Compute the loss within "
            "autograd.record() and call its backward() first. If only some parameters are meant "
            "to have gradients, step(batch_size, ignore_stale_grad=True) leaves the others as "
            "they are."
        )
        error.parameter = parameter
        return error


class ScheduledRateError(EngineError, UserWarning):
    """The learning rate was set by hand while a schedule sets it."""


class DatasetError(EngineError, ValueError):
    """A file of a dataset is not what it should be."""


class MissingDatasetError(DatasetError, FileNotFoundError):
    """The files of a dataset are not there."""


class LoadingTimeoutError(EngineError, TimeoutError):
    """A worker of a `DataLoader` has not finished a batch in time."""


class ParameterError(EngineError):
    """A parameter of a network has no value, or none on the device where it is needed."""


class DeferredInitializationError(ParameterError):
    """A parameter waits for its shape, and something needs its value."""


class ParameterFileError(ParameterError, ValueError):
    """The arrays in a file do not fit the parameters of a network; none of them was set."""


class UnknownOperatorError(EngineError, LookupError):
    """No operator of that name is registered."""


class ProfilerError(CaptureError, EngineError):
    """`mx.profiler` cannot do what it was asked in its state; in MXNet an ``MXNetError`` too."""


class ProfilerOptionError(ProfilerError, ValueError):
    """An option, state or choice of `mx.profiler` does not exist or cannot have this value."""

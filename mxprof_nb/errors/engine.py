"""Errors of the embedded runtime and its profiler."""

from __future__ import annotations

from collections.abc import Sequence

from mxprof_nb.errors.base import MxprofError
from mxprof_nb.errors.capture import CaptureError

__all__ = [
    "ArgumentError",
    "CustomOperatorError",
    "DatasetError",
    "DeferredInitializationError",
    "EngineError",
    "GradientError",
    "LoadingTimeoutError",
    "MissingDatasetError",
    "NoGraphError",
    "OperatorError",
    "ParameterError",
    "ParameterFileError",
    "PositionError",
    "ProfilerError",
    "ProfilerOptionError",
    "ScheduledRateError",
    "ShapeError",
    "StaleGradientError",
    "UnknownOperatorError",
]


#: Errors of operators within operators up to which each is told.
MAX_LEVELS = 4


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
        first, levels = cause, 0
        while isinstance(first, OperatorError) and first.__cause__ is not None:
            first, levels = first.__cause__, levels + 1
        if levels > MAX_LEVELS:  # each tells of all those below
            cause, told = first, f"{told}, as {levels} that it called, one within the other"
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


class CustomOperatorError(EngineError):
    """What describes an operator written in Python failed, or contradicts itself.

    Attributes
    ----------
    operator : str
        Name under which it is registered.
    method : str
        What of its properties is meant, e.g. ``infer_shape``.
    """

    operator: str = ""
    method: str = ""

    @classmethod
    def of(cls, operator: str, method: str, problem: str) -> CustomOperatorError:
        """Build the error for one method of a description."""
        error = cls(f"Custom operator {operator!r}: {method} {problem}")
        error.operator, error.method = operator, method
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


class NoGraphError(EngineError):
    """A block has no graph of symbols (yet), or one that takes what nobody has."""


class UnknownOperatorError(EngineError, LookupError):
    """No operator of that name is registered."""


class ProfilerError(CaptureError, EngineError):
    """`mx.profiler` cannot do what it was asked in its state; in MXNet an ``MXNetError`` too."""


class ProfilerOptionError(ProfilerError, ValueError):
    """An option, state or choice of `mx.profiler` does not exist or cannot have this value."""

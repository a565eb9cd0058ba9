"""Errors about traces, and about files that hold them."""

from __future__ import annotations

from mxprof_nb.errors.base import MxprofError

__all__ = [
    "AlignmentError",
    "CorruptTraceError",
    "EmptyTraceError",
    "LimitExceededError",
    "MissingDataError",
    "ReadError",
    "SchemaError",
    "TraceError",
    "UnknownFormatError",
    "UnsupportedVersionError",
    "WriteError",
]


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
    reason: str = ""

    @classmethod
    def to(cls, path: str, cause: OSError | ValueError) -> WriteError:
        """Build the error for a path that cannot be written."""
        reason = getattr(cause, "strerror", None) or str(cause)
        error = cls(
            f"Cannot write {path}: {reason}. Nothing is lost: the profile is still in memory; "
            "save it under a path that can be written."
        )
        error.path, error.reason = path, reason
        return error

"""Which formats there are, and who reads and writes them.

What is built in stands in tables of strings, so that listing formats imports nothing. Third
parties add theirs by entry points in the groups ``mxprof_nb.readers`` and ``mxprof_nb.writers``:
the name is the format, the value a module or object that follows `Reader` or `Writer`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import IO, Any, Protocol

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import MissingPackageError, UnknownFormatError, close_match
from mxprof_nb.io.files import Source, read_bytes, writing
from mxprof_nb.trace import HasTrace, Trace, trace_of
from mxprof_nb.trace.privacy import fit_to_travel

__all__ = ["Reader", "Writer", "find_writer", "list_readers", "list_writers", "load", "save"]


class Reader(Protocol):
    """Turns the content of a file into a trace."""

    def sniff(self, head: bytes, path: str) -> float:
        """Return how sure it is, 0 to 1, that content that begins so is in its format."""
        ...

    def read(self, content: bytes, *, path: str) -> Trace:
        """Return the trace.

        Raises
        ------
        CorruptTraceError
            The content breaks the rules of the format.
        """
        ...


class Writer(Protocol):
    """Turns a trace into the content of a file."""

    #: Endings of the file names it is chosen for. It may also have ``needs``, names of packages
    #: without which it cannot write.
    suffixes: tuple[str, ...]

    def write(self, trace: Trace, file: IO[bytes]) -> None:
        """Write the trace."""
        ...


_READERS = {
    "chrome": "mxprof_nb.io.chrome",
    "mxprof": "mxprof_nb.io.native",
    "spool": "mxprof_nb.io.spool",
}
_WRITERS = {"chrome": "mxprof_nb.io.chrome_writer", "mxprof": "mxprof_nb.io.native"}
#: A reader may look at this much of the content to recognise it.
_HEAD_BYTES = 4096


def list_readers() -> list[str]:
    """Return the names of the formats that can be read."""
    return sorted(_found("mxprof_nb.readers", _READERS))


def list_writers() -> list[str]:
    """Return the names of the formats that can be written."""
    return sorted(_found("mxprof_nb.writers", _WRITERS))


def load(source: Source, *, format: str | None = None) -> Trace:
    """Read a trace.

    Parameters
    ----------
    source : path, bytes, or file object
        What to read; gzip is unpacked whatever the file is called.
    format : str, optional
        Name of the format, one of `list_readers`; recognised by the content when left out.

    Raises
    ------
    UnknownFormatError
        No reader recognises the content, or there is no format of that name.
    CorruptTraceError
        The content breaks the rules of its format; names the place.
    OSError
        The file does not exist or cannot be read.

    Examples
    --------
    >>> load(b'[{"ph": "X", "name": "dot", "ts": 0, "dur": 1.5, "pid": 1, "tid": 1}]')
    <Trace: 1 events on 1 tracks, 0 counter samples, 0.002 ms, clean>
    """
    content, path = read_bytes(source)
    readers = _found("mxprof_nb.readers", _READERS)
    if format is not None:
        if format not in readers:
            raise UnknownFormatError.at(
                path,
                "",
                f"there is no format {format!r}.{close_match(format, readers)}",
                f"Formats that can be read: {', '.join(sorted(readers))}.",
            )
        chosen: Reader = _loaded(readers[format])
        return chosen.read(content, path=path)
    head = content[:_HEAD_BYTES]
    best, sure = None, 0.0
    for entry in readers.values():
        reader: Reader = _loaded(entry)
        if (this := reader.sniff(head, path)) > sure:
            best, sure = reader, this
    if best is None:
        begins = f"begins with {head[:20]!r}" if head else "is empty"
        raise UnknownFormatError.at(
            path,
            "",
            f"no reader recognises the content, which {begins}.",
            f"Formats that can be read: {', '.join(sorted(readers))}.",
        )
    return best.read(content, path=path)


def save(
    trace: HasTrace,
    path: StrPath,
    *,
    format: str | None = None,
    source: bool = True,
    private: bool = True,
) -> None:
    """Write a trace to a file, all of it or nothing.

    Parameters
    ----------
    trace : Trace
        Or anything that offers one as ``__mxprof_trace__``.
    path : str or PathLike
        Its ending chooses the format; ``.gz`` at the end compresses.
    format : str, optional
        Name of the format, one of `list_writers`, whatever the ending.
    source : bool
        Write the code of the cell and the text of the lines that events came from.
    private : bool
        Give paths from the working directory on, and leave names of host and user out; see
        `mxprof_nb.trace.privacy.private`.

    Raises
    ------
    UnknownFormatError
        No writer goes with the ending or the name.
    WriteError
        The path cannot be written; a file that stood there before is untouched.
    """
    writer = find_writer(path, format=format)
    written = fit_to_travel(trace_of(trace), source=source, private=private)
    with writing(path) as file:
        writer.write(written, file)


def find_writer(path: StrPath, *, format: str | None = None, others: Sequence[str] = ()) -> Writer:
    """Return the writer for a path without writing anything.

    Parameters
    ----------
    path : str or PathLike
        Its ending chooses the format.
    format : str, optional
        Name of the format, one of `list_writers`, whatever the ending.
    others : sequence of str
        Endings that the caller takes care of, for the message.

    Raises
    ------
    UnknownFormatError
        No writer goes with the ending or the name.
    MissingPackageError
        It needs a package that is not installed.
    """
    name = os.fspath(path)
    writers = _found("mxprof_nb.writers", _WRITERS)
    if format is not None:
        if format not in writers:
            raise UnknownFormatError.at(
                name,
                "",
                f"there is no format {format!r}.{close_match(format, writers)}",
                f"Formats that can be written: {', '.join(sorted(writers))}.",
            )
        return _ready(_loaded(writers[format]))
    endings = list(others)
    for entry in writers.values():
        writer: Writer = _loaded(entry)
        if name.lower().endswith(writer.suffixes):
            return _ready(writer)
        endings += writer.suffixes
    suffix = os.path.splitext(name)[1]
    raise UnknownFormatError.at(
        name,
        "",
        f"the ending {suffix!r} stands for no format." if suffix else "the name has no ending.",
        f"Known endings: {', '.join(sorted(endings))}.",
    )


def _ready(writer: Writer) -> Writer:
    """Return a writer after a look at whether what it needs is installed."""
    for package in getattr(writer, "needs", ()):
        if find_spec(package) is None:
            endings = " and ".join(writer.suffixes)
            raise MissingPackageError.of(package, f"Files ending in {endings}", "formats")
    return writer


def _found(group: str, built_in: dict[str, str]) -> dict[str, Any]:
    """Return name and entry of every format; a built-in one cannot be replaced."""
    return {entry.name: entry for entry in entry_points(group=group)} | built_in


def _loaded(entry: Any) -> Any:
    return importlib.import_module(entry) if isinstance(entry, str) else entry.load()

"""Which formats there are, and who reads and writes them.

What is built in stands in tables of strings, so that listing formats imports nothing. Third
parties add theirs by entry points in the groups ``mxprof_nb.readers`` and ``mxprof_nb.writers``:
the name is the format, the value a module or object that follows `Reader` or `Writer`.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import (
    EmptyTraceError,
    MissingPackageError,
    UnknownFormatError,
    close_match,
)
from mxprof_nb.io.archives import first_name, is_gzip, is_zip, unpacked_gzip, unpacked_zip
from mxprof_nb.io.content import Content, Progress, Source, Sources, in_utf8, opened
from mxprof_nb.io.files import writing
from mxprof_nb.io.joining import joined
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.tables.frame import is_frame, read_frame
from mxprof_nb.io.unreadable import refused, verdict
from mxprof_nb.trace import HasTrace, Trace, trace_of
from mxprof_nb.trace.privacy import fit_to_travel

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Reader", "Writer", "find_writer", "list_readers", "list_writers", "load", "save"]


class Reader(Protocol):
    """Turns the content of a file into a trace.

    `read` may take more, each as a keyword that is passed when it is named there:

    - ``limits``, the `Limits` to keep to;
    - ``progress``, called with what is done and to which file, how far it is, and how far it goes;
    - any other keyword is an option of the format, which `load` hands on.

    A reader whose library opens files itself has besides ``read_file(file, *, path)``, which may
    take the same keywords. It is given the path of a file that holds just the content, and is
    preferred wherever there is such a file; ``path`` is the name for messages.
    """

    def sniff(self, head: bytes, path: str) -> float:
        """Return how sure it is, 0 to 1, that content that begins so is in its format.

        Below 0.5 it says: perhaps, if nothing else is known about this file.
        """
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

    def write(self, trace: Trace, file: IO[bytes], **options: Any) -> None:
        """Write the trace; keywords that it names are options that `save` hands on."""
        ...


_READERS = {
    "chrome": "mxprof_nb.io.chrome",
    "csv": "mxprof_nb.io.tables.csv",
    "mxprof": "mxprof_nb.io.native",
    "ncu": "mxprof_nb.io.nvidia.ncu",
    "nsys": "mxprof_nb.io.nvidia.nsys",
    "nvprof": "mxprof_nb.io.nvidia.nvprof",
    "onednn": "mxprof_nb.io.onednn",
    "parquet": "mxprof_nb.io.tables.parquet",
    "spool": "mxprof_nb.io.spool",
}
_WRITERS = {
    "chrome": "mxprof_nb.io.chrome_writer",
    "csv": "mxprof_nb.io.tables.csv",
    "mxprof": "mxprof_nb.io.native",
    "parquet": "mxprof_nb.io.tables.parquet",
}
#: A reader looks at this much of the content to recognise it, and at the second much, where a
#: program may have written for long before the trace began, when nobody recognises the first.
_HEAD_BYTES, _LONG_HEAD_BYTES = 1 << 16, 1 << 24
#: A reader that is less sure than this only means: perhaps.
_CERTAIN = 0.5
#: An archive in an archive in an archive is the most that happens by accident.
_MOST_WRAPPINGS = 3
#: What every reader is given; other keywords of `read` are options.
_GIVEN = ("path", "limits", "progress")


def list_readers() -> list[str]:
    """Return the names of the formats that can be read."""
    return sorted(_found("mxprof_nb.readers", _READERS))


def list_writers() -> list[str]:
    """Return the names of the formats that can be written."""
    return sorted(_found("mxprof_nb.writers", _WRITERS))


def load(
    source: Sources | pd.DataFrame,
    *,
    format: str | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Trace:
    """Read a trace.

    Parameters
    ----------
    source : path, bytes, or file object, or a list of them
        What to read, also a table of pandas, pyarrow or polars; several files of one run are put
        on one time line, see `mxprof_nb.io.joining.joined`. gzip and zip are unpacked whatever
        the file is called; a zip archive may hold one trace, beside files that are none. Text
        with a byte order mark of UTF-16 or UTF-32 is read as what it is.
    format : str, optional
        Name of the format, one of `list_readers`; recognised by the content when left out.
    limits : Limits, optional
        How much the file may ask for, see there.
    progress : callable, optional
        Called now and then with what is done, how much of it is, and how much there is, 0 when
        that is not known.
    **options
        What the format takes besides: ``columns=`` of tables says which column is what, see
        `mxprof_nb.io.tables.frame.read_frame`.

    Raises
    ------
    UnknownFormatError
        No reader recognises the content, or there is no format of that name.
    CorruptTraceError
        The content breaks the rules of its format; names the place.
    LimitExceededError
        The file asks for more than the limits allow.
    AlignmentError
        Several files have nothing in common by which to join them.
    EmptyTraceError
        The list of files is empty.
    TypeError
        An argument is of another type, or is an option that the format does not have.
    OSError
        The file does not exist or cannot be read.

    Examples
    --------
    >>> load(b'[{"ph": "X", "name": "dot", "ts": 0, "dur": 1.5, "pid": 1, "tid": 1}]')
    <Trace: 1 events on 1 tracks, 0 counter samples, 0.002 ms, clean>
    """
    if limits is None:
        limits = Limits()
    if not isinstance(limits, Limits):
        raise TypeError(f"limits={limits!r}: a Limits is needed, not {type(limits).__name__}.")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress={progress!r}: a function is needed.")
    if not (format is None or isinstance(format, str)):
        raise TypeError(f"format={format!r}: the name of a format is needed.")
    if isinstance(source, list | tuple):
        given = {"format": format, "limits": limits, "progress": progress, **options}
        if not source:
            raise EmptyTraceError("load() needs at least one file; the list is empty.")
        return joined([load(one, **given) for one in source])
    readers = _found("mxprof_nb.readers", _READERS)
    if format is not None and format not in readers:
        raise UnknownFormatError.at(
            "",
            "",
            f"there is no format {format!r}.{close_match(format, readers)}",
            f"Formats that can be read: {', '.join(sorted(readers))}.",
        )
    if is_frame(source):
        _checked(read_frame, "table", options)
        return read_frame(source, **options)
    content = opened(cast("Source", source), limits, progress)
    broken: dict[str, str] = {}
    named = format and {format: _loaded(readers[format])}
    choices = named or _usable(readers, broken)
    content = in_utf8(_unpacked(content, choices))
    if format is None:
        chosen = _recognised(content, choices, broken)
    else:
        chosen = format
        head = content.head(_HEAD_BYTES)
        if _surest(head, content.name, choices)[1] == 0 and verdict(head, content.name):
            raise refused(head, content.name, sorted(readers))
    return _read(content, chosen, choices[chosen], options)


def _surest(head: bytes, path: str, readers: dict[str, Reader]) -> tuple[str, float]:
    """Return the reader that is surest about a head, and how sure it is."""
    sure = {name: reader.sniff(head, path) for name, reader in readers.items()}
    best = max(sure, key=lambda name: sure[name])
    return best, sure[best]


def _unpacked(content: Content, readers: dict[str, Reader]) -> Content:
    """Return the content that lies in archives, unless the archive is a format itself."""
    for _ in range(_MOST_WRAPPINGS):
        head = content.head(_HEAD_BYTES)
        if is_gzip(head):
            content = unpacked_gzip(content)
        elif is_zip(head) and _surest(first_name(head), content.name, readers)[1] == 0:
            content = unpacked_zip(
                content, lambda head, path: _surest(head, path, readers)[1], _HEAD_BYTES
            )
        else:
            break
    return content


def _usable(readers: dict[str, Any], broken: dict[str, str]) -> dict[str, Reader]:
    """Return the readers that can be imported; one of a third party may not stop the others."""
    usable = {}
    for name, entry in readers.items():
        try:
            usable[name] = _loaded(entry)
        except Exception as error:
            if name in _READERS:
                raise
            broken[name] = f"{type(error).__name__}: {error}"
    return usable


def _recognised(content: Content, readers: dict[str, Reader], broken: dict[str, str]) -> str:
    """Return the name of the format of a content."""
    for size in (_HEAD_BYTES, _LONG_HEAD_BYTES):
        head = content.head(size)
        best, sure = _surest(head, content.name, readers)
        # What is something else for certain is not given to a reader that only hopes.
        if sure >= _CERTAIN or (sure > 0 and verdict(head, content.name) is None):
            return best
        if content.size <= size:
            break
    error = refused(content.head(_HEAD_BYTES), content.name, list(readers))
    for name, reason in broken.items():
        error.add_note(f"Format {name!r} could not be asked: its reader is broken ({reason}).")
    raise error


def _read(content: Content, format: str, reader: Any, options: dict[str, Any]) -> Trace:
    """Let a reader read, with as much of what is asked as it takes."""
    from_file = content.file is not None and hasattr(reader, "read_file")
    function = reader.read_file if from_file else reader.read
    takes = _checked(function, format, options)
    given = {"path": content.name, "limits": content.limits, "progress": content.progress}
    passed = {name: value for name, value in given.items() if name in takes}
    held = content.file if from_file else content.data()
    content.tell("Reading", 0, 0)
    trace: Trace = function(held, **passed, **options)
    # Readers that know the limits stop sooner; the others are held to them here.
    content.limits.check("events", len(trace.events) + len(trace.counters), content.name)
    if content.cut:
        trace = replace(trace, health=trace.health.with_note("cut_archive", 1, content.cut))
    return trace


def _checked(
    function: Any, format: str, options: dict[str, Any]
) -> Mapping[str, inspect.Parameter]:
    """Return what a reader or writer takes; refuse options that it does not have."""
    takes = inspect.signature(function).parameters
    known = [
        name for name, one in takes.items() if one.kind is one.KEYWORD_ONLY and name not in _GIVEN
    ]
    if not any(one.kind is one.VAR_KEYWORD for one in takes.values()):
        for name in options:
            if name not in known:
                told = f"It takes {', '.join(sorted(known))}." if known else "It takes none."
                raise TypeError(
                    f"{name}={options[name]!r:.50}: format {format!r} has no such option."
                    f"{close_match(name, known)} {told}"
                )
    return takes


def save(
    trace: HasTrace,
    path: StrPath,
    *,
    format: str | None = None,
    source: bool = True,
    private: bool = True,
    **options: Any,
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
    **options
        What the format takes besides: ``layout="mxnet"`` of Chrome traces.

    Raises
    ------
    UnknownFormatError
        No writer goes with the ending or the name.
    WriteError
        The path cannot be written; a file that stood there before is untouched.
    MissingPackageError
        The format needs a package that is not installed.
    TypeError
        The format has no such option.
    """
    writer = find_writer(path, format=format)
    _checked(writer.write, format or os.path.splitext(os.fspath(path))[1], options)
    written = fit_to_travel(trace_of(trace), source=source, private=private)
    with writing(path) as file:
        writer.write(written, file, **options)


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

"""What a trace is read from: a path, bytes or a file object, taken within bounds."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, TypeAlias

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import UnknownFormatError
from mxprof_nb.io.limits import Limits

__all__ = ["Content", "Progress", "Source", "Sources", "filled", "in_utf8", "opened", "pieces"]

#: What a trace can be read from.
Source: TypeAlias = StrPath | bytes | bytearray | memoryview | IO[bytes] | IO[str]
#: The same, or several files of one run.
Sources: TypeAlias = Source | list[Source] | tuple[Source, ...]
#: Told what is done, how many bytes of it are, and how many there are to do, 0 when not known.
Progress: TypeAlias = Callable[[str, int, int], None]

#: Memory is taken, and progress told, in steps of this.
_PIECE_BYTES = 1 << 20
#: Marks at the begin of texts of other encodings, as PowerShell and Excel write; longest first.
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _tell_nobody(doing: str, done: int, total: int) -> None:
    """Stand in for progress that nobody wants to know of."""


class Content:
    """Some bytes and their name; a file stays on disk until its bytes are asked for.

    Parameters
    ----------
    name : str
        The path, the ``name`` of a file object, or ``"<bytes>"``; for messages.
    data : bytes, optional
        The bytes.
    file : str, optional
        Path of the file that holds just them, where there is one.
    """

    def __init__(
        self,
        name: str,
        data: bytes | None = None,
        *,
        file: str | None = None,
        limits: Limits,
        progress: Progress | None = None,
    ) -> None:
        self.name = name
        self.file = file
        self.limits = limits
        self._data = data
        self.progress: Progress = progress or _tell_nobody
        #: What was wrong with the archive or encoding it comes from, empty when nothing was.
        self.cut = ""

    @property
    def size(self) -> int:
        """Number of bytes."""
        if self._data is not None or self.file is None:
            return len(self._data or b"")
        return os.stat(self.file).st_size

    def head(self, size: int) -> bytes:
        """Return the first bytes, or all there are."""
        if self._data is not None or self.file is None:
            return (self._data or b"")[:size]
        with open(self.file, "rb") as file:
            return file.read(size)

    @contextmanager
    def stream(self) -> Iterator[IO[bytes]]:
        """Give a file object over the bytes, at their begin; it can seek."""
        if self._data is None and self.file is not None:
            with open(self.file, "rb") as file:
                yield file
        else:
            yield BytesIO(self._data or b"")

    def data(self) -> bytes:
        """Return all bytes.

        Raises
        ------
        LimitExceededError
            There are more than the limits allow; none was read.
        """
        if self._data is None and self.file is not None:
            with open(self.file, "rb") as file:
                self._data = filled(pieces(file), self, "Reading", self.size)
        return self._data or b""

    def tell(self, doing: str, done: int, total: int) -> None:
        """Tell whoever wants to know how far it is."""
        self.progress(f"{doing} {os.path.basename(self.name)}", done, total)

    def inside(self, member: str, data: bytes) -> Content:
        """Return the content of something that was packed in this one."""
        name = f"{self.name}/{member}" if member else self.name
        return Content(name, data, limits=self.limits, progress=self.progress)


def opened(source: Source, limits: Limits, progress: Progress | None = None) -> Content:
    """Return the content of a source.

    Parameters
    ----------
    source : path, bytes, or file object
        A file object is read from where it stands and left open; text is encoded as UTF-8.
    limits : Limits
        How much may be read.
    progress : callable, optional
        Told how far reading is.

    Raises
    ------
    TypeError
        It is none of these.
    UnknownFormatError
        The path is that of a folder, or an address on the network.
    LimitExceededError
        There are more bytes than the limits allow.
    OSError
        The file does not exist or cannot be read.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        limits.check("total_bytes", memoryview(source).nbytes, "<bytes>")
        return Content("<bytes>", bytes(source), limits=limits, progress=progress)
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        try:
            mode = os.stat(name).st_mode
        except FileNotFoundError:
            if re.match("[a-zA-Z][a-zA-Z0-9+.-]+://", os.fsdecode(name)):
                raise UnknownFormatError.at(
                    os.fsdecode(name),
                    "",
                    "it is an address, and nothing is fetched from elsewhere.",
                    "Download it and load the file.",
                ) from None
            raise
        if stat.S_ISDIR(mode):
            raise _folder(name)
        if stat.S_ISREG(mode):
            content = Content(name, file=name, limits=limits, progress=progress)
            limits.check("total_bytes", content.size, name)
            return content
        with open(name, "rb") as pipe:
            content = Content(name, limits=limits, progress=progress)
            content._data = filled(pieces(pipe), content, "Reading", 0)
            return content
    if not callable(getattr(source, "read", None)):
        raise TypeError(
            f"source={source!r:.100}: a path, bytes or a file open for reading is needed, not "
            f"{type(source).__name__}."
        )
    called = getattr(source, "name", None)
    content = Content(called if type(called) is str else "<file>", limits=limits, progress=progress)
    content._data = filled(pieces(source), content, "Reading", 0)
    return content


def in_utf8(content: Content) -> Content:
    """Return a text that says of itself to be in UTF-16 or UTF-32 in UTF-8, all else as it is.

    Raises
    ------
    LimitExceededError
        It is larger than the limits allow.
    """
    head = content.head(4)
    encoding = next((name for mark, name in _WIDE if head.startswith(mark)), "")
    if not encoding:
        return content
    data, problem = content.data(), ""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as cause:
        problem = (
            f"The text in {encoding.upper()} is damaged from byte {cause.start:,} on "
            f"({cause.reason}): what is no character there shows as \N{REPLACEMENT CHARACTER}."
        )
        text = data.decode(encoding, "replace")
    told = Content(content.name, text.encode(), limits=content.limits, progress=content.progress)
    told.cut = " ".join(filter(None, (content.cut, problem)))
    content.limits.check("total_bytes", told.size, content.name)
    return told


def pieces(file: IO[bytes] | IO[str]) -> Iterator[bytes]:
    """Give what a file object holds, piece by piece."""
    while piece := file.read(_PIECE_BYTES):
        if isinstance(piece, str):
            piece = piece.encode("utf-8", "surrogatepass")
        yield bytes(piece)


def filled(
    parts: Iterator[bytes], content: Content, doing: str, total: int, packed: int = 0
) -> bytes:
    """Return all parts as one, unless they become more than the limits allow.

    Parameters
    ----------
    parts : iterator of bytes
    content : Content
        Whose name, limits and progress these are.
    doing : str
        For the progress.
    total : int
        How many bytes there will be, 0 when not known.
    packed : int
        How many bytes they are made from, 0 when they are not unpacked.

    Raises
    ------
    LimitExceededError
    """
    # A BytesIO gives away what it grew in without a copy.
    whole = BytesIO()
    done = 0
    for part in parts:
        done += len(part)
        if packed:
            content.limits.check_unpacked(done, packed, content.name)
        else:
            content.limits.check("total_bytes", done, content.name)
        whole.write(part)
        content.tell(doing, done, total)
    return whole.getvalue()


def _folder(name: str) -> Exception:
    """Return the error for a folder, which names what lies in it."""
    try:
        inside = sorted(entry.name for entry in os.scandir(name) if entry.is_file())
    except OSError:
        inside = []
    more = f" and {len(inside) - 5:,} more" if len(inside) > 5 else ""
    told = f"It holds {', '.join(map(repr, inside[:5]))}{more}; n" if inside else "N"
    return UnknownFormatError.at(name, "", "it is a folder.", f"{told}ame the file to read.")

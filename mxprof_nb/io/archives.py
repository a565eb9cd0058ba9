"""Content out of gzip and zip, unpacked piece by piece so that no archive can fill the memory."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO, Any

from mxprof_nb.errors import CorruptTraceError, LimitExceededError, ReadError, UnknownFormatError
from mxprof_nb.io.content import Content, filled, pieces

__all__ = ["DAMAGE", "first_name", "is_gzip", "is_zip", "unpacked_gzip", "unpacked_zip"]

_PIECE_BYTES = 1 << 20
#: What `zipfile` raises about a damaged archive, from whatever place in it.
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, LookupError,
           OverflowError)  # fmt: skip
#: So many files of an archive are looked at to find the trace among them.
_MOST_MEMBERS = 1_000
_AGAIN = "The file was cut off or changed; copy it again from where it came."


def is_gzip(head: bytes) -> bool:
    """Return whether content that begins so is a gzip stream."""
    return head.startswith(b"\x1f\x8b")


def is_zip(head: bytes) -> bool:
    """Return whether content that begins so is a zip archive; an empty one begins at its end."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def first_name(head: bytes) -> bytes:
    """Return the begin of a zip archive up to the end of the first name, and none of its content.

    By this a format that is an archive itself is recognised; what a file in it holds, not packed,
    looks like a log or a trace too.
    """
    length = int.from_bytes(head[26:28], "little")
    return head[: 30 + length]


def unpacked_gzip(content: Content) -> Content:
    """Return what a gzip stream holds; several one after the other are one.

    Of a damaged one it is what comes before the damage, which ``cut`` of the content tells.

    Raises
    ------
    CorruptTraceError
        The stream is damaged from its begin.
    LimitExceededError
        It holds more than the limits allow.
    """
    problem: list[Exception] = []

    def whole_pieces() -> Iterator[bytes]:
        try:
            yield from _gunzip(file)
        except (EOFError, zlib.error) as cause:
            problem.append(cause)

    with content.stream() as file:
        data = filled(whole_pieces(), content, "Unpacking", 0, content.size)
    if problem and not data:
        raise CorruptTraceError.at(
            content.name, "gzip stream", f"it cannot be unpacked ({problem[0]}).", _AGAIN
        ) from problem[0]
    inside = content.inside("", data)
    if problem:
        inside.cut = (
            f"The gzip stream is damaged ({problem[0]}): what could be unpacked before that is "
            f"here. {_AGAIN}"
        )
    return inside


def _gunzip(file: IO[bytes]) -> Iterator[bytes]:
    packed = b""
    while packed or (packed := file.read(_PIECE_BYTES)):
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            packed = packed or file.read(_PIECE_BYTES)
            if not packed:
                raise EOFError("it ends too soon")
            before = stream.copy()
            try:
                yield stream.decompress(packed, _PIECE_BYTES)
            except zlib.error:
                yield from _until_error(before, packed)
            packed = stream.unconsumed_tail
        # Streams may follow each other, and zeros may fill up a block of tape.
        packed = stream.unused_data
        while not (packed := packed.lstrip(b"\0")):
            packed = file.read(_PIECE_BYTES)
            if not packed:
                return


def _until_error(stream: Any, packed: bytes) -> Iterator[bytes]:
    """Yield what can be unpacked before the damage, byte by byte."""
    for place in range(len(packed)):
        yield stream.decompress(packed[place : place + 1], _PIECE_BYTES)


def unpacked_zip(content: Content, sure: Callable[[bytes, str], float], head: int) -> Content:
    """Return the trace in a zip archive: its only file, or the only one that is a trace.

    Parameters
    ----------
    content : Content
        The archive. Nothing of it is written anywhere.
    sure : callable
        Returns how sure readers are that content with a head and name is theirs, 0 to 1.
    head : int
        How many bytes the head is.

    Raises
    ------
    UnknownFormatError
        No file in it is a trace, or several are.
    CorruptTraceError
        The archive is damaged, or packed in a way that cannot be read.
    LimitExceededError
        It holds more files than are looked through, or the trace is larger than allowed.
    """
    with content.stream() as file:
        try:
            with zipfile.ZipFile(file) as archive:
                member = _chosen(archive, content.name, sure, head)
                _check_packing(member)
                with archive.open(member) as packed:
                    data = filled(
                        pieces(packed),
                        content,
                        "Unpacking",
                        member.file_size,
                        max(member.compress_size, 1),
                    )
        except ReadError:
            raise
        except DAMAGE as cause:
            raise CorruptTraceError.at(
                content.name, "zip archive", f"it cannot be unpacked ({cause}).", _AGAIN
            ) from cause
        except (NotImplementedError, RuntimeError) as cause:  # a way of packing; a password
            raise CorruptTraceError.at(
                content.name,
                "zip archive",
                f"it cannot be unpacked here ({cause}).",
                "Unpack it and name the trace.",
            ) from cause
    return content.inside(member.filename, data)


def _chosen(
    archive: zipfile.ZipFile, name: str, sure: Callable[[bytes, str], float], head: int
) -> zipfile.ZipInfo:
    members = [one for one in archive.infolist() if not _is_clutter(one)]
    if len(members) == 1:
        return members[0]
    if len(members) > _MOST_MEMBERS:
        raise LimitExceededError.at(
            name,
            "zip archive",
            f"it holds {len(members):,} files, too many to look for a trace in.",
            "Unpack it and name the trace.",
        )
    found = []
    for member in members:
        _check_packing(member)
        with archive.open(member) as packed:
            found.append((sure(_head(packed, head), member.filename), member))
    best = max((each for each, _ in found), default=0.0)
    # Any JSON may be a trace; one that is for certain leaves the others out.
    traces = [member for each, member in found if each > 0 and (each >= 0.5 or best < 0.5)]
    if len(traces) == 1:
        return traces[0]
    if not traces:
        told = f"none of its {len(members):,} files is a trace" if members else "it is empty"
        raise UnknownFormatError.at(
            name, "zip archive", f"{told}{_listed(members)}.", "Name a trace."
        )
    raise UnknownFormatError.at(
        name,
        "zip archive",
        f"{len(traces):,} of its files may be the trace{_listed(traces)}.",
        "Unpack it and name the one to read.",
    )


def _check_packing(member: zipfile.ZipInfo) -> None:
    """Refuse what Python unpacks without a bound on what comes out at once."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NotImplementedError(f"packed by method {member.compress_type}, not by deflate")


def _head(packed: IO[bytes], size: int) -> bytes:
    """Return the begin of a member, also when that is packed once more."""
    begin = packed.read(size)
    if not is_gzip(begin):
        return begin
    try:
        return zlib.decompressobj(wbits=31).decompress(begin, size)
    except zlib.error:
        return begin


def _is_clutter(member: zipfile.ZipInfo) -> bool:
    """Return whether an entry is a folder, or what file managers leave beside the files."""
    path = PurePosixPath(member.filename)
    return (
        member.filename.endswith("/") or path.parts[:1] == ("__MACOSX",) or path.name == ".DS_Store"
    )


def _listed(members: list[zipfile.ZipInfo]) -> str:
    names = [repr(member.filename) for member in members[:5]]
    more = f" and {len(members) - 5:,} more" if len(members) > 5 else ""
    return f": {', '.join(names)}{more}" if names else ""

"""What a file is that is no trace, and what its owner can do about it.

Told from how it begins, never by opening it with what wrote it: a pickle runs code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mxprof_nb.errors import ReadError, UnknownFormatError

__all__ = ["Verdict", "refused", "verdict"]


class Verdict(NamedTuple):
    """What a file is, to be read after "it is no trace but", and what to do."""

    kind: str
    remedy: str


_LFS = "Fetch the file itself: git lfs pull."
_NSYS = (
    "Export it with Nsight Systems: nsys export --type sqlite --output report.sqlite "
    "{name}, and load report.sqlite."
)
_NCU = (
    "Export it with Nsight Compute: ncu --import {name} --csv --page raw > report.csv, load that."
)
_NVVP = (
    "It names the session and holds no times; export from nvprof with --export-profile or --csv, "
    "and load that file."
)
_PROTO = "Save it as JSON: in {viewer}, or have the profiler write JSON."
_TABLE = (
    "It holds sums, not events: set_config(aggregate_stats=True) adds it to the dump, so load the "
    "file that profiler.dump() writes."
)
_UNPACK = "Unpack it and load what comes out."
_MODEL = "It holds arrays, no times: load the file that the profiler wrote."
_NOTEBOOK = "Open it in Jupyter; a trace is what mp.save or a profiler writes."

#: Beginnings that mean one thing.
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, which stands for the file",
        _LFS,
    ),
    (b"QDSTRM", "a binary stream of Nsight Systems (.qdstrm)", _NSYS),
    (b"NVR\0", "a binary report of Nsight Compute", _NCU),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture", "Load the trace that the picture was made from."),
    (b"\xff\xd8\xff", "a JPEG picture", "Load the trace that the picture was made from."),
    (b"GIF8", "a GIF picture", "Load the trace that the picture was made from."),
    (b"%PDF-", "a PDF document", "Load the trace that the document was made from."),
    (b"\x7fELF", "a program", "Load the file that it wrote."),
    (b"\x12\x01\0\0\0\0\0\0", "a file of MXNet arrays (.params, .nd)", _MODEL),
    (b"\x93NUMPY", "a NumPy array", _MODEL),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", _MODEL),
    (b"(\xb5/\xfd", "packed with zstd", _UNPACK),
    (b"\xfd7zXZ\0", "packed with xz", _UNPACK),
    (b"BZh", "packed with bzip2", _UNPACK),
    (b"\x04\x22\x4d\x18", "packed with lz4", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (b"\x1f\x8b", "packed with gzip many times over", _UNPACK),
)
#: Protobuf has no magic: field 1, a message, stands at the begin of each row.
_MESSAGE = b"\n"


def verdict(head: bytes, path: str) -> Verdict | None:
    """Return what a file that begins so is, None when that is not known.

    Parameters
    ----------
    head : bytes
        The begin, some kilobytes at least where there are as many.
    path : str
        Its name; only looked at where content cannot tell.
    """
    if not head:
        return Verdict("empty", "Its program has not written it yet, or was stopped before.")
    name = path.lower()
    for magic, kind, remedy in _MAGIC:
        if head.startswith(magic):
            return Verdict(kind, remedy)
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05" and head[1:2]:
        return Verdict(
            "a pickle, which is never opened because it can run any code",
            "Save what it holds with mp.save.",
        )
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return Verdict("a WebP picture", "Load the trace that the picture was made from.")
    if head[257:262] == b"ustar":
        return Verdict("a tar archive", _UNPACK)
    return _by_text(head) if _is_text(head) else _by_name(head, name)


def _by_text(head: bytes) -> Verdict | None:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    start = text[:512].lower()
    if not text:
        return Verdict("blank: it holds only white space", "Load the file that the profiler wrote.")
    if start.startswith((b"<!doctype html", b"<html", b"<head")) or b"<html" in start:
        return Verdict(
            "an HTML page",
            "A web server or a login page answered instead of the file: download it again, the "
            "raw file. A report of mxprof_nb is for a browser; load the trace beside it.",
        )
    if b"<!doctype svg" in start or b"<svg" in start:
        return Verdict("an SVG picture", "Load the trace that the picture was made from.")
    if start.startswith(b"<?xml") or (start.startswith(b"<") and b"xmlns" in start):
        if b"nvvp" in text or b"com.nvidia" in text or b"<launchConfiguration" in text:
            return Verdict("session XML of the NVIDIA Visual Profiler (.nvvp)", _NVVP)
        return Verdict("XML", "No profiler whose files can be read writes XML.")
    for test, found in _TEXTS:
        if test(text):
            return found
    return None


def _has(*keys: bytes) -> Callable[[bytes], bool]:
    return lambda text: text.startswith(b"{") and all(b'"%s"' % key in text for key in keys)


_SPEEDSCOPE = "Load the trace it was made from, or convert it to Chrome's format."
_TEXTS: tuple[tuple[Callable[[bytes], bool], Verdict], ...] = (
    (_has(b"cells", b"cell_type"), Verdict("a Jupyter notebook", _NOTEBOOK)),
    (_has(b"nbformat", b"cells"), Verdict("a Jupyter notebook", _NOTEBOOK)),
    (_has(b"Time", b"Memory", b"Unit"), Verdict("MXNet's table of sums as JSON", _TABLE)),
    (_has(b"Time", b"Count", b"Total"), Verdict("MXNet's table of sums as JSON", _TABLE)),
    (
        lambda text: text.startswith(b"Profile Statistics:"),
        Verdict("MXNet's table of sums, which profiler.dumps() returns", _TABLE),
    ),
    (_has(b"$schema", b"shared"), Verdict("a profile of speedscope", _SPEEDSCOPE)),
    (_has(b"nodes", b"arg_nodes"), Verdict("a symbol: the graph of a network", _MODEL)),
    (
        _has(b"nodes", b"startTime", b"timeDeltas"),
        Verdict("a CPU profile of V8 (.cpuprofile)", _SPEEDSCOPE),
    ),
)


def _by_name(head: bytes, name: str) -> Verdict | None:
    """Return what a binary file is, by its name where its content does not tell."""
    if name.endswith((".nsys-rep", ".qdrep")):
        return Verdict("a binary report of Nsight Systems", _NSYS)
    if name.endswith((".ncu-rep", ".nv-nsight-cuprof-report")):
        return Verdict("a binary report of Nsight Compute", _NCU)
    first = _first_message(head)
    # An XPlane has a number and a name like /host:CPU, or the name alone.
    if first[:2] == b"\x08\x01" or first[:1] == b"\x12" or name.endswith(".xplane.pb"):
        viewer = "TensorBoard's trace viewer, which keeps trace.json.gz beside it"
        return Verdict("a binary XPlane of JAX or TensorFlow", _PROTO.format(viewer=viewer))
    if first or name.endswith((".pftrace", ".perfetto-trace")):
        viewer = "Perfetto, with `traceconv json`"
        return Verdict("a binary trace of Perfetto", _PROTO.format(viewer=viewer))
    return None


def _first_message(head: bytes) -> bytes:
    """Return the first message of a protobuf file that is a row of them, empty if it is none."""
    if head[:1] != _MESSAGE:
        return b""
    size, shift, at = 0, 0, 1
    for byte in head[1:6]:
        size |= (byte & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if byte < 0x80:
            break
    follows = head[at + size : at + size + 1]
    return head[at : at + size] if size and follows in (b"", _MESSAGE) else b""


def _is_text(head: bytes) -> bool:
    return b"\0" not in head[:1024] and sum(byte < 9 for byte in head[:256]) == 0


def refused(head: bytes, path: str, known: list[str]) -> ReadError:
    """Return the error for a file that no reader takes.

    Parameters
    ----------
    head : bytes
        How it begins.
    path : str
    known : list of str
        Formats that can be read.
    """
    found = verdict(head, path)
    if found is None:
        return UnknownFormatError.at(
            path,
            "",
            f"no reader recognises the content, which begins with {head[:20]!r}.",
            f"Formats that can be read: {', '.join(sorted(known))}.",
        )
    other = "" if found.kind.startswith(("empty", "blank", "packed")) else "no trace but "
    return UnknownFormatError.at(
        path, "", f"it is {other}{found.kind}.", found.remedy.replace("{name}", path)
    )

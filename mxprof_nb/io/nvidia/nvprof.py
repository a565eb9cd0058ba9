"""The reader of what nvprof writes: databases (``-o``) and CSV of traces and summaries.

See `nvprof_rows` for the database, and `nvprof_csv` for CSV.
"""

from __future__ import annotations

from mxprof_nb.io.limits import Limits
from mxprof_nb.io.nvidia import nvprof_csv
from mxprof_nb.io.nvidia.database import MAGIC
from mxprof_nb.trace import Trace

__all__ = ["read", "read_file", "sniff"]

_SUFFIXES = (".nvprof", ".nvvp", ".prof")


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is nvprof's, 0 to 1."""
    if head.startswith(MAGIC):
        is_named = path.lower().endswith(_SUFFIXES) or b"CREATE TABLE StringTable" in head
        return 0.95 if is_named else 0.5
    return nvprof_csv.sniff(head)


def read(content: bytes, *, path: str = "<bytes>", limits: Limits | None = None) -> Trace:
    """Read a database or CSV of nvprof.

    Parameters
    ----------
    content : bytes
    path : str
        For messages and the title.
    limits : Limits, optional

    Returns
    -------
    Trace

    Raises
    ------
    UnknownFormatError
        It is another database, or no table stands in the text.
    CorruptTraceError
        It is damaged.
    LimitExceededError
        It asks for more than the limits allow.
    """
    if content.startswith(MAGIC):
        from mxprof_nb.io.nvidia import nsys

        return nsys.read(content, path=path, limits=limits)
    return nvprof_csv.read(content, path=path, limits=limits)


def read_file(file: str, *, path: str = "", limits: Limits | None = None) -> Trace:
    """Read a file where it lies, like `read`."""
    with open(file, "rb") as opened:
        is_database = opened.read(len(MAGIC)) == MAGIC
        opened.seek(0)
        if not is_database:
            return read(opened.read(), path=path or file, limits=limits)
    from mxprof_nb.io.nvidia import nsys

    return nsys.read_file(file, path=path or file, limits=limits)

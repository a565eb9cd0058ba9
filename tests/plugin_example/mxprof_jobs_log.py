"""A reader in small: a first line ``jobs log 1``, then ``NAME BEGIN_NS END_NS`` on each line.

A module with two functions is all that mxprof_nb asks of a reader.
"""

from __future__ import annotations

from mxprof_nb.errors import CorruptTraceError
from mxprof_nb.io import Limits
from mxprof_nb.trace import Trace, TraceBuilder

HEAD = b"jobs log 1\n"


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that a file that begins so is a log of jobs."""
    return 1.0 if head.startswith(HEAD) else 0.0


def read(content: bytes, *, path: str, limits: Limits) -> Trace:
    """Return the trace of a log; a line that is none is an error that says which."""
    if not content.startswith(HEAD):
        raise CorruptTraceError.at(path, "line 1", "it is no log of jobs.", "")
    builder = TraceBuilder()
    worker = builder.track("jobs worker", role="worker", backend="jobs")
    lines = content.decode("utf-8", "replace").splitlines()[1:]
    limits.check("events", len(lines), path)
    for number, line in enumerate(lines, 2):
        try:
            name, begin, end = line.rsplit(" ", 2)
            start_ns, dur_ns = int(begin), int(end) - int(begin)
            if not (0 <= dur_ns < 2**62 and abs(start_ns) < 2**62):
                raise ValueError("these are no times")
        except ValueError as cause:
            raise CorruptTraceError.at(
                path, f"line {number}", f"{line!r:.80} is no job ({cause}).", ""
            ) from cause
        builder.event(name, track=worker, start_ns=start_ns, dur_ns=dur_ns, category="operator")
    return builder.build()

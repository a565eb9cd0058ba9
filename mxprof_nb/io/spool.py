"""The reader of spools: what `mx.profiler` has recorded and not yet put into its JSON.

After a process was killed it is all that was flushed. Its last part may be torn: what is whole
is read, and the health of the trace says how much was cut off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mxprof_nb.errors import CorruptTraceError
from mxprof_nb.record import freeze
from mxprof_nb.record.spool import MAGIC, SpoolReader
from mxprof_nb.trace import Meta, Trace

__all__ = ["read", "sniff"]


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is a spool, 0 to 1."""
    if head.startswith(MAGIC):
        return 1.0
    return 0.5 if path.endswith(".spool") else 0.0


def read(content: bytes, *, path: str = "<bytes>") -> Trace:
    """Read a spool.

    Parameters
    ----------
    content : bytes
    path : str
        For messages.

    Returns
    -------
    Trace
        Everything before the first damage.

    Raises
    ------
    CorruptTraceError
        This is no spool, or its head is damaged.
    UnsupportedVersionError
        Another release of mxprof_nb wrote it.
    """
    reader = SpoolReader(lambda offset, size: content[offset : offset + size], path)
    facts: dict[str, Any] = {
        name: reader.facts[name] for name in ("backend", "title") if name in reader.facts
    }
    try:
        trace = freeze(reader.all(), Meta(**facts))
    except (KeyError, ValueError, TypeError) as cause:
        raise CorruptTraceError.at(
            path, f"byte {reader.offset}", f"a part does not hold together ({cause!r}).", ""
        ) from cause
    lost = len(content) - reader.offset
    if not lost:
        return trace
    said = (
        f"The last {lost:,} bytes of the spool are torn or damaged and were cut off; "
        "everything before them is here."
    )
    return replace(trace, health=trace.health.with_note("cut_off", lost, said))

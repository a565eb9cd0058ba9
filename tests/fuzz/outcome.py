"""What reading any content may come to: a trace, or an error that says what is wrong."""

from __future__ import annotations

import time
import tracemalloc

from mxprof_nb.errors import ReadError
from mxprof_nb.io import Limits, load

__all__ = ["LIMITS", "outcome"]

#: Tight enough that whoever does not keep to them is found out.
LIMITS = Limits(
    total_bytes=32 << 20, events=200_000, rows=200_000, string_bytes=1 << 20, nesting=100
)
MOST_BYTES = 256 << 20
MOST_SECONDS = 10.0


def outcome(format: str, content: bytes, *, measure: bool = True) -> str:
    """Read content and return "trace", or the name of the error.

    Parameters
    ----------
    format : str
        The reader that gets it, whatever it recognises.
    content : bytes
    measure : bool
        Check that reading takes little time of the processor and little memory.

    Raises
    ------
    AssertionError
        It took too much.
    Exception
        Whatever the reader raised beside a `ReadError`.
    """
    if measure:
        tracemalloc.start()
    begin = time.process_time()
    try:
        trace = load(content, format=format, limits=LIMITS)
        repr(trace)
        found = "trace"
    except ReadError as error:
        found = type(error).__name__
    finally:
        peak = 0
        if measure:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
    seconds = time.process_time() - begin
    assert seconds < MOST_SECONDS, f"{len(content):,} bytes took {seconds:.1f} s"
    assert peak < MOST_BYTES, f"{len(content):,} bytes took {peak:,} bytes of memory"
    return found

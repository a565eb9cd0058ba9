"""What reading any content may come to: a trace, or an error that says what is wrong."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

from mxprof_nb.errors import ReadError
from mxprof_nb.io import Limits, load

__all__ = ["LIMITS", "outcome", "traced_memory"]

#: Tight enough that whoever does not keep to them is found out.
LIMITS = Limits(
    total_bytes=32 << 20, events=200_000, rows=200_000, string_bytes=1 << 20, nesting=100
)
MOST_BYTES = 256 << 20
MOST_SECONDS = 10.0


@contextmanager
def traced_memory() -> Iterator[None]:
    """Trace Python's memory inside the block, which `outcome` then judges.

    Once for many files: a thread of pyarrow's gives a buffer back a moment after its reader has
    returned, and CPython's own race (gh-128679, mended in 3.12.9 and 3.13.2) ends the process
    where tracing stops in that moment.
    """
    tracemalloc.start()
    try:
        yield
    finally:
        time.sleep(0.5)
        tracemalloc.stop()


def outcome(format: str, content: bytes) -> str:
    """Read content and return "trace", or the name of the error.

    Parameters
    ----------
    format : str
        The reader that gets it, whatever it recognises.
    content : bytes

    Raises
    ------
    AssertionError
        It took too much time of the processor, or, inside `traced_memory`, too much memory.
    Exception
        Whatever the reader raised beside a `ReadError`.
    """
    before = 0
    if tracemalloc.is_tracing():
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
    begin = time.process_time()
    try:
        trace = load(content, format=format, limits=LIMITS)
        repr(trace)
        found = "trace"
    except ReadError as error:
        found = type(error).__name__
    peak = tracemalloc.get_traced_memory()[1] - before
    seconds = time.process_time() - begin
    assert seconds < MOST_SECONDS, f"{len(content):,} bytes took {seconds:.1f} s"
    assert peak < MOST_BYTES, f"{len(content):,} bytes took {peak:,} bytes of memory"
    return found

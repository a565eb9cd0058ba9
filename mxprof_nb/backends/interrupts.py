"""Ctrl-C: when it is heard, and when it has to wait. Only the main thread gets signals."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from mxprof_nb.record.signals import held_back

__all__ = ["heard", "held_back"]

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def heard() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt in the block.

    A kernel that runs an ``await`` turns it into a cancellation, which code that does not give
    way to the event loop never hears.
    """
    with _handled_by(signal.default_int_handler):
        yield


@contextmanager
def _handled_by(handler: Handler) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        # None: not installed from Python, so it cannot be put back from here.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)

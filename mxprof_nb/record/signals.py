"""`held_back`: signal handlers wait until what must not be left half done is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

__all__ = ["held_back"]

#: What programs handle; Ctrl-C first, so that its handler is back last.
_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGQUIT")
    if hasattr(signal, name)
]


@contextmanager
def held_back() -> Iterator[None]:
    """Deliver a Ctrl-C, or another signal that Python handles, after the block, not within it.

    Only the main thread gets signals; in others nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before: list[tuple[int, Callable[..., Any]]] = []
    try:
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):  # one of Python's, which can be put back
                before.append((number, handler))
                signal.signal(number, lambda number, frame: came.append(number))
        yield
    finally:
        for number, handler in reversed(before):
            signal.signal(number, handler)
        if came:
            with ExitStack() as all_of_them:
                for number in reversed(came):
                    all_of_them.callback(signal.raise_signal, number)

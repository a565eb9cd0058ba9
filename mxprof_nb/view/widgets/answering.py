"""`Answers`: threads that change one widget, and one of them at a time that answers for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Answers"]


class Answers:
    """Changes are noted under a lock and answered without it: once, for the newest state.

    Parameters
    ----------
    answer : callable
        Answers the state as it then is; it must ask for `closed` under `lock` before it tells.

    Attributes
    ----------
    lock : threading.RLock
        Held by whoever changes the widget.
    closed : bool
        Whether nothing may be told any more; to be set under the lock.
    waiting : bool
        Whether there is a change that nobody has begun to answer.
    """

    def __init__(self, answer: Callable[[], None]) -> None:
        self._answer = answer
        self._depth, self._busy = 0, threading.Lock()
        self.lock = threading.RLock()
        self.closed = self.waiting = False

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Change the widget; what was noted is answered when the outermost of these blocks ends.

        traitlets holds notifications back per object, whatever the thread: two threads that
        change one widget at a time would lose some.
        """
        outermost = False
        try:
            with self.lock:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                    outermost = not self._depth
        finally:
            if outermost:
                self._answer_newest()

    def note(self) -> None:
        """Note that something has changed."""
        with self.changing():
            self.waiting = True

    def _answer_newest(self) -> None:
        """Answer the newest state, unless another thread does and will look once more."""
        while self.waiting and self._busy.acquire(blocking=False):
            try:
                self.waiting = False
                self._answer()
            finally:
                self._busy.release()

"""`Progress`: one line under a long cell while it runs; gone when it has ended.

A thread shows the line after `FIRST_S` and renews it every `EVERY_S`. It is shown only where a
person waits: programs that run notebooks get nothing, nor does a cell whose output is captured.
"""

from __future__ import annotations

import contextvars
import threading
import time
import uuid
from typing import Any

from IPython import get_ipython

from mxprof_nb.backends import LiveCapture
from mxprof_nb.view.kernel import request_of_a_person
from mxprof_nb.view.numbers import count

__all__ = ["EVERY_S", "FIRST_S", "Progress"]

FIRST_S, EVERY_S = 2.0, 1.0


class Progress:
    """The line of one recording, from `start` to `stop`."""

    def __init__(self, live: LiveCapture) -> None:
        self._live = live
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Show the line when the code takes long, if a person waits for it."""
        shell = get_ipython()
        if shell is None or request_of_a_person() is None:
            return
        publisher = shell.display_pub
        if not isinstance(publisher, shell.display_pub_class):
            return  # somebody captures what is displayed
        # The kernel keeps in the context which cell an output belongs to.
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._tell, publisher), name="mxprof progress", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Take the line away; nothing happens when there is none."""
        self._ended.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _tell(self, publisher: Any) -> None:
        begin = time.monotonic()
        line = {"display_id": uuid.uuid4().hex}
        shown = False
        while not self._ended.wait(EVERY_S if shown else FIRST_S):
            seconds = round(time.monotonic() - begin)
            recorded = self._live.recorded
            events = "" if recorded is None else f"{count(recorded, 'event')}, "
            text = f"Recording: {events}{seconds} s"
            self._publish(publisher, text, line, update=shown)
            shown = True
        if shown:
            self._publish(publisher, "", line, update=True)

    @staticmethod
    def _publish(publisher: Any, text: str, line: dict[str, str], *, update: bool) -> None:
        html = f'<span style="opacity:.7">{text}</span>' if text else ""
        publisher.publish(
            data={"text/plain": text, "text/html": html}, transient=line, update=update
        )

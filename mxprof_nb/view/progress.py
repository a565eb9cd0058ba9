"""`ProgressLine`: one line while something takes long; gone when it has ended.

A thread shows the line after `FIRST_S` and renews it every `EVERY_S`. It is shown only where a
person waits, under the cell of a notebook or on a terminal: programs that run notebooks, pipes and
cells whose output is captured get nothing.
"""

from __future__ import annotations

import contextvars
import sys
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any, Protocol, Self

from mxprof_nb.view.kernel import request_of_a_person

__all__ = ["EVERY_S", "FIRST_S", "ProgressLine", "ReadingLine"]

FIRST_S, EVERY_S = 2.0, 1.0


class _Screen(Protocol):
    def show(self, text: str) -> None:
        """Show a text in place of the last one; an empty one takes the line away."""
        ...


class ProgressLine:
    """A line about something that goes on between `start` and `stop`, or in a ``with`` block.

    Parameters
    ----------
    text : callable
        Returns the line; called in the line's own thread with the seconds that have passed.
    on_terminal : bool
        Show it on a terminal too, where there is no notebook.
    """

    def __init__(self, text: Callable[[int], str], *, on_terminal: bool = False) -> None:
        self._text = text
        self._on_terminal = on_terminal
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Show the line when it takes long, if a person waits for it."""
        screen = _screen(self._on_terminal)
        if screen is None:
            return
        # The kernel keeps in the context which cell an output belongs to.
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._tell, screen), name="mxprof progress", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Take the line away; nothing happens when there is none."""
        self._ended.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _tell(self, screen: _Screen) -> None:
        begin = time.monotonic()
        shown = False
        while not self._ended.wait(EVERY_S if shown else FIRST_S):
            screen.show(self._text(round(time.monotonic() - begin)))
            shown = True
        if shown:
            screen.show("")


class ReadingLine(ProgressLine):
    """The line while a file is read; given to the reader as what it tells of its progress."""

    def __init__(self) -> None:
        self._last = ("Reading", 0, 0)
        super().__init__(self._read_so_far, on_terminal=True)

    def __call__(self, doing: str, done: int, total: int) -> None:
        """Take note of how far it is; `mxprof_nb.io.Progress`."""
        self._last = (doing, done, total)

    def _read_so_far(self, seconds: int) -> str:
        doing, done, total = self._last
        part = f"{100 * done // total} %, " if 0 < done <= total else ""
        return f"{doing}: {part}{seconds} s"


def _screen(on_terminal: bool) -> _Screen | None:
    """Return where a person would see the line, None where nobody does."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None and request_of_a_person() is not None:
        publisher = shell.display_pub
        # Somebody may capture what is displayed.
        return _Cell(publisher) if isinstance(publisher, shell.display_pub_class) else None
    if on_terminal and getattr(shell, "kernel", None) is None and _is_terminal():
        return _Terminal()
    return None


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


class _Cell:
    """The output of the cell that runs."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self._line = {"display_id": uuid.uuid4().hex}
        self._is_there = False

    def show(self, text: str) -> None:
        html = f'<span style="opacity:.7">{_escaped(text)}</span>' if text else ""
        self._publisher.publish(
            data={"text/plain": text, "text/html": html},
            transient=self._line,
            update=self._is_there,
        )
        self._is_there = True


class _Terminal:
    """The last line of a terminal."""

    def show(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{''.join(filter(str.isprintable, text))}")
        sys.stderr.flush()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

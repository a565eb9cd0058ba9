"""Finalisers that exist only while somebody records.

They say when an array is dropped and its memory given back. A finaliser costs time for every
object, and Python swallows an exception raised in one: a Ctrl-C that strikes there is delivered
again.
"""

from __future__ import annotations

import _thread
import sys
import time
from collections.abc import Callable
from typing import Any

from mxprof_nb.record import RECORDER

__all__ = ["finalise_with"]

_finalisers: list[Callable[[Any], None]] = []


def finalise_with(kind: type, call: Callable[[Any], None]) -> None:
    """Give a class a finaliser while somebody records, and none otherwise."""

    def switch(on: bool) -> None:
        if on:
            kind.__del__ = call  # type: ignore[attr-defined]
        elif "__del__" in vars(kind):
            del kind.__del__  # type: ignore[attr-defined]

    _finalisers.append(call)
    RECORDER.when_switched(switch)


class _Unraisable:
    """Stands in for `sys.unraisablehook` while somebody records."""

    def __init__(self) -> None:
        self.before: Callable[[Any], Any] = sys.unraisablehook

    def switch(self, on: bool) -> None:
        if on:
            self.before = sys.unraisablehook
            sys.unraisablehook = self.heard
        elif sys.unraisablehook == self.heard:
            sys.unraisablehook = self.before

    def heard(self, unraisable: Any) -> None:
        if unraisable.exc_type is KeyboardInterrupt and unraisable.object in _finalisers:
            # One step: `Thread.start` waits, and the next Ctrl-C would strike in there.
            _thread.start_new_thread(_interrupt_again, ())
        else:
            self.before(unraisable)


def _interrupt_again() -> None:
    time.sleep(0.001)  # by then the finaliser has returned
    _thread.interrupt_main()


RECORDER.when_switched(_Unraisable().switch)

"""How calls into the runtime are recorded: name, begin, end, and the line they came from."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from mxprof_nb.record import RECORDER
from mxprof_nb.record.sites import Place, caller

__all__ = [
    "PACK_EVERY",
    "WORTH_TIMING",
    "api_label",
    "caller",
    "here",
    "note",
    "note_wait",
    "recorded",
]

P = ParamSpec("P")
T = TypeVar("T")

DOMAIN = "MXNET_C_API"
_now = RECORDER.clock.now
#: Appends records of the calling thread.
here = RECORDER.here
#: Numbers that the host's calls may have before somebody looks whether to pack.
_PACK_CHECK = 20_000
#: Of so many operators one has its worker look.
PACK_EVERY = 256
#: Size in bytes from which on dropping an array, or giving its memory back, is timed: the system
#: takes large blocks back page by page. For smaller ones reading the clock takes longer.
WORTH_TIMING = 2**16


def api_label(name: str) -> int:
    """Return the label of a call, under MXNet's name for it."""
    return RECORDER.labels.define(name, "api", DOMAIN)


def note(label: int, start: int, end: int, number: int, place: Place) -> None:
    """Append one record to the buffer of this thread."""
    here.call((start, end, label, number, *place))
    if len(here.buffer.calls) > _PACK_CHECK:
        RECORDER.pack_long()


def recorded(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that records each call under MXNet's name for it."""
    label = api_label(name)

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            if not RECORDER.on:
                return function(*args, **kwargs)
            place = caller(2) if RECORDER.lines else (None, -1)
            start = _now()
            try:
                return function(*args, **kwargs)
            finally:
                note(label, start, _now(), -1, place)

        return call

    return decorate


def note_wait(label: int, wait: Callable[[], tuple[int, int, int]]) -> None:
    """Wait, and record it if it blocked, also when Ctrl-C ends it: then most of all.

    Parameters
    ----------
    label : int
    wait : callable
        Returns when the wait began and ended, in ns, 0 and 0 if it did not block; and the number
        of the operator that ended it, 0 if none did.
    """
    if not RECORDER.on:
        wait()
        return
    begin, end, number = _now(), 0, 0
    try:
        begin, end, number = wait()
    except BaseException:
        end = _now()
        raise
    finally:
        if end:
            place = caller(2) if RECORDER.lines else (None, -1)
            note(label, begin, end, number or -1, place)

"""What a thread wants of the operators it calls: training or prediction, recording or not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "RECORDERS",
    "is_recording",
    "is_training",
    "noting",
    "noting_by",
    "set_recording",
    "set_training",
]

#: Threads that record for gradients. Empty in programs that never do, which costs others nothing
#: but this look; whether the calling thread is one of them, `is_recording` knows.
RECORDERS: set[int] = set()


class _Mode(threading.local):
    training = False
    recording = False
    note: Callable[..., list[Any]] | None = None


_mode = _Mode()


def is_training() -> bool:
    """Whether the operators that this thread calls compute for training."""
    return _mode.training


def set_training(training: bool) -> bool:
    """Choose for this thread, and return what was chosen before."""
    before, _mode.training = _mode.training, bool(training)
    return before


def is_recording() -> bool:
    """Whether the operators that this thread calls are recorded for gradients."""
    return _mode.recording


def set_recording(recording: bool) -> bool:
    """Choose for this thread, and return what was chosen before."""
    before, _mode.recording = _mode.recording, bool(recording)
    (RECORDERS.add if recording else RECORDERS.discard)(threading.get_ident())
    return before


def noting() -> Callable[..., list[Any]] | None:
    """Return what notes the operators that this thread calls instead of running them."""
    return _mode.note


@contextmanager
def noting_by(note: Callable[..., list[Any]] | None, training: bool) -> Iterator[None]:
    """Hand operators that this thread calls to ``note``; to nobody, but the engine, for None.

    Parameters
    ----------
    note : callable or None
        Takes what `mxprof_nb.runtime.nd.array.apply_several` takes, and returns the results.
    training : bool
        What `is_training` says meanwhile.
    """
    before = _mode.note, _mode.training, _mode.recording
    _mode.note, _mode.training = note, training
    set_recording(note is not None)  # for operators to look whether anything is special
    try:
        yield
    finally:
        _mode.note, _mode.training = before[:2]
        set_recording(before[2])

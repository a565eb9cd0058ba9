"""What a thread wants of the operators it calls: training or prediction, recording or not."""

from __future__ import annotations

import threading

__all__ = ["RECORDERS", "is_recording", "is_training", "set_recording", "set_training"]

#: Threads that record for gradients. Empty in programs that never do, which costs others nothing
#: but this look; whether the calling thread is one of them, `is_recording` knows.
RECORDERS: set[int] = set()


class _Mode(threading.local):
    training = False
    recording = False


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

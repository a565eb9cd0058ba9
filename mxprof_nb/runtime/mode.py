"""Whether operators compute for training or for prediction; each thread has its own answer."""

from __future__ import annotations

import threading

__all__ = ["is_training", "set_training"]


class _Mode(threading.local):
    training = False


_mode = _Mode()


def is_training() -> bool:
    """Whether the operators that this thread calls compute for training."""
    return _mode.training


def set_training(training: bool) -> bool:
    """Choose for this thread, and return what was chosen before."""
    before, _mode.training = _mode.training, bool(training)
    return before

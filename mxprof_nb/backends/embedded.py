"""The embedded runtime as a backend: listens to the recorder it writes to."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from weakref import WeakSet

import numpy as np

from mxprof_nb.backends.protocols import Availability, CaptureSession
from mxprof_nb.errors import AlreadyRecordingError, NotRecordingError
from mxprof_nb.record import RECORDER, RecordConfig, freeze
from mxprof_nb.record.recorder import Recording
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.trace import Meta, Trace

__all__ = ["EmbeddedBackend"]

#: By object: the system gives the number of a thread that has ended to another.
_capturing: WeakSet[threading.Thread] = WeakSet()
os.register_at_fork(after_in_child=_capturing.clear)  # the parent's captures are not the child's


class EmbeddedBackend:
    """Records `mxprof_nb.runtime`."""

    name = "embedded"
    capabilities = frozenset({"operators", "api", "memory", "sites", "queue"})

    def availability(self) -> Availability:
        """Return yes: the runtime is part of the package."""
        return Availability(ok=True)

    def capture(self, config: RecordConfig) -> CaptureSession:
        """Start recording in the calling thread.

        Raises
        ------
        AlreadyRecordingError
            A capture already runs in this thread.
        """
        thread = threading.current_thread()
        if thread in _capturing:
            raise AlreadyRecordingError.in_thread(thread.name, "backend embedded")
        default_engine()  # workers exist before the clock starts
        recording = RECORDER.start(config)
        _capturing.add(thread)
        return _EmbeddedSession(recording, thread)


class _EmbeddedSession:
    def __init__(self, recording: Recording, thread: threading.Thread) -> None:
        self._recording: Recording | None = recording
        self._thread = thread
        self._before = RECORDER.records()

    def recorded(self) -> int:
        return max(RECORDER.records() - self._before, 0)

    def pending(self) -> int:
        return default_engine().pending

    def wait(self, timeout_s: float | None = None) -> bool:
        return default_engine().observe(timeout_s)

    def snapshot(self) -> Trace:
        """Return what was recorded so far."""
        if self._recording is None:
            raise NotRecordingError(
                "This capture was stopped already; its trace was returned then."
            )
        self._recording.sync()
        return freeze(self._recording, replace(_META, pending=self.pending()))

    def stop(self) -> Trace:
        recording, self._recording = self._recording, None
        if recording is None:
            raise NotRecordingError(
                "This capture was stopped already; its trace was returned then. Start a new one."
            )
        pending = self.pending()
        recording.stop()
        _capturing.discard(self._thread)
        return freeze(recording, replace(_META, pending=pending))


_META = Meta(
    backend="embedded",
    versions={"python": sys.version.split()[0], "numpy": np.__version__},
)

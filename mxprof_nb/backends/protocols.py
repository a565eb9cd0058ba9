"""What a live capture needs from a runtime.

- `Backend.capture(config)` starts recording in the calling thread and returns a session.
- `CaptureSession.wait` observes the runtime until its queue is empty; it neither raises nor
  clears an error of the program, so that the next cell meets it as it would have.
- `CaptureSession.stop` ends recording and returns what was recorded, once.
- A session may have ``snapshot() -> Trace`` too, which returns what was recorded so far: then a
  profile within a profile can be read before the outer one ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mxprof_nb.record.config import RecordConfig
from mxprof_nb.trace import Trace

__all__ = ["Availability", "Backend", "CaptureSession"]


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a backend can record here; found out without importing its framework."""

    ok: bool
    reason: str = ""
    remedy: str = ""


class CaptureSession(Protocol):
    """One recording in progress."""

    def pending(self) -> int:
        """Return the number of operators that are queued or running now."""
        ...

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is queued; return whether that was reached in time.

        KeyboardInterrupt passes through, so a person can end the wait.
        """
        ...

    def stop(self) -> Trace:
        """End the recording and return what was recorded.

        Raises
        ------
        NotRecordingError
            It was stopped before.
        """
        ...


class Backend(Protocol):
    """A runtime that can be recorded live."""

    name: str
    #: Which of "operators", "api", "memory", "sites", "queue" it can record.
    capabilities: frozenset[str]

    def availability(self) -> Availability:
        """Say whether it can record here."""
        ...

    def capture(self, config: RecordConfig) -> CaptureSession:
        """Start recording.

        Raises
        ------
        AlreadyRecordingError
            A capture already runs in this thread.
        """
        ...

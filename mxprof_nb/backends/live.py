"""`LiveCapture`: one recording on behalf of a person: its thread, its wait, its facts.

- It lives from `start` to `stop`, in one thread; a thread has one at a time.
- Child processes that start meanwhile are not followed; the trace's health names them.
- Before it stops it waits for queued work. The wait is the only part that Ctrl-C can end; what
  was recorded is kept.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from types import CodeType, FrameType
from typing import Any, ClassVar

from mxprof_nb.backends.annotations import Repetition, annotated, with_earlier_work
from mxprof_nb.backends.children import ChildWatch
from mxprof_nb.backends.interrupts import heard, held_back
from mxprof_nb.backends.protocols import CaptureSession
from mxprof_nb.backends.registry import find_backend
from mxprof_nb.errors import AlreadyRecordingError, NotRecordingError
from mxprof_nb.record.clock import SYSTEM
from mxprof_nb.record.config import RecordConfig
from mxprof_nb.record.lines import LineLog
from mxprof_nb.trace import Trace

__all__ = ["WAIT_AFTER_ERROR_S", "LiveCapture", "status_of"]

#: After an error nobody wants to wait for results: what still runs is counted instead.
WAIT_AFTER_ERROR_S = 1.0


class LiveCapture:
    """One recording on behalf of a person, in the thread that starts it.

    Parameters
    ----------
    backend : str
        Name of the runtime to record, see `mxprof_nb.list_backends`.
    config : RecordConfig, optional
        What to record; default: everything that costs little.
    name : str, optional
        Title of the profile.
    wait : bool
        Wait for queued work before stopping, and between repetitions.
    lines : LineLog, optional
        Of the code that is profiled; asked for by ``config.lines``.

    Attributes
    ----------
    name : str
        Title of what is recorded.
    backend : str
        Name of the runtime that is recorded.
    trace : Trace or None
        What was recorded, from the moment `stop` ends, however it ends.
    """

    _running: ClassVar[dict[threading.Thread, LiveCapture]] = {}

    def __init__(
        self,
        backend: str = "embedded",
        config: RecordConfig | None = None,
        name: str | None = None,
        wait: bool = True,
        lines: LineLog | None = None,
    ) -> None:
        self.name = name or ""
        self.trace: Trace | None = None
        self.backend = backend
        self._config, self._wait = RecordConfig() if config is None else config, wait
        if not isinstance(self._config, RecordConfig):
            raise TypeError(f"config must be a RecordConfig, not {type(config).__name__}.")
        self._session: CaptureSession | None = None
        self._thread: threading.Thread | None = None
        self._lines = lines
        self._repetitions: list[Repetition] = []
        self._children = ChildWatch()
        self._begun_epoch_ns = self._returned_epoch_ns = -1
        self._returned_ns = -1
        self._recorded: dict[str, Any] = {}
        self._knows_queue = False

    @classmethod
    def running(cls) -> LiveCapture | None:
        """Return the recording that runs in this thread."""
        return cls._running.get(threading.current_thread())

    @property
    def ended(self) -> bool:
        """Whether it has stopped and has its trace."""
        return self.trace is not None

    @classmethod
    def check_idle(cls) -> None:
        """Check that this thread can start a recording.

        Raises
        ------
        AlreadyRecordingError
            One runs in it.
        """
        if (other := cls.running()) is not None:
            thread = threading.current_thread()
            raise AlreadyRecordingError.in_thread(thread.name, other.name or "unnamed")

    def start(self, frame: FrameType | None = None) -> None:
        """Start to record; ``frame`` is that of the code, where it runs already.

        Raises
        ------
        AlreadyRecordingError
            A recording runs in this thread; it goes on unharmed.
        BackendNotFoundError, BackendUnavailableError
            There is no such backend, or it cannot record here.
        """
        self.check_idle()
        backend = find_backend(self.backend)
        if not isinstance(self._config, RecordConfig):
            raise TypeError(
                f"config must be an mxprof_nb.RecordConfig, not {type(self._config).__name__}."
            )
        if not self._config.lines:
            self._lines = None
        with held_back():  # Ctrl-C in between would leave a recording that nobody can stop
            self._session = backend.capture(self._config)
            lines = self._lines is not None
            self._recorded = _recorded(self._config, backend.capabilities) | {"lines": lines}
            self._knows_queue = "queue" in backend.capabilities
            self._thread = threading.current_thread()
            self._running[self._thread] = self
            if self._lines is not None:
                self._lines.start(frame)
            self._children.start()

    def follow(self, code: CodeType) -> None:
        """Say that code is about to run whose lines may be asked for.

        The profiled time begins with the first: what came before, compiling it for instance, is
        not the code's.
        """
        if self._begun_epoch_ns < 0:
            self._begun_epoch_ns = time.time_ns()
        if self._lines is not None:
            self._lines.follow(code)

    @property
    def recorded(self) -> int | None:
        """How many events were recorded so far, None where the backend does not tell."""
        session = self._session
        count = getattr(session, "recorded", None)
        return count() if callable(count) else None

    def repeat(self, *, warm_up: bool) -> None:
        """Say that a repetition of the code begins; what the one before queued is waited for.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C ended the wait.
        """
        self._end_repetition()
        self._repetitions.append(Repetition(SYSTEM.now(), -1, warm_up))

    def _end_repetition(self) -> None:
        if self._repetitions and self._repetitions[-1].end_ns < 0:
            if self._wait:
                with heard():
                    self.wait(None)
            self._repetitions[-1].end_ns = SYSTEM.now()

    def returned(self) -> None:
        """Say that the profiled code has just returned or raised; only the first time counts.

        What follows, the traceback or the wait for queued work, is not the code's time.
        """
        if self._returned_epoch_ns < 0:
            self._returned_epoch_ns, self._returned_ns = time.time_ns(), SYSTEM.now()
            if self._lines is not None:
                self._lines.stop()

    def wait(self, timeout_s: float | None) -> None:
        """Wait for queued work while it records; Ctrl-C ends the wait."""
        if self._session is not None:
            self._session.wait(timeout_s)

    def snapshot(self) -> Trace | None:
        """Return what was recorded so far; None where the backend cannot tell, or it is over."""
        snapshot = getattr(self._session, "snapshot", None)
        return None if snapshot is None else self._with_facts(snapshot(), None, 0, {})

    def stop(self, error: BaseException | None = None, **facts: Any) -> Trace:
        """Wait for queued work, stop, and return what was recorded.

        Parameters
        ----------
        error : BaseException, optional
            What ended the profiled code; then the wait is `WAIT_AFTER_ERROR_S` at most.
        **facts
            Further fields of `mxprof_nb.trace.Meta`.

        Raises
        ------
        NotRecordingError
            It does not run.
        KeyboardInterrupt
            Ctrl-C ended the wait. Nothing is lost: `trace` holds what was recorded.
        """
        self.returned()
        session, self._session = self._session, None
        if session is None:
            raise NotRecordingError(
                f"The recording {self.name!r} does not run: it was stopped before, or never "
                "started. Call `.start()` first, and `.stop()` once."
            )
        cut: BaseException | None = None
        try:
            if self._wait:
                session.wait(None if error is None else WAIT_AFTER_ERROR_S)
        except KeyboardInterrupt as ended:
            cut = ended
            raise
        finally:
            for repetition in self._repetitions[-1:]:
                # The traceback that was printed since an error is none of its time.
                repetition.end_ns = SYSTEM.now() if error is None else self._returned_ns
            with held_back():
                try:
                    pending = session.pending()
                    trace = session.stop()
                finally:
                    self._forget()
                self.trace = self._with_facts(trace, error or cut, pending, facts)
        return self.trace

    def abandon(self) -> None:
        """Stop without waiting and without a trace, when there is nothing to keep."""
        self.returned()
        session, self._session = self._session, None
        self._forget()
        if session is not None:
            session.stop()

    def _forget(self) -> None:
        self._children.stop()
        if self._thread is not None:
            self._running.pop(self._thread, None)

    def _with_facts(
        self, trace: Trace, error: BaseException | None, pending: int, facts: dict[str, Any]
    ) -> Trace:
        """Return the trace with what only the one who ran the code knows."""
        text = facts.get("source", "")
        trace = annotated(trace, self._repetitions, self._lines, text, self._returned_ns)
        trace = with_earlier_work(trace, knows_queue=self._knows_queue)
        meta, health = trace.meta, self._children.noted(trace.health)
        if self._lines is not None and self._lines.refused:
            health = health.with_note(
                "lines", 1, f"The row of cell lines is left out: {self._lines.refused}."
            )
        facts = {**status_of(error), **facts}
        if pending:
            facts["pending"] = pending
            text = (
                "1 operator was still queued or running"
                if pending == 1
                else f"{pending:,} operators were still queued or running"
            )
            health = health.with_note("pending", pending, f"{text} when recording stopped.")
        if meta.origin_epoch_ns >= 0 and meta.window_ns is not None:
            begin, end = meta.window_ns
            begin = min(max(self._begun_epoch_ns - meta.origin_epoch_ns, begin), end)
            returned = min(max(self._returned_epoch_ns - meta.origin_epoch_ns, begin), end)
            last = int(trace.events.end_ns.max(initial=begin))
            facts = {"returned_ns": returned, "window_ns": (begin, max(returned, last)), **facts}
        facts.setdefault("title", self.name or meta.title)
        facts.setdefault("backend", meta.backend or self.backend)
        facts.setdefault("config", meta.config or self._recorded)
        return replace(trace, meta=replace(meta, **facts), health=health)


def _recorded(config: RecordConfig, capabilities: frozenset[str]) -> dict[str, Any]:
    """Return what a backend records of what was asked for, so that no view claims more."""
    can = {name: name in capabilities for name in ("operators", "api", "memory", "sites")}
    return {name: can.get(name, True) and value for name, value in config.as_dict().items()}


def status_of(error: BaseException | None) -> dict[str, Any]:
    """Return the fields of `mxprof_nb.trace.Meta` that say how the profiled code ended."""
    if error is None:
        return {}
    # A kernel turns Ctrl-C during `await` into CancelledError.
    stopped = isinstance(error, KeyboardInterrupt) or type(error).__name__ == "CancelledError"
    told = f"{type(error).__name__}: {error}".removesuffix(": ")
    return {"status": "interrupted" if stopped else "error", "error": told}


# The recordings under way are the parent's; a child may start its own.
os.register_at_fork(after_in_child=LiveCapture._running.clear)

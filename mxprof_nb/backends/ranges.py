"""`RangeCapture`: a profile within a profile of the same thread: a range of what that records.

- Nothing is recorded a second time. The range has its begin and its end in the outer recording,
  which also shows it as a span.
- Its trace is cut out when it is first asked for: from the outer trace when there is one, else
  from what was recorded so far.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mxprof_nb.backends.live import WAIT_AFTER_ERROR_S, LiveCapture, status_of
from mxprof_nb.errors import NotRecordingError
from mxprof_nb.record.clock import SYSTEM
from mxprof_nb.record.config import RecordConfig
from mxprof_nb.record.spans import Timed
from mxprof_nb.trace import Trace

__all__ = ["RANGE_DOMAIN", "RangeCapture"]

#: Domain of the spans that show ranges in the outer profile.
RANGE_DOMAIN = "profile"


class RangeCapture:
    """A range of a recording that runs in this thread.

    Parameters
    ----------
    outer : LiveCapture
        The recording.
    config : RecordConfig or None
        What was asked to be recorded; the outer recording decides, and health tells what is
        missing for it.
    name : str, optional
        Title of the range.
    wait : bool
        Wait for queued work before the range ends.
    """

    def __init__(
        self, outer: LiveCapture, config: RecordConfig | None, name: str | None, wait: bool
    ) -> None:
        self.name = name or ""
        self.ended = self._outlived = False
        self._outer, self._config, self._wait = outer, config, wait
        self._span = Timed(self.name or "profile", RANGE_DOMAIN)
        self._begin = self._returned = self._end = -1  # Unix time in ns
        self._facts: dict[str, Any] = {}

    def start(self) -> None:
        """Begin the range."""
        self._begin = SYSTEM.epoch_of(SYSTEM.now())
        self._span.__enter__()

    def stop(self, error: BaseException | None = None) -> None:
        """End the range, after the wait for queued work if one was asked for.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C ended the wait; the range ends there.
        """
        self._returned = SYSTEM.epoch_of(SYSTEM.now())
        self._outlived = self._outer.ended
        cut: BaseException | None = None
        try:
            if self._wait:
                self._outer.wait(None if error is None else WAIT_AFTER_ERROR_S)
        except KeyboardInterrupt as ended:
            cut = ended
            raise
        finally:
            self._span.__exit__(None, None, None)
            self._end = SYSTEM.epoch_of(SYSTEM.now())
            self._facts = status_of(error or cut)
            self.ended = True

    @property
    def trace(self) -> Trace | None:
        """The range, None while it runs.

        Raises
        ------
        NotRecordingError
            The outer recording still runs, under a backend that cannot tell what it has so far.
        """
        if not self.ended:
            return None
        whole = self._outer.trace
        if whole is None:
            whole = self._outer.snapshot()
        if whole is None:
            raise NotRecordingError(
                f"The profile {self.name or 'within'!r} is a range of {self._outer.name or 'one'!r}"
                ", which still records. Read it when that has ended."
            )
        return self._cut(whole)

    def _cut(self, whole: Trace) -> Trace:
        """Return the range of the outer trace."""
        origin, window = whole.meta.origin_epoch_ns, whole.window_ns
        begin, end = window
        if origin >= 0:
            begin, end = self._begin - origin, self._end - origin
            if not self._outlived:
                begin, end = self._exact(whole, begin, end)
            begin, end = (min(max(moment, window[0]), window[1]) for moment in (begin, end))
        part = whole.between(begin, end)
        facts = {
            "title": self.name,
            "status": "ok",
            "error": "",
            "returned_ns": min(max(self._returned - origin, begin), end) if origin >= 0 else -1,
            **self._facts,
        }
        health = part.health
        if origin < 0:
            health = health.with_note(
                "range",
                0,
                "Its backend does not say when recording began, so this is all of the profile "
                "around this one.",
            )
        if self._outlived:
            health = health.with_note(
                "range",
                0,
                "The profile around this one ended first, as coroutines of one thread may: what "
                "ran after that is in neither.",
            )
        if missing := self._missing(whole):
            told = " and ".join(missing)
            health = health.with_note(
                "range", 0, f"The profile around this one was told to leave out {told}."
            )
        return replace(part, meta=replace(part.meta, **facts), health=health)

    def _exact(self, whole: Trace, begin: int, end: int) -> tuple[int, int]:
        """Return begin and end as the span in the recording has them; clocks differ a little."""
        events, strings = whole.events, whole.strings
        spans = np.flatnonzero(
            (events.domain == strings.code(RANGE_DOMAIN))
            & (events.name == strings.code(self.name or "profile"))
        )
        if not len(spans):
            return begin, end
        mine = spans[np.argmin(np.abs(events.start_ns[spans] - begin))]
        return int(events.start_ns[mine]), int(events.end_ns[mine])

    def _missing(self, whole: Trace) -> list[str]:
        if self._config is None:
            return []
        names = {"operators": "operators", "api": "API calls", "memory": "memory", "sites": "lines"}
        asked = self._config.as_dict()
        recorded = whole.meta.config
        return [
            said
            for name, said in names.items()
            if asked[name] and recorded.get(name, True) is False
        ]

"""`Progress`: the line under a cell that is recorded, while it runs."""

from __future__ import annotations

from mxprof_nb.backends import LiveCapture
from mxprof_nb.view.numbers import count
from mxprof_nb.view.progress import ProgressLine

__all__ = ["Progress"]


class Progress(ProgressLine):
    """The line of one recording, from `start` to `stop`."""

    def __init__(self, live: LiveCapture) -> None:
        def text(seconds: int) -> str:
            recorded = live.recorded
            events = "" if recorded is None else f"{count(recorded, 'event')}, "
            return f"Recording: {events}{seconds} s"

        super().__init__(text)

"""Where times come from: the system's monotonic clock, or one that tests move by hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["SYSTEM", "Clock", "fake_clock"]


@dataclass(frozen=True, slots=True)
class Clock:
    """A monotonic clock and its relation to Unix time.

    Attributes
    ----------
    now : callable
        Returns nanoseconds since an arbitrary moment; never goes back.
    epoch_now : callable
        Returns Unix time in nanoseconds.
    """

    now: Callable[[], int]
    epoch_now: Callable[[], int]

    def epoch_of(self, moment_ns: int) -> int:
        """Return the Unix time, in ns, of a moment of this clock."""
        # The monotonic clock is read on both sides of the other, so that a pause of this thread
        # between the two readings shows up as half its length at most.
        before = self.now()
        epoch = self.epoch_now()
        after = self.now()
        return epoch - (before + after) // 2 + moment_ns


SYSTEM = Clock(now=time.perf_counter_ns, epoch_now=time.time_ns)


def fake_clock(start_ns: int = 0, step_ns: int = 0, epoch_ns: int = 0) -> tuple[Clock, list[int]]:
    """Return a clock for tests and the list whose only item is its time.

    Parameters
    ----------
    start_ns : int
        First reading, in ns.
    step_ns : int
        How far each reading moves the clock, in ns.
    epoch_ns : int
        Unix time of moment 0, in ns.
    """
    moment = [start_ns]

    def now() -> int:
        value = moment[0]
        moment[0] += step_ns
        return value

    return Clock(now=now, epoch_now=lambda: epoch_ns + moment[0]), moment

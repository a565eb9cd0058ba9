"""`Continuous`: the thread that keeps a file up to date and stays within a tenth of a core."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from weakref import WeakSet

from mxprof_nb.runtime.engine.fork import PATIENCE_S, around, in_child

__all__ = ["SHARE", "Continuous"]

#: The share of one core that it may use: what comes in bursts stays below a tenth then.
SHARE = 0.09
#: How often it looks whether much has gathered when its period is longer, in seconds.
LOOK_S = 1.0


class Continuous:
    """Calls one function every period, another as long as there is time.

    Parameters
    ----------
    period_s : float
        Seconds between two flushes, unless they take more than their share.
    flush : callable
        Brings what was recorded to safety. Takes whether the period is over, since it is called
        before that too, and who calls: the last moment to notice that it was ended.
    catch_up : callable
        Does some of the work that can wait; returns whether there is more.
    """

    def __init__(
        self,
        period_s: float,
        flush: Callable[[bool, Continuous], None],
        catch_up: Callable[[], bool],
    ) -> None:
        self.period_s = period_s
        self._flush, self._catch_up = flush, catch_up
        self._ended = threading.Event()
        self._at_work = threading.Lock()
        _ALL.add(self)
        self._thread = threading.Thread(
            target=self._run, name="mx.profiler continuous dump", daemon=True
        )
        self._thread.start()

    def end(self) -> None:
        """Have it end; it may still be at work, see `join`."""
        self._ended.set()

    def join(self, timeout_s: float) -> None:
        """Wait until it has ended; nothing that it waits for may be held."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        since, spent = time.perf_counter(), time.thread_time()
        due = since + self.period_s
        most = SHARE * max(self.period_s, LOOK_S)
        budget = most  # seconds of CPU time that it may use now
        behind = False
        while not self._ended.wait(self._pause(due - since, -budget, behind)):
            now = time.perf_counter()
            budget = min(budget + SHARE * (now - since), most)
            since = now
            with self._at_work:
                self._flush(now >= due, self)
                if now >= due:
                    due = now + max(self.period_s, (time.thread_time() - spent) / SHARE)
                    behind = True
                if behind and budget > 0:
                    behind = self._catch_up()
            used = time.thread_time()
            budget, spent = budget - (used - spent), used

    @staticmethod
    def _pause(until_due: float, debt: float, behind: bool) -> float:
        """Return for how long nothing needs to be done, in seconds."""
        pause = min(until_due, LOOK_S)
        return max(0.0, min(pause, debt / SHARE) if behind else pause)


_ALL: WeakSet[Continuous] = WeakSet()
#: Locks that a fork holds, so that the child is left with no lock, import or file in the middle
#: of something.
_held: list[threading.Lock] = []


def _hold() -> None:
    for one in list(_ALL):
        if one._at_work.acquire(timeout=PATIENCE_S):
            _held.append(one._at_work)


def _go_on() -> None:
    while _held:
        _held.pop().release()


def _forget() -> None:
    """Begin anew in the child, which has none of these threads."""
    _ALL.clear()
    _held.clear()


around(_hold, _go_on)
in_child(_forget)

"""`Pace`: how soon a worker that has something to do gets the interpreter.

It waits until whoever holds the interpreter lock gives it up: when that thread blocks, or when the
switch interval has passed, 5 ms by default.

- While operators are queued the interval is lowered, and a thread that queues without pause
  offers its core now and then. Under a busy thread the median delay of a worker is then 0.1 ms.
- A program that waits for each operator at once needs neither, and pays for a short interval: the
  system must set a timer for every wait (17 us a round trip on a virtual machine). So after a few
  such waits in a row the interval stays as it is.
"""

from __future__ import annotations

import os
import sys
import time

from mxprof_nb.record import RECORDER

__all__ = ["SWITCH_INTERVAL_S", "Pace"]

SWITCH_INTERVAL_S = 0.0005
YIELD_EVERY_NS = 300_000

#: A wait is prompt if it begins so soon after the operator was queued, and lasts no longer: a
#: thread that computes beside makes each last at least one switch interval.
PROMPT_BEGIN_NS = 100_000
PROMPT_LENGTH_NS = 400_000
#: Prompt waits in a row from which on the next one is expected to be prompt too.
PROMPT_WAITS = 3

_now = RECORDER.clock.now
_yield = getattr(os, "sched_yield", None) or (lambda: time.sleep(0))


class Pace:
    """The switch interval and the offers of one engine.

    Attributes
    ----------
    hurried : bool
        Whether the interval is lowered.
    """

    def __init__(self) -> None:
        self.hurried = False
        self._interval_before = sys.getswitchinterval()
        self._yielded = 0
        self._begun = 0  # when something was queued after a time of nothing
        self._prompt = 0  # prompt waits in a row

    def queued(self, pending: int) -> None:
        """Note that something was queued while not hurried. The engine's lock is held."""
        if pending == 1:
            self._begun = _now()
            if self._prompt >= PROMPT_WAITS:
                return
        self.hurried = True
        self._interval_before = sys.getswitchinterval()
        if self._interval_before > SWITCH_INTERVAL_S:
            sys.setswitchinterval(SWITCH_INTERVAL_S)

    def idle(self) -> None:
        """Note that nothing is queued any more. The engine's lock is held."""
        if self.hurried:
            self.hurried = False
            # Unless the program has set another meanwhile.
            if abs(sys.getswitchinterval() - SWITCH_INTERVAL_S) < 1e-9:
                sys.setswitchinterval(self._interval_before)

    def waited(self, begin: int, end: int) -> None:
        """Note that somebody has waited."""
        prompt = begin - self._begun < PROMPT_BEGIN_NS and end - begin < PROMPT_LENGTH_NS
        self._prompt = self._prompt + 1 if prompt else 0

    def offer(self) -> None:
        """Let an idle worker have the interpreter, unless that was done a moment ago."""
        now = _now()
        if now - self._yielded > YIELD_EVERY_NS:
            self._yielded = now
            _yield()

"""`Pace`: how soon a worker that has something to do gets the interpreter.

It waits until whoever holds the interpreter lock gives it up: when that thread blocks, or when the
switch interval has passed, 5 ms by default.

- While operators are queued the interval is lowered, and a thread that queues hands the
  interpreter to an idle worker now and then: it waits until that has begun. Merely giving its core
  away is not enough where the worker wakes up on another.
- A program that waits for each operator at once needs neither, and pays for a short interval: the
  system must set a timer for every wait (17 us a round trip on a virtual machine). So after a few
  such waits in a row the interval stays as it is.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress

from mxprof_nb.record import RECORDER

__all__ = ["SWITCH_INTERVAL_S", "Pace"]

SWITCH_INTERVAL_S = 0.0005

#: An offer is made so often at most, and takes so small a part of the time of who makes it.
OFFER_EVERY_NS = 300_000
OFFER_SHARE = 10
#: How long an offer stands; longer than it ever needs, since a timer soon due is a dear one.
OFFER_S = 0.004

#: A wait is prompt if it begins so soon after the operator was queued, and lasts no longer: a
#: thread that computes beside makes each last at least one switch interval.
PROMPT_BEGIN_NS = 100_000
PROMPT_LENGTH_NS = 400_000
#: Prompt waits in a row from which on the next one is expected to be prompt too.
PROMPT_WAITS = 3

_now = RECORDER.clock.now


class Pace:
    """The switch interval and the offers of one engine.

    Attributes
    ----------
    hurried : bool
        Whether the interval is lowered.
    offering : bool
        Whether somebody waits for a worker to begin, which then calls `accept`.
    """

    def __init__(self) -> None:
        self.hurried = False
        self._interval_before = sys.getswitchinterval()
        self.offering = False
        self._accepted = threading.Lock()
        self._accepted.acquire()
        self._next_offer = 0
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
        """Let an idle worker begin, unless that was done a moment ago."""
        begin = _now()
        if begin > self._next_offer:
            self.offering = True
            self._accepted.acquire(timeout=OFFER_S)
            self.offering = False
            end = _now()
            self._next_offer = end + max(OFFER_EVERY_NS, OFFER_SHARE * (end - begin))

    def accept(self) -> None:
        """Let whoever made an offer go on; a worker does so when it has begun."""
        self.offering = False
        with suppress(RuntimeError):  # the offer was over
            self._accepted.release()

"""What most events of a Chrome trace have in common with others: phase, name, category, thread.

Combinations of them are few in most files, so each is looked at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I32Array
from mxprof_nb.io.chrome.faults import Faults
from mxprof_nb.io.chrome.records import PHASES
from mxprof_nb.trace import TraceBuilder

__all__ = ["CODES", "OTHER_PHASES", "Families", "Numbers"]

#: Codes of phases that are read.
CODES = {phase: code for code, phase in enumerate(PHASES)}
#: Phases that are not read, and what the description of the format calls their events.
OTHER_PHASES = {
    "R": "mark",
    "c": "clock synchronisation",
    "v": "memory dump",
    "V": "memory dump",
    "=": "link of ids",
}
_FAMILY = attrgetter("ph", "name", "cat", "pid", "tid")
#: They are told anew when there are more: each event may have a name of its own.
_MOST = 1 << 16


class Numbers(dict[Any, int]):
    """Numbers things in the order they are first asked for."""

    def __missing__(self, thing: Any) -> int:
        number = self[thing] = len(self)
        return number


class Families:
    """The combinations that were met.

    Parameters
    ----------
    builder : TraceBuilder
        Gets the texts.
    faults : Faults
        Told of phases that are not read.

    Attributes
    ----------
    phase, name, cat, thread : ndarray of int, shape (n,)
        By number of the combination: code of the phase, -1 for none that is read; codes of the
        texts; number of the thread.
    threads : dict
        Numbers of threads by ids of process and thread as the file has them.
    has_phase : bool
        Whether anything had a phase of the format.
    """

    def __init__(self, builder: TraceBuilder, faults: Faults) -> None:
        self._builder, self._faults = builder, faults
        self.threads: dict[tuple[Any, Any], int] = Numbers()
        self.has_phase = False
        self._forget()

    def _forget(self) -> None:
        self._numbers = Numbers()
        self._odd: dict[int, str] = {}  # phases that are none, by number
        self.phase: NDArray[np.int8] = np.zeros(0, dtype=np.int8)
        self.name: I32Array = np.zeros(0, dtype=np.int32)
        self.cat: I32Array = np.zeros(0, dtype=np.int32)
        self.thread: I32Array = np.zeros(0, dtype=np.int32)

    def take(self, events: Sequence[Any], first: int) -> NDArray[np.intp]:
        """Return the number of the combination of each event, valid until the next call.

        Parameters
        ----------
        events : sequence, length n
        first : int
            Place of the first in the file.
        """
        if len(self._numbers) > _MOST:
            self._forget()
        known, number_of = len(self._numbers), self._numbers.__getitem__
        found = np.fromiter(map(number_of, map(_FAMILY, events)), np.intp, len(events))
        if len(self._numbers) > known:
            self._learn(list(islice(self._numbers, known, None)), known)
        if self._odd:
            self._note_odd(found, first)
        self.has_phase |= bool((self.phase[found] >= 0).any())
        return found

    def _learn(self, new: list[Any], known: int) -> None:
        phases, names, cats, pids, tids = zip(*new, strict=True)
        threads = [self.threads[pair] for pair in zip(pids, tids, strict=True)]
        strings = self._builder.strings
        self.phase = np.append(self.phase, np.array([_code(text) for text in phases], np.int8))
        self.name = np.append(self.name, np.array(strings(names), dtype=np.int32))
        self.cat = np.append(self.cat, np.array(strings(cats), dtype=np.int32))
        self.thread = np.append(self.thread, np.array(threads, dtype=np.int32))
        self._odd |= {known + at: text for at, text in enumerate(phases) if text not in CODES}

    def _note_odd(self, found: NDArray[np.intp], first: int) -> None:
        counts = np.bincount(found, minlength=len(self._numbers))
        for number, text in self._odd.items():
            count = int(counts[number])
            if not count:
                continue
            place = f"event {first + int(np.argmax(found == number))}"
            if self.phase[number] >= 0:
                self._faults.add("long_phase", f"{place}, {text[:20]!r}", count)
            elif not text:
                self._faults.add("no_phase", place, count)
            elif text != "\0":  # counted already
                told = f"{text[:20]!r}"
                if text in OTHER_PHASES:
                    told += f" ({OTHER_PHASES[text]})"
                    self.has_phase = True
                self._faults.add("unread_phase", place, count, phase=told)


def _code(text: str) -> int:
    if text in CODES:
        return CODES[text]
    # Chrome and Perfetto look at the first letter alone.
    return CODES[text[0]] if len(set(text)) == 1 and text[0] in CODES else -1

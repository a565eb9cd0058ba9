"""A decoded Chrome trace whose rules were checked: times, pairs and labels.

- Whatever breaks a rule raises here and nowhere else, so a tolerant reader has one place to
  repair.
- What breaks none, but is nothing that a trace here has a place for, is left out and counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.io.chrome.events import ChromeFile
from mxprof_nb.io.chrome.pairs import pair_up
from mxprof_nb.io.chrome.times import to_ns
from mxprof_nb.io.chrome.tracks import Labels
from mxprof_nb.trace import HealthNote

__all__ = ["FLOW_PHASES", "SLICE_PHASES", "Checked", "Thread"]

#: Ids of process and thread as text, None where the event has none.
Thread: TypeAlias = tuple[str | None, str | None]

#: Phases whose events become rows; ``E`` and ``e`` only end them.
SLICE_PHASES = ("X", "B", "b", "i", "I", "n")
FLOW_PHASES = ("s", "t", "f")
_TIMED = (*SLICE_PHASES, "E", "e", "C", *FLOW_PHASES)
_PHASES = (*_TIMED, "M")
#: Phases of the format that are left out, and what its description calls their events.
_OTHER_PHASES = {
    "P": "sample",
    "N": "object created",
    "O": "object snapshot",
    "D": "object deleted",
    "S": "old asynchronous begin",
    "T": "old asynchronous step",
    "p": "old asynchronous step",
    "F": "old asynchronous end",
    "R": "mark",
    "c": "clock synchronisation",
    "v": "memory dump",
    "V": "memory dump",
    "(": "begin of a context",
    ")": "end of a context",
    "=": "link of ids",
}

_TAKE_OUT = "Have its producer write it again, or take the event out."
_TIME = "A time is a number of microseconds; have the producer write it, or take the event out."
_NEST = "The recording was cut off, or begins and ends do not nest; record again."


class Checked:
    """The events of a file by phase, with what belongs to them.

    Parameters
    ----------
    file : ChromeFile

    Attributes
    ----------
    by_phase : dict of str to list of int
        Events by phase, in the order of the file.
    start, dur : ndarray of int64, shape (number of events,)
        In ns; a duration only where the phase is ``X``.
    ends : dict of int
        The event that ends each ``B`` and ``b``.
    labels : Labels
        Names and order of processes and threads.
    others : list of dict
        Metadata events of other names.
    left_out : list of HealthNote
        Entries without a phase, or with one of those that are not read.

    Raises
    ------
    CorruptTraceError
        An event breaks a rule of the format.
    """

    def __init__(self, file: ChromeFile) -> None:
        self.file = file
        self.events = file.events
        self.by_phase: dict[str, list[int]] = defaultdict(list)
        for row, event in enumerate(self.events):
            self.by_phase[event.ph].append(row)
        self.left_out = self._left_out()
        self._texts: dict[int | str | None, str | None] = {None: None}
        self.start, self.dur = self._times()
        self.ends = self._pairs("B", "E") | self._pairs("b", "e")
        self.labels, self.others = self._labels()

    def id_text(self, value: int | str | None) -> str | None:
        """Return an id as text."""
        try:
            return self._texts[value]
        except KeyError:
            text = self._texts[value] = self.file.text(str(value))
            return text

    def thread(self, row: int) -> Thread:
        """Return the thread of an event."""
        event = self.events[row]
        return self.id_text(event.pid), self.id_text(event.tid)

    def threads(self, rows: Sequence[int]) -> tuple[list[Thread], list[int]]:
        """Return the distinct threads of events, as met, and the number of that of each."""
        numbers: dict[tuple[int | str | None, int | str | None], int] = {}
        found = [
            numbers.setdefault((event.pid, event.tid), len(numbers))
            for event in map(self.events.__getitem__, rows)
        ]
        return [(self.id_text(pid), self.id_text(tid)) for pid, tid in numbers], found

    def lengths(self, rows: Sequence[int]) -> I64Array:
        """Return the durations of slices in ns; one of two events ends where its end begins."""
        length = self.dur[rows]
        if self.ends:
            ends = np.array([self.ends.get(row, -1) for row in rows], dtype=np.int64)
            paired = np.flatnonzero(ends >= 0)
            length[paired] = self.start[ends[paired]] - self.start[rows][paired]
        return length

    def slices(self) -> list[int]:
        """Return the events that become rows, in the order of the file."""
        return sorted(row for phase in SLICE_PHASES for row in self.by_phase[phase])

    def flow_points(self) -> list[int]:
        """Return the events of flows, in the order of the file."""
        return sorted(row for phase in FLOW_PHASES for row in self.by_phase[phase])

    def refuse(self, row: int, problem: str) -> None:
        """Raise for an event that breaks a rule."""
        raise self.file.corrupt(row, problem, _TAKE_OUT)

    def _left_out(self) -> list[HealthNote]:
        """Return notes on the entries that are not read.

        Raises
        ------
        CorruptTraceError
            None of all entries has a phase of the format.
        """
        unread = self.by_phase.keys() - set(_PHASES)
        if self.events and not self.by_phase.keys() & {*_PHASES, *_OTHER_PHASES}:
            ph = self.events[0].ph
            raise self.file.corrupt(
                0,
                f"phase {ph!r} is none of the format." if ph else "it has no phase.",
                "So it is with every entry: this is no Chrome trace. "
                "mxprof_nb.list_readers() names the formats that can be read.",
            )
        notes = []
        for phase in sorted(unread):
            found = len(self.by_phase[phase])
            entries = "1 entry" if found == 1 else f"{found:,} entries"
            kind = _OTHER_PHASES.get(phase)
            if not phase:
                told = f"{entries} without a phase; left out."
            else:
                what = f"{phase!r} ({kind})" if kind else repr(phase)
                told = f"{entries} of phase {what}, which is not read; left out."
            notes.append(HealthNote("unread_phase" if phase else "no_phase", found, told))
        return notes

    def _times(self) -> tuple[I64Array, I64Array]:
        """Return begin and duration of every event in ns; 0 where it has none."""
        for row, event in enumerate(self.events):
            if event.ts is None and event.ph in _TIMED:
                raise self.file.corrupt(row, f"phase {event.ph!r} has no ts.", _TIME)
        for row in self.by_phase["X"]:
            dur = self.events[row].dur
            if dur is None:
                raise self.file.corrupt(row, "a complete event (phase 'X') has no dur.", _TIME)
            if dur < 0:
                raise self.file.corrupt(row, f"its dur is {dur}, below 0.", _TIME)

        phases = [event.ph for event in self.events]

        def used(ts: Sequence[Any], dur: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            return (
                [value if ph in _TIMED else 0 for ph, value in zip(phases, ts, strict=True)],
                [value if ph == "X" else 0 for ph, value in zip(phases, dur, strict=True)],
            )

        def exactly() -> tuple[list[Decimal], list[Decimal]]:
            ts, dur = used(*self.file.exact_times(range(len(self.events))))
            return [Decimal(value) for value in ts], [Decimal(value) for value in dur]

        ts, dur = used([e.ts for e in self.events], [e.dur for e in self.events])
        try:
            return to_ns(ts, dur, exactly)
        except OverflowError as cause:
            row = cause.args[0]
            raise self.file.corrupt(
                row, f"its time {ts[row]} µs does not fit 64 bits of nanoseconds.", _TIME
            ) from cause

    def _pairs(self, begin: str, end: str) -> dict[int, int]:
        """Return the events that end the begins of one phase."""
        rows = sorted(self.by_phase[begin] + self.by_phase[end])
        if not rows:
            return {}
        opens = [self.events[row].ph == begin for row in rows]
        keys = [self.thread(row) if begin == "B" else self._async_key(row) for row in rows]
        partner = pair_up(keys, opens, self.start[rows])
        self._refuse_unpaired(rows, opens, partner)
        return {
            row: rows[place]
            for row, place, is_begin in zip(rows, partner.tolist(), opens, strict=True)
            if is_begin
        }

    def _refuse_unpaired(
        self, rows: Sequence[int], opens: Sequence[bool], partner: NDArray[Any]
    ) -> None:
        """Raise for a begin or an end alone; a tolerant reader repairs here instead."""
        for place in np.flatnonzero(partner < 0).tolist():
            event = self.events[rows[place]]
            has = "a begin and no end" if opens[place] else "an end and no begin"
            raise self.file.corrupt(
                rows[place],
                f"{event.name!r} (phase {event.ph!r}) has {has}.",
                _NEST,
            )
        for place, other in enumerate(partner.tolist()):
            end, begin = self.events[rows[place]], self.events[rows[other]]
            if not opens[place] and end.name and end.name != begin.name:
                raise self.file.corrupt(
                    rows[place],
                    f"the end of {end.name!r} meets the begin of {begin.name!r} "
                    f"(event {rows[other]}).",
                    _NEST,
                )

    def _async_key(self, row: int) -> tuple[Any, ...]:
        event = self.events[row]
        if event.id2:
            # An id in "local" means something within its process only.
            local = event.id2.get("local")
            which = (event.pid, local) if local is not None else (None, *event.id2.values())
        elif event.id is not None:
            which = (None, event.id)
        else:
            raise self.file.corrupt(row, f"phase {event.ph!r} has no id.", _TAKE_OUT)
        return (event.cat, event.name, *which)

    def _labels(self) -> tuple[Labels, list[dict[str, Any]]]:
        """Return what metadata events say about tracks, and the other metadata events."""
        labels = Labels()
        others: list[dict[str, Any]] = []
        if self.file.own is not None:  # it says more of its tracks than metadata events can
            return labels, others
        for row in self.by_phase["M"]:
            event = self.events[row]
            args = self.file.plain(row, event.args)
            pid, tid = self.thread(row)
            try:
                if not labels.take(event.name, pid, tid, args):
                    others.append({"name": event.name, "pid": pid, "tid": tid, "args": args})
            except ValueError as cause:
                raise self.file.corrupt(row, f"{event.name}: {cause}.", _TAKE_OUT) from cause
        return labels, others

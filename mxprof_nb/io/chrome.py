"""The reader of Chrome traces (Trace Event Format), strict: it reads what is well formed.

- Slices: ``X``, and ``B``/``E`` by process and thread, properly nested. Async: ``b``/``e`` by
  category, id and name. Points: ``i``, ``I``, ``n``. Counters ``C``, flows ``s``/``t``/``f``,
  names and order from ``M``.
- What breaks a rule is an error that names the event, the problem and the remedy; nothing is
  guessed and nothing left out.
- Files of our own writer come back as the trace that was written.

Reference: "Trace Event Format"; where it is silent (ids in ``id2``, the slice a flow binds to)
the importers of catapult and Perfetto.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.io import chrome_own
from mxprof_nb.io.chrome_pairs import enclosing, pair_up
from mxprof_nb.io.chrome_times import to_ns
from mxprof_nb.io.chrome_tracks import Labels, add_tracks
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema

if TYPE_CHECKING:
    from mxprof_nb.io.chrome_events import ChromeEvent, ChromeFile

__all__ = ["read", "read_chrome", "sniff"]

_PHASES = "X B E b e n i I C M s t f".split()
_KIND = {phase: schema.KINDS.index("span") for phase in "XB"}
_KIND |= {phase: schema.KINDS.index("instant") for phase in "iIn"}
_KIND |= {"b": schema.KINDS.index("async")}

#: What an event is about, by the ``cat`` its producer gives it; others are the program's own.
_CATEGORIES = {
    "operator": "operator",
    "Custom Operator": "operator",
    "cpu_op": "operator",
    "MXNET_C_API": "api",
    "cuda_runtime": "api",
    "cuda_driver": "api",
    "kernel": "kernel",
    "gpu_memcpy": "copy",
    "gpu_memset": "copy",
    "python_function": "python",
}
#: Why one event precedes another, by the name or category of the flow.
_FLOWS = {kind: kind for kind in schema.FLOW_KINDS} | {"ac2g": "launch", "fwdbwd": "program"}

_FIX_PRODUCER = "Have its producer write it again, or take the event out."


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is a Chrome trace, 0 to 1."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{") and b'"traceEvents"' in text:
        return 1.0
    if text.startswith(b"[") and b'"ph"' in text:
        return 0.9
    # An array of nothing, or an object whose events begin further down.
    if text.startswith(b"[") and text[1:].lstrip()[:1] in (b"", b"{", b"]"):
        return 0.2
    return 0.1 if text.startswith(b"{") else 0.0


def read_chrome(content: bytes, *, path: str = "<bytes>") -> Trace:
    """Read a Chrome trace.

    Parameters
    ----------
    content : bytes
        JSON text: the array form or the object form.
    path : str
        For messages and the title.

    Returns
    -------
    Trace
        Times are those of the file in ns, unshifted; ids keep their text. ``cat`` becomes the
        domain, and the category where its producer is known. Arguments stay undecoded text in
        the args table. The other keys of the object form are in ``meta.extra``.

    Raises
    ------
    CorruptTraceError
        The content is no JSON, no Chrome trace, or breaks a rule; names the place.
    UnsupportedVersionError
        A later release of mxprof_nb wrote it.
    """
    from mxprof_nb.io.chrome_events import decode

    return _Reading(decode(content, path, chrome_own.KEY)).trace()


#: What `mxprof_nb.io.registry.Reader` asks for.
read = read_chrome


class _Reading:
    """One file on its way into a builder."""

    def __init__(self, file: ChromeFile) -> None:
        self.file = file
        self.events = file.events
        self.by_phase: dict[str, list[int]] = defaultdict(list)
        for row, event in enumerate(self.events):
            self.by_phase[event.ph].append(row)
        for phase in self.by_phase.keys() - set(_PHASES):
            raise file.corrupt(
                self.by_phase[phase][0],
                f"phase {phase!r} is not one this reader knows." if phase else "it has no phase.",
                f"It reads {' '.join(_PHASES)}; take such events out.",
            )
        self.start, self.dur = self._times()
        self.ids: dict[int | str | None, str | None] = {None: None}
        self.row_of: dict[int, int] = {}  # provisional row by event
        self.labels, others = self._labels()
        if file.own is None:
            extra = file.extras | ({"metadata_events": others} if others else {})
            base = extra.get("baseTimeNanoseconds")  # PyTorch: the Unix time of its time 0
            self.builder = TraceBuilder(
                Meta(
                    title=PurePath(file.path).name,
                    origin_epoch_ns=base if type(base) is int and base >= 0 else -1,
                    extra=MappingProxyType(extra),
                )
            )
            self.known: dict[tuple[str, str], int] = {}
        else:
            self.builder, self.known = chrome_own.restored(file.own, file.path)

    def trace(self) -> Trace:
        """Return the finished trace."""
        slices, partner = self._slices()
        points = self.by_phase["C"]
        threads, counters = self._tracks(slices, points)
        track = np.array([threads[self._thread(row)] for row in slices], dtype=np.int32)
        self._add_events(slices, partner, track)
        self._add_counters(points, counters)
        self._add_flows(slices, partner, track, threads)
        return self.builder.build()

    def _id(self, value: int | str | None) -> str | None:
        """Return an id as text."""
        try:
            return self.ids[value]
        except KeyError:
            text = self.ids[value] = self.file.text(str(value))
            return text

    def _thread(self, row: int) -> tuple[str | None, str | None]:
        event = self.events[row]
        return self._id(event.pid), self._id(event.tid)

    def _times(self) -> tuple[I64Array, I64Array]:
        """Return begin and duration of every event in ns; metadata has none."""
        rule = "A time is a number of microseconds; " + _FIX_PRODUCER[0].lower() + _FIX_PRODUCER[1:]
        for row, event in enumerate(self.events):
            if event.ts is None and event.ph != "M":
                raise self.file.corrupt(row, f"phase {event.ph!r} has no ts.", rule)
        for row in self.by_phase["X"]:
            dur = self.events[row].dur
            if dur is None:
                raise self.file.corrupt(row, "a complete event (phase 'X') has no dur.", rule)
            if dur < 0:
                raise self.file.corrupt(row, f"its dur is {dur}, below 0.", rule)

        def used(ts: Sequence[Any], dur: Sequence[Any]) -> tuple[list[Any], list[Any]]:
            phases = [event.ph for event in self.events]
            return (
                [0 if ph == "M" else value for ph, value in zip(phases, ts, strict=True)],
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
                row, f"its time {ts[row]} µs does not fit 64 bits of nanoseconds.", rule
            ) from cause

    def _labels(self) -> tuple[Labels, list[dict[str, Any]]]:
        """Return what metadata events say about tracks, and the other metadata events."""
        labels, others = Labels(), []
        if self.file.own is not None:
            return labels, others
        for row in self.by_phase["M"]:
            event = self.events[row]
            args = json.loads(self.file.raw(row, event.args) or "{}")
            pid, tid = self._thread(row)
            try:
                if not labels.take(event.name, pid, tid, args):
                    others.append({"name": event.name, "pid": pid, "tid": tid, "args": args})
            except ValueError as cause:
                raise self.file.corrupt(row, f"{event.name}: {cause}.", _FIX_PRODUCER) from cause
        return labels, others

    def _slices(self) -> tuple[list[int], dict[int, int]]:
        """Return the events that become rows, in the order of the file, and ends by begins."""
        phases = self.by_phase
        partner: dict[int, int] = {}
        for begin, end in (("B", "E"), ("b", "e")):
            rows = sorted(phases[begin] + phases[end])
            opens = [self.events[row].ph == begin for row in rows]
            keys = [self._thread(row) if begin == "B" else self._async_key(row) for row in rows]
            found = pair_up(keys, opens, self.start[rows])
            self._refuse_unpaired(rows, opens, found)
            partner |= {
                row: rows[place] for row, place, is_begin
                in zip(rows, found.tolist(), opens, strict=True) if is_begin
            }
        kept = [row for phase in _KIND for row in phases[phase]]
        return sorted(kept), partner

    def _refuse_unpaired(
        self, rows: Sequence[int], opens: Sequence[bool], partner: NDArray[Any]
    ) -> None:
        """Raise for a begin or an end alone; a tolerant reader repairs here instead."""
        for place in np.flatnonzero(partner < 0).tolist():
            event, side = self.events[rows[place]], ("end", "begin")
            have, miss = side[opens[place]], side[not opens[place]]
            raise self.file.corrupt(
                rows[place],
                f"{event.name!r} (phase {event.ph!r}) has a {have} and no {miss}.",
                "The recording was cut off, or begins and ends do not nest; " + _REMEDY_PAIRS,
            )
        for place, other in enumerate(partner.tolist()):
            begin, end = self.events[rows[place]], self.events[rows[other]]
            if opens[place] and end.name and end.name != begin.name:
                raise self.file.corrupt(
                    rows[other],
                    f"the end of {end.name!r} meets the begin of {begin.name!r} (event "
                    f"{rows[place]}).",
                    "Begins and ends of one thread must nest; " + _REMEDY_PAIRS,
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
            raise self.file.corrupt(row, f"phase {event.ph!r} has no id.", _FIX_PRODUCER)
        return (event.cat, event.name, *which)

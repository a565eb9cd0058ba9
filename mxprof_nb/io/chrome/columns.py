"""All events of a file as columns, taken block by block so that the objects need not be kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import compress, islice
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I32Array, I64Array
from mxprof_nb.io.chrome import microseconds
from mxprof_nb.io.chrome.families import CODES, Families, Numbers
from mxprof_nb.io.chrome.faults import Faults
from mxprof_nb.io.chrome.producers import correlated, correlations
from mxprof_nb.io.chrome.records import PHASES, InWholes, Usual
from mxprof_nb.io.limits import Limits
from mxprof_nb.trace import TraceBuilder

__all__ = ["Columns"]


def _table(phases: str) -> NDArray[np.bool_]:
    """Return which codes are of these phases; -1, of no phase, is the last."""
    return np.array([phase in phases for phase in PHASES] + [False])


#: Events that are rows by themselves, and those that may be two halves of one.
_WHOLE, _HALVES = _table("XniIPTpO"), _table("BEbeSFND()")
#: Events that an id ties together.
_WITH_ID = _table("bestfSTpFNOD()nC")
_SCOPED, _LASTING = _table("iIn"), _table("XT")
_STEP, _LAST_STEP, _SAMPLE, _COUNTER = (CODES[phase] for phase in "tfPC")
_SCOPES = {"g": "global", "p": "process"}
#: No number is written with more characters.
_LONGEST_NUMBER = 40


class Columns:
    """The events of a file.

    Parameters
    ----------
    builder : TraceBuilder
        Gets the texts, and the arguments as they stand in the file.
    limits : Limits
    faults : Faults
    path : str
        For messages.

    Attributes
    ----------
    phase, name, cat, thread, arg, row : ndarray, shape (n,)
        Place in `PHASES`, codes of the builder's texts, number of the thread, row of the
        arguments (-1 for none), and place in the file, of each event that is read.
    start, dur : ndarray of int64, shape (n,)
        In ns.
    key : ndarray of int32, shape (n,)
        Number of the id of each, -1 for none; a local id counts with its process.
    args : dict of bytes
        By place in these columns: arguments of what may be one half of a row.
    enclosed : list of int
        Places of flow events that belong to the slice around them, ascending.
    frames : dict
        By place: the stack frame, or the undecoded frames, of a sample.
    bound : list of tuple
        Place, id, and whether a flow comes in and goes out, of slices that say so themselves.
    correlations : tuple of ndarray
        Place and number of events that tie a call to what it launched.
    samples : tuple of list
        Place, series and value of every number of a counter event.
    metadata : list of tuple
        Place in the file, name, process, thread and decoded arguments, for phase M.
    """

    def __init__(self, builder: TraceBuilder, limits: Limits, faults: Faults, path: str) -> None:
        self._builder, self._limits, self._faults, self._path = builder, limits, faults, path
        self._ids: dict[Any, int] = Numbers()
        self._families = Families(builder, faults)
        self._blocks: list[tuple[NDArray[Any], ...]] = []
        self.args: dict[int, bytes] = {}
        self.enclosed: list[int] = []
        self.frames: dict[int, Any] = {}
        self.bound: list[tuple[int, Any, bool, bool]] = []
        self._correlations: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self.samples: tuple[list[int], list[str], list[float]] = ([], [], [])
        self.metadata: list[tuple[int, str, Any, Any, Any]] = []
        self._texts = 0
        self._length = 0
        self._series = msgspec.json.Decoder(dict[str, float])
        self._correlated = correlated(builder)

    def __len__(self) -> int:
        return self._length

    def take(self, events: Sequence[Any], first: int) -> None:
        """Add a block of events.

        Parameters
        ----------
        events : sequence of Usual, InWholes or Everything
            All of one kind.
        first : int
            Place of the first in the file.

        Raises
        ------
        InexactError
            Their times have to be read from their text; nothing was added.
        """
        n = len(events)
        if not n:
            return
        self._limits.check("events", first + n, self._path)
        times = _times(events)
        family = self._families.take(events, first)
        phase = self._families.phase[family]
        start, dur, keep = self._kept(times, events, phase, first)
        places = np.flatnonzero(keep)
        if len(places) < n:
            events = list(compress(events, keep.tolist()))
            phase, start, dur, family = phase[places], start[places], dur[places], family[places]
        if not events:
            return
        texts = list(map(attrgetter("args"), events))
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        cat = self._families.cat[family]
        block = (
            phase,
            self._families.name[family],
            cat,
            self._families.thread[family],
            start,
            dur,
            self._args(events, phase, texts, lengths),
            places + first,
            self._keys(events, phase),
        )
        self._check_texts()
        self._take_correlations(texts, lengths, cat)
        self._take_samples(events, phase, places + first)
        self._take_rare(events, phase)
        self._blocks.append(block)
        self._length += len(events)

    def finish(self) -> None:
        """Join the blocks into columns."""
        empty = tuple(np.zeros(0, dtype=np.int64) for _ in range(9))
        parts = zip(*(self._blocks or [empty]), strict=True)
        joined = [np.concatenate(part) for part in parts]
        self._blocks.clear()
        self.phase: NDArray[Any]
        self.phase, self.name, self.cat, self.thread = joined[:4]
        self.start: I64Array = joined[4]
        self.dur: I64Array = joined[5]
        self.arg: I32Array = joined[6]
        self.row: I64Array = joined[7]
        self.key: I32Array = joined[8]
        none = (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64))
        tied = list(zip(*(self._correlations or [none]), strict=True))
        self.correlations = np.concatenate(tied[0]), np.concatenate(tied[1])

    @property
    def ids(self) -> list[Any]:
        """The ids by their numbers in ``key``."""
        return list(self._ids)

    @property
    def has_events(self) -> bool:
        """Whether anything had a phase of the format."""
        return self._families.has_phase

    @property
    def threads(self) -> dict[tuple[Any, Any], int]:
        """Numbers of threads by ids of process and thread as the file has them."""
        return self._families.threads

    def where(self, phases: str) -> NDArray[np.intp]:
        """Return the places of all events of these phases."""
        return np.flatnonzero(_table(phases)[self.phase])

    @staticmethod
    def where_code(phase: str) -> int:
        """Return the code of a phase."""
        return CODES[phase]

    def _kept(
        self, found: microseconds.Times, events: Sequence[Any], phase: NDArray[Any], first: int
    ) -> tuple[I64Array, I64Array, NDArray[np.bool_]]:
        """Return begins and durations, and which events are read."""
        is_meta = phase == CODES["M"]
        for place in np.flatnonzero(is_meta).tolist():
            self._take_metadata(first + place, events[place])
        keep = (phase >= 0) & ~is_meta
        no_time = keep & (found.start_state != microseconds.GOOD)
        keep &= ~no_time
        complete = keep & (phase == CODES["X"])
        bad = complete & (found.dur_state == microseconds.BAD)
        absent = complete & (found.dur_state == microseconds.ABSENT)
        negative = complete & (found.dur < 0)
        for code, mask in (
            ("no_time", no_time),
            ("bad_duration", bad),
            ("no_duration", absent),
            ("negative_duration", negative),
        ):
            if mask.any():
                place = int(np.argmax(mask))
                self._faults.add(code, f"event {first + place}", int(mask.sum()))
        dur = np.where(_LASTING[phase] & keep & (found.dur > 0), found.dur, 0)
        return found.start, dur, keep & ~bad

    def _take_metadata(self, row: int, event: Any) -> None:
        try:
            args = json.loads(bytes(event.args)) if len(event.args) else None
        except (ValueError, RecursionError):
            args = None
        self.metadata.append((row, event.name, event.pid, event.tid, args))

    def _args(
        self, events: Sequence[Any], phase: NDArray[Any], texts: list[Any], lengths: I64Array
    ) -> I32Array:
        """Hand the arguments of rows to the builder; return their rows there, -1 for none."""
        found = np.full(len(events), -1, dtype=np.int32)
        has = lengths > 2
        long = has & (lengths > self._limits.string_bytes)
        if long.any():
            self._faults.add("too_long", "", int(long.sum()))
            has &= ~long
        four = np.flatnonzero(has & (lengths == len(b"null")))
        has[[row for row in four.tolist() if bytes(texts[row]) == b"null"]] = False
        more = self._beside(events, phase)
        for row in np.flatnonzero(has & _HALVES[phase]).tolist():
            self.args[self._length + row] = _with(texts[row], more.pop(row, ""))
        whole = has & _WHOLE[phase]
        rows = np.flatnonzero(whole).tolist()
        told = list(compress(texts, whole.tolist()))
        if more:
            place = {row: number for number, row in enumerate(rows)}
            for row, fields in more.items():
                if row in place:
                    told[place[row]] = _with(told[place[row]], fields)
                elif _HALVES[phase[row]]:
                    self.args[self._length + row] = _with(b"{}", fields)
                else:
                    told.append(_with(b"{}", fields))
                    rows.append(row)
        if told:
            found[rows] = self._builder.add_raw_args(told) + np.arange(len(told))
        return found

    def _beside(self, events: Sequence[Any], phase: NDArray[Any]) -> dict[int, str]:
        """Return what stands beside the arguments and has no column, as JSON fields by place."""
        found: dict[int, str] = {}
        for row in np.flatnonzero(_SCOPED[phase]).tolist():
            scope = _SCOPES.get(events[row].s)
            if scope:
                found[row] = f'"scope":"{scope}"'
        if isinstance(events[0], Usual):
            return found
        for row, event in enumerate(events):
            for field in ("tts", "tdur"):  # time of the thread's own clock
                raw = bytes(getattr(event, field))
                if raw and len(raw) < _LONGEST_NUMBER:
                    text = f'"{field}":{raw.decode("utf-8", "replace")}'
                    found[row] = f"{found[row]},{text}" if row in found else text
        return found

    def _keys(self, events: Sequence[Any], phase: NDArray[Any]) -> I32Array:
        found = np.full(len(events), -1, dtype=np.int32)
        tied = _WITH_ID[phase]
        rows = np.flatnonzero(tied)
        if not len(rows):
            return found
        chosen = compress(events, tied.tolist())
        if isinstance(events[0], Usual):
            ids: Any = map(attrgetter("id"), chosen)
        else:
            ids = map(_identity, chosen)
        none = self._ids[None]
        found[rows] = np.fromiter(map(self._ids.__getitem__, ids), np.int32, len(rows))
        found[found == none] = -1
        return found

    def _take_correlations(self, texts: list[Any], lengths: I64Array, cat: NDArray[Any]) -> None:
        is_tied = np.zeros(self._builder.string_count, dtype=bool)
        is_tied[self._correlated] = True
        tied = is_tied[cat]
        rows = np.flatnonzero(tied)
        if len(rows):
            numbers = correlations(list(compress(texts, tied.tolist())), lengths[rows])
            self._correlations.append((self._length + rows, numbers))

    def _take_samples(self, events: Sequence[Any], phase: NDArray[Any], where: I64Array) -> None:
        """Decode the numbers of counters."""
        places, names, values = self.samples
        bad: list[int] = []
        for row in np.flatnonzero(phase == _COUNTER).tolist():
            try:
                series: dict[str, Any] = self._series.decode(events[row].args)
            except (msgspec.DecodeError, ValueError):
                series = _numbers(bytes(events[row].args))
            if not series:
                bad.append(row)
            for name, value in series.items():
                if value is None:
                    bad.append(row)
                    continue
                places.append(self._length + row)
                names.append(name)
                values.append(value)
        if bad:
            self._faults.add("no_value", f"event {where[bad[0]]}", len(bad))

    def _take_rare(self, events: Sequence[Any], phase: NDArray[Any]) -> None:
        """Take the fields that only some phases, or few files, have."""
        ends = phase == _LAST_STEP
        inside = phase == _STEP
        if ends.any():
            points = map(attrgetter("bp"), compress(events, ends.tolist()))
            inside[ends] = [point == "e" for point in points]
        self.enclosed += (self._length + np.flatnonzero(inside)).tolist()
        if isinstance(events[0], Usual):
            return
        for row, event in enumerate(events):
            if event.bind_id is not None and (event.flow_in or event.flow_out):
                told = (self._length + row, event.bind_id, event.flow_in, event.flow_out)
                self.bound.append(told)
            if phase[row] == _SAMPLE:
                if event.sf is not None:
                    self.frames[self._length + row] = event.sf
                elif len(event.stack):
                    self.frames[self._length + row] = bytes(event.stack)

    def _check_texts(self) -> None:
        """Check the length of the texts that came with the last block."""
        known = self._builder.string_count
        new, self._texts = known - self._texts, known
        longest = max(map(len, islice(self._builder.newest_strings(), new)), default=0)
        self._limits.check("string_bytes", longest, self._path)


def _times(events: Sequence[Any]) -> microseconds.Times:
    ts, dur = map(attrgetter("ts"), events), map(attrgetter("dur"), events)
    if isinstance(events[0], InWholes):
        return microseconds.times_of_wholes(ts, dur, len(events))
    if isinstance(events[0], Usual):
        return microseconds.times_of_floats(list(ts), dur)
    return microseconds.times(list(ts), list(dur))


def _with(args: Any, fields: str) -> bytes:
    """Return arguments with more fields; one of the same name that is there already wins."""
    text = bytes(args)
    if not fields or text[:1] != b"{":
        return text
    rest = text[1:].lstrip()
    return b"{%b%b%b" % (fields.encode(), b"" if rest[:1] == b"}" else b",", rest)


def _identity(event: Any) -> Any:
    """Return what ties the events of one asynchronous operation or flow together."""
    if len(event.id2):
        try:
            told = json.loads(bytes(event.id2))
        except (ValueError, RecursionError):
            told = None
        if isinstance(told, dict) and told:
            # An id in "local" means something within its process only.
            if "local" in told:
                return ("local", event.pid, str(told["local"]))
            return str(next(iter(told.values())))
    if event.id is not None and event.scope:
        return (event.scope, event.id)
    return event.id


def _numbers(args: bytes) -> dict[str, float | None]:
    """Return the series of a counter that are not all plain numbers; None for what is none."""
    try:
        told = json.loads(args)
    except (ValueError, RecursionError):
        return {}
    if isinstance(told, (int, float, str)) and not isinstance(told, bool):
        told = {"value": told}
    if not isinstance(told, dict):
        return {}
    return {str(name): _number(value) for name, value in told.items()}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)  # also of a text, and of inf and nan in one
    except (ValueError, OverflowError):
        return None

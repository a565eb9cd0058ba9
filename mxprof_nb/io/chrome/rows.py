"""Events of a Chrome trace to rows of ours: what begins and ends in two events becomes one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.io.chrome.columns import Columns
from mxprof_nb.io.chrome.faults import Faults
from mxprof_nb.io.chrome.pairs import matched
from mxprof_nb.trace import TraceBuilder, schema

__all__ = ["Rows"]

_SPAN, _INSTANT, _ASYNC = (schema.KINDS.index(kind) for kind in ("span", "instant", "async"))
_YEAR = 365 * 86_400 * 10**9
#: No clock of a producer is wrong by so much; what is, is no time.
_FAR = 10 * _YEAR
#: Producers write the largest number they have for a length they do not know.
_ENDLESS = 100 * _YEAR
#: Where MXNet writes each operator twice: for its device and for its category.
_TWICE = ("operator", "Custom Operator")
#: It writes begin and end of whatever it records together, when it is over.
_AT_ONCE = ("MXNET_C_API", "event")


class Rows:
    """The rows that events became.

    Parameters
    ----------
    columns : Columns
        Finished.
    builder : TraceBuilder
        Has the texts.
    faults : Faults

    Attributes
    ----------
    place : ndarray of int, shape (n,)
        Of the event, or of that which begins it, in the columns; ascending.
    start, dur : ndarray of int64, shape (n,)
        In ns.
    kind : ndarray of int, shape (n,)
        Place in `schema.KINDS`.
    end_place : ndarray of int, shape (n,)
        Of the event that ends it, -1 where there is none.
    twins : int
        How many operators of MXNet were there twice.
    usable : ndarray of bool, shape (number of events,)
        False for events that lie years away from all others.
    """

    def __init__(self, columns: Columns, builder: TraceBuilder, faults: Faults) -> None:
        self._columns, self._builder, self._faults = columns, builder, faults
        self.twins = 0
        self.usable = self._usable()
        self._empty = builder.string("")
        self._at_once = [builder.string(domain) for domain in (*_TWICE, *_AT_ONCE)]
        self._parts: list[tuple[NDArray[np.intp], I64Array, NDArray[np.intp], int]] = []
        self._end = self._end_of_run()
        self._add_complete()
        self._add_points()
        spans = self._add_pairs("B", "E", self._columns.thread, _SPAN)
        asyncs = self._add_pairs("b", "e", self._async_group(), _ASYNC, by_name=True)
        self._drop_twins(spans, asyncs)
        if len(self._where("SFND")):
            owned = self._combined(columns.key + 1, self._process(), columns.cat)
            self._add_pairs("S", "F", owned, _ASYNC)
            self._add_pairs("N", "D", self._combined(owned, columns.name), _ASYNC)
        if len(self._where("()")):
            alike = self._combined(columns.thread, columns.cat, columns.key + 1)
            self._add_pairs("(", ")", alike, _ASYNC, by_name=True)
        self._join()

    def _where(self, phases: str) -> NDArray[np.intp]:
        places = self._columns.where(phases)
        return places[self.usable[places]]

    def _usable(self) -> NDArray[np.bool_]:
        """Return which events are anywhere near the others."""
        start = self._columns.start
        usable = np.ones(len(start), dtype=bool)
        if len(start) and int(start.max()) - int(start.min()) > _FAR:
            middle = int(np.sort(start)[len(start) // 2])
            usable = np.abs(start / 1.0 - middle) <= _FAR
            far = np.flatnonzero(~usable)
            if len(far):
                place = f"event {int(self._columns.row[far[0]])}"
                self._faults.add("absurd_time", place, len(far))
        return usable

    def _end_of_run(self) -> int:
        columns = self._columns
        dur = np.where(columns.dur < _ENDLESS, columns.dur, 0)
        ends = (columns.start + dur)[self.usable]
        return int(ends.max(initial=np.iinfo(np.int64).min))

    def _add(
        self, places: NDArray[np.intp], dur: I64Array, kind: int, ends: NDArray[np.intp] | None
    ) -> None:
        if ends is None:
            ends = np.full(len(places), -1, dtype=np.intp)
        self._parts.append((places, dur, ends, kind))

    def _add_complete(self) -> None:
        columns = self._columns
        places = self._where("X")
        dur = columns.dur[places]
        endless = np.flatnonzero(dur >= _ENDLESS)
        if len(endless):
            row = int(columns.row[places[endless[0]]])
            self._faults.add("endless", f"event {row}", len(endless))
            dur[endless] = self._end - columns.start[places[endless]]
        self._add(places, dur, _SPAN, None)

    def _add_points(self) -> None:
        columns = self._columns
        places = self._where("niIPpTO")
        dur = columns.dur[places]
        # Perfetto's importer of Fuchsia's kind: the state of a thread, with a length.
        lasts = (dur > 0) & (columns.key[places] < 0) & (dur < _ENDLESS)
        self._add(places[~lasts], np.zeros(int((~lasts).sum()), dtype=np.int64), _INSTANT, None)
        self._add(places[lasts], dur[lasts], _ASYNC, None)

    def _add_pairs(
        self, begin: str, end: str, group: I64Array, kind: int, *, by_name: bool = False
    ) -> int:
        """Add what begins and ends in two events; return which part that is."""
        columns = self._columns
        places = self._where(begin + end)
        opens = columns.phase[places] == columns.where_code(begin)
        partner = matched(
            group[places],
            columns.name[places],
            opens,
            columns.start[places],
            empty=self._empty,
            by_name=by_name,
            at_once=np.isin(columns.cat[places], self._at_once),
        )
        begins = np.flatnonzero(opens)
        ends = np.where(partner[begins] >= 0, places[partner[begins]], -1)
        lone = begins[partner[begins] < 0]
        if begin != "N" and len(lone):
            self._faults.add("no_end", self._event(places[lone[0]]), len(lone))
        orphans = np.flatnonzero(~opens & (partner < 0))
        if len(orphans):
            if begin == "N":
                none = np.zeros(len(orphans), dtype=np.int64)
                self._add(places[orphans], none, _INSTANT, None)
            else:
                self._faults.add("no_begin", self._event(places[orphans[0]]), len(orphans))
        stop = np.where(ends >= 0, columns.start[ends], self._end)
        self._add(places[begins], stop - columns.start[places[begins]], kind, ends)
        return len(self._parts) - 1

    def _event(self, place: int) -> str:
        columns = self._columns
        name = self._builder.text_of(int(columns.name[place]))
        told = f", {name[:60]!r}" if name else ""
        return f"event {int(columns.row[place])}{told}"

    def _async_group(self) -> I64Array:
        """Return what the halves of an asynchronous event have in common beside the name."""
        columns = self._columns
        lone = self._where("be")
        lone = lone[columns.key[lone] < 0]
        if len(lone):
            self._faults.add("no_id", f"event {int(columns.row[lone[0]])}", len(lone))
        shift = int(columns.key.max(initial=-1)) + 1
        which = np.where(columns.key >= 0, columns.key, shift + columns.thread)
        return self._combined(which, columns.cat)

    @staticmethod
    def _combined(*parts: NDArray[Any]) -> I64Array:
        found = np.zeros(len(parts[0]), dtype=np.int64)
        for part in parts:
            most = int(part.max(initial=0)) + 1
            if int(found.max(initial=0)) * most >= 2**62:  # as numbers of what occurs
                found = np.unique(found, return_inverse=True)[1]
            found = found * most + part
        return found

    def _process(self) -> I64Array:
        """Return a number of the process of each event."""
        numbers: dict[object, int] = {}
        of_thread = [numbers.setdefault(pid, len(numbers)) for pid, _ in self._columns.threads]
        found: I64Array = np.array(of_thread, dtype=np.int64)[self._columns.thread]
        return found

    def _drop_twins(self, spans: int, asyncs: int) -> None:
        """Leave out the second record that MXNet writes of an operator, under its category."""
        columns = self._columns
        twice = [self._builder.string(domain) for domain in _TWICE]
        own, again = self._parts[spans], self._parts[asyncs]
        first = np.flatnonzero(np.isin(columns.cat[own[0]], twice))
        second = np.flatnonzero(np.isin(columns.cat[again[0]], twice))
        if not len(first) or not len(second):
            return
        numbers: dict[object, int] = {}
        tid = np.array([numbers.setdefault(tid, len(numbers)) for _, tid in columns.threads])
        places = np.concatenate([own[0][first], again[0][second]])
        ends = columns.start[places] + np.concatenate([own[1][first], again[1][second]])
        is_second = np.arange(len(places)) >= len(first)
        alike = self._combined(columns.name[places], tid[columns.thread[places]])
        order = np.lexsort((is_second, columns.start[places], alike))
        # The last one before it of the device, of the same name and thread.
        number = np.arange(len(order))
        before = np.maximum.accumulate(np.where(is_second[order], -1, number))
        device = order[before]
        found = (
            is_second[order]
            & (before >= 0)
            & (alike[device] == alike[order])
            & (columns.start[places[order]] <= ends[device])
        )
        _, once = np.unique(before[found], return_index=True)
        twins = second[order[np.flatnonzero(found)[once]] - len(first)]
        self.twins = len(twins)
        keep = np.ones(len(again[0]), dtype=bool)
        keep[twins] = False
        self._parts[asyncs] = (again[0][keep], again[1][keep], again[2][keep], again[3])

    def _join(self) -> None:
        places = np.concatenate([part[0] for part in self._parts]).astype(np.intp)
        order = np.argsort(places, kind="stable")
        self.place = places[order]
        self.dur: I64Array = np.concatenate([part[1] for part in self._parts])[order]
        self.end_place = np.concatenate([part[2] for part in self._parts])[order].astype(np.intp)
        kinds = [np.full(len(part[0]), part[3], dtype=np.int8) for part in self._parts]
        self.kind = np.concatenate(kinds)[order]
        self._parts.clear()
        self.start: I64Array = self._columns.start[self.place]

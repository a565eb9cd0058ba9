"""`TraceBuilder`: rows in any order in, a validated `Trace` out.

- Recorders hand over whole columns (`add_events`), readers may add one row at a time (`event`).
- Both get back row numbers to use in `flows`; they are renumbered when the rows are sorted.
- `build` sorts, finds parents, checks every reference and freezes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.errors import EmptyTraceError, SchemaError
from mxprof_nb.trace import nesting, schema
from mxprof_nb.trace.meta import Health, Meta
from mxprof_nb.trace.rows import Rows
from mxprof_nb.trace.strings import StringBuilder, Strings
from mxprof_nb.trace.tables import (
    ArgTable,
    CounterTable,
    EventTable,
    FlowTable,
    SiteTable,
    TrackTable,
    frozen,
)
from mxprof_nb.trace.trace import Trace

__all__ = ["TraceBuilder", "concat"]

_KIND = {name: code for code, name in enumerate(schema.KINDS)}
_CATEGORY = {name: code for code, name in enumerate(schema.CATEGORIES)}
_ROLE = {name: code for code, name in enumerate(schema.ROLES)}
_FLOW = {name: code for code, name in enumerate(schema.FLOW_KINDS)}
#: Codes from here downwards stand for texts that are decoded later.
_LATER = -2


class TraceBuilder:
    """Collects rows in any order and makes a `Trace` of them.

    Examples
    --------
    >>> builder = TraceBuilder()
    >>> host = builder.track("MainThread", role="host")
    >>> builder.event("dot", track=host, start_ns=0, dur_ns=50, category="operator")
    0
    >>> builder.build()
    <Trace: 1 events on 1 tracks, 0 counter samples, 0.000 ms, clean>
    """

    def __init__(self, meta: Meta | None = None) -> None:
        self.meta = meta or Meta()
        self.health = Health()
        self._strings = StringBuilder()
        self._events = Rows(EventTable)
        self._tracks = Rows(TrackTable)
        self._flows = Rows(FlowTable)
        self._counters = Rows(CounterTable)
        self._sites = Rows(SiteTable)
        self._args = Rows(ArgTable)
        self._site_rows: dict[tuple[str, int, str], int] = {}

    # Texts, tracks, sites and details first: events refer to them.

    def string(self, text: str) -> int:
        """Return the code of a text."""
        return self._strings.code(text)

    def strings(self, texts: Iterable[str]) -> list[int]:
        """Return the codes of many texts."""
        return self._strings.codes(texts)

    @property
    def code_of(self) -> Any:
        """What `string` does, for calls by the million."""
        return self._strings.code_of

    @property
    def string_count(self) -> int:
        """How many distinct texts there are."""
        return self._strings.count

    def text_of(self, code: int) -> str:
        """Return the text of a code."""
        return self._strings.text_of(code)

    def newest_strings(self) -> Iterator[str]:
        """Yield the texts, those last met first."""
        return self._strings.newest()

    def _null_or_code(self, text: str | None) -> int:
        return -1 if text is None else self._strings.code(text)

    def track(
        self,
        name: str,
        *,
        role: str,
        process: str = "",
        thread: str | None = None,
        device: str | None = None,
        backend: str | None = None,
        rank: int = -1,
        order: int | None = None,
        pid_text: str | None = None,
        tid_text: str | None = None,
    ) -> int:
        """Add a track and return its row; ``order`` defaults to the order of adding."""
        return self._tracks.add_row(
            {
                "process": self.string(process),
                "thread": self.string(name if thread is None else thread),
                "device": self._null_or_code(device),
                "backend": self._null_or_code(backend),
                "rank": rank,
                "role": _ROLE[role],
                "name": self.string(name),
                "order": self._tracks.length if order is None else order,
                "pid_text": self._null_or_code(pid_text),
                "tid_text": self._null_or_code(tid_text),
            }
        )

    def add_tracks(self, **columns: Any) -> NDArray[np.int64]:
        """Add many tracks as columns of the tracks table; return their rows."""
        return self._tracks.add_block(columns)

    def site(self, file: str, line: int, function: str, text: str | None = None) -> int:
        """Return the row of a source line, adding it when it is new."""
        key = (file, line, function)
        row = self._site_rows.get(key)
        if row is None:
            row = self._site_rows[key] = self._sites.add_row(
                {
                    "file": self.string(file),
                    "line": line,
                    "function": self.string(function),
                    "text": self._null_or_code(text),
                }
            )
        return row

    def add_sites(self, **columns: Any) -> NDArray[np.int64]:
        """Add many lines as columns of the sites table, repeated ones too; return their rows."""
        return self._sites.add_block(columns)

    def arg(
        self,
        *,
        bytes: int = -1,
        flops: int = -1,
        shapes: str | None = None,
        dtype: str | None = None,
        raw: str | None = None,
    ) -> int:
        """Add the details of one event and return their row."""
        return self._args.add_row(
            {
                "bytes": bytes,
                "flops": flops,
                "shapes": self._null_or_code(shapes),
                "dtype": self._null_or_code(dtype),
                "raw": self._null_or_code(raw),
            }
        )

    def add_args(self, **columns: Any) -> NDArray[np.int64]:
        """Add many rows of details as columns of the args table; return their rows."""
        return self._args.add_block(columns)

    def add_raw_args(self, texts: Sequence[Any]) -> int:
        """Add details that are one JSON text each and stay undecoded until looked at.

        Parameters
        ----------
        texts : sequence of bytes-like
            In UTF-8.

        Returns
        -------
        int
            The row of the first; the others follow.
        """
        numbers = np.arange(len(texts), dtype=np.int32) + self._strings.later(texts)
        # Their codes follow those of all other texts, which are not all known yet.
        self._args.add_block({"raw": frozen(_LATER - numbers)})
        return self._args.length - len(texts)

    def event(
        self,
        name: str,
        *,
        track: int,
        start_ns: int,
        dur_ns: int = 0,
        kind: str = "span",
        category: str = "user",
        domain: str = "",
        **columns: int,
    ) -> int:
        """Add one event and return its provisional row, for use in `flow`."""
        return self._events.add_row(
            {
                "start_ns": start_ns,
                "dur_ns": dur_ns,
                "kind": _KIND[kind],
                "name": self.string(name),
                "category": _CATEGORY[category],
                "domain": self.string(domain),
                "track": track,
                **columns,
            }
        )

    def add_events(self, **columns: Any) -> NDArray[np.int64]:
        """Add many events as columns of the events table; scalars are repeated.

        Returns
        -------
        ndarray of int64, shape (n,)
            Provisional rows, for use in `add_flows`.
        """
        return self._events.add_block(columns)

    def flow(self, source: int, target: int, kind: str = "launch") -> None:
        """Say that one event precedes another, by their provisional rows."""
        self._flows.add_row({"source": source, "target": target, "kind": _FLOW[kind]})

    def add_flows(self, source: Any, target: Any, kind: str = "launch") -> None:
        """Say the same of many pairs."""
        self._flows.add_block({"source": source, "target": target, "kind": _FLOW[kind]})

    def counter(
        self, name: str, *, track: int, time_ns: int, value: float, unit: str | None = None
    ) -> None:
        """Add one sample of a counter."""
        self._counters.add_row(
            {
                "time_ns": time_ns,
                "track": track,
                "name": self.string(name),
                "value": value,
                "unit": self._null_or_code(unit),
            }
        )

    def add_counters(self, **columns: Any) -> None:
        """Add many samples as columns of the counters table."""
        self._counters.add_block(columns)

    def note(self, code: str, count: int, message: str) -> None:
        """Say that something was lost, repaired or left out."""
        self.health = self.health.with_note(code, count, message)

    def build(self) -> Trace:
        """Sort, find parents, check every reference, and freeze.

        Raises
        ------
        SchemaError
            A duration is negative or a reference leads nowhere; names table, column, row, value.
        """
        events = self._events.columns()
        tracks = TrackTable.of(self._tracks.columns())
        self._check(events, len(tracks))
        start, dur = events["start_ns"], events["dur_ns"]

        order = nesting.sort_in_time(start, start + dur)
        events = {name: frozen(values[order]) for name, values in events.items()}
        events["parent"] = frozen(self._parents(events))
        renumber = np.empty(len(order), dtype=np.int32)
        renumber[order] = np.arange(len(order), dtype=np.int32)

        flows = self._flows.columns()
        for end in ("source", "target"):
            _refer("flows", end, flows[end], len(renumber))
            flows[end] = renumber[flows[end]]

        counters = self._counters.columns()
        _refer("counters", "track", counters["track"], len(tracks))
        by_time = np.argsort(counters["time_ns"], kind="stable")
        strings = self._strings.freeze()
        return Trace(
            events=EventTable.of(events),
            tracks=tracks,
            flows=FlowTable.of(flows),
            counters=CounterTable.of({k: frozen(v[by_time]) for k, v in counters.items()}),
            sites=SiteTable.of(self._sites.columns()),
            args=self._args_table(strings),
            strings=strings,
            meta=self.meta,
            health=self.health,
        )

    def _args_table(self, strings: Strings) -> ArgTable:
        columns = self._args.columns()
        raw = columns["raw"]
        is_later = raw <= _LATER
        if is_later.any():
            columns["raw"] = np.where(is_later, strings.at_once + _LATER - raw, raw)
        return ArgTable.of(columns)

    def _check(self, events: Mapping[str, NDArray[Any]], tracks: int) -> None:
        negative = np.flatnonzero(events["dur_ns"] < 0)
        if len(negative):
            row = int(negative[0])
            raise SchemaError.at(
                "events", "dur_ns", row, int(events["dur_ns"][row]), "a duration is 0 or more"
            )
        lasting = np.flatnonzero((events["kind"] == _KIND["instant"]) & (events["dur_ns"] > 0))
        if len(lasting):
            row = int(lasting[0])
            raise SchemaError.at(
                "events", "dur_ns", row, int(events["dur_ns"][row]), "an instant has none"
            )
        _refer("events", "track", events["track"], tracks)
        _refer("events", "site", events["site"], self._sites.length, null=True)
        _refer("events", "arg", events["arg"], self._args.length, null=True)
        _refer("events", "name", events["name"], len(self._strings))

    @staticmethod
    def _parents(events: Mapping[str, NDArray[Any]]) -> NDArray[np.int32]:
        """Find parents among synchronous rows; asynchronous ones have none by definition."""
        parent = np.full(len(events["start_ns"]), -1, dtype=np.int32)
        rows = np.flatnonzero(events["kind"] != _KIND["async"])
        start = events["start_ns"][rows]
        end = start + events["dur_ns"][rows]
        track = events["track"][rows]
        order = nesting.sort_by_track(track)  # they are in order of time
        rows = rows[order]
        found, _ = nesting.nest(track[order], start[order], end[order])
        parent[rows] = np.where(found >= 0, rows[found], -1)
        return parent

    @classmethod
    def joining(cls, traces: Sequence[Trace], shifts: Sequence[int] | None = None) -> TraceBuilder:
        """Return a builder that holds the rows of several traces on one time line.

        Rows are added trace by trace, so a row of the second has the number of events of the first
        added. ``shifts``, in ns, are added to the times of each; without, they follow from
        ``meta.origin_epoch_ns``.
        """
        if not traces:
            raise EmptyTraceError("concat() needs at least one trace; the sequence is empty.")
        origins = [trace.meta.origin_epoch_ns for trace in traces]
        common = min(origins) if min(origins) >= 0 else -1
        builder = cls()
        windows = []
        notes: list[str] = []
        if shifts is None:
            shifts = [origin - common if common >= 0 else 0 for origin in origins]
        for trace, shift in zip(traces, shifts, strict=True):
            builder._take_over(trace, shift)
            begin, end = trace.window_ns
            windows.append((begin + shift, end + shift))
            notes.append(trace.meta.title or trace.meta.backend or "trace")
        builder.meta = replace(
            traces[0].meta,
            origin_epoch_ns=common,
            window_ns=(min(w[0] for w in windows), max(w[1] for w in windows)),
            returned_ns=-1,
            history=(*traces[0].meta.history, f"concat({', '.join(notes)})"),
        )
        return builder

    def _take_over(self, trace: Trace, shift: int) -> None:
        """Add all rows of a trace, ``shift`` ns later, renumbering what they refer to."""
        codes = np.array([*self.strings(trace.strings), -1], dtype=np.int32)
        first = {
            "tracks": self._tracks.length,
            "sites": self._sites.length,
            "args": self._args.length,
            "events": self._events.length,
        }
        targets = {
            "tracks": self._tracks,
            "sites": self._sites,
            "args": self._args,
            "events": self._events,
            "flows": self._flows,
            "counters": self._counters,
        }
        for name, rows in targets.items():
            moved: dict[str, Any] = {}
            for column, values in getattr(trace, name).columns():
                if column.coding == "string":
                    values = codes[values]
                elif column.refers_to:
                    values = np.where(values >= 0, values + first[column.refers_to], -1)
                elif column.name in ("start_ns", "time_ns"):
                    values = values + shift
                elif column.name == "queued_ns":
                    values = np.where(values >= 0, values + shift, -1)
                moved[column.name] = values
            rows.add_block(moved)
        self.health = Health((*self.health.notes, *trace.health.notes))


def concat(traces: Sequence[Trace]) -> Trace:
    """Return one trace with the rows of all, on one time line.

    Parameters
    ----------
    traces : sequence of Trace
        At least one. Times are joined by ``meta.origin_epoch_ns`` where all know it, and are
        taken as already common otherwise.

    Raises
    ------
    EmptyTraceError
        The sequence is empty.
    """
    return TraceBuilder.joining(traces).build()


def _refer(
    table: str, column: str, values: NDArray[Any], length: int, *, null: bool = False
) -> None:
    """Check that every value is a row below ``length`` (or -1 where null is allowed)."""
    bad = (values >= length) | (values < (-1 if null else 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise SchemaError.at(
            table, column, row, int(values[row]), f"it must be a row below {length}"
        )

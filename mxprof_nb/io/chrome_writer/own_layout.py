"""The one writer of Chrome traces: a file that chrome://tracing and Perfetto show.

- Spans are ``X`` events, asynchronous ones a ``b``/``e`` pair, points in time ``i``, counters
  ``C``, flows an ``s``/``f`` pair; ``M`` events name and order processes and threads.
- Viewers want the spans of a thread to nest. Those of a track that overlap without nesting go to
  further threads of its name, and two counters of one name in one process get ids.
- Times are microseconds with three decimals, so every nanosecond survives, from the origin or, as
  Perfetto drops what is before 0, from the first event before it.
- ``cat`` is ``category,domain``. What else we know of an event stands in its ``args``, where a
  viewer shows it; what we know of the trace stands under one key of our own (`own_key`).
- `mxprof_nb.io.chrome` reads all of it back; rows of args that no event refers to are left out.

The text is made in blocks of rows, so memory stays small whatever the size of the trace. NumPy
and the standard library only: the runtime's ``profiler.dump()`` writes through this module too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.io.chrome_writer import own_key
from mxprof_nb.io.chrome_writer.mxnet_layout import MxnetEncoder
from mxprof_nb.io.chrome_writer.text import (
    BLOCK,
    NAMELESS,
    Column,
    Details,
    JsonTexts,
    before_zero,
    distinct,
    even,
    json_text,
    micros,
    micros_columns,
    padded,
    woven,
)
from mxprof_nb.io.chrome_writer.threads import Threads
from mxprof_nb.trace import Trace, nesting, schema

__all__ = ["suffixes", "write", "write_chrome"]

suffixes = (".json", ".json.gz")

_SPAN, _INSTANT, _ASYNC = (schema.KINDS.index(kind) for kind in ("span", "instant", "async"))
#: Flows turned into text at a time, few enough for the processor's cache.
_FLOWS = 16_384
#: Kinds of flow whose arrow leaves at the end of the source: there the result was ready.
_FROM_END = [
    schema.FLOW_KINDS.index(kind)
    for kind in ("read_after_write", "write_after_read", "write_after_write")
]


def write_chrome(
    trace: Trace,
    file: IO[bytes],
    *,
    layout: Literal["own", "mxnet"] = "own",
    devices: Sequence[str] = (),
) -> None:
    """Write a trace as Chrome trace JSON.

    Parameters
    ----------
    trace : Trace
    file : binary file object
        Gets UTF-8 text, block by block; `mxprof_nb.io.files.writing` opens one that appears whole
        or not at all.
    layout : {"own", "mxnet"}
        Ours, or that of MXNet's ``profiler.dump()``, which `MxnetEncoder` describes and also makes
        of one partial trace after another.
    devices : sequence of str
        For MXNet's layout: devices to name, whether anything ran on them or not.

    Notes
    -----
    Times of flows lie within both slices wherever order allows, because viewers bind them by
    time and drop an arrow that ends before it begins; our reader goes by row number.
    An end that is a point in time or asynchronous is no slice to viewers, which leave it out.
    Samples of counters that are no finite number are written as null with the value beside it.
    MXNet's layout has no place for flows; they are left out.
    """
    if layout == "mxnet":
        encoder = MxnetEncoder(devices)
        texts = chain(encoder.begin(), encoder.add(trace), encoder.end())
    else:
        texts = chain(_texts(trace))
    for text in texts:
        file.write(text.encode())


#: What `mxprof_nb.io.registry.Writer` asks for.
write = write_chrome


def _texts(trace: Trace) -> Iterator[str]:
    """Yield the file piece by piece."""
    writing = _Writing(trace)
    about = own_key.described(trace, writing.ids, writing.lanes, writing.zero)
    yield '{"displayTimeUnit":"ms",\n'
    yield f'"{own_key.KEY}":{json_text(about)},\n'
    yield '"traceEvents":[\n'
    last = ""
    for block in writing.blocks():
        yield last
        last = block or last
    yield last.removesuffix(",\n")
    yield "\n]}\n"


class _Writing:
    """Texts that many events share, made once per trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.names = JsonTexts(trace.strings)
        #: The time that is told as 0.
        self.zero = -before_zero(trace)
        pids = self._pids()
        threads = Threads()
        first, _ = threads.of_tracks(trace)
        self.ids = list(zip(pids, first, strict=True))
        self.thread = self._threads(threads, np.array(pids), np.array(first))
        #: Further threads of a track, each with its first.
        self.lanes = threads.news()
        pid_of = dict(zip(first, pids, strict=True))
        pid_of |= {tid: pid_of[of] for tid, of in self.lanes}
        self.places = [""] + [
            f'"pid":{pid_of[tid]},"tid":{tid}' for tid in range(1, len(pid_of) + 1)
        ]

    def _pids(self) -> list[int]:
        """Return a process number per track, small ones: viewers cut large ids off."""
        tracks = self.trace.tracks
        processes: dict[tuple[int, int, int], int] = {}
        keys = zip(
            tracks.process.tolist(), tracks.pid_text.tolist(), tracks.rank.tolist(), strict=True
        )
        return [processes.setdefault(key, len(processes) + 1) for key in keys]

    def _threads(
        self, threads: Threads, pids: NDArray[Any], first: NDArray[Any]
    ) -> NDArray[np.int32]:
        """Return the thread of every event: on none do spans overlap without nesting."""
        events = self.trace.events
        found = np.append(first, 0)[events.track].astype(np.int32)
        rows = np.flatnonzero(events.kind == _SPAN)
        track, start, end = events.track[rows], events.start_ns[rows], events.end_ns[rows]
        if not _nested(track, events.parent[rows], start, end):
            order, tid, _ = threads.place(pids[track], track, first, start, end)
            found[rows[order]] = tid
        return found

    def blocks(self) -> Iterator[str]:
        """Yield lists of events as JSON text, each event with what stands between two of them."""
        yield self._metadata()
        details = Details(self.trace, self.names)
        families = _Families(self.trace)
        for first in range(0, len(self.trace.events), BLOCK):
            yield self._events(slice(first, first + BLOCK), details, families)
        series = self._series()
        for first in range(0, len(self.trace.counters), BLOCK):
            yield self._counters(slice(first, first + BLOCK), series)
        kinds = even([f'"name":"{name}","cat":"flow",' for name in schema.FLOW_KINDS])
        places = even(self.places)
        for first in range(0, len(self.trace.flows), _FLOWS):
            yield self._flows(first, first + _FLOWS, kinds, places)

    def _metadata(self) -> str:
        tracks, strings = self.trace.tracks, self.trace.strings
        told: list[str] = []
        named: set[int] = set()
        form = '{"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"%s":%s}},\n'
        track_of = {tid: row for row, (_, tid) in enumerate(self.ids)}
        lanes = [(tid, track_of[first]) for tid, first in self.lanes]
        for tid, row in [*((tid, row) for row, (_, tid) in enumerate(self.ids)), *lanes]:
            pid, place = self.ids[row][0], int(tracks.order[row])
            if pid not in named:
                named.add(pid)
                process = strings[int(tracks.process[row])] or self.trace.meta.title or "mxprof_nb"
                told.append(form % ("process_name", pid, tid, "name", json_text(process)))
                told.append(form % ("process_sort_index", pid, tid, "sort_index", place))
            name = json_text(strings[int(tracks.name[row])] or NAMELESS)
            told.append(form % ("thread_name", pid, tid, "name", name))
            told.append(form % ("thread_sort_index", pid, tid, "sort_index", place))
        return "".join(told)

    def _events(self, rows: slice, told: Details, families: _Families) -> str:
        events = self.trace.events
        names = list(map(self.names.__getitem__, events.name[rows].tolist()))
        cats = list(map(families.texts.__getitem__, families.of[rows].tolist()))
        places = list(map(self.places.__getitem__, self.thread[rows].tolist()))
        start, dur = micros(events.start_ns[rows] - self.zero), micros(events.dur_ns[rows])
        after = [f',"args":{{{text[1:]}}}}},\n{{"name":' for text in told.of(rows)]
        n = len(names)
        phase, middle = [',"ph":"X","ts":'] * n, [',"dur":'] * n
        kind = events.kind[rows]
        for place in np.flatnonzero(kind == _INSTANT).tolist():
            phase[place], middle[place], dur[place] = ',"ph":"i","s":"t","ts":', "", ""
        pairs = np.flatnonzero(kind == _ASYNC)
        ends = micros(events.end_ns[rows][pairs] - self.zero)
        for place, end in zip(pairs.tolist(), ends, strict=True):
            number = f',"id":{rows.start + place + 1}'
            phase[place], middle[place], dur[place] = ',"ph":"b","ts":', number, ""
            head = f'{names[place]},"cat":{cats[place]},{places[place]}'
            after[place] += f'{head},"ph":"e","ts":{end}{number}}},\n{{"name":'
        if n:
            after[-1] = after[-1].removesuffix('{"name":')
        cat, comma = [',"cat":'] * n, [","] * n
        return '{"name":' * bool(n) + woven(
            names, cat, cats, comma, places, phase, start, middle, dur, after
        )

    def _series(self) -> dict[int, str]:
        """Return, by track, what tells its counters from those of the same name in its process.

        Viewers know a counter by process, name and id, and not by its thread.
        """
        counters, tracks = self.trace.counters, len(self.trace.tracks)
        used, _ = distinct(counters.name.astype(np.int64) * tracks + counters.track)
        owners: dict[tuple[int, int], list[int]] = {}
        for name, track in (divmod(code, tracks) for code in used.tolist()):
            owners.setdefault((name, self.ids[track][0]), []).append(track)
        return {
            track: f',"id":{self.ids[track][1]}'
            for several in owners.values()
            if len(several) > 1
            for track in several
        }

    def _counters(self, rows: slice, series: dict[int, str]) -> str:
        counters = self.trace.counters
        texts = []
        for ts, name, track, value, unit in zip(
            micros(counters.time_ns[rows] - self.zero),
            counters.name[rows].tolist(),
            counters.track[rows].tolist(),
            counters.value[rows].tolist(),
            counters.unit[rows].tolist(),
            strict=True,
        ):
            more = "" if unit < 0 else f',"unit":{self.names[unit]}'
            if math.isfinite(value):
                number = repr(value)
            else:
                number, more = "null", f'{more},"special":"{value}"'
            texts.append(
                f'{{"ph":"C","ts":{ts},"name":{self.names[name]},'
                f"{self.places[self.ids[track][1]]}{series.get(track, '')},"
                f'"args":{{"value":{number}}}{more}}},\n'
            )
        return "".join(texts)

    def _flows(
        self, first: int, stop: int, kinds: NDArray[np.uint8], places: NDArray[np.uint8]
    ) -> str:
        flows, events = self.trace.flows, self.trace.events
        source, target = flows.source[first:stop], flows.target[first:stop]
        kind = flows.kind[first:stop]
        begins = [events.start_ns[rows] for rows in (source, target)]
        # An end is not inside a half-open slice: the last place inside is one ns before it.
        lasts = [
            begin + np.maximum(events.dur_ns[rows] - 1, 0)
            for begin, rows in zip(begins, (source, target), strict=True)
        ]
        leave = np.where(np.isin(kind, _FROM_END), lasts[0], begins[0])
        arrive = np.clip(leave, begins[1], lasts[1])
        number = np.arange(first + 1, first + 1 + len(kind))
        columns: list[Column] = []
        # Names of their own: chrome://tracing complains of two values for one.
        for phase, at, end, rows in (
            ('"s"', leave, "source", source),
            ('"f","bp":"e"', arrive, "target", target),
        ):
            columns += [f'{{"ph":{phase},', (kinds, kind), (places, self.thread[rows])]
            columns += [',"id":', number, ',"ts":', *micros_columns(at - self.zero)]
            columns += [f',"args":{{"{end}":', rows, "}},\n"]
        return padded(columns)


class _Families:
    """Categories with their domains: ``cat`` of the events."""

    def __init__(self, trace: Trace) -> None:
        events, strings = trace.events, trace.strings
        key = events.category.astype(np.int64) * len(strings) + events.domain
        used, self.of = distinct(key)
        self.texts = []
        for code in used.tolist():
            category, domain = divmod(code, len(strings))
            family = f",{strings[domain]}" if strings[domain] else ""
            self.texts.append(json_text(schema.CATEGORIES[category] + family))


def _nested(
    track: NDArray[Any], parent: NDArray[Any], start: NDArray[Any], end: NDArray[Any]
) -> bool:
    """Return whether, on each track, all with the same parent come one after the other."""
    order = nesting.sort_by_track(track)
    order = order[np.argsort(parent[order], kind="stable")]
    track, parent, start, end = track[order], parent[order], start[order], end[order]
    beside = (track[1:] == track[:-1]) & (parent[1:] == parent[:-1])
    return not bool((beside & (start[1:] < end[:-1])).any())

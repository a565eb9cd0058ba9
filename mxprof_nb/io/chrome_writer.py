"""The one writer of Chrome traces: a file that chrome://tracing and Perfetto show.

- Spans are ``X`` events, asynchronous ones a ``b``/``e`` pair, points in time ``i``, counters
  ``C``, flows an ``s``/``f`` pair; ``M`` events name and order processes and threads.
- Times are microseconds from the origin with three decimals, so every nanosecond survives.
- ``cat`` is ``category,domain``. What else we know of an event stands in its ``args``, where a
  viewer shows it; what we know of the trace stands under one key of our own (`chrome_own`).
- `mxprof_nb.io.chrome` reads all of it back; rows of args that no event refers to are left out.

The text is made in blocks of rows, so memory stays small whatever the size of the trace. NumPy
and the standard library only: the runtime's ``profiler.dump()`` writes through this module too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, Literal

import numpy as np

from mxprof_nb.io import chrome_own
from mxprof_nb.io.chrome_mxnet import MxnetEncoder
from mxprof_nb.io.chrome_text import BLOCK, Details, json_text, micros
from mxprof_nb.trace import Trace, schema

__all__ = ["suffixes", "write", "write_chrome"]

suffixes = (".json", ".json.gz")

_SPAN, _INSTANT, _ASYNC = (schema.KINDS.index(kind) for kind in ("span", "instant", "async"))
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
        Gets ASCII text, block by block; `mxprof_nb.io.files.writing` opens one that appears whole
        or not at all.
    layout : {"own", "mxnet"}
        Ours, or that of MXNet's ``profiler.dump()``, which `mxprof_nb.io.chrome_mxnet` describes
        and also makes of one partial trace after another.
    devices : sequence of str
        For MXNet's layout: devices to name, whether anything ran on them or not.

    Notes
    -----
    Times of flows lie within both slices wherever order allows, because viewers bind them by
    time and drop an arrow that ends before it begins; our reader goes by row number.
    Samples of counters that are no finite number are written as null with the value beside it.
    """
    if layout == "mxnet":
        encoder = MxnetEncoder(devices)
        texts = chain(encoder.begin(), encoder.add(trace), encoder.end())
    else:
        texts = chain(_texts(trace))
    for text in texts:
        file.write(text.encode("ascii"))


#: What `mxprof_nb.io.registry.Writer` asks for.
write = write_chrome


def _texts(trace: Trace) -> Iterator[str]:
    """Yield the file piece by piece."""
    writing = _Writing(trace)
    yield '{"displayTimeUnit":"ms",\n'
    yield f'"{chrome_own.KEY}":{json_text(chrome_own.described(trace, writing.ids))},\n'
    yield '"traceEvents":[\n'
    between = ""
    for block in writing.blocks():
        if block:
            yield between
            yield ",\n".join(block)
            between = ",\n"
    yield "\n]}\n"


class _Writing:
    """Texts that many events share, made once per trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.names = [json_text(text) for text in trace.strings]
        self.ids = self._ids()
        self.track = [f'"pid":{pid},"tid":{tid}' for pid, tid in self.ids]

    def _ids(self) -> list[tuple[int, int]]:
        """Return process and thread number per track, small ones: viewers cut large ids off."""
        tracks = self.trace.tracks
        processes: dict[tuple[int, int, int], int] = {}
        keys = zip(
            tracks.process.tolist(), tracks.pid_text.tolist(), tracks.rank.tolist(), strict=True
        )
        return [
            (processes.setdefault(key, len(processes) + 1), row + 1) for row, key in enumerate(keys)
        ]

    def blocks(self) -> Iterator[Iterable[str]]:
        """Yield lists of events as JSON text."""
        yield self._metadata()
        details = Details(self.trace, self.names)
        for first in range(0, len(self.trace.events), BLOCK):
            yield self._events(slice(first, first + BLOCK), details)
        for first in range(0, len(self.trace.counters), BLOCK):
            yield self._counters(slice(first, first + BLOCK))
        for first in range(0, len(self.trace.flows), BLOCK):
            yield self._flows(first, first + BLOCK)

    def _metadata(self) -> list[str]:
        tracks, strings = self.trace.tracks, self.trace.strings
        told: list[str] = []
        named: set[int] = set()
        form = '{"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"%s":%s}}'
        for row, (pid, tid) in enumerate(self.ids):
            place = int(tracks.order[row])
            if pid not in named:
                named.add(pid)
                process = strings[int(tracks.process[row])] or self.trace.meta.title or "mxprof_nb"
                told.append(form % ("process_name", pid, tid, "name", json_text(process)))
                told.append(form % ("process_sort_index", pid, tid, "sort_index", place))
            name = self.names[int(tracks.name[row])]
            told.append(form % ("thread_name", pid, tid, "name", name))
            told.append(form % ("thread_sort_index", pid, tid, "sort_index", place))
        return told

    def _events(self, rows: slice, told: Details) -> list[str]:
        events = self.trace.events
        kind = events.kind[rows]
        start = micros(events.start_ns[rows])
        heads = [
            f'"name":{self.names[name]},"cat":{category},{self.track[track]}'
            for name, category, track in zip(
                events.name[rows].tolist(),
                self._categories(rows),
                events.track[rows].tolist(),
                strict=True,
            )
        ]
        details = [text[1:] for text in told.of(rows)]
        dur = micros(events.dur_ns[rows])
        form = '{"ph":"X","ts":%s,"dur":%s,%s,"args":{%s}}'.__mod__
        texts = list(map(form, zip(start, dur, heads, details, strict=True)))
        for place in np.flatnonzero(kind == _INSTANT).tolist():
            texts[place] = (
                f'{{"ph":"i","s":"t","ts":{start[place]},{heads[place]},"args":{{{details[place]}}}}}'
            )
        pairs = np.flatnonzero(kind == _ASYNC)
        ends = micros(events.end_ns[rows][pairs])
        for place, end in zip(pairs.tolist(), ends, strict=True):
            head = f'"id":{rows.start + place + 1},{heads[place]}'
            texts[place] = (
                f'{{"ph":"b","ts":{start[place]},{head},"args":{{{details[place]}}}}},\n'
                f'{{"ph":"e","ts":{end},{head}}}'
            )
        return texts

    def _categories(self, rows: slice) -> list[str]:
        """Return ``cat`` per row: the category, and the domain where there is one."""
        events, strings = self.trace.events, self.trace.strings
        key = events.category[rows].astype(np.int64) * len(strings) + events.domain[rows]
        used, which = np.unique(key, return_inverse=True)
        texts = []
        for code in used.tolist():
            category, domain = divmod(code, len(strings))
            family = f",{strings[domain]}" if strings[domain] else ""
            texts.append(json_text(schema.CATEGORIES[category] + family))
        return [texts[place] for place in which.tolist()]

    def _counters(self, rows: slice) -> list[str]:
        counters = self.trace.counters
        texts = []
        for ts, name, track, value, unit in zip(
            micros(counters.time_ns[rows]),
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
                f'{{"ph":"C","ts":{ts},"name":{self.names[name]},{self.track[track]},'
                f'"args":{{"value":{number}}}{more}}}'
            )
        return texts

    def _flows(self, first: int, stop: int) -> list[str]:
        flows, events = self.trace.flows, self.trace.events
        source, target = flows.source[first:stop], flows.target[first:stop]
        kind = flows.kind[first:stop]
        # An end is not inside a half-open slice: the last place inside is one ns before it.
        last = np.maximum(events.end_ns - 1, events.start_ns)
        leave = np.where(np.isin(kind, _FROM_END), last[source], events.start_ns[source])
        arrive = np.clip(leave, events.start_ns[target], last[target])
        return [
            f'{{"ph":"s","ts":{begin},"name":"{schema.FLOW_KINDS[code]}","cat":"flow","id":{number},'
            f'{self.track[events.track[a]]},"args":{{"event":{a}}}}},\n'
            f'{{"ph":"f","bp":"e","ts":{end},"name":"{schema.FLOW_KINDS[code]}","cat":"flow",'
            f'"id":{number},{self.track[events.track[b]]},"args":{{"event":{b}}}}}'
            for number, begin, end, code, a, b in zip(
                range(first + 1, first + 1 + len(kind)),
                micros(leave),
                micros(arrive),
                kind.tolist(),
                source.tolist(),
                target.tolist(),
                strict=True,
            )
        ]

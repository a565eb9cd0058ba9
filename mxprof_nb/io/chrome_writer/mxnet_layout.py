"""The layout in which MXNet 1.9.1 writes Chrome traces, piece by piece.

- Operators stand twice: ``B``/``E`` under the process of their device, ``b``/``e`` under that of
  their category. Calls and what a program marks are ``b``/``e`` under their domain, user events
  ``B``/``E``, markers ``n``, counters ``C``; ``process_name`` says what a process stands for.
- Times are microseconds since 1970, here with three decimals; where that is unknown, as in a layout
  of our own.
- What MXNet has no place for stands in ``args`` of the begin, under the key ``mxprof`` of the
  document, and in metadata events of that name, one for each piece: tracks, lines, facts.
- Begins and ends of one thread nest and come in order of time, as viewers demand. What overlaps
  without nesting, or began before the end of what an earlier piece has written, goes to a further
  thread of the same name.

Reference: ``src/profiler/profiler.{h,cc}`` and ``custom_op_profiler.h`` of MXNet 1.9.1.
`mxprof_nb.io.chrome.mxnet_layout` reads it back, also without its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.io.chrome_writer import own_key
from mxprof_nb.io.chrome_writer.mxnet_families import API_DOMAIN, Families
from mxprof_nb.io.chrome_writer.text import (
    BLOCK,
    NAMELESS,
    Details,
    JsonTexts,
    before_zero,
    distinct,
    json_text,
    micros,
    numbers,
    woven,
)
from mxprof_nb.io.chrome_writer.threads import Threads, sequence
from mxprof_nb.trace import Trace, schema

__all__ = ["LAYOUT", "PIECE", "MxnetEncoder", "completed"]

LAYOUT = "mxnet"
#: Name of the metadata event that begins a piece.
PIECE = "mxprof"
HEAD = f'{{"{own_key.KEY}":{{"version":{own_key.VERSION},"layout":"{LAYOUT}"}},\n"traceEvents":['
TAIL = '\n],\n"displayTimeUnit":"ms"}\n'

MEMORY_DOMAIN = "Device Storage"
#: The counter that goes on from piece to piece.
CALLS = "MXNet C API Calls"
_INSTANT = schema.KINDS.index("instant")
#: How far a marker reaches, by the scope it was given.
_SCOPES = {"global": "g", "process": "p", "thread": "t", "task": "p", "marker": "p"}
_LAST_NS = 2**63 - 1


def completed(content: bytes) -> tuple[bytes, bool]:
    """Return a document of this layout with its end, and whether that was missing.

    What is in the middle of a line when the text ends is left out. Other content is returned as
    it is.
    """
    head, end = HEAD.encode(), TAIL.strip().encode()
    if not content.startswith(head) or content[-2 * len(TAIL) :].rstrip().endswith(end):
        return content, False
    whole = content.rstrip(b",\n")
    while len(whole) > len(head) and not _is_record(whole[whole.rfind(b"\n") + 1 :]):
        whole = whole[: max(whole.rfind(b"\n"), len(head))].rstrip(b",\n")
    return whole + TAIL.encode(), True


def _is_record(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


class MxnetEncoder:
    """Turns partial traces into one document, one after another.

    The texts of `begin`, of each `add` and of `end`, joined, are one JSON document. What
    was written up to any `add` reads back without the rest.

    Parameters
    ----------
    devices : sequence of str
        Devices named at the beginning, whether anything runs on them or not; the process id is
        the place. The first is where operators of threads without a device are shown.

    Examples
    --------
    >>> from mxprof_nb.trace import TraceBuilder
    >>> encoder = MxnetEncoder(["cpu/0"])
    >>> trace = TraceBuilder().build()
    >>> len(json.loads("".join([*encoder.begin(), *encoder.add(trace), *encoder.end()])))
    3
    """

    def __init__(self, devices: Sequence[str] = ()) -> None:
        self._devices = tuple(devices) or ("cpu/0",)
        self._processes: dict[tuple[str, str], int] = {}  # by what it stands for, and its name
        self._named: set[tuple[int, int]] = set()  # threads by process
        self._threads = Threads()
        self._sites: dict[tuple[Any, ...], int] = {}
        self._args = 0
        self._calls = 0.0
        self._clock: int | None = None
        self._before = 0

    def begin(self) -> Iterator[str]:
        """Yield the beginning of the document."""
        yield HEAD
        told: list[str] = []
        for device in self._devices:
            self._process("device", device, told)
        # Every record but the first has a comma before it.
        yield "".join(told)[1:]

    def add(self, trace: Trace) -> Iterator[str]:
        """Yield the text of one more partial trace, in blocks."""
        yield from _Piece(self, trace).blocks()

    def end(self) -> Iterator[str]:
        """Yield the end of the document."""
        yield TAIL

    def _process(self, family: str, name: str, told: list[str]) -> int:
        """Return the id of a process; name it when it is met for the first time."""
        pid = self._processes.get((family, name))
        if pid is None:
            pid = self._processes[family, name] = len(self._processes)
            told.append(
                f',\n{{"ph":"M","args":{{"name":{json_text(name or NAMELESS)}}},"pid":{pid},'
                '"name":"process_name"}'
            )
        return pid


class _Piece:
    """One partial trace on its way into a document."""

    def __init__(self, encoder: MxnetEncoder, trace: Trace) -> None:
        self.encoder = encoder
        self.trace = trace
        self.names = JsonTexts(trace.strings)
        clock = _clock(trace)
        if encoder._clock is None:
            encoder._before = before_zero(trace, clock)
            encoder._clock = clock + encoder._before
        self.clock = clock + encoder._before
        self.metadata: list[str] = []
        self.tracks, self.new_tracks = encoder._threads.of_tracks(trace)
        self.sites, self.new_sites = self._number_sites()
        self.details = Details(
            trace,
            self.names,
            sites=self.sites,
            first_arg=encoder._args,
            shift_ns=self.clock - encoder._clock,
        )
        encoder._args += self.details.args

    def blocks(self) -> Iterator[str]:
        """Yield the events, what announces them first."""
        spans = _Spans(self)
        instants = np.flatnonzero(self.trace.events.kind == _INSTANT)
        points = self._points(instants)
        counters = self._counters()
        lanes = self.encoder._threads.news()
        about = {
            **own_key.facts(self.trace),
            "clock_ns": self.clock,
            "tracks": self.new_tracks,
            "lanes": lanes,
            "sites": self.new_sites,
        }
        yield f',\n{{"ph":"M","args":{json_text(about)},"pid":0,"name":"{PIECE}"}}'
        yield "".join(self.metadata)
        yield from spans.blocks()
        yield "".join(points)
        yield from counters

    def process(self, family: str, name: str) -> int:
        return self.encoder._process(family, name, self.metadata)

    def name_thread(self, pid: int, tid: int) -> None:
        """Say what a thread of a process is called when it is met for the first time."""
        if (pid, tid) not in self.encoder._named:
            self.encoder._named.add((pid, tid))
            name = json_text(self.encoder._threads.name(tid) or NAMELESS)
            self.metadata.append(
                f',\n{{"ph":"M","args":{{"name":{name}}},"pid":{pid},"tid":{tid},'
                '"name":"thread_name"}'
            )

    def _number_sites(self) -> tuple[list[int], list[list[Any]]]:
        """Return the numbers of all lines, and what the new ones are."""
        known, numbers, new = self.encoder._sites, [], []
        for site in own_key.sites(self.trace):
            key = tuple(site)
            if key not in known:
                known[key] = len(known)
                new.append(site)
            numbers.append(known[key])
        return numbers, new

    def heads(self, rows: NDArray[Any]) -> tuple[Families, NDArray[np.intp]]:
        """Return what events have in common, and which of it each has."""
        return Families.of(self.trace, self.names, rows)

    def _points(self, rows: NDArray[Any]) -> list[str]:
        """Return the instants."""
        events = self.trace.events
        families, which = self.heads(rows)
        scopes: dict[int, str] = {}
        texts = []
        for ts, family, track, arg, more in zip(
            micros(events.start_ns[rows] + self.clock),
            which.tolist(),
            events.track[rows].tolist(),
            events.arg[rows].tolist(),
            self.details.of(rows),
            strict=True,
        ):
            if arg not in scopes:
                scopes[arg] = self._scope(arg)
            pid, tid = self.process("domain", families.domains[family]), self.tracks[track]
            self.name_thread(pid, tid)
            texts.append(
                f'{families.named[family]},"ph":"n","ts":{ts},"s":"{scopes[arg]}","id":{tid},'
                f'"pid":{pid},"tid":{tid},'
                f'"args":{{{(families.told(family, "n") + more)[1:]}}}}}'
            )
        return texts

    def _scope(self, arg: int) -> str:
        raw = int(self.trace.args.raw[arg]) if arg >= 0 else -1
        try:
            told = json.loads(self.trace.strings.text(raw, "{}"))
            return _SCOPES[told["scope"]]
        except (ValueError, TypeError, LookupError, RecursionError):
            return "t"

    def _counters(self) -> Iterator[str]:
        """Yield the samples; the processes they stand under are named at once."""
        counters = self.trace.counters
        tables = (len(self.trace.tracks), len(self.trace.strings) + 1)
        key = counters.name.astype(np.int64)
        key = (key * tables[0] + counters.track) * tables[1] + counters.unit + 1
        used, series = distinct(key)
        heads = []
        for value in used.tolist():
            rest, unit = divmod(value, tables[1])
            name, track = divmod(rest, tables[0])
            heads.append(self._around_sample(name, track, unit - 1))
        return self._samples(heads, series, self._values(counters.name, counters.track))

    def _samples(
        self,
        heads: list[tuple[str, str, str]],
        series: NDArray[np.intp],
        values: NDArray[np.float64],
    ) -> Iterator[str]:
        befores, middles, ends = zip(*heads, strict=True) if heads else ((), (), ())
        for first in range(0, len(values), BLOCK):
            rows = slice(first, first + BLOCK)
            which = series[rows].tolist()
            told, specials = numbers(values[rows])
            after = list(map(ends.__getitem__, which))
            for place, special in specials.items():
                after[place] = f'{after[place][:-1]},"special":"{special}"}}'
            yield woven(
                list(map(befores.__getitem__, which)),
                micros(self.trace.counters.time_ns[rows] + self.clock),
                list(map(middles.__getitem__, which)),
                told,
                after,
            )

    def _values(self, name: NDArray[Any], track: NDArray[Any]) -> NDArray[np.float64]:
        """Return the samples; the number of calls goes on from the piece before."""
        values, strings = self.trace.counters.value, self.trace.strings
        api = np.flatnonzero(self.trace.tracks.name == strings.code(API_DOMAIN))
        calls = (name == strings.code(CALLS)) & np.isin(track, api)
        if calls.any():
            values = np.where(calls, values + self.encoder._calls, values)
            self.encoder._calls = float(values[calls][-1])
        return values

    def _around_sample(self, name: int, track: int, unit: int) -> tuple[str, str, str]:
        """Return what stands before the time of a sample, before its value and after it."""
        strings, text = self.trace.strings, self.names[name]
        memory = strings[name].startswith("Memory: ") and strings.text(unit) == "B"
        domain = MEMORY_DOMAIN if memory else strings[int(self.trace.tracks.name[track])]
        pid, tid = self.process("domain", domain), self.tracks[track]
        more = "" if unit < 0 or memory else f',"unit":{self.names[unit]}'
        return (
            f',\n{{"name":{text},"cat":{json_text(domain)},"ph":"C","ts":',
            f',"args":{{{text}:',
            f'}},"pid":{pid},"tid":{tid}{more}}}',
        )


class _Spans:
    """What lasts, in the order in which begins and ends are written."""

    def __init__(self, piece: _Piece) -> None:
        self.piece = piece
        events = piece.trace.events
        rows = np.flatnonzero(events.kind != _INSTANT)
        families, which = piece.heads(rows)
        n = len(families.named)
        on_device = np.array([families.on_device(f) for f in range(n)], dtype=bool)[which]
        # Operators once more, under their category.
        twin = np.repeat([False, True], [len(rows), int(on_device.sum())])
        row = np.concatenate([rows, rows[on_device]])
        family = np.concatenate([which, which[on_device]])
        by_domain = [piece.process("domain", d) if n else 0 for d in families.domains]
        pid = np.array(by_domain, dtype=np.int64)[family] if n else np.empty(0, np.int64)
        first = np.flatnonzero(on_device)
        if len(first):
            devices = self._devices(np.unique(events.track[rows[first]]))
            pid[first] = devices[events.track[rows[first]]]
        start = events.start_ns[row] + piece.clock
        end = start + events.dur_ns[row]
        order, tid, depth = piece.encoder._threads.place(
            pid, events.track[row], np.array(piece.tracks, dtype=np.int64), start, end
        )
        self.row, self.family, self.twin = row[order], family[order], twin[order]
        self.start, self.end, self.pid, self.tid = start[order], end[order], pid[order], tid
        self.order, self.is_end = sequence(depth)
        self._prepare(families)

    def _devices(self, used: NDArray[Any]) -> I64Array:
        """Return the process of the device of each track, those that operators ran on."""
        tracks, strings = self.piece.trace.tracks, self.piece.trace.strings
        found = np.zeros(len(tracks), dtype=np.int64)
        for track in used.tolist():
            device = strings.text(int(tracks.device[track])) or self.piece.encoder._devices[0]
            found[track] = self.piece.process("device", device)
        return found

    def _prepare(self, families: Families) -> None:
        """Make the texts that many records share."""
        self.heads: list[str] = []  # per family: begin, end, begin of the twin, its end
        self.told: list[str] = []
        sync = []
        for family, named in enumerate(families.named):
            phase = families.phase(family)
            own = "BE" if phase == "B" else "be"
            self.heads += [f'{named},"ph":"{mark}","ts":' for mark in f"{own}be"]
            self.told.append(families.told(family, phase))
            sync.append(phase == "B")
        is_sync = np.array(sync, dtype=bool)[self.family] & ~self.twin if sync else self.twin
        threads = int(self.tid.max(initial=0)) + 1
        used, self.tail = distinct((self.pid * threads + self.tid) * 2 + is_sync)
        self.tails: list[str] = []
        for place in used.tolist():
            thread, plain = divmod(place, 2)
            pid, tid = divmod(thread, threads)
            self.piece.name_thread(pid, tid)
            which_one = "" if plain else f',"id":{tid}'
            self.tails.append(f'{which_one},"pid":{pid},"tid":{tid}')

    def blocks(self) -> Iterator[str]:
        """Yield the records."""
        for first in range(0, len(self.order), BLOCK):
            span, is_end = self.order[first : first + BLOCK], self.is_end[first : first + BLOCK]
            twin, family = self.twin[span], self.family[span]
            opening = np.flatnonzero(~is_end & ~twin)
            more = self.piece.details.of(self.row[span[opening]])
            own = map(self.told.__getitem__, family[opening].tolist())
            rest = ["}"] * len(span)
            for place, text, detail in zip(opening.tolist(), own, more, strict=True):
                rest[place] = f',"args":{{{(text + detail)[1:]}}}}}'
            yield woven(
                list(map(self.heads.__getitem__, (family * 4 + twin * 2 + is_end).tolist())),
                micros(np.where(is_end, self.end[span], self.start[span])),
                list(map(self.tails.__getitem__, self.tail[span].tolist())),
                rest,
            )


def _clock(trace: Trace) -> int:
    """Return what to add to the times of a trace to make them times since 1970, if known."""
    origin = max(trace.meta.origin_epoch_ns, 0)
    latest = max(
        int(trace.events.end_ns.max(initial=0)), int(trace.counters.time_ns.max(initial=0))
    )
    return origin if origin + latest <= _LAST_NS else 0

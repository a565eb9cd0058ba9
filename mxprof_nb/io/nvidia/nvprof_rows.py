"""The tables of a database of nvprof as rows of a trace.

- Times are Unix time in ns; the earliest becomes time 0.
- Calls have a number for a name, see `api_names`. Kernels name no process: their call is found by
  correlation among the processes of the file, and left open where several processes used one.
- NVTX ranges are two rows of one number; ranges that overlap without nesting are free intervals.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.io.nvidia.activities import Activities, Texts, distinct
from mxprof_nb.io.nvidia.api_names import named
from mxprof_nb.io.nvidia.database import UNKNOWN, Database
from mxprof_nb.io.nvidia.kernels import CONFIGURATION, KernelDetails
from mxprof_nb.io.nvidia.nsys_ranges import domain_name
from mxprof_nb.io.nvidia.nsys_rows import COPIES, WAITS
from mxprof_nb.io.nvidia.occupancy import Device
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema

__all__ = ["from_database"]

_CATEGORY = {name: code for code, name in enumerate(schema.CATEGORIES)}
_KIND = {name: code for code, name in enumerate(schema.KINDS)}
_CUPTI = "CUPTI_ACTIVITY_KIND_"
_CALLS = {f"{_CUPTI}RUNTIME": "cuda_runtime", f"{_CUPTI}DRIVER": "cuda_driver"}
_ON_DEVICE = ("start", "end", "deviceId", "contextId", "streamId", "correlationId")
_WORK: dict[str, tuple[str, ...]] = {
    f"{_CUPTI}KERNEL": ("name", *CONFIGURATION),
    f"{_CUPTI}CONCURRENT_KERNEL": ("name", *CONFIGURATION),
    f"{_CUPTI}MEMCPY": ("bytes", "copyKind", "srcKind", "dstKind"),
    f"{_CUPTI}MEMCPY2": ("bytes", "copyKind", "srcKind", "dstKind"),
    f"{_CUPTI}MEMSET": ("bytes", "value"),
    f"{_CUPTI}SYNCHRONIZATION": ("type",),
}
_MARKER, _OVERHEAD = f"{_CUPTI}MARKER", f"{_CUPTI}OVERHEAD"
_INSTANT, _START, _END = 1, 2, 4
#: Kinds of memory, by CUPTI's numbers.
_MEMORY = dict(
    enumerate(
        [
            "Unknown",
            "Pageable",
            "Pinned",
            "Device",
            "Array",
            "Managed",
            "Device Static",
            "Managed Static",
        ]
    )
)
_OVERHEADS = {0: "Unknown", 1: "Driver compiler", 1 << 16: "Buffer flush",
              2 << 16: "Instrumentation", 3 << 16: "Resource"}  # fmt: skip
#: What describes the recording, and what is read with other tables.
_NO_EVENTS = {"StringTable", "Version", f"{_CUPTI}DEVICE", f"{_CUPTI}NAME", f"{_CUPTI}CONTEXT",
              f"{_CUPTI}STREAM", f"{_CUPTI}DEVICE_ATTRIBUTE"}  # fmt: skip
_LIMITS = (
    "id", "computeCapabilityMajor", "computeCapabilityMinor", "maxWarpsPerMultiprocessor",
    "maxBlocksPerMultiprocessor", "maxRegistersPerMultiprocessor",
    "maxSharedMemoryPerMultiprocessor", "numThreadsPerWarp",
)  # fmt: skip
_PROCESS, _THREAD = 1, 2


def from_database(database: Database) -> Trace:
    """Return what a database of nvprof holds."""
    version = ""
    if "Version" in database:
        rows = database.cells("Version", "version")
        version = str(rows[0][0])[:20] if rows else ""
    rows_of = NvprofRows(database)
    builder = rows_of.builder
    builder.meta = Meta(
        title="" if database.path.startswith("<") else PurePath(database.path).name,
        backend="nvprof",
        origin_epoch_ns=rows_of.activities.origin_ns or -1,
        versions=MappingProxyType({"nvprof database": version}),
    )
    rows_of.add()
    for fault in database.faults:
        builder.note(*fault)
    return builder.build()


class NvprofRows:
    """One database on its way into a builder."""

    def __init__(self, database: Database) -> None:
        self.database, self.builder = database, TraceBuilder()
        self.texts = Texts(self.builder, database.texts("StringTable", "_id_", "value"))
        call = ("start", "end", "processId", "threadId", "correlationId", "cbid", "returnValue")
        wanted: dict[str, tuple[str, ...]] = dict.fromkeys(_CALLS, call)
        wanted |= {table: (*_ON_DEVICE, *more) for table, more in _WORK.items()}
        wanted |= {_MARKER: ("timestamp", "id", "flags", "name", "domain")}
        wanted |= {_OVERHEAD: ("start", "end", "overheadKind")}
        self.tables: dict[str, dict[str, I64Array]] = {
            table: database.integers(table, *columns)
            for table, columns in wanted.items()
            if table in database
        }
        starts = [
            columns["timestamp" if table == _MARKER else "start"]
            for table, columns in self.tables.items()
        ]
        every = np.concatenate([*starts, np.empty(0, np.int64)])
        database.limits.check("events", len(every), database.path)
        known = every[(every > 0) & (every < 2**62)]
        self.activities = Activities(self.builder, int(known.min()) if len(known) else 0)
        self._threads: dict[tuple[int, int], int] = {}
        self._named: dict[tuple[int, int], str] = {}
        self._streams: dict[tuple[int, ...], int] = {}

    def add(self) -> None:
        """Fill the builder."""
        self._read_names()
        if _MARKER in self.tables:
            self._add_markers(self.tables[_MARKER])
        for table, domain in _CALLS.items():
            if table in self.tables:
                self._add_calls(table, domain, self.tables[table])
        if _OVERHEAD in self.tables:
            self._add_overhead(self.tables[_OVERHEAD])
        owners = self._owners()
        for table in _WORK:
            if table in self.tables and len(self.tables[table]["start"]):
                self._add_work(table, self.tables[table], owners)
        for table in sorted(self.database.tables):
            if table in self.tables or table in _NO_EVENTS:
                continue
            if rows := self.database.count(table):
                told = "1 row" if rows == 1 else f"{rows:,} rows"
                self.builder.note("passed_over", rows, f"{told} of table {table[:60]} not shown.")

    def _read_names(self) -> None:
        """Note what the program called its threads."""
        table = f"{_CUPTI}NAME"
        if table not in self.database:
            return
        texts = self.database.texts("StringTable", "_id_", "value")
        for kind, of, name in self.database.cells(table, "objectKind", "objectId", "name"):
            thread = _ids(of)
            if kind == _THREAD and thread and isinstance(name, int) and texts.get(name):
                self._named[thread] = texts[name][:100]

    def _thread(self, process: int, thread: int) -> int:
        """Return the track of a thread, adding it when it is new."""
        if (process, thread) not in self._threads:
            known = process > UNKNOWN
            self._threads[process, thread] = self.builder.track(
                self._named.get((process, thread)) or (f"thread {thread}" if known else "unknown"),
                role="host",
                process=f"process {process}" if known else "",
                backend="nvprof",
                pid_text=str(process) if known else None,
                tid_text=str(thread) if known else None,
            )
        return self._threads[process, thread]

    def _of_threads(self, process: I64Array, thread: I64Array) -> I64Array:
        first, kind = distinct([process, thread])
        pairs = zip(process[first].tolist(), thread[first].tolist(), strict=True)
        return np.array([self._thread(*pair) for pair in pairs], dtype=np.int64)[kind]

    def _add_markers(self, columns: Mapping[str, I64Array]) -> None:
        threads = [
            _ids(of) or (UNKNOWN, UNKNOWN) for (of,) in self.database.cells(_MARKER, "objectId")
        ]
        track = np.array([self._thread(*thread) for thread in threads], dtype=np.int64)
        names = self.texts.codes(columns["name"])
        shown = self.texts.shown(np.unique(names[names >= 0]))
        domains = self._domains(columns["domain"])
        flags, time = columns["flags"], columns["timestamp"]
        ends = {
            number: row
            for row, number in zip(
                np.flatnonzero(flags & _END).tolist(),
                columns["id"][flags & _END > 0].tolist(),
                strict=True,
            )
        }
        begins = np.flatnonzero((flags & _START > 0) & (flags > 0))
        ended = np.array([ends.pop(int(n), -1) for n in columns["id"][begins]], dtype=np.int64)
        latest = int(time[np.abs(time) < 2**62].max(initial=0))
        if opened := int((ended < 0).sum()):
            told = "1 range of NVTX" if opened == 1 else f"{opened:,} ranges of NVTX"
            self.builder.note(
                "open_range", opened, f"{told} had not ended; shown until the last mark."
            )
        if ends:
            told = "1 end" if len(ends) == 1 else f"{len(ends):,} ends"
            self.builder.note(
                "no_begin", len(ends), f"{told} of NVTX ranges without begin left out."
            )
        if len(begins):
            self.activities.add_ranges(
                _MARKER,
                time[begins],
                np.where(ended >= 0, time[ended], np.maximum(latest, time[begins])),
                names=[shown.get(int(code), "(unnamed)") for code in names[begins]],
                track=track[begins],
                free=np.ones(len(begins), dtype=bool),
                apart=(ended >= 0) & (track[ended] != track[begins]),
                domain=domains[begins],
            )
        points = np.flatnonzero((flags & _INSTANT > 0) & (flags > 0))
        if len(points):
            self.activities.add(
                _MARKER,
                time[points],
                time[points],
                name=np.where(names[points] < 0, self.activities.unnamed, names[points]),
                track=track[points],
                kind=_KIND["instant"],
                category=_CATEGORY["user"],
                domain=domains[points],
            )

    def _domains(self, numbers: I64Array) -> I64Array:
        texts = self.database.texts("StringTable", "_id_", "value")
        found, of = np.unique(numbers, return_inverse=True)
        names = [domain_name(texts.get(number, "")) for number in found.tolist()]
        return np.array(self.builder.strings(names), dtype=np.int64)[of]

    def _add_calls(self, table: str, domain: str, columns: Mapping[str, I64Array]) -> None:
        numbers, of = np.unique(columns["cbid"], return_inverse=True)
        names = [named(number, is_driver=domain == "cuda_driver") for number in numbers.tolist()]
        waits = np.array(["Synchronize" in name for name in names], dtype=bool)
        if unknown := int(
            np.isin(of, [at for at, name in enumerate(names) if " call " in name]).sum()
        ):
            told = "1 call is" if unknown == 1 else f"{unknown:,} calls are"
            self.builder.note(
                "no_name", unknown, f"{told} shown by number: nvprof stores no names of calls."
            )
        self.activities.add_calls(
            table,
            columns["start"],
            columns["end"],
            name=np.array(self.builder.strings(names), dtype=np.int64)[of],
            track=self._of_threads(columns["processId"], columns["threadId"]),
            process=columns["processId"],
            correlation=columns["correlationId"],
            plain=np.full(len(of), domain == "cuda_runtime"),
            domain=self.builder.string(domain),
            category=np.where(waits[of], _CATEGORY["sync"], _CATEGORY["api"]),
        )

    def _add_overhead(self, columns: Mapping[str, I64Array]) -> None:
        threads = [
            _ids(of) if kind == _THREAD else None
            for kind, of in self.database.cells(_OVERHEAD, "objectKind", "objectId")
        ]
        track = [self._thread(*(thread or (UNKNOWN, UNKNOWN))) for thread in threads]
        kinds, of = np.unique(columns["overheadKind"], return_inverse=True)
        names = [_OVERHEADS.get(kind, f"Overhead {kind}") for kind in kinds.tolist()]
        self.activities.add(
            _OVERHEAD,
            columns["start"],
            columns["end"],
            name=np.array(self.builder.strings(names), dtype=np.int64)[of],
            track=np.array(track, dtype=np.int64),
            kind=_KIND["async"],
            category=_CATEGORY["engine"],
            domain=self.builder.string("profiler_overhead"),
        )

    def _owners(self) -> tuple[I64Array, I64Array]:
        """Return correlations of calls, ascending, and their process, `UNKNOWN` for several."""
        calls = [self.tables[table] for table in _CALLS if table in self.tables]
        if not calls:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        correlation = np.concatenate([columns["correlationId"] for columns in calls])
        process = np.concatenate([columns["processId"] for columns in calls])
        first, _ = distinct([correlation, process])
        numbers, at, count = np.unique(correlation[first], return_index=True, return_counts=True)
        return numbers, np.where(count == 1, process[first][at], UNKNOWN)

    def _add_work(
        self, table: str, columns: Mapping[str, I64Array], owners: tuple[I64Array, I64Array]
    ) -> None:
        what = table.removeprefix(_CUPTI)
        correlation, (known, process) = columns["correlationId"], owners
        place = np.searchsorted(known, correlation)
        place[place == len(known)] = -1
        of = np.full(len(correlation), UNKNOWN)
        if len(known):
            of = np.where(known[place] == correlation, process[place], UNKNOWN)
        row: dict[str, Any] = {"kind": _KIND["span"]}
        if what.endswith("KERNEL"):
            details = KernelDetails(columns, self._devices())
            row |= {"name": self.texts.codes(columns["name"]), "domain": "kernel"}
            row |= {"details": details, "alike": details.alike(), "category": _CATEGORY["kernel"]}
        elif what.startswith("MEMCPY"):
            kinds = (columns["copyKind"], columns["srcKind"], columns["dstKind"])
            row |= {"name": self._labelled("memcpy", kinds[0], COPIES), "domain": "gpu_memcpy"}
            row |= {"size": columns["bytes"], "alike": kinds, "category": _CATEGORY["copy"]}
            row |= {"details": lambda at: _copied(*(int(values[at]) for values in kinds))}
        elif what == "MEMSET":
            row |= {"name": np.full(len(of), self.builder.string("memset"))}
            row |= {
                "domain": "gpu_memset",
                "size": columns["bytes"],
                "category": _CATEGORY["memory"],
            }
        else:
            row |= {"name": self._labelled("", columns["type"], WAITS), "domain": "gpu_wait"}
            row |= {"kind": _KIND["async"], "category": _CATEGORY["engine"]}
        row["domain"] = self.builder.string(row["domain"])
        if what == "SYNCHRONIZATION":  # a host waits: on its thread, where that is known
            track = self.activities.on_callers(
                of,
                correlation,
                lambda lost: self._of_streams(
                    {name: values[lost] for name, values in columns.items()}, waits=True
                ),
            )
        else:
            track = self._of_streams(columns, waits=False)
        launched = self.activities.add_work(
            table, columns["start"], columns["end"], track=track, process=of,
            correlation=correlation, **row,
        )  # fmt: skip
        if row["domain"] == self.builder.string("kernel") and (count := int((launched < 0).sum())):
            self.builder.note(
                "no_launch",
                count,
                f"{count:,} of {len(launched):,} kernels have no call that launched them in "
                "this file, or several; they are shown without one.",
            )

    def _labelled(self, what: str, kinds: I64Array, labels: Mapping[int, str]) -> I64Array:
        codes, of = np.unique(kinds, return_inverse=True)
        names = [f"{what} {labels.get(code, f'of kind {code}')}".strip() for code in codes.tolist()]
        return np.array(self.builder.strings(names), dtype=np.int64)[of]

    def _of_streams(self, columns: Mapping[str, I64Array], *, waits: bool) -> I64Array:
        keys = [columns[name] for name in ("deviceId", "contextId", "streamId")]
        first, kind = distinct(keys)
        rows = []
        for row in first.tolist():
            device, context, stream = (int(values[row]) for values in keys)
            key = (device, context, stream, int(waits))
            if key not in self._streams:
                on = f"gpu/{device}" if device >= 0 else "gpu"
                where = f"stream {stream}" if 0 <= stream < 2**32 - 1 else f"context {context}"
                self._streams[key] = self.builder.track(
                    f"{on} {where}" + (" waits" if waits else ""),
                    role="stream",
                    device=on,
                    backend="nvprof",
                    tid_text=str(stream) if stream >= 0 else None,
                )
            rows.append(self._streams[key])
        return np.array(rows, dtype=np.int64)[kind]

    def _devices(self) -> dict[int, Device]:
        table = f"{_CUPTI}DEVICE"
        if table not in self.database:
            return {}
        texts = self.database.texts("StringTable", "_id_", "value")
        found: dict[int, Device] = {}
        for name, *numbers in self.database.cells(table, "name", *_LIMITS)[:256]:
            if all(isinstance(number, int) for number in numbers):
                number, major, minor, *limits = numbers
                told = texts.get(name, "") if isinstance(name, int) else str(name)
                found.setdefault(number, Device(told, (major, minor), *limits))
        return found


def _copied(kind: int, source: int, target: int) -> dict[str, Any]:
    told = {
        "copy_kind": COPIES.get(kind),
        "source": _MEMORY.get(source),
        "target": _MEMORY.get(target),
    }
    return {key: value for key, value in told.items() if value}


def _ids(packed: object) -> tuple[int, int] | None:
    """Return process and thread from the packed identifier of an object, None if it holds none."""
    if isinstance(packed, bytes) and len(packed) >= 8:
        process, thread = struct.unpack_from("<II", packed)
        return process, thread - 2**32 if thread >= 2**31 else thread
    return None

"""The tables of an Nsight Systems database, one after the other, as rows of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.io.nvidia import nsys_memory
from mxprof_nb.io.nvidia.activities import Activities, Texts
from mxprof_nb.io.nvidia.database import UNKNOWN, Database
from mxprof_nb.io.nvidia.kernels import CONFIGURATION, KernelDetails
from mxprof_nb.io.nvidia.nsys_ranges import Ranges
from mxprof_nb.io.nvidia.nsys_tracks import NsysTracks
from mxprof_nb.trace import TraceBuilder, schema

__all__ = ["NsysRows"]

_CATEGORY = {name: code for code, name in enumerate(schema.CATEGORIES)}
_KIND = {name: code for code, name in enumerate(schema.KINDS)}
_CUPTI = "CUPTI_ACTIVITY_KIND_"
#: Tables of calls on threads: domain of their rows.
_CALLS = {
    f"{_CUPTI}RUNTIME": "cuda_runtime",
    "CUDNN_EVENTS": "cudnn",
    "CUBLAS_EVENTS": "cublas",
    "CUDA_GRAPH_EVENTS": "cuda_graph",
    "OSRT_API": "os_runtime",
}
_OVERHEAD = {"PROFILER_OVERHEAD": "profiler_overhead", f"{_CUPTI}OVERHEAD": "cuda_overhead"}
#: `eventClass` of rows of the runtime table. Backtraces repeat a call, with where it came from.
_CLASSES = {1: "cuda_driver", 67: "cuda_backtrace"}
#: Tables of work on devices: columns beside those that all have.
_WORK: dict[str, tuple[str, ...]] = {
    f"{_CUPTI}KERNEL": ("demangledName", "shortName", "mangledName", "graphNodeId", *CONFIGURATION),
    f"{_CUPTI}MEMCPY": ("bytes", "copyKind", "srcKind", "dstKind", "graphNodeId"),
    f"{_CUPTI}MEMSET": ("bytes", "value", "memKind", "graphNodeId"),
    f"{_CUPTI}SYNCHRONIZATION": ("syncType", "eventId"),
    f"{_CUPTI}GRAPH_TRACE": ("graphId", "graphExecId"),
}
_ON_DEVICE = ("start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid")
#: Labels of copies, memory and waits by their numbers, where the file does not bring its own.
COPIES = dict(
    enumerate(
        [
            "Unknown",
            "Host-to-Device",
            "Device-to-Host",
            "Host-to-Array",
            "Array-to-Host",
            "Array-to-Array",
            "Array-to-Device",
            "Device-to-Array",
            "Device-to-Device",
            "Host-to-Host",
            "Peer-to-Peer",
            "Unified Host-to-Device",
            "Unified Device-to-Host",
            "Unified Device-to-Device",
        ]
    )
)
MEMORY = dict(
    enumerate(
        [
            "Pageable",
            "Pinned",
            "Device",
            "Array",
            "Managed",
            "Device Static",
            "Managed Static",
            "Unknown",
        ]
    )
)
WAITS = dict(
    enumerate(["Unknown", "Event sync", "Stream wait sync", "Stream sync", "Context sync"])
)
#: What describes the recording, and what is read with other tables.
_NO_EVENTS = (
    "ANALYSIS_", "ENUM_", "EXPORT_META_DATA", "META_DATA_", "PROCESSES", "ProcessStreams",
    "StringIds", "TARGET_INFO_", "ThreadNames", "UnwindMethodType",
)  # fmt: skip
#: What tables hold that are not shown, by the begin of their names.
_PASSED_OVER = {
    "COMPOSITE_EVENTS": "samples of processors",
    "CUDA_CALLCHAINS": "call stacks of CUDA calls",
    "CUDA_UM_": "page faults of unified memory",
    "GPU_METRICS": "metrics of devices",
    "GENERIC_EVENTS": "generic events",
    "MPI_": "MPI calls",
    f"{_CUPTI}OPENACC": "OpenACC regions",
    "OPENMP_": "OpenMP regions",
    "OSRT_CALLCHAINS": "call stacks of calls into the operating system",
    "SAMPLING_CALLCHAINS": "call stacks of samples",
    "SCHED_EVENTS": "scheduling of threads",
}
_DIAGNOSTICS = "DIAGNOSTIC_EVENT"
#: `severity` of what the profiler says about its run, and how many sentences are repeated here.
_SEVERITIES = {2: "warning", 3: "error"}
_MOST_DIAGNOSTICS = 10


class NsysRows:
    """One database on its way into a builder."""

    def __init__(self, database: Database, builder: TraceBuilder) -> None:
        self.database, self.builder = database, builder
        self.activities = Activities(builder)
        self.texts = Texts(builder, database.texts("StringIds", "id", "value"))
        self.tables = self._read()
        self.tracks = NsysTracks(database, builder)
        self.ranges = Ranges(database, builder)

    def add(self) -> None:
        """Fill the builder."""
        threads = [
            columns["globalTid"] for columns in self.tables.values() if "globalTid" in columns
        ]
        self.tracks.add_threads([*threads, self.ranges.threads()], self.ranges.thread_names())
        horizon = self._horizon()
        self.ranges.add(self.activities, self.tracks, self.texts, horizon)
        for table, domain in _CALLS.items():
            if table in self.tables:
                self._add_calls(table, domain)
        for table, domain in _OVERHEAD.items():
            if table in self.tables:
                self._add_overhead(table, domain)
        for table in _WORK:
            if table in self.tables:
                self._add_work(table, self.tables[table])
        nsys_memory.add_memory(self.database, self.builder, self.tracks)
        self._note_diagnostics()
        self._note_passed_over()

    def _read(self) -> dict[str, dict[str, I64Array]]:
        """Read all tables of spans, in columns."""
        wanted: dict[str, tuple[str, ...]] = dict.fromkeys(
            _CALLS, ("start", "end", "globalTid", "nameId", "correlationId", "eventClass",
                     "returnValue")
        )  # fmt: skip
        wanted |= dict.fromkeys(_OVERHEAD, ("start", "end", "globalTid", "nameId"))
        wanted |= {table: (*_ON_DEVICE, *more) for table, more in _WORK.items()}
        read = {}
        for table, columns in wanted.items():
            if table not in self.database:
                continue
            if missing := self.database.lacks(table, "start"):
                rows = self.database.count(table)
                self.builder.note(
                    "no_column",
                    rows,
                    f"{_rows(rows)} of {table} left out: it has no column {missing[0]}.",
                )
                continue
            columns_read = self.database.integers(table, *columns)
            if len(columns_read["start"]):
                read[table] = columns_read
        self.database.limits.check(
            "events", sum(len(columns["start"]) for columns in read.values()), self.database.path
        )
        return read

    def _horizon(self) -> int:
        """Return the latest time told, which is when unfinished ranges are taken to end."""
        times = [0]
        for columns in self.tables.values():
            for name in ("start", "end"):
                told = columns[name][np.abs(columns[name]) < 2**60]
                times.append(int(told.max(initial=0)))
        return max(*times, self.ranges.latest())

    def _add_calls(self, table: str, domain: str) -> None:
        columns = self.tables[table]
        event_class = columns["eventClass"]
        domains = np.full(len(event_class), self.builder.string(domain))
        category = np.full(len(event_class), _CATEGORY["api"])
        plain = np.ones(len(event_class), dtype=bool)
        if table == f"{_CUPTI}RUNTIME":
            for number, other in _CLASSES.items():
                domains[event_class == number] = self.builder.string(other)
            plain = (event_class == 0) | (event_class == 1)
        name = self._names(table, columns["nameId"])
        category[np.isin(name, self._waits(name))] = _CATEGORY["sync"]
        failed = (columns["returnValue"] != 0) & (columns["returnValue"] > UNKNOWN)
        arg = np.full(len(name), -1, dtype=np.int64)
        if table != "OSRT_API" and failed.any():
            codes, kinds = np.unique(columns["returnValue"][failed], return_inverse=True)
            told = [f'{{"return_value": {code}}}' for code in codes.tolist()]
            arg[failed] = self.builder.add_args(raw=self.builder.strings(told))[kinds]
        self.activities.add_calls(
            table,
            columns["start"],
            columns["end"],
            name=name,
            track=self.tracks.of_threads(columns["globalTid"]),
            process=self.tracks.processes(columns["globalTid"]),
            correlation=columns["correlationId"],
            plain=plain,
            domain=domains,
            category=category,
            arg=arg,
        )

    def _waits(self, codes: I64Array) -> list[int]:
        """Return the names in which a host waits for a device."""
        named = self.texts.shown(np.unique(codes[codes >= 0]))
        return [code for code, text in named.items() if "Synchronize" in text]

    def _add_overhead(self, table: str, domain: str) -> None:
        columns = self.tables[table]
        name = self._names(table, columns["nameId"])
        self.activities.add(
            table,
            columns["start"],
            columns["end"],
            name=np.where(name < 0, self.activities.unnamed, name),
            track=self.tracks.of_threads(columns["globalTid"]),
            kind=_KIND["async"],
            domain=self.builder.string(domain),
            category=_CATEGORY["engine"],
        )

    def _names(self, table: str, numbers: I64Array) -> I64Array:
        """Return the codes of names; tell how many there are not."""
        codes = self.texts.codes(numbers)
        if count := int((codes < 0).sum()):
            self.builder.note(
                "no_name", count, f"{_rows(count)} of {table} had no name among the strings."
            )
        return codes

    def _add_work(self, table: str, columns: Mapping[str, I64Array]) -> None:
        what = table.removeprefix(_CUPTI)
        row_of: Any = getattr(self, f"_{what.lower()}")
        process = columns["globalPid"]
        correlation = columns["correlationId"]
        if what == "SYNCHRONIZATION":  # a host waits: on its thread, where that is known
            track = self.activities.on_callers(
                process,
                correlation,
                lambda lost: self.tracks.of_streams(
                    {name: values[lost] for name, values in columns.items()}, waits=True
                ),
            )
        else:
            track = self.tracks.of_streams(columns)
        launched = self.activities.add_work(
            table,
            columns["start"],
            columns["end"],
            track=track,
            process=process,
            correlation=correlation,
            **row_of(columns),
        )
        if what == "KERNEL" and (count := int((launched < 0).sum())):
            self.builder.note(
                "no_launch",
                count,
                f"{count:,} of {len(launched):,} kernels have no call that launched them in "
                "this file; they are shown without one.",
            )

    def _kernel(self, columns: Mapping[str, I64Array]) -> dict[str, Any]:
        name = self.texts.codes(columns["demangledName"])
        for other in ("shortName", "mangledName"):
            if (name < 0).any():
                name = np.where(name < 0, self.texts.codes(columns[other]), name)
        details = KernelDetails(columns, self.tracks.devices())
        return {
            "name": name,
            "details": details,
            "alike": details.alike(),
            "kind": _KIND["span"],
            "domain": self.builder.string("kernel"),
            "category": _CATEGORY["kernel"],
        }

    def _memcpy(self, columns: Mapping[str, I64Array]) -> dict[str, Any]:
        copies = self._labels("CUDA_MEMCPY_OPER", COPIES)
        memory = self._labels("CUDA_MEM_KIND", MEMORY)
        kind, of, to = columns["copyKind"], columns["srcKind"], columns["dstKind"]

        def details(row: int) -> dict[str, Any]:
            told = {"copy_kind": copies.get(int(kind[row]))}
            told |= {"source": memory.get(int(of[row])), "target": memory.get(int(to[row]))}
            return {key: value for key, value in told.items() if value}

        return {
            "name": self._labelled("memcpy", kind, copies),
            "details": details,
            "alike": (kind, of, to),
            "size": columns["bytes"],
            "kind": _KIND["span"],
            "domain": self.builder.string("gpu_memcpy"),
            "category": _CATEGORY["copy"],
        }

    def _memset(self, columns: Mapping[str, I64Array]) -> dict[str, Any]:
        memory = self._labels("CUDA_MEM_KIND", MEMORY)
        value, kind = columns["value"], columns["memKind"]

        def details(row: int) -> dict[str, Any]:
            told: dict[str, Any] = {"value": int(value[row])} if value[row] > UNKNOWN else {}
            where = memory.get(int(kind[row]))
            return told | ({"target": where} if where else {})

        return {
            "name": np.full(len(value), self.builder.string("memset")),
            "details": details,
            "alike": (value, kind),
            "size": columns["bytes"],
            "kind": _KIND["span"],
            "domain": self.builder.string("gpu_memset"),
            "category": _CATEGORY["memory"],
        }

    def _synchronization(self, columns: Mapping[str, I64Array]) -> dict[str, Any]:
        waits = self._labels("CUPTI_SYNC_TYPE", WAITS)
        return {
            "name": self._labelled("", columns["syncType"], waits),
            "kind": _KIND["async"],
            "domain": self.builder.string("gpu_wait"),
            "category": _CATEGORY["engine"],  # the host's wait is the call, and counted there
        }

    def _graph_trace(self, columns: Mapping[str, I64Array]) -> dict[str, Any]:
        graphs, of = np.unique(columns["graphId"], return_inverse=True)
        names = [f"CUDA graph {graph}" if graph >= 0 else "CUDA graph" for graph in graphs.tolist()]
        return {
            "name": np.array(self.builder.strings(names), dtype=np.int64)[of],
            "kind": _KIND["span"],
            "domain": self.builder.string("cuda_graph"),
            "category": _CATEGORY["kernel"],
        }

    def _labels(self, enum: str, known: Mapping[int, str]) -> dict[int, str]:
        return {**known, **self.database.texts(f"ENUM_{enum}", "id", "label")}

    def _labelled(self, what: str, kinds: I64Array, labels: Mapping[int, str]) -> I64Array:
        """Return the codes of names such as "memcpy Host-to-Device"."""
        codes, of = np.unique(kinds, return_inverse=True)
        names = [
            f"{what} {labels.get(code) or (f'of kind {code}' if code >= 0 else '')}".strip()
            or "(unnamed)"
            for code in codes.tolist()
        ]
        return np.array(self.builder.strings(names), dtype=np.int64)[of]

    def _note_diagnostics(self) -> None:
        """Repeat what the profiler warned of."""
        if _DIAGNOSTICS not in self.database:
            return
        told: dict[str, int] = {}
        for severity, text in self.database.cells(_DIAGNOSTICS, "severity", "text"):
            if severity in _SEVERITIES and isinstance(text, str):
                said = f"The profiler's {_SEVERITIES[severity]}: {' '.join(text.split())[:300]}"
                told[said] = told.get(said, 0) + 1
        for said, count in list(told.items())[:_MOST_DIAGNOSTICS]:
            self.builder.note("diagnostic", count, said)
        if (more := len(told) - _MOST_DIAGNOSTICS) > 0:
            self.builder.note("diagnostic", more, f"The profiler warned of {more:,} things more.")

    def _note_passed_over(self) -> None:
        """Count what is in the file and not in the trace."""
        read = {*_CALLS, *_OVERHEAD, *_WORK, "NVTX_EVENTS", nsys_memory.TABLE, _DIAGNOSTICS}
        for table in sorted(self.database.tables):
            if table in read or table.startswith(_NO_EVENTS):
                continue
            if rows := self.database.count(table):
                what = [told for name, told in _PASSED_OVER.items() if table.startswith(name)]
                told = f" ({what[0]})" if what else ""
                are = "is" if rows == 1 else "are"
                self.builder.note(
                    "passed_over",
                    rows,
                    f"{_rows(rows)} of table {table[:60]}{told} {are} not shown.",
                )


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"

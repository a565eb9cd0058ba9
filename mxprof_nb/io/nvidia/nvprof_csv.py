"""Comma-separated values of nvprof: ``--print-gpu-trace``, ``--print-api-trace``, summaries.

- The text around the tables, ``==PID==`` lines and the program's own output, is passed over; a
  table begins with its header, and units stand in the row below it or behind each number.
- Calls name no thread, so all of a process stand on one track.
- A summary has no times: each of its rows is one span as long as all its calls together, laid end
  to end, and the health of the trace says so. The number of calls is in its arguments.
- Sizes are rounded by nvprof, to about five digits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, TypeAlias

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.errors import UnknownFormatError
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.nvidia.activities import Activities, distinct
from mxprof_nb.io.nvidia.csv_text import UNITS, Section, integer, lines_of, quantity, sections
from mxprof_nb.io.nvidia.database import UNKNOWN
from mxprof_nb.io.nvidia.kernels import CONFIGURATION, KernelDetails
from mxprof_nb.trace import Meta, Trace, TraceBuilder, schema

__all__ = ["read", "sniff"]

_CATEGORY = {name: code for code, name in enumerate(schema.CATEGORIES)}
_TRACE, _SUMMARY = {"Start", "Duration", "Name"}, {"Time", "Calls", "Name"}
_DOMAINS = {"kernel": "kernel", "copy": "gpu_memcpy", "memory": "gpu_memset"}
_BANNER = re.compile(r"==(\d+)==")
_CORRELATION = re.compile(r" \[(\d+)\]$")
_DEVICE = re.compile(r"\((\d+)\)\s*$")
#: Columns of numbers: name in the file, name of `CONFIGURATION`.
_NUMBERS = dict(
    zip(
        ("Grid X", "Grid Y", "Grid Z", "Block X", "Block Y", "Block Z", "Registers Per Thread",
         "Static SMem", "Dynamic SMem"),
        (name for name in CONFIGURATION if not name.startswith("cluster")),
        strict=True,
    )
)  # fmt: skip
_HEADS = re.compile(rb'^(?:"?Type"?,"?Time\(%\)|"?Time\(%\)"?,"?Time|"?Start"?,"?Duration)', re.M)


def sniff(head: bytes) -> float:
    """Return how sure it is that content beginning with ``head`` is such a table, 0 to 1."""
    found = _HEADS.search(head)
    if not found:
        return 0.0
    header = head[found.start() :].partition(b"\n")[0]
    is_own = any(name in header for name in (b"Time(%)", b"Grid X", b"Correlation_ID"))
    return 0.95 if is_own or b"NVPROF" in head or b"== Profiling" in head else 0.6


def read(content: bytes, *, path: str = "<bytes>", limits: Limits | None = None) -> Trace:
    """Read the tables of a CSV file.

    Raises
    ------
    UnknownFormatError
        There is no table in it.
    LimitExceededError
        It is longer than the limits allow.
    """
    limits = limits or Limits()
    lines = lines_of(content, path, limits)
    builder = TraceBuilder(
        Meta(title="" if path.startswith("<") else PurePath(path).name, backend="nvprof")
    )
    rows = _CsvRows(builder)
    found = False
    for section in sections(lines, _is_header, lambda cells, header: len(cells) == len(header)):
        found = True
        limits.check("events", len(section.rows), path, f"table in line {section.line}")
        rows.add(section)
    if not found:
        raise UnknownFormatError.at(
            path,
            "",
            "it holds no table of nvprof: no line names the columns.",
            "Write it with nvprof --csv --print-gpu-trace --log-file FILE PROGRAM.",
        )
    rows.finish()
    return builder.build()


def _is_header(cells: list[str]) -> bool:
    names = set(cells)
    return names >= _TRACE or names >= _SUMMARY


#: Unit and cells by the name of a column.
_Columns: TypeAlias = dict[str, tuple[str, Sequence[str]]]


class _CsvRows:
    """Tables on their way into a builder."""

    def __init__(self, builder: TraceBuilder) -> None:
        self.builder = builder
        self.activities = Activities(builder)
        self._process = 0
        self._tracks: dict[tuple[Any, ...], int] = {}
        self._work: list[tuple[I64Array, dict[str, Any]]] = []
        self._totals = 0
        self._cursors: dict[int, int] = {}

    def add(self, section: Section) -> None:
        """Add the rows of one table; those of devices wait for all calls."""
        for line in section.before:
            if banner := _BANNER.match(line):
                self._process = int(banner[1][:9])
        units = [""] * len(section.header)
        rows = section.rows
        if rows and _are_units(rows[0]):
            units, rows = rows[0], rows[1:]
        columns: _Columns = {
            name: (unit, cells)
            for name, unit, *cells in zip(section.header, units, *rows, strict=True)
        }
        if "Start" in columns:
            self._add_trace(columns, len(rows))
        else:
            self._add_summary(columns, len(rows))

    def _track(
        self, name: str, role: str, device: str | None = None, tid: str | None = None
    ) -> int:
        key = (self._process, name)
        if key not in self._tracks:
            self._tracks[key] = self.builder.track(
                name,
                role=role,
                process=f"process {self._process}" if self._process else "",
                device=device,
                backend="nvprof",
                pid_text=str(self._process) if self._process else None,
                tid_text=tid,
            )
        return self._tracks[key]

    def _add_trace(self, columns: _Columns, rows: int) -> None:
        def numbers(name: str) -> I64Array:
            unit, cells = columns.get(name, ("", [""] * rows))
            return np.array([quantity(cell, unit) for cell in cells], dtype=np.int64)

        names = [cell.strip() for cell in columns["Name"][1]]
        if "Correlation_ID" in columns:
            correlation = numbers("Correlation_ID")
        else:
            found = [_CORRELATION.search(name) for name in names]
            correlation = np.array(
                [int(one[1][:18]) if one else UNKNOWN for one in found], dtype=np.int64
            )
            names = [_CORRELATION.sub("", name) for name in names]
        start, length = numbers("Start"), numbers("Duration")
        end = np.where((start > UNKNOWN) & (length >= 0), start + length, UNKNOWN)
        values: dict[str, I64Array] = {"start": start, "end": end, "correlation": correlation}
        values |= {to: numbers(name) for name, to in _NUMBERS.items()}
        values["size"] = numbers("Size")
        empty = [""] * rows
        devices = [_DEVICE.search(cell) for cell in columns.get("Device", ("", empty))[1]]
        values["deviceId"] = np.array(
            [int(one[1][:9]) if one else UNKNOWN for one in devices], dtype=np.int64
        )
        values["stream"] = np.array(
            [integer(cell) for cell in columns.get("Stream", ("", empty))[1]], dtype=np.int64
        )
        values["name"] = np.array(self.builder.strings(names), dtype=np.int64)
        source = [cell or None for cell in columns.get("SrcMemType", ("", empty))[1]]
        target = [cell or None for cell in columns.get("DstMemType", ("", empty))[1]]
        kinds = [_kind(name) for name in names]
        on_device = np.array(
            [bool(cell.strip()) for cell in columns.get("Device", ("", empty))[1]], dtype=bool
        )
        self._add_calls(
            {name: array[~on_device] for name, array in values.items()}, names, on_device
        )
        for kind, domain in _DOMAINS.items():
            chosen = np.flatnonzero(on_device & (np.array(kinds) == kind))
            if len(chosen):
                these = {name: array[chosen] for name, array in values.items()}
                memory = [(source[row], target[row]) for row in chosen.tolist()]
                self._work.append((chosen, self._row(these, kind, domain, memory)))

    def _add_calls(self, values: dict[str, I64Array], names: Sequence[str], on_device: Any) -> None:
        if not len(values["start"]):
            return
        chosen = [names[row] for row in np.flatnonzero(~on_device).tolist()]
        waits = np.array(["Synchronize" in name for name in chosen], dtype=bool)
        is_driver = np.array([not name.startswith("cuda") for name in chosen], dtype=bool)
        domains = self.builder.string("cuda_runtime"), self.builder.string("cuda_driver")
        self.activities.add_calls(
            "the API trace",
            values["start"],
            values["end"],
            name=values["name"],
            track=np.full(len(chosen), self._track("CUDA calls", "host")),
            process=np.full(len(chosen), self._process),
            correlation=values["correlation"],
            plain=~is_driver,
            domain=np.where(is_driver, domains[1], domains[0]),
            category=np.where(waits, _CATEGORY["sync"], _CATEGORY["api"]),
        )

    def _row(
        self,
        values: dict[str, I64Array],
        kind: str,
        domain: str,
        memory: Sequence[tuple[str | None, str | None]],
    ) -> dict[str, Any]:
        first, of = distinct([values["deviceId"], values["stream"]])
        tracks = []
        for row in first.tolist():
            device, stream = int(values["deviceId"][row]), int(values["stream"][row])
            on = f"gpu/{device}" if device >= 0 else "gpu"
            name = f"{on} stream {stream}" if stream >= 0 else f"{on} all streams"
            tracks.append(self._track(name, "stream", on, str(stream) if stream >= 0 else None))
        told: dict[str, Any] = {
            "start": values["start"],
            "end": values["end"],
            "name": values["name"],
            "track": np.array(tracks, dtype=np.int64)[of],
            "process": np.full(len(of), self._process),
            "correlation": values["correlation"],
            "kind": schema.KINDS.index("span"),
            "domain": self.builder.string(domain),
            "category": _CATEGORY[kind],
            "size": values["size"],
        }
        if kind == "kernel":
            details = KernelDetails(
                {name: values[name] for name in ("deviceId", *_NUMBERS.values())}, {}
            )
            return told | {"details": details, "alike": details.alike()}
        pairs: dict[tuple[str | None, str | None], int] = {}
        codes = np.array([pairs.setdefault(pair, len(pairs)) for pair in memory], dtype=np.int64)
        ways = [{"source": of, "target": to} for of, to in pairs]

        def copied(at: int) -> dict[str, Any]:
            return {key: value for key, value in ways[int(codes[at])].items() if value}

        return told | {"details": copied, "alike": (codes,)}

    def _add_summary(self, columns: _Columns, rows: int) -> None:
        time_unit, times = columns["Time"]
        types = columns.get("Type", ("", [""] * rows))[1]
        left = 0
        for row in range(rows):
            name = columns["Name"][1][row].strip()
            total = quantity(times[row], time_unit)
            if total < 0:
                left += 1
                continue
            is_call = types[row] == "API calls" or (
                not types[row] and name.startswith(("cuda", "cu")) and "(" not in name
            )
            track = self._track(
                *(("API calls", "host") if is_call else ("GPU activities", "stream"))
            )
            told: dict[str, Any] = {"calls": integer(columns["Calls"][1][row])}
            for key, column in (("average_ns", "Avg"), ("min_ns", "Min"), ("max_ns", "Max")):
                unit, cells = columns.get(column, ("", [""] * rows))
                told[key] = quantity(cells[row], unit)
            told = {key: value for key, value in told.items() if value > UNKNOWN}
            kind = "api" if is_call else _kind(name)
            self.builder.event(
                name or "(unnamed)",
                track=track,
                start_ns=self._cursors.get(track, 0),
                dur_ns=total,
                category=kind,
                domain="cuda_runtime" if is_call else _DOMAINS[kind],
                arg=self.builder.arg(raw=json.dumps(told)),
            )
            self._cursors[track] = self._cursors.get(track, 0) + total
            self._totals += 1
        if left:
            told_rows = "1 row" if left == 1 else f"{left:,} rows"
            self.builder.note("no_time", left, f"{told_rows} of a summary had no time; left out.")

    def finish(self) -> None:
        """Add what devices did, now that all calls are known; say what a summary is."""
        for _, row in self._work:
            start, end = row.pop("start"), row.pop("end")
            self.activities.add_work("the GPU trace", start, end, **row)
        if self._totals:
            told = (
                "1 row is the total" if self._totals == 1 else f"{self._totals:,} rows are totals"
            )
            self.builder.note(
                "no_start",
                self._totals,
                f"{told} of a summary, which tells no times: each is laid behind the last one.",
            )


def _are_units(cells: Sequence[str]) -> bool:
    """Return whether a row holds the units of the columns."""
    said = [cell.strip() for cell in cells if cell.strip()]
    return bool(said) and all(cell in UNITS or cell.endswith("/s") for cell in said)


def _kind(name: str) -> str:
    """Return the category of what ran on a device, by its name."""
    if name.startswith("[CUDA memcpy"):
        return "copy"
    return "memory" if name.startswith("[CUDA memset") else "kernel"

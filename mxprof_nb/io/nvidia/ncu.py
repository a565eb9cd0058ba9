"""The reader of Nsight Compute's CSV: ``ncu --csv``, pages "details" and "raw".

- A launch is one kernel with all its metrics as arguments: values as numbers, units beside them.
- Nsight Compute replays each kernel alone, often many times, and tells no moment of it. Kernels
  are laid end to end in the order of their launch, each as long as its metric of duration says,
  and with duration 0 where there is none; the health of the trace says so. Gaps, overlap and the
  share of the device's time are therefore not in such a trace, and nothing here pretends they are.
- Text around the table, ``==PROF==`` lines and the program's own output, is passed over. Rows of
  rules, which advise and do not measure, are kept as text.
- "details" has one row per metric and may be ragged; "raw" has one per launch, with a row of units.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from mxprof_nb.errors import UnknownFormatError
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.nvidia.csv_text import (
    UNITS,
    Section,
    integer,
    lines_of,
    plain,
    quantity,
    sections,
)
from mxprof_nb.io.nvidia.database import UNKNOWN
from mxprof_nb.io.nvidia.nsys_tracks import base_name
from mxprof_nb.trace import Meta, Trace, TraceBuilder

__all__ = ["read", "sniff"]

#: Columns that say which launch a row is of; all others of the raw page are metrics.
_OF_LAUNCH = (
    "ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context",
    "Stream", "Block Size", "Grid Size", "Device", "CC",
)  # fmt: skip
_METRIC = ("Metric Name", "Metric Unit", "Metric Value")
#: Metrics that say how long a kernel took, the best first.
_DURATIONS = ("gpu__time_duration.sum", "gpu__time_duration.avg", "Duration")
_TIME_UNITS = ("ns", "us", "ms", "s", "nsecond", "usecond", "msecond", "second")
#: Arguments under the names that kernels of other formats have, from metrics and columns.
_KNOWN = {
    "registers_per_thread": ("launch__registers_per_thread", "Registers Per Thread"),
    "static_shared_bytes": (
        "launch__shared_mem_per_block_static", "Static Shared Memory Per Block",
    ),
    "dynamic_shared_bytes": (
        "launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block",
    ),
    "theoretical_occupancy": (
        "sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy",
    ),
}  # fmt: skip
_LONGEST_NUMBER = 60
_MOST_METRICS = 10_000


@dataclass(slots=True)
class _Launch:
    """A launch of a kernel, gathered row by row."""

    columns: dict[str, str]
    metrics: dict[str, tuple[str, str]] = field(default_factory=dict)  # value, unit
    rules: list[str] = field(default_factory=list)


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is such a table, 0 to 1."""
    if b'"ID","Process ID"' in head or b"ID,Process ID" in head:
        return 1.0 if b"Kernel Name" in head else 0.0
    return 0.3 if b"==PROF==" in head else 0.0


def read(content: bytes, *, path: str = "<bytes>", limits: Limits | None = None) -> Trace:
    """Read the launches of a CSV page.

    Parameters
    ----------
    content : bytes
    path : str
        For messages and the title.
    limits : Limits, optional

    Returns
    -------
    Trace
        One kernel per launch, on the stream it ran on. In the arguments ``metrics`` maps names
        to values, ``units`` those that have one to their unit.

    Raises
    ------
    UnknownFormatError
        There is no table of launches in it.
    LimitExceededError
        It is longer than the limits allow.
    """
    limits = limits or Limits()
    lines = lines_of(content, path, limits)
    builder = TraceBuilder()
    launches: dict[tuple[str, ...], _Launch] = {}
    ragged, found = 0, False
    for section in sections(lines, _is_header, _is_row):
        found = True
        if "Metric Value" in section.header:
            ragged += _gather_details(section, launches)
        else:
            ragged += _gather_raw(section, launches)
    limits.check("events", len(launches), path)
    if not found:
        raise UnknownFormatError.at(
            path,
            "",
            "it holds no table of launches: no line names the columns ID and Kernel Name.",
            "Write it with ncu --csv --page raw PROGRAM, or from a report with ncu --import "
            "REPORT --csv --page raw.",
        )
    first = next(iter(launches.values()), _Launch({}))
    told = {"host_name": host} if (host := first.columns.get("Host Name", "")) else {}
    builder.meta = Meta(
        title="" if path.startswith("<") else PurePath(path).name,
        backend="ncu",
        extra=MappingProxyType(told),
    )
    if ragged:
        rows = "1 row is" if ragged == 1 else f"{ragged:,} rows are"
        builder.note(
            "ragged",
            ragged,
            f"{rows} cut off before the value, or of another length than the header.",
        )
    _add(builder, list(launches.values()))
    return builder.build()


def _is_header(cells: list[str]) -> bool:
    return cells[0] == "ID" and "Kernel Name" in cells


def _is_row(cells: list[str], header: list[str]) -> bool:
    if integer(cells[0]) > UNKNOWN:
        return len(cells) > header.index("Kernel Name")
    # The row of units of the raw page: nothing where the columns name the launch.
    return not cells[0].strip() and len(cells) == len(header) and any(cells)


def _columns(section: Section, cells: Sequence[str]) -> dict[str, str]:
    return dict(zip(section.header, cells, strict=False))


def _launch(launches: dict[tuple[str, ...], _Launch], columns: dict[str, str]) -> _Launch:
    """Return the launch that a row is of, a new one when it is the first."""
    key = (columns.get("ID", ""), columns.get("Process ID", ""), columns.get("Kernel Name", ""))
    if key not in launches:
        launches[key] = _Launch({name: columns[name] for name in _OF_LAUNCH if name in columns})
    return launches[key]


def _gather_details(section: Section, launches: dict[tuple[str, ...], _Launch]) -> int:
    """Add the rows of a details page to their launches; return how many were ragged."""
    ragged = 0
    for cells in section.rows:
        columns = _columns(section, cells)
        if not columns["ID"].strip():
            continue
        ragged += "Metric Value" not in columns
        launch = _launch(launches, columns)
        name, unit, value = (columns.get(key, "") for key in _METRIC)
        if name and len(launch.metrics) < _MOST_METRICS:
            launch.metrics.setdefault(name, (value, unit))
        if rule := columns.get("Rule Description", "").strip():
            launch.rules.append(rule[:500])
    return ragged


def _gather_raw(section: Section, launches: dict[tuple[str, ...], _Launch]) -> int:
    """Add the rows of a raw page; return how many were ragged."""
    units: dict[str, str] = {}
    ragged = 0
    for cells in section.rows:
        columns = _columns(section, cells)
        if not columns["ID"].strip():
            units = columns
            continue
        ragged += len(cells) != len(section.header)
        launch = _launch(launches, columns)
        for name in section.header[:_MOST_METRICS]:
            if name not in _OF_LAUNCH and columns.get(name, "").strip():
                launch.metrics.setdefault(name, (columns[name], units.get(name, "")))
    return ragged


def _add(builder: TraceBuilder, launches: Sequence[_Launch]) -> None:
    """Lay the kernels end to end."""
    tracks: dict[tuple[str, ...], int] = {}
    now = untimed = 0
    for launch in launches:
        columns = launch.columns
        key = tuple(columns.get(name, "") for name in ("Process ID", "Device", "Stream"))
        if key not in tracks:
            tracks[key] = _track(builder, columns)
        length = _duration(launch)
        untimed += length is None
        builder.event(
            columns.get("Kernel Name", "").strip()[: 1 << 16] or "(unnamed)",
            track=tracks[key],
            start_ns=now,
            dur_ns=length or 0,
            category="kernel",
            domain="kernel",
            arg=builder.arg(raw=json.dumps(_details(launch))),
        )
        now += length or 0
    if launches:
        told = "1 kernel is" if len(launches) == 1 else f"{len(launches):,} kernels are"
        builder.note(
            "no_start",
            len(launches),
            f"{told} laid end to end in order of launch: Nsight Compute tells no start times.",
        )
    if untimed:
        told = "1 kernel has" if untimed == 1 else f"{untimed:,} kernels have"
        builder.note(
            "no_duration",
            untimed,
            f"{told} no metric of duration, and duration 0 here; collect gpu__time_duration.sum.",
        )


def _track(builder: TraceBuilder, columns: dict[str, str]) -> int:
    device, stream = columns.get("Device", "").strip(), columns.get("Stream", "").strip()
    on = f"gpu/{device[:20]}" if device else "gpu"
    pid = columns.get("Process ID", "").strip()[:20]
    return builder.track(
        f"{on} stream {stream[:20]}" if stream else on,
        role="stream",
        process=base_name(columns.get("Process Name", "")) or (f"process {pid}" if pid else ""),
        device=on,
        backend="ncu",
        pid_text=pid or None,
        tid_text=stream[:20] or None,
    )


def _duration(launch: _Launch) -> int | None:
    """Return how long a kernel took, in ns, None when no metric tells."""
    for name in _DURATIONS:
        if name in launch.metrics:
            value, unit = launch.metrics[name]
            if unit in _TIME_UNITS and (length := quantity(value, unit)) >= 0:
                return length
    return None


def _details(launch: _Launch) -> dict[str, Any]:
    """Return the arguments of a kernel."""
    told: dict[str, Any] = {"launch": integer(launch.columns.get("ID", ""))}
    for key, name in (("grid", "Grid Size"), ("block", "Block Size")):
        size = [integer(part) for part in launch.columns.get(name, "").strip("() ").split(",")]
        if len(size) == 3 and min(size) >= 0:
            told[key] = size
    for key, names in _KNOWN.items():
        for name in names:
            if name in launch.metrics:
                value, unit = launch.metrics[name]
                number = _number(value)
                if isinstance(number, str):
                    continue
                if key.endswith("_bytes"):
                    told[key] = _in_bytes(value, unit.partition("/")[0])
                else:
                    told[key] = round(number / 100, 4) if unit == "%" else number
                break
    if capability := launch.columns.get("CC", "").strip():
        told["compute_capability"] = capability[:20]
    told["metrics"] = {name: _number(value) for name, (value, _) in launch.metrics.items()}
    told["units"] = {name: unit for name, (_, unit) in launch.metrics.items() if unit}
    if launch.rules:
        told["rules"] = launch.rules[:50]
    return told


def _in_bytes(value: str, unit: str) -> int | float | str:
    known = quantity(value, unit) if unit in UNITS else UNKNOWN
    return known if known > UNKNOWN else _number(value)


def _number(text: str) -> int | float | str:
    """Return a value as a number, whatever marks its thousands; as it stands when it is none."""
    text = text.strip()
    if len(text) > _LONGEST_NUMBER:
        return text[:500]
    number = plain(text)
    try:
        value = float(number)
    except ValueError:
        return text
    if value != value or abs(value) == float("inf"):
        return text
    return int(number) if integer(number) > UNKNOWN else value

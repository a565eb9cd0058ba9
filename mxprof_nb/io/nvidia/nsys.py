"""The reader of Nsight Systems databases (``nsys export --type sqlite``), schema 2.9 to 3.25.

- Calls into CUDA, cuDNN, cuBLAS and the operating system, NVTX ranges and marks, and the
  profiler's own overhead stand on threads; kernels, copies, fills, graphs and waits of the device
  on streams.
- Tables and columns come and go with versions and with what was recorded: each is looked for, and
  what is not read is counted in the health of the trace.
- Names of hosts, environment, command lines and the program's output are not read.

Reference: the table definitions within the exported files of schema 2.9.1, 3.4, 3.13, 3.23 to
3.25 (Nsight Systems 2022.1 to 2026.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

from mxprof_nb.errors import UnknownFormatError
from mxprof_nb.io.limits import Limits
from mxprof_nb.io.nvidia.database import MAGIC, Database, opened_database
from mxprof_nb.io.nvidia.nsys_rows import NsysRows
from mxprof_nb.trace import Meta, Trace, TraceBuilder

__all__ = ["from_database", "read", "read_file", "sniff"]

#: Reports in NVIDIA's own formats, which only its programs read.
_REPORTS = (".nsys-rep", ".qdrep", ".ncu-rep")
_VERSIONS = ("META_DATA_EXPORT", "EXPORT_META_DATA")


def sniff(head: bytes, path: str) -> float:
    """Return how sure it is that content beginning with ``head`` is such a database, 0 to 1."""
    if head.startswith(MAGIC):
        return 0.9
    return 0.6 if path.lower().endswith(_REPORTS) and not head.startswith(b"<") else 0.0


def read(content: bytes, *, path: str = "<bytes>", limits: Limits | None = None) -> Trace:
    """Read a database of Nsight Systems or nvprof.

    Parameters
    ----------
    content : bytes
        The SQLite file.
    path : str
        For messages and the title.
    limits : Limits, optional

    Returns
    -------
    Trace
        Times are counted from the start of the session, in ns; ``origin_epoch_ns`` is its Unix
        time. Kernels carry grid, block, registers, shared memory, theoretical occupancy and the
        NVTX range that launched them in ``args``.

    Raises
    ------
    UnknownFormatError
        It is another database, or a report that has to be exported first.
    CorruptTraceError
        It is damaged.
    LimitExceededError
        It asks for more than the limits allow.
    """
    _refuse_report(content[: len(MAGIC)], path)
    with opened_database(content, path=path, limits=limits) as database:
        return from_database(database)


def read_file(file: str, *, path: str = "", limits: Limits | None = None) -> Trace:
    """Read a database where it lies, like `read`; it is never written to."""
    with open(file, "rb") as opened:
        _refuse_report(opened.read(len(MAGIC)), path or file)
    with opened_database(None, path=path or file, file=file, limits=limits) as database:
        return from_database(database)


def _refuse_report(head: bytes, path: str) -> None:
    if head.startswith(MAGIC) or not path.lower().endswith(_REPORTS):
        return
    is_compute = path.lower().endswith(".ncu-rep")
    raise UnknownFormatError.at(
        path,
        "",
        "it is a report that only NVIDIA's programs read.",
        "Export it: ncu --import REPORT --csv --page raw > REPORT.csv, then load that."
        if is_compute
        else "Export it: nsys export --type sqlite REPORT, then load the .sqlite file.",
    )


def from_database(database: Database) -> Trace:
    """Return what a database of either kind holds, by the tables it has."""
    if "StringIds" in database and any(table in database for table in _VERSIONS):
        return _trace(database)
    if "StringTable" in database:
        from mxprof_nb.io.nvidia import nvprof_rows

        return nvprof_rows.from_database(database)
    names = sorted(database.tables)
    told = f"tables {', '.join(names[:6])}" + (" and others" if len(names) > 6 else "")
    raise UnknownFormatError.at(
        database.path,
        "SQLite database",
        f"it is of neither Nsight Systems nor nvprof: it has {told if names else 'no tables'}.",
        "Export a report with nsys export --type sqlite, and load that.",
    )


def _trace(database: Database) -> Trace:
    versions = _versions(database)
    schema = versions.get("EXPORT_SCHEMA_VERSION", "")
    told: dict[str, Any] = {}
    if gpus := gpu_info(database):
        told["gpus"] = gpus
    builder = TraceBuilder(
        Meta(
            title="" if database.path.startswith("<") else PurePath(database.path).name,
            backend="nsys",
            origin_epoch_ns=_epoch(database),
            versions=MappingProxyType(
                {
                    "Nsight Systems": versions.get("EXPORT_PRODUCT_VERSION", ""),
                    "export schema": schema,
                }
            ),
            extra=MappingProxyType(told),
        )
    )
    if schema.partition(".")[0] not in ("2", "3"):
        builder.note(
            "schema",
            1,
            f"Its export schema is {schema[:20] or 'not told'}; 2.9 to 3.25 are known, so tables "
            "may be missing here.",
        )
    NsysRows(database, builder).add()
    for fault in database.faults:
        builder.note(*fault)
    return builder.build()


def _versions(database: Database) -> Mapping[str, str]:
    """Return what the export tells of itself."""
    for table in _VERSIONS:
        if table in database and not database.lacks(table, "name", "value"):
            rows = database.cells(table, "name", "value")
            return {str(name): str(value)[:40] for name, value in rows[:100]}
    return {}


def _epoch(database: Database) -> int:
    """Return the Unix time of time 0, in ns, -1 when it is not told."""
    table = "TARGET_INFO_SESSION_START_TIME"
    if table in database:
        for (time,) in database.cells(table, "utcEpochNs")[:1]:
            if isinstance(time, int) and 0 < time < 2**62:
                return time
    return -1


def gpu_info(database: Database) -> list[dict[str, Any]]:
    """Return name, number and size of each GPU, without what identifies the very one."""
    table = "TARGET_INFO_GPU"
    if table not in database:
        return []
    columns = {
        "id": "id",
        "name": "name",
        "chip": "chipName",
        "multiprocessors": "smCount",
        "memory_bytes": "totalMemory",
        "memory_bandwidth_bytes_per_s": "memoryBandwidth",
        "clock_hz": "clockRate",
    }
    rows = database.cells(table, *columns.values())[:64]
    return [
        {name: cell for name, cell in zip(columns, row, strict=True) if cell not in (None, "")}
        for row in rows
    ]

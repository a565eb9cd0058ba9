"""Databases as NVIDIA's profilers write them, made here so that every number in them is known.

There are real files of Nsight Systems 2022.2 (schema 2.9.1) and 2026.1 (3.24.14) only. These follow
the table definitions of the versions between and after, of which just the columns that differ are
made: EXPORT_META_DATA became META_DATA_EXPORT with schema 3; ENUM_ tables came with it; green
contexts with 3.13; graphs and clusters of kernels with 3.23; the system's clock with 3.25.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Sequence

VERSIONS = ("2.9.1", "3.4.0", "3.13.2", "3.23.3", "3.24.14", "3.25.0")
#: What must never reach a trace.
SECRETS = (
    "secret-host",
    "TOKEN=hunter2",
    "printed by the program",
    "/Users/alice/train.py --key 7",
)

PIDS = (101, 102)
_HEAD = 1 << 48


def global_pid(pid: int) -> int:
    """Return the number of a process as the database has it."""
    return _HEAD | pid << 24


def global_tid(pid: int, tid: int) -> int:
    """Return the number of a thread as the database has it."""
    return global_pid(pid) | tid


class Tables:
    """Tables of one database: names of columns, and rows."""

    def __init__(self) -> None:
        self._made = sqlite3.connect(":memory:")
        self._made.execute("PRAGMA page_size = 512")  # small files are quicker to damage
        self._texts: dict[str, int] = {}

    def __del__(self) -> None:
        self._made.close()  # Python 3.13 complains of one that is only dropped

    def text(self, value: str) -> int:
        """Return the number of a text in the table of strings."""
        return self._texts.setdefault(value, len(self._texts) + 1)

    def add(self, table: str, columns: str, rows: Iterable[Sequence[object]]) -> None:
        """Make a table of columns, given as words, and fill it."""
        names = ", ".join(f'"{name}"' for name in columns.split())
        self._made.execute(f'CREATE TABLE IF NOT EXISTS "{table}" ({names})')
        marks = ", ".join("?" * len(columns.split()))
        self._made.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', rows)

    def run(self, statement: str) -> None:
        """Run any SQL, to make what no profiler would."""
        self._made.execute(statement)

    def content(self, strings: tuple[str, str] | None = ("StringIds", "id")) -> bytes:
        """Return the bytes of the file."""
        if strings:
            table, key = strings
            self.add(
                table, f"{key} value", [(number, text) for text, number in self._texts.items()]
            )
        self._made.commit()
        return self._made.serialize()


def versioned(version: str) -> Tables:
    """Return tables that say which version they are of, and nothing else."""
    tables = Tables()
    meta = "EXPORT_META_DATA" if version.startswith("2.") else "META_DATA_EXPORT"
    product = "2025.1.1"
    rows = [("EXPORT_PRODUCT_VERSION", product), ("EXPORT_SCHEMA_VERSION", version)]
    tables.add(meta, "name value", rows)
    clock = [1_700_000_000_000_000_000, "2023-11-14", "2023-11-14"]
    columns = "utcEpochNs utcTime localTime"
    if _number(version) >= (3, 25):
        clock, columns = [*clock, 5], f"{columns} systemClockNs"
    tables.add("TARGET_INFO_SESSION_START_TIME", columns, [clock])
    return tables


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))[:2]


def nsys_database(version: str = "3.25.0") -> bytes:
    """Return a training step of two processes that use the same correlations.

    Process 101 runs ranges step > Convolution and _backward_Convolution, which launch kernels
    conv_forward, and conv_data and conv_weight; a graph of two kernels; a copy, a fill and a wait.
    Process 102 launches one kernel with a correlation of the first. One kernel has no call.
    """
    number = _number(version)
    tables = versioned(version)
    text = tables.text
    first, second = PIDS
    main, worker = global_tid(first, first), global_tid(first, 150)
    other = global_tid(second, second)
    tables.add(
        "PROCESSES",
        "globalPid pid name",
        [(global_pid(pid), pid, SECRETS[3].replace("train.py", "python")) for pid in PIDS],
    )
    tables.add("ThreadNames", "nameId priority globalTid", [(text("engine worker"), 20, worker)])
    tables.add(
        "TARGET_INFO_SYSTEM_ENV",
        "globalVid devStateName name nameEnum value",
        [(_HEAD, "Local", "Hostname", 1, SECRETS[0]), (_HEAD, "Local", "Env", 2, SECRETS[1])],
    )
    tables.add(
        "ProcessStreams",
        "globalPid filenameId contentId",
        [(global_pid(first), text("stdout"), text(SECRETS[2]))],
    )
    tables.add(
        "TARGET_INFO_GPU",
        "id name smCount maxWarpsPerSm maxBlocksPerSm maxRegistersPerSm maxShmemPerSm "
        "threadsPerWarp computeMajor computeMinor uuid",
        [(0, "Test GPU", 108, 64, 32, 65536, 167936, 32, 8, 0, "GPU-1234")],
    )
    calls = [  # start, end, class, thread, correlation, name
        (1_100, 1_150, 0, worker, 1, "cudaLaunchKernel_v7000"),
        (1_310, 1_340, 0, worker, 2, "cudaLaunchKernel_v7000"),
        (1_350, 1_390, 1, worker, 3, "cuLaunchKernel"),
        (1_500, 1_520, 0, main, 4, "cudaGraphLaunch_v10000"),
        (1_530, 1_540, 0, main, 5, "cudaMemcpyAsync_v3020"),
        (1_541, 1_545, 0, main, 6, "cudaMemsetAsync_v3020"),
        (1_550, 2_500, 0, main, 7, "cudaDeviceSynchronize_v3020"),
        (1_700, 1_720, 0, other, 1, "cudaLaunchKernel_v7000"),
    ]
    tables.add(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "start end eventClass globalTid correlationId nameId returnValue callchainId",
        [(*call[:5], text(call[5]), 0, None) for call in calls],
    )
    _add_kernels(tables, number)
    green, none = (" greenContextId", (None,)) if number >= (3, 13) else ("", ())
    device = "start end deviceId contextId streamId correlationId globalPid"
    tables.add(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        f"{device} bytes copyKind srcKind dstKind{green}",
        [(2_200, 2_260, 0, 1, 7, 5, global_pid(first), 4096, 2, 2, 1, *none)],
    )
    tables.add(
        "CUPTI_ACTIVITY_KIND_MEMSET",
        f"{device} value bytes memKind{green}",
        [(2_270, 2_280, 0, 1, 7, 6, global_pid(first), 0, 512, 2, *none)],
    )
    tables.add(
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
        f"{device} syncType eventId{green}",
        [(1_560, 2_490, 0, 1, 2**32 - 1, 7, global_pid(first), 4, 0, *none)],
    )
    if number >= (3, 0):
        tables.add("ENUM_CUDA_MEMCPY_OPER", "id name label", [(2, "DTOH", "Device-to-Host")])
    tables.add(
        "OSRT_API",
        "start end eventClass globalTid nameId returnValue nestingLevel",
        [(1_000, 1_400, 27, global_tid(first, 160), text("poll"), 1, 0)],
    )
    tables.add("MPI_COLLECTIVES_EVENTS", "start end globalTid", [(1, 2, main), (3, 4, main)])
    tables.add(
        "DIAGNOSTIC_EVENT",
        "timestamp source severity text",
        [(0, 1, 1, "Started."), (9, 1, 2, "Some events\nwere dropped.")],
    )
    _add_ranges(tables, main, worker)
    return tables.content()


def _add_kernels(tables: Tables, number: tuple[int, ...]) -> None:
    first, second = map(global_pid, PIDS)
    kernels = [  # start, end, stream, correlation, process, name, block, registers, graph node
        (1_200, 1_300, 7, 1, first, "conv_forward(float*)", 256, 32, None),
        (1_400, 1_500, 7, 2, first, "conv_data(float*)", 256, 64, None),
        (1_500, 1_700, 7, 3, first, "conv_weight(float*)", 256, 64, None),
        (1_710, 1_800, 7, 4, first, "graph_a()", 128, 16, 11),
        (1_810, 1_900, 7, 4, first, "graph_b()", 128, 16, 12),
        (1_900, 1_950, 13, 1, second, "other_process()", 1024, 64, None),
        (10, 20, 7, 9, first, "before_recording()", 128, 16, None),
    ]
    more: dict[str, object] = (
        {"clusterX": 0, "clusterY": 0, "clusterZ": 0} if number >= (3, 23) else {}
    )
    more |= {"greenContextId": None} if number >= (3, 13) else {}
    rows = []
    for start, end, stream, correlation, process, name, block, registers, node in kernels:
        names = tables.text(name), tables.text(name.partition("(")[0])
        shape = (4, 1, 1, block, 1, 1, registers, 1024, 0)
        where = (start, end, 0, 1, stream, correlation, process)
        rows.append((*where, *names, *shape, node, *more.values()))
    tables.add(
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "start end deviceId contextId streamId correlationId globalPid demangledName shortName "
        "gridX gridY gridZ blockX blockY blockZ registersPerThread staticSharedMemory "
        f"dynamicSharedMemory graphNodeId {' '.join(more)}",
        rows,
    )


def _add_ranges(tables: Tables, main: int, worker: int) -> None:
    columns = "start end eventType rangeId category text globalTid endGlobalTid textId domainId"
    columns += " uint64Value jsonText"
    text = tables.text
    rows = [
        (900, None, 75, None, None, "Loader", main, None, None, 3, None, None),
        (900, None, 33, None, 5, "epochs", main, None, None, 0, None, None),
        (900, None, 39, None, None, "trainer", main, None, None, 0, None, None),
        (1_000, 2_600, 59, None, 5, "step", main, None, None, 0, 42, None),
        (1_090, 1_160, 60, 1, None, None, worker, worker, text("Convolution"), 0, None, None),
        (1_305, 1_400, 60, 2, None, "_backward_Convolution", worker, worker, None, 0, None, None),
        (1_010, 1_020, 59, None, None, "batch", main, None, None, 3, None, '{"rows": 8}'),
        (1_600, None, 34, None, None, "epoch end", main, None, None, 0, None, None),
        (1_650, None, 59, None, None, "never popped", worker, None, None, 0, None, None),
    ]
    tables.add("NVTX_EVENTS", columns, rows)


def nvprof_database() -> bytes:
    """Return a kernel, a copy and an NVTX range as nvprof stores them."""
    tables = Tables()
    epoch = 1_500_000_000_000_000_000
    tables.add("Version", "version", [(10,)])
    kernel = tables.text("_Z4convPf")
    name = tables.text("Convolution")
    thread = struct.pack("<II4x", 55, 2**32 - 9)
    tables.add(
        "CUPTI_ACTIVITY_KIND_MARKER",
        "_id_ flags timestamp id objectKind objectId name domain",
        [(1, 2, epoch, 1, 2, thread, name, 0), (2, 4, epoch + 500, 1, 2, thread, 0, 0)],
    )
    call = "_id_ cbid start end processId threadId correlationId returnValue"
    tables.add(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        call,
        [
            (1, 211, epoch + 100, epoch + 150, 55, -9, 8, 0),
            (2, 41, epoch + 160, epoch + 190, 55, -9, 9, 0),
            (3, 165, epoch + 200, epoch + 900, 55, -9, 10, 0),
            (4, 9999, epoch + 910, epoch + 920, 55, -9, 11, 0),
        ],
    )
    tables.add(
        "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
        "_id_ registersPerThread start end completed deviceId contextId streamId gridX gridY "
        "gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory correlationId name",
        [(1, 32, epoch + 300, epoch + 400, 0, 0, 1, 7, 16, 1, 1, 256, 1, 1, 0, 0, 8, kernel)],
    )
    tables.add(
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "_id_ copyKind srcKind dstKind bytes start end deviceId contextId streamId correlationId",
        [(1, 1, 1, 3, 2048, epoch + 420, epoch + 480, 0, 1, 7, 9)],
    )
    tables.add(
        "CUPTI_ACTIVITY_KIND_OVERHEAD",
        "_id_ overheadKind objectKind objectId start end",
        [(1, 65536, 2, thread, epoch + 1, epoch + 5)],
    )
    tables.add(
        "CUPTI_ACTIVITY_KIND_DEVICE",
        "id name numThreadsPerWarp maxWarpsPerMultiprocessor maxBlocksPerMultiprocessor "
        "maxSharedMemoryPerMultiprocessor maxRegistersPerMultiprocessor "
        "computeCapabilityMajor computeCapabilityMinor",
        [(0, tables.text("Tesla K80"), 32, 64, 16, 114688, 131072, 3, 7)],
    )
    return tables.content(("StringTable", "_id_"))

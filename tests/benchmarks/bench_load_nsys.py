"""What it costs to load a database of Nsight Systems."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from mxprof_nb.io import load
from tests.benchmarks.harness import Pair, benchmark
from tests.nvidia_files import Tables, global_pid, global_tid, versioned

#: A million rows: two calls, two kernels and a range for each of these.
OPERATORS = 200_000
TABLES = ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS")


def _database(operators: int) -> bytes:
    """Return operators that launch two kernels each, within ranges, in four processes."""
    tables: Tables = versioned("3.24.14")
    kernels = [tables.text(f"void kernel_{number}<float>(float*, int)") for number in range(200)]
    names = [tables.text(f"operator_{number}") for number in range(50)]
    launch = tables.text("cudaLaunchKernel_v7000")
    calls, work, ranges = [], [], []
    for number in range(operators):
        process, start = number % 4 + 1, 10_000 * number
        thread = global_tid(process, process)
        name = names[number % 50]
        ranges.append((start, start + 9_000, 60, number, None, thread, thread, name, 0))
        for part in range(2):
            at, correlation = start + 100 + 4_000 * part, 2 * (number // 4) + part
            calls.append((at, at + 2_000, 0, thread, correlation, launch, 0, None))
            kernel = kernels[(2 * number + part) % 200]
            shape = (number % 7 + 1, 1, 1, 256, 1, 1, 32 + number % 3, 1024, 0)
            where = (0, 1, 7, correlation, global_pid(process))
            work.append((at + 3_000, at + 6_000, *where, kernel, kernel, *shape))
    tables.add(TABLES[0], "start end eventClass globalTid correlationId nameId returnValue "
               "callchainId", calls)  # fmt: skip
    tables.add(TABLES[1], "start end deviceId contextId streamId correlationId globalPid "
               "demangledName shortName gridX gridY gridZ blockX blockY blockZ registersPerThread "
               "staticSharedMemory dynamicSharedMemory", work)  # fmt: skip
    tables.add(TABLES[2], "start end eventType rangeId text globalTid endGlobalTid textId domainId",
               ranges)  # fmt: skip
    return tables.content()


def _frames(path: Path) -> list[pd.DataFrame]:
    """Read the three tables as pandas does."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return [pd.read_sql_query(f"SELECT * FROM {table}", connection) for table in TABLES]


@benchmark("load nsys, 1 M rows", baseline="pandas.read_sql, nothing joined", candidate="load")
def nsys() -> Iterator[Pair]:
    """Wanted: seconds, with launches and ranges joined, where pandas reads three tables."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.sqlite"
        path.write_bytes(_database(OPERATORS))
        yield Pair(lambda: _frames(path), lambda: load(path))

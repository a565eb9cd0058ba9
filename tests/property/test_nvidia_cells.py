"""Databases of NVIDIA's profilers whose cells hold anything."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mxprof_nb.io import load
from mxprof_nb.io.nvidia.activities import distinct
from mxprof_nb.io.nvidia.csv_text import quantity
from mxprof_nb.io.nvidia.database import UNKNOWN
from tests.nvidia_files import Tables, versioned

WORK = "start end deviceId contextId streamId correlationId globalPid"
CALL = "start end globalTid correlationId nameId eventClass returnValue"
NSYS = {
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{WORK} demangledName gridX gridY gridZ blockX blockY blockZ "
    "registersPerThread staticSharedMemory dynamicSharedMemory graphNodeId",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{WORK} bytes copyKind srcKind dstKind",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{WORK} bytes value memKind",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": f"{WORK} syncType",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"{WORK} graphId",
    "CUPTI_ACTIVITY_KIND_RUNTIME": CALL,
    "OSRT_API": CALL,
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start globalPid deviceId bytes memoryOperationType",
    "PROFILER_OVERHEAD": "start end globalTid nameId",
    "NVTX_EVENTS": "start end eventType text textId globalTid endGlobalTid domainId category "
    "uint64Value doubleValue jsonText jsonTextId",
    "ThreadNames": "nameId globalTid",
    "PROCESSES": "globalPid name",
    "TARGET_INFO_GPU": "id name computeMajor computeMinor maxWarpsPerSm maxBlocksPerSm "
    "maxRegistersPerSm maxShmemPerSm threadsPerWarp",
    "DIAGNOSTIC_EVENT": "severity text",
    "ENUM_CUDA_MEMCPY_OPER": "id label",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs",
}
NVPROF_CALL = "start end processId threadId correlationId cbid returnValue"
NVPROF = {
    "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": "start end deviceId contextId streamId correlationId "
    "name gridX blockX blockY blockZ registersPerThread",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start end deviceId streamId correlationId bytes copyKind",
    "CUPTI_ACTIVITY_KIND_MEMSET": "start end deviceId streamId correlationId bytes value",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start end contextId streamId correlationId type",
    "CUPTI_ACTIVITY_KIND_RUNTIME": NVPROF_CALL,
    "CUPTI_ACTIVITY_KIND_DRIVER": NVPROF_CALL,
    "CUPTI_ACTIVITY_KIND_MARKER": "flags timestamp id objectKind objectId name domain",
    "CUPTI_ACTIVITY_KIND_OVERHEAD": "start end overheadKind objectKind objectId",
    "CUPTI_ACTIVITY_KIND_NAME": "objectKind objectId name",
    "CUPTI_ACTIVITY_KIND_DEVICE": "id name computeCapabilityMajor computeCapabilityMinor "
    "maxWarpsPerMultiprocessor maxBlocksPerMultiprocessor maxRegistersPerMultiprocessor "
    "maxSharedMemoryPerMultiprocessor numThreadsPerWarp",
    "Version": "version",
}
#: What is often a valid number somewhere, so that rows meet each other.
_LIKELY = st.sampled_from([0, 1, 2, 4, 7, 34, 59, 60, 67, 75, 1 << 24, (1 << 24) + 1, 100, 1_000])
CELLS = st.one_of(
    _LIKELY,
    _LIKELY,
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=12),
)


@st.composite
def databases(draw: Any, known: dict[str, str], key: str) -> bytes:
    """Draw tables with some of their columns and a few rows of anything."""
    strings = "StringIds" if key == "id" else "StringTable"
    tables = versioned("3.24.14") if key == "id" else Tables()
    tables.text("a")
    tables.text("cudaDeviceSynchronize")
    for table in draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=5)):
        if table == "TARGET_INFO_SESSION_START_TIME":
            continue
        columns = known[table].split()
        if draw(st.booleans()):
            columns = draw(st.lists(st.sampled_from(columns), unique=True, min_size=1))
        row = st.tuples(*[CELLS] * len(columns))
        tables.add(table, " ".join(columns), draw(st.lists(row, max_size=6)))
    return tables.content((strings, key))


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


@settings(max_examples=150, deadline=None)
@given(st.one_of(databases(NSYS, "id"), databases(NVPROF, "_id_")))
def test_any_cells_give_a_trace_that_holds_together(content: bytes) -> None:
    trace = load(content)
    raw = trace.args.raw
    for code in raw[raw >= 0].tolist():
        json.loads(trace.strings[code], parse_constant=_refuse)
    trace.frame()
    assert (trace.events.dur_ns >= 0).all()


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-2, 2), min_size=width, max_size=width), min_size=1, max_size=30
        )
    )
)
def test_rows_are_of_one_kind_exactly_when_they_are_equal(rows: list[list[int]]) -> None:
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    first, kind = distinct(columns)
    assert len(first) == len({tuple(row) for row in rows})
    assert all(rows[int(first[of])] == row for of, row in zip(kind.tolist(), rows, strict=True))


@given(st.text("0123456789.,+-eE %µmsnuKMGB", max_size=70), st.sampled_from(["", "ms", "KB", "?"]))
def test_any_text_is_an_amount_or_none(text: str, unit: str) -> None:
    found = quantity(text, unit)
    assert found == UNKNOWN or abs(found) < 2**63


@given(st.integers(0, 2**60), st.sampled_from(["ns", "us", "ms", "s"]))
def test_amounts_are_exact(number: int, unit: str) -> None:
    factor = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[unit]
    assert quantity(format(Decimal(number) / factor, "f"), unit) == number

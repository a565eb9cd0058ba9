"""Memory that processes hold on devices, from the allocations of an Nsight Systems database."""

from __future__ import annotations

import numpy as np

from mxprof_nb.io.nvidia.activities import distinct
from mxprof_nb.io.nvidia.database import Database
from mxprof_nb.io.nvidia.nsys_tracks import NsysTracks
from mxprof_nb.trace import TraceBuilder

__all__ = ["TABLE", "add_memory"]

TABLE = "CUDA_GPU_MEMORY_USAGE_EVENTS"
_TAKEN, _FREED = 0, 1


def add_memory(database: Database, builder: TraceBuilder, tracks: NsysTracks) -> None:
    """Add a counter of bytes held for each process and device.

    Memory that was taken before the recording began is not known: the counter starts at 0, and
    is shifted so that it never falls below.
    """
    if TABLE not in database:
        return
    rows = database.integers(
        TABLE, "start", "globalPid", "deviceId", "bytes", "memoryOperationType"
    )
    kind, size = rows["memoryOperationType"], rows["bytes"]
    good = np.isin(kind, (_TAKEN, _FREED)) & (size >= 0) & (size < 2**50)
    good &= np.abs(rows["start"]) < 2**61
    if left := int(len(good) - good.sum()):
        told = "1 row" if left == 1 else f"{left:,} rows"
        builder.note(
            "no_time", left, f"{told} of {TABLE} had no usable start, size or kind; left out."
        )
    rows = {name: values[good] for name, values in rows.items()}
    if not good.any():
        return
    first, owner = distinct([rows["globalPid"], rows["deviceId"]])
    change = np.where(rows["memoryOperationType"] == _TAKEN, rows["bytes"], -rows["bytes"])
    order = np.lexsort((rows["start"], owner))
    groups = np.split(order, np.flatnonzero(np.diff(owner[order])) + 1)
    for row, chosen in zip(first.tolist(), groups, strict=True):
        held = np.cumsum(change[chosen])
        device = int(rows["deviceId"][row])
        name = f"Memory: gpu/{device}" if device >= 0 else "Memory: gpu"
        builder.add_counters(
            time_ns=rows["start"][chosen],
            track=tracks.add_counter(name, int(rows["globalPid"][row]), device),
            name=builder.string(name),
            value=(held - min(0, int(held.min()))).astype(np.float64),
            unit=builder.string("B"),
        )

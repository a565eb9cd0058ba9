"""What a kernel was launched with: grid, block, registers, shared memory, occupancy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mxprof_nb._typing import I64Array
from mxprof_nb.io.nvidia.database import UNKNOWN
from mxprof_nb.io.nvidia.occupancy import Device, theoretical_occupancy

__all__ = ["CONFIGURATION", "KernelDetails"]

_GRID, _BLOCK = ("gridX", "gridY", "gridZ"), ("blockX", "blockY", "blockZ")
_CLUSTER = ("clusterX", "clusterY", "clusterZ")
#: Columns that say how a kernel was launched.
CONFIGURATION = (
    *_GRID, *_BLOCK, *_CLUSTER, "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
)  # fmt: skip


class KernelDetails:
    """The arguments of kernels, by row.

    Parameters
    ----------
    columns : Mapping
        `CONFIGURATION`, and ``deviceId``; ``graphNodeId`` where there are graphs.
    devices : Mapping of int to Device
    """

    def __init__(self, columns: Mapping[str, I64Array], devices: Mapping[int, Device]) -> None:
        self._columns, self._devices = columns, devices

    def alike(self) -> tuple[I64Array, ...]:
        """Return the columns that the arguments follow from."""
        names = ("deviceId", *CONFIGURATION, "graphNodeId")
        return tuple(self._columns[name] for name in names if name in self._columns)

    def __call__(self, row: int) -> dict[str, Any]:
        """Return the arguments of one kernel."""
        cell = {
            name: int(values[row])
            for name, values in self._columns.items()
            if values[row] > UNKNOWN
        }
        told: dict[str, Any] = {}
        for key, names in (("grid", _GRID), ("block", _BLOCK), ("cluster", _CLUSTER)):
            size = [cell[name] for name in names if name in cell]
            if len(size) == len(names) and (key != "cluster" or any(size)):
                told[key] = size
        for key, name in (
            ("registers_per_thread", "registersPerThread"),
            ("static_shared_bytes", "staticSharedMemory"),
            ("dynamic_shared_bytes", "dynamicSharedMemory"),
            ("graph_node", "graphNodeId"),
        ):
            if name in cell:
                told[key] = cell[name]
        device = self._devices.get(cell.get("deviceId", -1))
        if device and "block" in told and "registers_per_thread" in told:
            x, y, z = told["block"]
            shared = told.get("static_shared_bytes", 0) + told.get("dynamic_shared_bytes", 0)
            share = theoretical_occupancy(device, x * y * z, told["registers_per_thread"], shared)
            if share is not None:
                told["theoretical_occupancy"] = round(share, 4)
        return told

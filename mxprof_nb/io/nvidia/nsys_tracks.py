"""The threads and streams of an Nsight Systems database, and what its devices offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath, PureWindowsPath

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.io.nvidia.activities import distinct
from mxprof_nb.io.nvidia.database import UNKNOWN, Database
from mxprof_nb.io.nvidia.occupancy import Device
from mxprof_nb.trace import TraceBuilder

__all__ = ["NsysTracks", "base_name"]

_LOW = (1 << 24) - 1
_ON = ("globalPid", "deviceId", "contextId", "streamId")
_LIMITS = (
    "id", "computeMajor", "computeMinor", "maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm",
    "maxShmemPerSm", "threadsPerWarp",
)  # fmt: skip
#: A stream that is none: what concerns the whole context.
_NO_STREAM = 2**32 - 1


def base_name(command: str) -> str:
    """Return the name of a program from its path or command line, without folders."""
    return PurePath(PureWindowsPath(command.split(" -")[0]).name).name[:100]


class NsysTracks:
    """Tracks by the identifiers of the file.

    A thread is ``globalTid``: process in bits 24 to 47, thread in the lower 24 bits; a process is
    the same with these lower bits zero.
    """

    def __init__(self, database: Database, builder: TraceBuilder) -> None:
        self.database, self.builder = database, builder
        self._threads: dict[int, int] = {}
        self._streams: dict[tuple[int, ...], int] = {}
        self._processes = self._process_names()

    def _process_names(self) -> dict[int, str]:
        """Return the names of processes, by ``globalPid``."""
        names: dict[int, str] = {}
        if "PROCESSES" in self.database:
            for process, name in self.database.cells("PROCESSES", "globalPid", "name"):
                if isinstance(process, int) and isinstance(name, str) and name:
                    names.setdefault(process, base_name(name))
        return names

    def _process(self, process: int) -> tuple[str, str]:
        """Return what a process is called, and its number."""
        if process < 0:
            return "", ""
        pid = str(process >> 24 & _LOW)
        return self._processes.get(process) or f"process {pid}", pid

    def add_threads(self, threads: Sequence[I64Array], named: Mapping[int, str]) -> None:
        """Add a track for each thread, main threads first."""
        found = set()
        for block in threads:
            found.update(np.unique(block).tolist())
        names = self._thread_names() | dict(named)
        order = sorted(found, key=lambda one: (one & ~_LOW, (one >> 24 ^ one) & _LOW != 0, one))
        for thread in order:
            tid = thread & _LOW
            process, pid = self._process(thread & ~_LOW if thread >= 0 else -1)
            name = names.get(thread) or (f"thread {tid}" if thread >= 0 else "unknown thread")
            self._threads[thread] = self.builder.track(
                name,
                role="host",
                process=process,
                backend="nsys",
                pid_text=pid or None,
                tid_text=str(tid) if thread >= 0 else None,
            )

    def _thread_names(self) -> dict[int, str]:
        if "ThreadNames" not in self.database:
            return {}
        rows = self.database.integers("ThreadNames", "nameId", "globalTid")
        texts = self.database.texts("StringIds", "id", "value")
        pairs = zip(rows["globalTid"].tolist(), rows["nameId"].tolist(), strict=True)
        return {thread: texts[name][:100] for thread, name in pairs if texts.get(name)}

    def of_threads(self, threads: I64Array) -> I64Array:
        """Return the track of each thread."""
        found, place = np.unique(threads, return_inverse=True)
        rows = np.array([self._threads[thread] for thread in found.tolist()], dtype=np.int64)
        return rows[place] if len(rows) else np.empty(0, np.int64)

    def processes(self, threads: I64Array) -> I64Array:
        """Return the ``globalPid`` of each thread."""
        return np.where(threads >= 0, threads & ~_LOW, UNKNOWN)

    def of_streams(self, columns: Mapping[str, I64Array], *, waits: bool = False) -> I64Array:
        """Return the track of each row of work, adding streams that are new.

        Parameters
        ----------
        columns : Mapping
            With ``globalPid``, ``deviceId``, ``contextId`` and ``streamId``.
        waits : bool
            Waits overlap the work of their stream and have a track of their own.
        """
        keys = [columns[name] for name in _ON]
        first, kind = distinct(keys)
        rows = []
        for row in first.tolist():
            key = (*(int(values[row]) for values in keys), int(waits))
            if key not in self._streams:
                self._streams[key] = self._add_stream(*key)
            rows.append(self._streams[key])
        return np.array(rows, dtype=np.int64)[kind]

    def _add_stream(self, process: int, device: int, context: int, stream: int, waits: int) -> int:
        name, pid = self._process(process)
        on = f"gpu/{device}" if device >= 0 else "gpu"
        if 0 <= stream < _NO_STREAM:
            where = f"stream {stream}"
        else:
            where = f"context {context}" if context >= 0 else "all streams"
        return self.builder.track(
            f"{on} {where}" + (" waits" if waits else ""),
            role="stream",
            process=name,
            device=on,
            backend="nsys",
            pid_text=pid or None,
            tid_text=str(stream) if stream >= 0 else None,
        )

    def add_counter(self, name: str, process: int, device: int) -> int:
        """Add a track for a counter of a process on a device."""
        called, pid = self._process(process)
        return self.builder.track(
            name,
            role="counter",
            process=called,
            device=f"gpu/{device}" if device >= 0 else "gpu",
            backend="nsys",
            pid_text=pid or None,
        )

    def devices(self) -> dict[int, Device]:
        """Return what each device offers to kernels, by its number."""
        table = "TARGET_INFO_GPU"
        if table not in self.database:
            return {}
        rows = self.database.cells(table, "name", *_LIMITS)
        found: dict[int, Device] = {}
        for name, *numbers in rows[:256]:
            if all(isinstance(number, int) for number in numbers):
                number, major, minor, *limits = numbers
                found.setdefault(number, Device(str(name), (major, minor), *limits))
        return found

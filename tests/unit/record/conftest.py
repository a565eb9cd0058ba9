"""A recorder on a clock that tests move by hand, and threads that write to it."""

from __future__ import annotations

from types import CodeType

import pytest

from mxprof_nb.record import Clock, RecordConfig, Recorder, Recording, fake_clock, freeze
from mxprof_nb.record.buffer import ThreadBuffer
from mxprof_nb.trace import Meta, Trace


class Stage:
    """A recorder, one host thread and one worker, all driven by the test."""

    def __init__(self) -> None:
        self.clock: Clock
        self.clock, self.time = fake_clock(start_ns=1_000, epoch_ns=5)
        self.recorder = Recorder(self.clock)
        self.host = self.recorder.register("MainThread", "host")
        self.worker = self.recorder.register("cpu/0 worker 1", "worker", "cpu/0")
        define = self.recorder.labels.define
        self.invoke = define("MXImperativeInvokeEx", "api", "MXNET_C_API")
        self.copy_out = define("MXNDArraySyncCopyToCPU", "api", "MXNET_C_API")
        self.wait = define("WaitForVar", "sync", "operator")
        self.dot = define("dot", "operator", "operator")
        self.memory = define("Memory: cpu/0", "memory", "cpu/0")

    def start(self, **config: object) -> Recording:
        return self.recorder.start(RecordConfig(**config))  # type: ignore[arg-type]

    def at(self, moment: int) -> None:
        self.time[0] = moment

    def call(
        self,
        begin: int,
        end: int,
        label: int | None = None,
        number: int = -1,
        place: tuple[CodeType | None, int] = (None, -1),
        buffer: ThreadBuffer | None = None,
    ) -> None:
        """Have the host write down a call, whatever the clock says."""
        label = self.invoke if label is None else label
        (buffer or self.host).calls.extend((begin, end, label, number, *place))

    def operator(
        self, queued: int, begin: int, end: int, number: int, taken: tuple[int, int] = (-1, 0)
    ) -> None:
        """Have the worker write down an operator, and what memory it took on which device."""
        self.worker.operators.extend((queued, begin, end, self.dot, number, *taken))

    def took(self, moment: int, size: int) -> None:
        """Have the host take memory."""
        self.host.memory.extend((moment, self.memory, size))

    def trace(self, recording: Recording, **sources: str) -> Trace:
        return freeze(recording, Meta(title="stage"), lines=sources)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def heard(recording: Recording) -> list[tuple[int, int]]:
    """Begin and end of every call a recording heard, in order of their begin."""
    return sorted(
        (begin, end) for block in recording.blocks for begin, end in block.calls[:, :2].tolist()
    )

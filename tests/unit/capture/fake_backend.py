"""A backend without a runtime: it notes what is asked of it and answers as a test sets it up."""

from __future__ import annotations

from dataclasses import dataclass, field

from mxprof_nb.backends import Availability
from mxprof_nb.errors import NotRecordingError
from mxprof_nb.record import RecordConfig
from mxprof_nb.trace import Meta, Trace, TraceBuilder


@dataclass
class FakeBackend:
    name: str = "fake"
    capabilities: frozenset[str] = frozenset({"operators"})
    available: Availability = field(default_factory=lambda: Availability(ok=True))
    #: Operators that still run however long one waits.
    stuck: int = 0
    #: Raised by the wait, or by the start.
    wait_raises: BaseException | None = None
    start_raises: Exception | None = None
    sessions: list[FakeSession] = field(default_factory=list)

    def availability(self) -> Availability:
        return self.available

    def capture(self, config: RecordConfig) -> FakeSession:
        if self.start_raises is not None:
            raise self.start_raises
        self.sessions.append(FakeSession(self, config))
        return self.sessions[-1]

    @property
    def recording(self) -> list[FakeSession]:
        return [session for session in self.sessions if not session.stopped]


@dataclass
class FakeSession:
    backend: FakeBackend
    config: RecordConfig
    #: The limits of all waits.
    waits: list[float | None] = field(default_factory=list)
    stopped: bool = False

    def pending(self) -> int:
        return self.backend.stuck

    def wait(self, timeout_s: float | None = None) -> bool:
        self.waits.append(timeout_s)
        if self.backend.wait_raises is not None:
            raise self.backend.wait_raises
        return not self.backend.stuck

    def stop(self) -> Trace:
        if self.stopped:
            raise NotRecordingError("stopped before")
        self.stopped = True
        builder = TraceBuilder(Meta(backend="fake", window_ns=(0, 2_000_000)))
        host = builder.track("MainThread", role="host")
        worker = builder.track("cpu/0 worker 1", role="worker", device="cpu/0")
        memory = builder.track("Memory: cpu/0", role="counter", device="cpu/0")
        site = builder.site("cell.py", 2, "<module>", "y = dot(x, x)")
        call = builder.event(
            "MXImperativeInvokeEx", track=host, start_ns=1_000, dur_ns=5_000, category="api",
            domain="MXNET_C_API", correlation=1, site=site,
        )  # fmt: skip
        ran = builder.event(
            "dot", track=worker, start_ns=9_000, dur_ns=1_500_000, category="operator",
            domain="operator", correlation=1, site=site, queued_ns=2_000,
        )  # fmt: skip
        builder.flow(call, ran)
        builder.counter("Memory: cpu/0", track=memory, time_ns=2_000, value=64, unit="B")
        return builder.build()

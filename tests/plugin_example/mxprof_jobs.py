"""A runtime in small, and all it takes to make it known to mxprof_nb.

`submit` queues a function call and returns at once; one worker thread runs the calls in order.
`JobsBackend` records them. No class of mxprof_nb is derived from: the protocols are enough.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from mxprof_nb.backends import Availability
from mxprof_nb.errors import AlreadyRecordingError, NotRecordingError
from mxprof_nb.record import RecordConfig
from mxprof_nb.trace import Meta, Trace, TraceBuilder


@dataclass(slots=True)
class Job:
    """One queued call and what became of it."""

    number: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    thread: str
    file: str
    line: int
    queued_ns: int
    returned_ns: int = 0
    begin_ns: int = -1
    end_ns: int = -1

    def run(self) -> None:
        self.begin_ns = time.perf_counter_ns()
        try:
            self.function(*self.arguments)
        finally:
            self.end_ns = time.perf_counter_ns()


class Worker:
    """One thread that runs jobs in order."""

    def __init__(self) -> None:
        self.sessions: list[JobsSession] = []
        self.changed = threading.Condition()
        self.unfinished = 0
        self.failures: list[Exception] = []
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._numbers = itertools.count()
        threading.Thread(target=self._work, name="jobs worker", daemon=True).start()

    def submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        caller = sys._getframe(2)
        job = Job(
            next(self._numbers), function, arguments, threading.current_thread().name,
            caller.f_code.co_filename, caller.f_lineno, time.perf_counter_ns(),
        )  # fmt: skip
        for session in self.sessions:
            session.jobs.append(job)
        with self.changed:
            self.unfinished += 1
        self._jobs.put(job)
        job.returned_ns = time.perf_counter_ns()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job.run()
            except Exception as error:
                self.failures.append(error)
            with self.changed:
                self.unfinished -= 1
                self.changed.notify_all()

    def wait(self, timeout_s: float | None = None) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: not self.unfinished, timeout_s)


WORKER = Worker()


def submit(function: Callable[..., Any], *arguments: Any) -> None:
    """Queue ``function(*arguments)`` and return at once."""
    WORKER.submit(function, arguments)


def wait() -> None:
    """Wait for all jobs; raise what the first failed one raised."""
    WORKER.wait()
    if WORKER.failures:
        first, WORKER.failures[:] = WORKER.failures[0], []
        raise first


class JobsBackend:
    """Records the jobs of this process."""

    name = "jobs"
    capabilities = frozenset({"operators", "api", "sites", "queue"})

    def availability(self) -> Availability:
        """Say that it can always record."""
        return Availability(ok=True)

    def capture(self, config: RecordConfig) -> JobsSession:
        """Start recording in the calling thread."""
        thread = threading.current_thread()
        if any(session.thread is thread for session in WORKER.sessions):
            raise AlreadyRecordingError.in_thread(thread.name, "jobs")
        session = JobsSession(thread, config)
        WORKER.sessions.append(session)
        return session


class JobsSession:
    """One recording in progress."""

    def __init__(self, thread: threading.Thread, config: RecordConfig) -> None:
        self.thread = thread
        self.config = config
        self.jobs: list[Job] = []
        self.begin_ns = time.perf_counter_ns()
        self.epoch_ns = time.time_ns()

    def pending(self) -> int:
        """Return the number of jobs that are queued or running now."""
        return WORKER.unfinished

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is queued; failures stay for whoever calls `wait` next."""
        return WORKER.wait(timeout_s)

    def stop(self) -> Trace:
        """End the recording and return what was recorded."""
        if self not in WORKER.sessions:
            raise NotRecordingError("This recording was stopped before; its trace was returned.")
        WORKER.sessions.remove(self)
        end_ns = time.perf_counter_ns()
        builder = TraceBuilder(
            Meta(
                origin_epoch_ns=self.epoch_ns,
                window_ns=(0, end_ns - self.begin_ns),
                backend="jobs",
                config=self.config.as_dict(),
            )
        )
        hosts: dict[str, int] = {}
        worker = builder.track("jobs worker", role="worker", device="cpu/0", backend="jobs")
        for job in self.jobs:
            self._add(builder, job, hosts, worker)
        return builder.build()

    def _add(self, builder: TraceBuilder, job: Job, hosts: dict[str, int], worker: int) -> None:
        if job.thread not in hosts:
            hosts[job.thread] = builder.track(job.thread, role="host", backend="jobs", order=-1)
        site = builder.site(job.file, job.line, "")
        call = builder.event(
            "submit", track=hosts[job.thread], start_ns=job.queued_ns - self.begin_ns,
            dur_ns=job.returned_ns - job.queued_ns, category="api", domain="Jobs",
            correlation=job.number, site=site,
        )  # fmt: skip
        if job.end_ns < 0:
            return  # never ran, or still runs: the profile says how many
        ran = builder.event(
            getattr(job.function, "__name__", "job"), track=worker,
            start_ns=job.begin_ns - self.begin_ns, dur_ns=job.end_ns - job.begin_ns,
            category="operator", domain="operator", correlation=job.number, site=site,
            queued_ns=job.queued_ns - self.begin_ns,
        )  # fmt: skip
        builder.flow(call, ran)

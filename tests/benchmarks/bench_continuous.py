"""What a continuous dump costs: per record, on disk, in memory, and of a core."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import mxprof_nb.runtime as mx
from mxprof_nb.record import RECORDER, Recording
from mxprof_nb.record.spool import Spool
from tests.benchmarks.harness import Pair, benchmark, duration, figure
from tests.reference.runtime_process import OURS, RuntimeProcess

OPERATORS = 5000

PROGRAM = """
import os, tempfile, threading, time

folder = tempfile.TemporaryDirectory()
x = mx.nd.ones((2, 2))
mx.profiler.set_config(
    profile_all=True, filename=os.path.join(folder.name, "p.json"), dump_period=0.2
)

def work(seconds):
    global x
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for _ in range(200):
            x = x + 1
        x.wait_to_read()

def share(seconds):
    (thread,) = [t for t in threading.enumerate() if t.name.startswith("mx.profiler")]
    clock = time.pthread_getcpuclockid(thread.ident)
    cpu, wall = time.clock_gettime_ns(clock), time.perf_counter_ns()
    work(seconds)
    return 100 * (time.clock_gettime_ns(clock) - cpu) / (time.perf_counter_ns() - wall)

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def growth(seconds):
    before = resident()
    work(seconds)
    return resident() - before
"""


def _recorded() -> tuple[Recording, int]:
    recording = RECORDER.start()
    x = mx.nd.ones((2, 2))
    for _ in range(OPERATORS):
        x = x + 1
    mx.nd.waitall()
    recording.stop()
    return recording, sum(map(len, recording.blocks))


@contextmanager
def _spool() -> Iterator[Spool]:
    with tempfile.TemporaryDirectory() as folder:
        spool = Spool(os.path.join(folder, "a.spool"), RECORDER, {})
        try:
            yield spool
        finally:
            spool.remove()


@figure(
    "continuous dump, spool",
    of="CPU time to append one record to the spool",
    wanted="at most 0.3 µs",
    show=duration,
)
def append(pairs: int) -> Sequence[float]:
    recording, records = _recorded()
    taken = []
    with _spool() as spool:
        for _ in range(pairs + 1):
            began = time.thread_time_ns()
            spool.append(recording)
            taken.append((time.thread_time_ns() - began) / records)
    return taken[1:]  # the first defines labels and lines


@figure(
    "continuous dump, size",
    of="bytes of a record in the spool",
    wanted="at most 20 B",
    show="{:.1f} B".format,
)
def size(pairs: int) -> Sequence[float]:
    recording, records = _recorded()
    with _spool() as spool:
        spool.append(recording)
        before = spool.size
        spool.append(recording)
        return [(spool.size - before) / records]


def _measured(call: str, pairs: int) -> Sequence[float]:
    with RuntimeProcess(OURS) as process:
        process.define(PROGRAM)
        process.get("mx.profiler.set_state('run')")
        process.get("work(2)")
        return [process.get(call) for _ in range(min(pairs, 5))]


@figure(
    "continuous dump, thread",
    of="CPU time of its thread while small operators are queued without a pause",
    wanted="at most 10 % of a core",
    show="{:.1f} %".format,
)
def share(pairs: int) -> Sequence[float]:
    return _measured("share(5)", pairs)


@figure(
    "continuous dump, memory",
    of="growth of the resident size in 5 s of that",
    wanted="none that lasts",
    show="{:.1f} MB".format,
)
def growth(pairs: int) -> Sequence[float]:
    return _measured("growth(5)", pairs)


def _profiled(work: Callable[[], None], path: str, *, continuous: bool) -> None:
    mx.profiler.set_config(filename=path, profile_all=True, continuous_dump=continuous)
    mx.profiler.set_state("run")
    work()
    mx.profiler.set_state("stop")
    mx.profiler.dump()


@benchmark(
    "continuous dump, short program",
    baseline="200 2x2 a + b, profiled and dumped at the end",
    candidate="with continuous_dump=True",
)
def short_program() -> Iterator[Pair]:
    left = mx.nd.ones((2, 2))

    def work() -> None:
        for _ in range(200):
            left + left
        mx.nd.waitall()

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.json")
        yield Pair(
            lambda: _profiled(work, path, continuous=False),
            lambda: _profiled(work, path, continuous=True),
        )

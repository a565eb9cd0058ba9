"""What it costs to write files, and to read what we wrote."""

import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import mxprof_nb.runtime as mx
from mxprof_nb.io import load, save
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.trace import Meta, Trace
from tests.benchmarks.bench_report import training
from tests.benchmarks.harness import Pair, benchmark, duration, figure

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

OPERATORS = 2000
#: Events of a training, with half as many flows.
MILLION = 1_000_000


def _recorded() -> Trace:
    recording = RECORDER.start()
    try:
        left, right = mx.nd.ones((2, 2)), mx.nd.ones((2, 2))
        for _ in range(OPERATORS):
            left + right
        mx.nd.waitall()
    finally:
        recording.stop()
    return freeze(recording, Meta())


@benchmark("dump, per record", baseline="json.dumps of the same records", candidate="dump's writer")
def dump() -> Iterator[Pair]:
    """Wanted: less than MXNet's 2 to 3 µs, and than Python's JSON, which has the records ready."""
    trace = _recorded()
    file = io.BytesIO()
    write_chrome(trace, file, layout="mxnet")
    records = json.loads(file.getvalue())["traceEvents"]
    yield Pair(
        lambda: io.BytesIO().write("\n".join(map(json.dumps, records)).encode()),
        lambda: write_chrome(trace, io.BytesIO(), layout="mxnet"),
        repeats=len(records),
    )


def _took(work: Callable[[], object], times: int) -> list[float]:
    work()  # imports, and memory that is taken once
    samples = []
    for _ in range(times):
        begin = time.perf_counter_ns()
        work()
        samples.append(float(time.perf_counter_ns() - begin))
    return samples


@figure("load .mxprof", of="1 M events, 524 k flows", wanted="at most 150 ms", show=duration)
def native(pairs: int) -> Sequence[float]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.mxprof"
        save(training(MILLION), path)
        return _took(lambda: load(path), pairs)


@figure("save .mxprof", of="1 M events, 524 k flows", wanted="", show=duration)
def native_save(pairs: int) -> Sequence[float]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.mxprof"
        return _took(lambda: save(training(MILLION), path), min(pairs, 7))


@figure(
    "export Chrome", of="1 M events, 524 k flows, 304 MB", wanted="at most 1.2 s", show=duration
)
def export(pairs: int) -> Sequence[float]:
    trace = training(MILLION)
    return _took(lambda: write_chrome(trace, _Nowhere()), min(pairs, 7))


class _Nowhere(io.BytesIO):
    """A file that takes everything at once, so that no disk is measured."""

    def write(self, content: "Buffer") -> int:
        return memoryview(content).nbytes

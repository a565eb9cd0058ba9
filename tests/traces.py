"""Traces that look like recorded ones, built by hand so that every number in them is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mxprof_nb.record import RecordConfig
from mxprof_nb.trace import Cost, Meta, Trace, TraceBuilder
from mxprof_nb.trace.meta import Status
from mxprof_nb.trace.schema import CATEGORIES

MS = 1_000_000

CELL = """\
import mxprof_nb.runtime as mx
x = mx.nd.random_uniform(shape=(2000, 2000))
y = mx.nd.dot(x, x)
n = 0
for i in range(10):
    n += i
y.asnumpy()
z = mx.nd.Convolution(y, num_filter=8)
z.wait_to_read()"""

FILE = "<cell 4>"


def dot_cell(meta: Meta | None = None) -> Trace:
    """One cell of 412 ms: it waits 167 ms for dot in line 7, 204 ms for Convolution in line 9."""
    builder = TraceBuilder(
        meta
        or Meta(
            window_ns=(1_000 * MS, 1_412 * MS),
            title="cell 4",
            source=CELL,
            source_file=FILE,
            backend="embedded",
            cost=Cost(total_ns=300_000, records=1_204, per_record_ns=249.0),
        )
    )
    texts = CELL.split("\n")
    line = {n: builder.site(FILE, n, "<module>", texts[n - 1]) for n in range(1, len(texts) + 1)}
    host = builder.track("MainThread", role="host")
    workers = [builder.track(f"cpu/0 worker {n}", role="worker", device="cpu/0") for n in (1, 2)]
    memory = builder.track("Memory: cpu/0", role="counter", device="cpu/0")
    calls = builder.track("MXNET_C_API", role="counter")

    def at(ms: float) -> int:
        return round((1_000 + ms) * MS)

    def call(name: str, ms: float, dur: float, where: int, correlation: int = -1) -> int:
        return builder.event(
            name,
            track=host,
            start_ns=at(ms),
            dur_ns=round(dur * MS),
            category="api",
            domain="MXNET_C_API",
            site=line[where],
            correlation=correlation,
        )

    def operator(
        name: str, worker: int, ms: float, dur: float, queued: float, where: int, number: int
    ) -> int:
        return builder.event(
            name,
            track=workers[worker],
            start_ns=at(ms),
            dur_ns=round(dur * MS),
            category="operator",
            domain="operator",
            site=line[where],
            queued_ns=at(queued),
            correlation=number,
            arg=builder.arg(bytes=32_000_000, shapes="(2000, 2000)"),
        )

    def wait(name: str, ms: float, dur: float, where: int, number: int) -> int:
        return builder.event(
            name,
            track=host,
            start_ns=at(ms),
            dur_ns=round(dur * MS),
            category="sync",
            domain="operator",
            site=line[where],
            correlation=number,
        )

    invoke = [
        call("MXImperativeInvokeEx", 1.0, 0.5, 2, correlation=1),
        call("MXImperativeInvokeEx", 3.0, 0.6, 3, correlation=2),
        call("MXImperativeInvokeEx", 200.0, 1.2, 8, correlation=3),
    ]
    call("MXNDArrayGetShapeEx", 19.0, 0.02, 7)
    call("MXNDArraySyncCopyToCPU", 20.0, 170.0, 7)
    call("MXNDArrayWaitToRead", 205.0, 204.5, 9)
    done = [
        operator("_random_uniform", 1, 1.6, 14.0, 1.5, 2, 1),
        operator("dot", 0, 16.0, 171.4, 3.6, 3, 2),
        operator("Convolution", 0, 201.5, 207.6, 201.2, 8, 3),
    ]
    for source, target in zip(invoke, done, strict=True):
        builder.flow(source, target, "launch")
    builder.flow(done[0], done[1], "read_after_write")
    builder.flow(done[1], wait("WaitForVar", 20.2, 167.2, 7, 2), "read_after_write")
    builder.flow(done[2], wait("WaitForVar", 205.1, 204.0, 9, 3), "read_after_write")
    builder.event(
        "DeleteVariable",
        track=workers[1],
        start_ns=at(411.0),
        dur_ns=40_000,
        category="engine",
        domain="operator",
    )
    for ms, value in ((0.5, 16e6), (3.1, 48e6), (190.0, 32e6), (200.5, 96e6), (411.0, 16e6)):
        builder.counter("Memory: cpu/0", track=memory, time_ns=at(ms), value=value, unit="B")
    for number, ms in enumerate((1.0, 3.0, 19.0, 20.0, 200.0, 205.0), start=1):
        builder.counter(
            "MXNet C API Calls", track=calls, time_ns=at(ms), value=float(number), unit=""
        )
    return builder.build()


def ended(status: Status, error: str, *, pending: int = 0) -> Trace:
    """`dot_cell`, but the cell failed or was interrupted."""
    trace = dot_cell()
    return dot_cell(replace(trace.meta, status=status, error=error, pending=pending))


def empty_cell() -> Trace:
    """A cell of 2 ms that never called the runtime."""
    return TraceBuilder(
        Meta(
            window_ns=(0, 2 * MS),
            title="cell 1",
            source="a = 1",
            source_file=FILE,
            backend="embedded",
            config=RecordConfig().as_dict(),
        )
    ).build()


def many(n: int, tracks: int = 4, seed: int = 0, *, waits: bool = True) -> Trace:
    """``n`` events: one host row and ``tracks`` - 1 workers with short operators and long ones."""
    random = np.random.default_rng(seed)
    builder = TraceBuilder(Meta(source_file=FILE, title=f"{n} events"))
    rows = [builder.track("MainThread", role="host")]
    rows += [builder.track(f"cpu/0 worker {k}", role="worker") for k in range(1, tracks)]
    names = np.array(builder.strings(["dot", "exp", "sum", "_plus", "Convolution", "softmax"]))
    track = np.sort(random.integers(0, tracks, n))
    duration = random.lognormal(8.5, 1.5, n).astype(np.int64) + 50
    step = duration + random.exponential(3_000, n).astype(np.int64)
    step += np.where(random.random(n) < 0.001, 600_000, 0)
    start = np.cumsum(step) - step
    heads = np.searchsorted(track, np.arange(tracks))
    start -= start[np.minimum(heads, n - 1)][track]
    host = track == 0
    sync = host & (random.random(n) < 0.1) if waits else np.zeros(n, bool)
    category = np.where(host, CATEGORIES.index("api"), CATEGORIES.index("operator"))
    category = np.where(sync, CATEGORIES.index("sync"), category)
    site = builder.site(FILE, 1, "<module>", "y = x * 2")
    builder.add_events(
        start_ns=start,
        dur_ns=duration,
        kind=0,
        name=names[(random.zipf(1.4, n) % len(names)).astype(int)],
        category=category,
        domain=np.where(host, builder.string("MXNET_C_API"), builder.string("operator")),
        track=np.array(rows)[track],
        site=np.where(host, site, -1),
    )
    return builder.build()

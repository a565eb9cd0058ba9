"""What it costs to write files."""

import io
import json
from collections.abc import Iterator

import mxprof_nb.runtime as mx
from mxprof_nb.io.chrome_writer import write_chrome
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.trace import Meta, Trace
from tests.benchmarks.harness import Pair, benchmark

OPERATORS = 2000


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

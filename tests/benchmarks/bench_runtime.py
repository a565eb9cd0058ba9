"""What it costs to queue an operator, to record it, and to turn records into a DataFrame."""

import sys
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

import mxprof_nb.runtime as mx
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.trace import Meta
from tests.benchmarks.harness import Pair, benchmark, figure

SMALL, LARGE, PRICED = 2000, 20, 3_000


def _add(times: int = SMALL, shape: tuple[int, int] = (2, 2)) -> None:
    """Queue independent additions and wait for all of them."""
    left, right = mx.nd.ones(shape), mx.nd.ones(shape)
    for _ in range(times):
        left + right
    mx.nd.waitall()


def _multiply(times: int = LARGE) -> None:
    left = mx.nd.ones((256, 256))
    for _ in range(times):
        mx.nd.dot(left, left)
    mx.nd.waitall()


def _recorded(program) -> None:
    recording = RECORDER.start()
    try:
        program()
    finally:
        recording.stop()


@benchmark("dispatch", baseline="NumPy 2x2 a + b", candidate="queued 2x2 a + b")
def dispatch() -> Iterator[Pair]:
    left = right = np.ones((2, 2), np.float32)

    def plain() -> None:
        for _ in range(SMALL):
            left + right

    yield Pair(plain, _add, repeats=SMALL)


@benchmark("recording, small", baseline="queued 2x2 a + b", candidate="the same, recorded")
def recording_small() -> Iterator[Pair]:
    yield Pair(_add, lambda: _recorded(_add), repeats=SMALL)


@benchmark("recording, 256x256", baseline="queued 256x256 dot", candidate="the same, recorded")
def recording_large() -> Iterator[Pair]:
    yield Pair(_multiply, lambda: _recorded(_multiply), repeats=LARGE)


def _two_chains() -> None:
    """Two chains of operators on 9 MB arrays, which live from using memory again at once."""
    left, right = mx.nd.ones((1500, 1500)), mx.nd.ones((1500, 1500))
    for _ in range(4):
        left = mx.nd.exp(left * -1)
        right = mx.nd.exp(right * -1)
    mx.nd.waitall()


@benchmark("recording, memory", baseline="two chains of exp", candidate="the same, recorded")
def recording_memory() -> Iterator[Pair]:
    yield Pair(_two_chains, lambda: _recorded(_two_chains))


@benchmark(
    "stop to DataFrame", baseline="pandas from a list of tuples", candidate="recording to frame"
)
def stop_to_frame() -> Iterator[Pair]:
    """Both make a frame of the same events; A has them ready as tuples."""
    recording = RECORDER.start()
    _add(10_000)
    recording.stop()
    frame = freeze(recording, Meta()).frame()
    columns = list(frame.columns)
    rows = list(frame.astype(object).itertuples(index=False, name=None))
    yield Pair(
        lambda: pd.DataFrame(rows, columns=columns),
        lambda: freeze(recording, Meta()).frame(),
        repeats=len(rows),
    )


@figure(
    "recording, price",
    of="CPU time that recording everything adds to a queued 2x2 a + b",
    wanted="at most 800 ns",
    show="{:.0f} ns".format,
)
def price(pairs: int) -> Sequence[float]:
    """Taken in turn, so that both meet the same machine; without stopping, which has a row."""
    found = []
    for _ in range(pairs):
        plain = _cpu_ns()
        recording = RECORDER.start()
        recorded = _cpu_ns()
        recording.stop()
        found.append((recorded - plain) / PRICED)
    return found


def _cpu_ns() -> int:
    began = time.process_time_ns()
    _add(PRICED)
    return time.process_time_ns() - began


@figure(
    "recording, fresh",
    of="one 2x2 a + b whose result is dropped, before it is packed",
    wanted="at most 350 B",
    show="{:.0f} B".format,
)
def fresh(pairs: int) -> Sequence[float]:
    """Places in lists, and the numbers that no two of them share."""
    operators = 500  # too few to be packed before anybody looks
    recording = RECORDER.start()
    _add(operators)
    lists = [
        records
        for buffer in RECORDER._buffers
        for records in (buffer.calls, buffer.operators, buffer.drops, buffer.releases)
    ]
    numbers = {id(number): number for records in lists for number in records}
    small = range(-5, 257)  # Python has these anyway
    own = [n for n in numbers.values() if isinstance(n, int) and n not in small]
    size = sum(map(sys.getsizeof, lists)) + sum(map(sys.getsizeof, own))
    recording.stop()
    return [size / operators]


@figure(
    "recording, packed",
    of="the same, packed",
    wanted="at most 112 B",
    show="{:.0f} B".format,
)
def packed(pairs: int) -> Sequence[float]:
    operators = 20_000
    recording = RECORDER.start()
    _add(operators)
    recording.stop()
    return [sum(block.nbytes for block in recording.blocks) / operators]


@figure(
    "recording, table",
    of="one event in the table of events",
    wanted="at most 72 B",
    show="{:.0f} B".format,
)
def table(pairs: int) -> Sequence[float]:
    recording = RECORDER.start()
    _add(10_000)
    recording.stop()
    events = freeze(recording, Meta()).events
    return [sum(values.nbytes for _, values in events.columns()) / len(events)]


@figure(
    "stop to DataFrame, 1 million",
    of="one of a million events, from stopping to the frame, nesting included",
    wanted="at most 350 ns",
    show="{:.0f} ns".format,
)
def million(pairs: int) -> Sequence[float]:
    """CPU time. Each 2x2 a + b makes four events."""
    found = []
    for _ in range(5):
        recording = RECORDER.start()
        _add(250_000)
        began = time.process_time_ns()
        recording.stop()
        rows = len(freeze(recording, Meta()).frame())
        found.append((time.process_time_ns() - began) / rows)
    return found

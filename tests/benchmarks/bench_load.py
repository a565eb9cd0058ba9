"""What it costs to load Chrome traces of a million events."""

import gc
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd

from mxprof_nb.io import load
from tests.benchmarks.harness import Pair, benchmark, figure
from tests.benchmarks.trace_files import write_mxnet, write_torch

EVENTS = 1_000_000
PLAIN = "json.load and pd.DataFrame"


def _plain(path: Path) -> int:
    """Load a trace as one does without us, the collector as Python sets it."""
    gc.enable()
    try:
        with path.open(encoding="utf-8") as file:
            return len(pd.DataFrame(json.load(file)["traceEvents"]))
    finally:
        gc.disable()


def _pair(write: Callable[[Path, int], None]) -> Iterator[Pair]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write(path, EVENTS)
        yield Pair(lambda: _plain(path), lambda: len(load(path)))


@benchmark("load a million of PyTorch's events", baseline=PLAIN, candidate="load")
def torch() -> Iterator[Pair]:
    """Wanted: 8 times faster, times exact to the nanosecond, arguments decoded when looked at."""
    yield from _pair(write_torch)


@benchmark("load a million of MXNet's events", baseline=PLAIN, candidate="load")
def mxnet() -> Iterator[Pair]:
    """Wanted: 1.5 times faster."""
    yield from _pair(write_mxnet)


_OURS = """
import msgspec, pandas
from mxprof_nb.io import load
load(b'[{"ph":"i","ts":1}]')
before = peak()
trace = load(PATH)
"""
_THEIRS = """
import json
import pandas
before = peak()
with open(PATH) as file:
    frame = pandas.DataFrame(json.load(file)["traceEvents"])
"""
_PROGRAM = """
def peak():
    # Not of getrusage, which begins with the size of the process that started this one.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
{body}
print(peak() - before)
"""


def _peak(body: str, path: Path) -> int:
    program = _PROGRAM.format(body=body.replace("PATH", repr(str(path))))
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return int(told.stdout)


@figure(
    "peak memory of loading a million of PyTorch's events",
    of=f"load / {PLAIN}, each in a process of its own",
    wanted="at most 0.4",
    show=lambda value: f"{value:.2f}",
)
def memory(pairs: int) -> Sequence[float]:
    """Take the ratio of what the largest size of a process grows by."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_torch(path, EVENTS)
        return [_peak(_OURS, path) / _peak(_THEIRS, path) for _ in range(max(1, pairs // 7))]

"""What an operator costs beside the same NumPy calls made directly, and beside real MXNet's.

Each way runs in a process of its own kind with one worker and one thread for each product; a call
queues the same operator many times and waits once, so that the queue is warm.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from tests.benchmarks.harness import Elapsed, LeftOut, Pair, benchmark
from tests.reference.runtime_process import OURS, REAL, RuntimeProcess, why_not_real

ENVIRONMENT = {"MXNET_CPU_WORKER_NTHREADS": "1"}


@dataclass(frozen=True)
class Case:
    """One operator at one size: how to make its inputs, and both ways to call it."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    queued: str
    direct: str
    repeats: int

    @property
    def setup(self) -> str:
        """Source that runs on both runtimes: arrays ``x0, x1, ...`` and `queued`."""
        arrays = "\n".join(
            f"n{i} = generator.random({shape}).astype(np.float32); x{i} = mx.nd.array(n{i})"
            for i, shape in enumerate(self.shapes)
        )
        return f"""
generator = np.random.default_rng(0)
{arrays}

def queued():
    for _ in range({self.repeats}):
        {self.queued}
    mx.nd.waitall()
"""

    @property
    def baseline(self) -> str:
        """Source for `direct`: the same with NumPy, or our kernel where NumPy has no such call."""
        return f"""
from mxprof_nb.runtime.ops import spec

def direct():
    for _ in range({self.repeats}):
        {self.direct}
"""

    @property
    def elsewhere(self) -> str:
        """Source for `handed`: the calls of `direct`, handed one by one to another thread."""
        return f"""
import queue, threading

def work():
    while True:
        take()()

calls, done = queue.SimpleQueue(), threading.Event()
take = calls.get
threading.Thread(target=work, daemon=True).start()

def call():
    {self.direct}

def handed():
    done.clear()
    for _ in range({self.repeats}):
        calls.put(call)
    calls.put(done.set)
    done.wait()
"""


CONVOLUTION = "kernel=(3, 3), num_filter={filters}, pad=(1, 1)"
POOLING = "kernel=(2, 2), stride=(2, 2)"


def _cases() -> Iterator[Case]:
    for side, repeats in ((100, 200), (400, 100), (1500, 10)):
        square = (side, side)
        yield Case(f"add {side}", (square, square), "x0 + x1", "np.add(n0, n1)", repeats)
        yield Case(f"exp {side}", (square,), "mx.nd.exp(x0)", "np.exp(n0)", repeats)
        yield Case(f"sum {side}", (square,), "mx.nd.sum(x0, axis=1)", "np.sum(n0, axis=1)", repeats)
    for side, repeats in ((32, 400), (128, 100), (512, 6)):
        square = (side, side)
        yield Case(f"dot {side}", (square, square), "mx.nd.dot(x0, x1)", "np.dot(n0, n1)", repeats)
    for samples, channels, side, repeats in ((1, 8, 16, 100), (8, 16, 28, 10), (16, 32, 56, 1)):
        image, weight = (samples, channels, side, side), (channels, channels, 3, 3)
        attrs = CONVOLUTION.format(filters=channels)
        yield Case(
            f"convolution {samples}x{channels}x{side}x{side}",
            (image, weight, (channels,)),
            f"mx.nd.Convolution(x0, x1, x2, {attrs})",
            f"spec('Convolution').forward(n0, n1, n2, {attrs})",
            repeats,
        )
        yield Case(
            f"pooling {samples}x{channels}x{side}x{side}",
            (image,),
            f"mx.nd.Pooling(x0, {POOLING}, pool_type='max')",
            f"spec('Pooling').forward(n0, {POOLING})",
            repeats * 4,
        )
    for size, repeats in ((10_000, 200), (2_250_000, 10)):  # the latter 9 MB
        yield Case(
            f"multi_sgd_update {size}",
            ((size,),) * 3,
            "mx.nd.multi_sgd_update(x0, x1, lrs=(0.1,), wds=(0,), rescale_grad=0.5, out=x0)",
            "np.multiply(n1, 0.05, out=n2); np.subtract(n0, n2, out=n0)",
            repeats,
        )


def _beside_numpy(case: Case, baseline: str) -> Iterator[Pair]:
    """Wanted: at most 10 µs or 2 % more, whichever is larger."""
    with RuntimeProcess(OURS, ENVIRONMENT) as process:
        process.define(case.setup + case.baseline + case.elsewhere)
        yield Pair(
            lambda: Elapsed(*process.time(baseline)),
            lambda: Elapsed(*process.time("queued")),
            repeats=case.repeats,
        )


def _beside_mxnet(case: Case) -> Iterator[Pair]:
    if reason := why_not_real():
        raise LeftOut(reason)
    with RuntimeProcess(REAL, ENVIRONMENT) as real, RuntimeProcess(OURS, ENVIRONMENT) as ours:
        for process in (real, ours):
            process.define(case.setup)
        yield Pair(
            lambda: Elapsed(*real.time("queued")),
            lambda: Elapsed(*ours.time("queued")),
            repeats=case.repeats,
        )


for _case in _cases():
    _kernel = "our kernel" if "spec" in _case.direct else "NumPy"
    benchmark(f"{_case.name}, price", baseline=f"{_kernel} directly", candidate="queued")(
        partial(_beside_numpy, _case, "direct")
    )
    if " 1500" in _case.name:
        # Memory that another core touches is dearer, whoever hands the work over.
        benchmark(f"{_case.name}, price on a thread", baseline="NumPy handed", candidate="queued")(
            partial(_beside_numpy, _case, "handed")
        )
    benchmark(f"{_case.name}, MXNet", baseline="MXNet", candidate="ours")(
        partial(_beside_mxnet, _case)
    )

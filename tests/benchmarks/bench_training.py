"""An iteration of the tutorial's network: batch 64, forward, backward, update, one wait."""

from collections.abc import Iterator, Sequence

from tests.benchmarks.harness import Elapsed, LeftOut, Pair, benchmark, figure
from tests.reference.runtime_process import OURS, REAL, RuntimeProcess, why_not_real

#: One worker and, as `RuntimeProcess` has it, one thread for each product.
ENVIRONMENT = {"MXNET_CPU_WORKER_NTHREADS": "1"}

#: Iterations of one measurement.
STEPS = 5

#: Runs on both runtimes and defines `step`, `batch`, `labels`, `parameters` and `rate`.
PROGRAM = """
nd = mx.nd
generator = np.random.default_rng(1)

def drawn(*shape):
    return mx.nd.array(generator.uniform(-0.07, 0.07, shape).astype(np.float32))

batch = nd.array(generator.random((64, 1, 28, 28)).astype(np.float32))
labels = nd.array(generator.integers(0, 10, 64).astype(np.float32))
parameters = [
    drawn(20, 1, 5, 5), nd.zeros(20), drawn(50, 20, 5, 5), nd.zeros(50),
    drawn(512, 800), nd.zeros(512), drawn(10, 512), nd.zeros(10),
]
for parameter in parameters:
    parameter.attach_grad()
rate = 0.1 / 64

def net(x):
    w1, b1, w2, b2, w3, b3, w4, b4 = parameters
    for weight, bias, filters in ((w1, b1, 20), (w2, b2, 50)):
        x = nd.Convolution(x, weight, bias, kernel=(5, 5), num_filter=filters)
        x = nd.Activation(x, act_type="relu")
        x = nd.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = nd.FullyConnected(nd.Flatten(x), w3, b3, num_hidden=512)
    return nd.FullyConnected(nd.Activation(x, act_type="relu"), w4, b4, num_hidden=10)

def step():
    with mx.autograd.record():
        logs = nd.log_softmax(net(batch), axis=-1)
        losses = nd.mean(-nd.pick(logs, labels, axis=-1, keepdims=True), axis=0, exclude=True)
    losses.backward()
    for parameter in parameters:
        parameter -= rate * parameter.grad
    nd.waitall()
    return losses
"""

LOOP = f"""
def steps():
    for _ in range({STEPS}):
        step()
"""

DIRECT = f"""
from tests.benchmarks.direct_lenet import DirectLeNet

direct = DirectLeNet(
    [each.asnumpy() for each in parameters], batch.asnumpy(), labels.asnumpy().astype(int), rate
)

def direct_steps():
    for _ in range({STEPS}):
        direct.step()
"""

RECORDED = """
import mxprof_nb as mp

def recorded():
    with mp.profile():
        steps()
"""

SMALL_REPEATS = 20

#: As many small operators as an iteration has of any size, for what their records cost.
SMALL = f"""
with mp.profile() as counted:
    step()
operators = int((counted.events.kind == "operator").sum())
left, right = nd.ones((2, 2)), nd.ones((2, 2))

def small():
    for _ in range(operators * {SMALL_REPEATS}):
        left + right
    nd.waitall()

from mxprof_nb.record import RECORDER

def recorded_small():
    recording = RECORDER.start()
    try:
        small()
    finally:
        recording.stop()
"""


def _ours(*sources: str) -> RuntimeProcess:
    process = RuntimeProcess(OURS, ENVIRONMENT)
    for source in (PROGRAM, LOOP, *sources):
        process.define(source)
    return process


@benchmark("training, MXNet", baseline="MXNet", candidate="ours")
def beside_mxnet() -> Iterator[Pair]:
    """Wanted: at most 1.1 in CPU time."""
    if reason := why_not_real():
        raise LeftOut(reason)
    with RuntimeProcess(REAL, ENVIRONMENT) as real, _ours() as ours:
        real.define(PROGRAM)
        real.define(LOOP)
        yield Pair(
            lambda: Elapsed(*real.time("steps")),
            lambda: Elapsed(*ours.time("steps")),
            repeats=STEPS,
        )


@benchmark("training, NumPy", baseline="the same network in direct NumPy calls", candidate="ours")
def beside_numpy() -> Iterator[Pair]:
    """Wanted: at most 1.1 in CPU time."""
    with _ours(DIRECT) as direct, _ours() as ours:
        yield Pair(
            lambda: Elapsed(*direct.time("direct_steps")),
            lambda: Elapsed(*ours.time("steps")),
            repeats=STEPS,
        )


@benchmark("training, recorded", baseline="iteration", candidate="the same under profile()")
def recorded() -> Iterator[Pair]:
    """Wanted: an interval that ends below 1.1."""
    with _ours(RECORDED) as ours:
        yield Pair(
            lambda: Elapsed(*ours.time("steps")),
            lambda: Elapsed(*ours.time("recorded")),
            repeats=STEPS,
        )


@figure(
    "training, records",
    of="CPU time to record as many operators as an iteration has, of the iteration's",
    wanted="below 1 %",
    show="{:.2f} %".format,
)
def records(pairs: int) -> Sequence[float]:
    """Of small operators, where records can be told from noise; large ones make the same."""
    with _ours(RECORDED, SMALL) as ours:
        for function in ("steps", "small", "recorded_small"):
            ours.time(function)
        found = []
        for _ in range(pairs):
            plain, told, iterations = (
                ours.time(function)[1] for function in ("small", "recorded_small", "steps")
            )
            found.append(100 * ((told - plain) / SMALL_REPEATS) / (iterations / STEPS))
        return found

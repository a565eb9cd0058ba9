"""An iteration of the tutorial's network: batch 64, forward, backward, update, one wait."""

from collections.abc import Iterator, Sequence
from functools import partial

from tests.benchmarks.harness import Elapsed, LeftOut, Pair, benchmark, figure
from tests.reference.runtime_process import OURS, REAL, RuntimeProcess, why_not_real

#: One worker and, as `RuntimeProcess` has it, one thread for each product.
ENVIRONMENT = {"MXNET_CPU_WORKER_NTHREADS": "1"}

#: Iterations of one measurement, and of one that begins and ends a profile.
STEPS, RECORDED_STEPS = 5, 20

#: The profiler tutorial's program, on one batch; runs on both runtimes. Weights are drawn by
#: NumPy, so that all ways begin with the same.
PROGRAM = """
gluon, autograd = mx.gluon, mx.autograd
ctx = mx.cpu()

net = gluon.nn.HybridSequential()
with net.name_scope():
    net.add(gluon.nn.Conv2D(channels=20, kernel_size=5, activation="relu"))
    net.add(gluon.nn.MaxPool2D(pool_size=2, strides=2))
    net.add(gluon.nn.Conv2D(channels=50, kernel_size=5, activation="relu"))
    net.add(gluon.nn.MaxPool2D(pool_size=2, strides=2))
    net.add(gluon.nn.Flatten())
    net.add(gluon.nn.Dense(512, activation="relu"))
    net.add(gluon.nn.Dense(10))
net.collect_params().initialize(mx.init.Xavier(), ctx=ctx)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
softmax_cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()

def run_training_iteration(data, label):
    data = data.as_in_context(ctx)
    label = label.as_in_context(ctx)
    with autograd.record():
        output = net(data)
        loss = softmax_cross_entropy(output, label)
    loss.backward()
    trainer.step(data.shape[0])
    return loss

generator = np.random.default_rng(1)
batch = mx.nd.array(generator.random((64, 1, 28, 28)).astype(np.float32))
labels = mx.nd.array(generator.integers(0, 10, 64), dtype="int32")
net(batch)
for parameter in net.collect_params().values():
    bound = 0 if len(parameter.shape) == 1 else (3 / np.prod(parameter.shape[1:])) ** 0.5
    values = generator.uniform(-bound, bound, parameter.shape).astype(np.float32)
    parameter.set_data(mx.nd.array(values))

def step():
    losses = run_training_iteration(batch, labels)
    mx.nd.waitall()
    return losses
"""

LOOP = f"""
def steps(times={STEPS}):
    for _ in range(times):
        step()
"""

DIRECT = f"""
from tests.benchmarks.direct_lenet import DirectLeNet

def direct(keep):
    return DirectLeNet(
        [each.data().asnumpy() for each in net.collect_params().values()],
        batch.asnumpy(),
        labels.asnumpy(),
        rate=0.1 / len(batch),
        keep=keep,
    )

kept, fresh = direct(True), direct(False)

def direct_steps(network=kept):
    for _ in range({STEPS}):
        network.step()

def fresh_steps():
    direct_steps(fresh)
"""

#: As ``%%mxprofile`` does it, from beginning to the profile.
RECORDED = """
import mxprof_nb as mp

def recorded():
    with mp.profile():
        steps(RECORDED_STEPS)

def plain():
    steps(RECORDED_STEPS)
""".replace("RECORDED_STEPS", str(RECORDED_STEPS))

SMALL_REPEATS = 20

#: As many small operators as an iteration has of any size, for what their records cost.
SMALL = f"""
with mp.profile() as counted:
    step()
operators = int((counted.events.kind == "operator").sum())
left, right = mx.nd.ones((2, 2)), mx.nd.ones((2, 2))

def small():
    for _ in range(operators * {SMALL_REPEATS}):
        left + right
    mx.nd.waitall()

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


def _beside_numpy(function: str) -> Iterator[Pair]:
    """Wanted: at most 1.1 in CPU time."""
    with _ours(DIRECT) as direct, _ours() as ours:
        yield Pair(
            lambda: Elapsed(*direct.time(function)),
            lambda: Elapsed(*ours.time("steps")),
            repeats=STEPS,
        )


for _name, _memory, _function in (
    ("training, NumPy", "new arrays", "fresh_steps"),
    ("training, NumPy in place", "arrays used again", "direct_steps"),
):
    benchmark(_name, baseline=f"the same network in NumPy, {_memory}", candidate="ours")(
        partial(_beside_numpy, _function)
    )


@benchmark("training, recorded", baseline="iteration", candidate="the same under profile()")
def recorded() -> Iterator[Pair]:
    """Wanted: an interval that ends below 1.1."""
    with _ours(RECORDED) as ours:
        yield Pair(
            lambda: Elapsed(*ours.time("plain")),
            lambda: Elapsed(*ours.time("recorded")),
            repeats=RECORDED_STEPS,
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


@benchmark("training, hybridized", baseline="imperative", candidate="hybridized")
def hybridized() -> Iterator[Pair]:
    """An iteration by a graph of segments beside one by single calls; wanted: not slower."""
    with _ours() as plain, _ours("net.hybridize(static_alloc=True, static_shape=True)") as graph:
        yield Pair(
            lambda: Elapsed(*plain.time("steps")),
            lambda: Elapsed(*graph.time("steps")),
            repeats=STEPS,
        )


@benchmark("training, hybridized, MXNet", baseline="MXNet", candidate="ours")
def hybridized_beside_mxnet() -> Iterator[Pair]:
    """Wanted: at most 1.1 in CPU time."""
    if reason := why_not_real():
        raise LeftOut(reason)
    with (
        RuntimeProcess(REAL, ENVIRONMENT) as real,
        _ours("net.hybridize(static_alloc=True, static_shape=True)") as ours,
    ):
        for source in (PROGRAM, LOOP, "net.hybridize(static_alloc=True, static_shape=True)"):
            real.define(source)
        yield Pair(
            lambda: Elapsed(*real.time("steps")),
            lambda: Elapsed(*ours.time("steps")),
            repeats=STEPS,
        )

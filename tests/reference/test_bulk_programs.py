"""Programs whose profiles by MXNet 1.9.1 were kept: what bulks and segments are called, how often.

Each program runs under the settings of its file, in a process of its own environment.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

PREFIX = "MXNET_EXEC_BULK_EXEC_"

NETWORK = """
gluon, autograd = mx.gluon, mx.autograd
net = gluon.nn.HybridSequential()
net.add(
    gluon.nn.Conv2D(8, 3, activation="relu"), gluon.nn.MaxPool2D(), gluon.nn.BatchNorm(),
    gluon.nn.Flatten(), gluon.nn.Dense(16, activation="relu"), gluon.nn.Dropout(0.5),
    gluon.nn.Dense(10),
)
net.initialize()
x, y = mx.nd.ones((4, 1, 12, 12)), mx.nd.zeros((4,))
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})

def train():
    with autograd.record():
        loss = loss_of(net(x), y)
    loss.backward()
    trainer.step(4)

def infer():
    net(x)
"""

IMPERATIVE = """
x = mx.nd.ones((4, 4))

def imperative():
    y = x
    for _ in range(6):
        y = y * 2
        y = y + 1
    return y

def bulked():
    with mx.engine.bulk(4):
        return imperative()
"""

SYMBOLIC = """
data = mx.sym.Variable("data")
hidden = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=8), act_type="relu")
out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=4), name="softmax")
executor = out.simple_bind(mx.cpu(), data=(4, 6), softmax_label=(4,))

def symbolic_train():
    executor.forward(is_train=True)
    executor.backward()

def symbolic_infer():
    executor.forward(is_train=False)
"""

PROFILED = """
{step}()
mx.nd.waitall()
mx.profiler.set_config(profile_all=True, aggregate_stats={aggregate}, filename={file!r})
mx.profiler.set_state("run")
{step}()
mx.nd.waitall()
mx.profiler.set_state("stop")
mx.profiler.dump()
show(None)
"""

STEPS = {
    "k_imp": (IMPERATIVE, "imperative"),
    "k_imp_bulk": (IMPERATIVE, "bulked"),
    "k_sym_train": (SYMBOLIC, "symbolic_train"),
    "k_sym_infer": (SYMBOLIC, "symbolic_infer"),
    "k_train_hyb0": (NETWORK, "train"),
    "k_infer_hyb0": (NETWORK, "infer"),
}
SETTINGS: dict[str, dict[str, str]] = {
    "agg0": {},
    "agg1": {},
    "nobulk": {f"{PREFIX}INFERENCE": "0", f"{PREFIX}TRAIN": "0"},
    "max3": {f"{PREFIX}MAX_NODE_TRAIN": "3"},
    "naive": {"MXNET_ENGINE_TYPE": "NaiveEngine"},
    "threaded": {"MXNET_ENGINE_TYPE": "ThreadedEngine"},
    "workers1": {"MXNET_CPU_WORKER_NTHREADS": "1"},
    "workers4": {"MXNET_CPU_WORKER_NTHREADS": "4"},
}
NAMES = [
    *(f"k_imp_{kind}" for kind in ("agg0", "agg1", "nobulk")),
    *(f"k_imp_bulk_{kind}" for kind in ("agg0", "agg1", "naive")),
    *(f"k_sym_train_{kind}" for kind in ("agg0", "agg1", "max3", "naive", "nobulk")),
    *(f"k_sym_infer_{kind}" for kind in ("agg0", "agg1", "nobulk")),
    *(f"k_infer_hyb0_{kind}" for kind in ("agg0", "agg1", "nobulk")),
    *(f"k_train_hyb0_{kind}" for kind in SETTINGS),
]
#: Calls that are compared: the others are questions about arrays, which differ and are listed.
CALLS = ("MXImperativeInvokeEx", "MXAutogradBackwardEx", "MXEngineSetBulkSize", "MXExecutor")


def counted(path: Path) -> tuple[Counter[str], Counter[str]]:
    """Return how often each operator ran and each call was made."""
    events = json.loads(path.read_text())["traceEvents"]
    operators: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for event in events:
        if event.get("ph") == "B" and event["cat"] == "operator":
            operators[event["name"]] += 1
        if event.get("ph") == "b" and event["name"].startswith(CALLS):
            calls[event["name"]] += 1
    return operators, calls


def expected_of(name: str, golden: Path) -> tuple[Counter[str], Counter[str]]:
    """Return what MXNet counted, but for the differences that the runtime lists."""
    operators, calls = counted(golden / "bulk" / f"{name}.json")
    if name.startswith("k_sym") and name.endswith("naive"):
        # Naive: a segment is recorded once.
        operators = Counter({each: count // 2 for each, count in operators.items()})
    # MXNet's Pooling has a second result, whose gradient is zeros.
    operators.pop("_zeros_without_dtype", None)
    # When memory goes back is another matter: here what a bulk made goes with it.
    operators.pop("DeleteVariable", None)
    return operators, calls


@pytest.mark.parametrize("name", NAMES)
def test_operators_and_calls_are_those_of_mxnet(name, golden, runtimes, tmp_path):
    program, _, setting = name.rpartition("_")
    setup, step = STEPS[program]
    file = tmp_path / "profile.json"
    process = runtimes.ours(**SETTINGS[setting])
    told = process.run(
        setup + PROFILED.format(step=step, aggregate=setting == "agg1", file=str(file))
    )
    assert not told.error, told
    operators, calls = counted(file)
    operators.pop("DeleteVariable", None)  # also of what the program before has left
    assert (operators, calls) == expected_of(name, golden)

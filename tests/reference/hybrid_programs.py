"""Programs with hybridized blocks, to run on real MXNet and on our runtime."""

from __future__ import annotations

__all__ = ["GOLDEN", "MODES", "counted"]

#: Ways to run a block; the golden files call them hyb0 to hyb3.
MODES = {
    "hyb0": "",
    "hyb1": "net.hybridize()",
    "hyb2": "net.hybridize(static_alloc=True)",
    "hyb3": "net.hybridize(static_alloc=True, static_shape=True)",
}

#: Defines `counts`: how often each operator and each call is in the profile of a function.
COUNTS = """
import collections, json, re
gluon, autograd, nd, nn = mx.gluon, mx.autograd, mx.nd, mx.gluon.nn

def counts(work, file, statistics):
    mx.profiler.set_config(
        profile_all=True, aggregate_stats=statistics, continuous_dump=False, filename=file
    )
    nd.waitall()
    mx.profiler.set_state("run")
    work()
    nd.waitall()
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    with open(file) as written:  # the second file of real MXNet begins with a comma
        events = json.loads(re.sub(r"\\[\\s*,", "[", written.read(), count=1))["traceEvents"]
    operators = [e["name"] for e in events if e["ph"] == "B" and e["cat"] == "operator"]
    calls = [e["name"] for e in events if e["ph"] == "b" and e["cat"] == "MXNET_C_API"]
    return [dict(collections.Counter(operators)), dict(collections.Counter(calls))]
"""

#: The network that the golden files were made with: eight parameters, nine operators.
NETWORK = """
net = nn.HybridSequential()
with net.name_scope():
    net.add(nn.Conv2D(8, 3, activation="relu"), nn.MaxPool2D(2), nn.BatchNorm(), nn.Flatten())
    net.add(nn.Dense(16, activation="relu"), nn.Dropout(0.5), nn.Dense(10))
net.initialize()
x, labels = nd.ones((4, 1, 12, 12)), nd.array([1, 2, 3, 4])
loss = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd")
def train():
    with autograd.record():
        total = loss(net(x), labels)
    total.backward()
    trainer.step(4)
def infer():
    return net(x)
"""


def counted(
    work: str, mode: str, file: str, *, statistics: bool = False, network: str = NETWORK
) -> str:
    """Return the program that shows the counts of one call of a function, not the first."""
    return f"""{COUNTS}
{network}
{MODES.get(mode, mode)}
for _ in range(2):
    train()
if {work!r} == "infer":
    infer()
show(json.dumps(counts({work}, {file!r}, {statistics})))
"""


#: For each recorded program: function, mode, environment, and whether statistics were kept.
GOLDEN: dict[str, tuple[str, str, dict[str, str], bool]] = {}
for _work in ("train", "infer"):
    for _mode in MODES:
        for _statistics in (False, True):
            GOLDEN[f"k_{_work}_{_mode}_agg{_statistics:d}"] = (_work, _mode, {}, _statistics)
_BULK = "MXNET_EXEC_BULK_EXEC_"
for _told, _environment in {
    "nobulk": {f"{_BULK}INFERENCE": "0", f"{_BULK}TRAIN": "0"},
    "max3": {f"{_BULK}MAX_NODE_TRAIN": "3"},
    "max1": {f"{_BULK}MAX_NODE_TRAIN": "1"},
    "naive": {"MXNET_ENGINE_TYPE": "NaiveEngine"},
}.items():
    for _work in ("train", "infer"):
        for _mode in MODES:
            GOLDEN[f"k_{_work}_{_mode}_{_told}"] = (_work, _mode, _environment, False)

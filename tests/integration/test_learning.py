"""The tutorial's network learns the digits, the same way every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.environment import ROOT

#: Trains until 95 % are right, for five epochs at most. Over the seeds 0 to 4, all five epochs give
#: 0.965 to 0.976, and the same on MXNet 1.9.1 0.962 to 0.979; each passes 0.95 in the second.
PROGRAM = """\
import hashlib, json
import numpy as np
import mxprof_nb.runtime as mx
from mxprof_nb.runtime import autograd, gluon

mx.random.seed(0)
np.random.seed(0)  # shuffles
net = gluon.nn.HybridSequential()
with net.name_scope():
    net.add(gluon.nn.Conv2D(channels=20, kernel_size=5, activation="relu"))
    net.add(gluon.nn.MaxPool2D(pool_size=2, strides=2))
    net.add(gluon.nn.Conv2D(channels=50, kernel_size=5, activation="relu"))
    net.add(gluon.nn.MaxPool2D(pool_size=2, strides=2))
    net.add(gluon.nn.Flatten())
    net.add(gluon.nn.Dense(512, activation="relu"))
    net.add(gluon.nn.Dense(10))
net.collect_params().initialize(mx.init.Xavier())
trainer = gluon.Trainer(
    net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9}
)
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
MNIST, to_tensor = gluon.data.vision.MNIST, gluon.data.vision.transforms.ToTensor()
train, test = (
    gluon.data.DataLoader(MNIST(train=t).transform_first(to_tensor), 64, shuffle=t)
    for t in (True, False)
)

losses, accuracies, seen = [], [], 0
while len(accuracies) < 5 and max(accuracies, default=0) < 0.95:
    for data, label in train:
        with autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(data.shape[0])
        losses.append(float(loss.mean().asscalar()).hex())
    metric, seen = mx.metric.Accuracy(), 0
    for data, label in test:
        metric.update(label, net(data))
        seen += len(label)
    accuracies.append(metric.get()[1])

weights = [p.data().asnumpy().tobytes() for p in net.collect_params().values()]
print(json.dumps({
    "accuracies": accuracies,
    "tested": seen,
    "losses": losses,
    "weights": [hashlib.sha256(bits).hexdigest() for bits in weights],
}))
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What two processes tell that do the same."""
    home: Path = tmp_path_factory.mktemp("home")
    environment = os.environ | {
        "MXNET_HOME": str(home),
        "MXNET_CPU_WORKER_NTHREADS": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }

    def run(*arguments: str) -> str:
        command = [sys.executable, "-W", "error", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    run("-m", "mxprof_nb", "digits")
    return [json.loads(run("-c", PROGRAM)) for _ in range(2)]


def test_95_percent_of_1000_digits_held_out_are_right_within_five_epochs(
    runs: list[dict[str, Any]],
):
    for told in runs:
        assert told["tested"] == 1000
        assert max(told["accuracies"]) >= 0.95, told["accuracies"]


def test_two_runs_with_one_seed_give_the_same_bits(runs: list[dict[str, Any]]):
    first, second = runs
    assert len(first["losses"]) == 63 * len(first["accuracies"])
    assert len(set(first["losses"])) > 60, "losses change from step to step"
    assert first == second

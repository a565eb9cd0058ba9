"""Records the logs of this folder: real MXNet trains a small network while oneDNN tells of it.

Run with an interpreter that has MXNet 1.9.1 (oneDNN 2.4.4)::

    DNNL_VERBOSE=2 DNNL_VERBOSE_TIMESTAMP=1 OMP_NUM_THREADS=1 python -m tests.golden.onednn.record

What it prints is the log, this program's own lines included.
"""

from __future__ import annotations

import sys

from tests.reference.old_numpy import import_mxnet


def main() -> None:
    """Train two steps on random pictures."""
    mx = import_mxnet()
    gluon = mx.gluon
    mx.random.seed(1)
    net = gluon.nn.HybridSequential()
    net.add(
        gluon.nn.Conv2D(8, 3, activation="relu"),
        gluon.nn.MaxPool2D(2),
        gluon.nn.Flatten(),
        gluon.nn.Dense(10),
    )
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    pictures, labels = mx.nd.random.uniform(shape=(16, 1, 28, 28)), mx.nd.zeros(16)
    for step in (1, 2):
        with mx.autograd.record():
            value = loss(net(pictures), labels).mean()
        value.backward()
        trainer.step(1)
        mx.nd.waitall()
        print(f"step {step}: loss {value.asscalar():.3f}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

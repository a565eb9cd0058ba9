"""The profiler tutorial's network in training: real MXNet, ours, and direct NumPy calls."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.bench_training import DIRECT, PROGRAM
from tests.reference.agreement import operators

STEPS = 3

TRAIN = f"""
for _ in range({STEPS}):
    show(step())
for parameter in net.collect_params().values():
    show(parameter.data())
"""

DIRECTLY = f"""
for _ in range({STEPS}):
    losses = [network.step() for network in (kept, fresh)]
    assert (losses[0] == losses[1]).all()
    show(losses[0])
for weight in kept.weights:
    show(weight)
"""

PROFILED = """
step()
mx.nd.waitall()
mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename={file!r})
mx.profiler.set_state("run")
step()
mx.profiler.set_state("stop")
show(mx.profiler.dumps())
"""


@pytest.mark.parametrize("way", ["ours", "direct NumPy calls"])
def test_losses_and_weights_agree_over_iterations(way, runtimes):
    expected = runtimes.real().run(PROGRAM + TRAIN)
    found = runtimes.ours().run(PROGRAM + (TRAIN if way == "ours" else DIRECT + DIRECTLY))
    assert not expected.error, expected
    assert not found.error, found
    # Rounding differs, and chooses another side of a kink now and then.
    for one, other in zip(found.values, expected.values, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=2e-4)
    losses = [each.mean() for each in found.values[:STEPS]]
    assert losses == sorted(losses, reverse=True)


#: Operators of the transcript that this program has no need of, and why.
ELSEWHERE = {
    "_image_to_tensor": "its batch is there; the transcript's is made of pictures",
    "stack": "the same",
    "_zeros_without_dtype": "MXNet's Pooling has a second result, whose gradient is zeros",
}


def test_an_iteration_has_the_operators_of_the_transcript(runtimes, golden, tmp_path):
    expected = operators((golden / "seed2_train_dumps.txt").read_text())
    found = runtimes.ours().run(PROGRAM + PROFILED.format(file=str(tmp_path / "p.json")))
    assert not found.error, found
    assert operators(found.values[-1]) == {
        name: count for name, count in expected.items() if name not in ELSEWHERE
    }
    assert ELSEWHERE.keys() <= expected.keys()

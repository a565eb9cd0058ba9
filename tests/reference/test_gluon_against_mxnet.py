"""Layers, losses, networks and their parameters: real MXNet's Gluon against ours."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.reference.agreement import alike, operators
from tests.reference.conftest import Runtimes
from tests.reference.gluon_programs import (
    CONTAINERS,
    FILES,
    LAYERS,
    LOADING,
    LOSSES,
    PROGRAMS,
    REFUSED,
    SAVING,
    START,
    layer,
    loss,
    profiled,
    training,
)


def agree(runtimes: Runtimes, program: str, tolerance: float = 2e-5) -> None:
    expected, found = runtimes.real().run(START + program), runtimes.ours().run(START + program)
    assert not expected.error, f"{program}\n{expected}"
    assert not found.error, f"{program}\n{found}"
    alike(found.values, expected.values, program, tolerance)


@pytest.mark.parametrize("told", LAYERS)
def test_layers_agree(told, runtimes):
    agree(runtimes, layer(*LAYERS[told]))


@pytest.mark.parametrize("told", LOSSES)
def test_losses_agree(told, runtimes):
    agree(runtimes, loss(*LOSSES[told]))


@pytest.mark.parametrize("told", PROGRAMS)
def test_programs_agree_with(told, runtimes):
    agree(runtimes, PROGRAMS[told])


@pytest.mark.parametrize("told", CONTAINERS)
def test_networks_learn_alike(told, runtimes):
    agree(runtimes, training(CONTAINERS[told]), tolerance=1e-4)


#: How many more of some operators MXNet runs in an iteration.
MORE = {
    # Its Pooling has a second result, a workspace, whose gradient is zeros.
    "the tutorial's network": {"_zeros_without_dtype": 2},
    "a network with BatchNorm and Dropout": {},
}


@pytest.mark.parametrize("told", CONTAINERS)
def test_an_iteration_runs_the_same_operators_for(told, runtimes, tmp_path):
    real, ours = (
        operators(runtime.run(START + profiled(CONTAINERS[told], str(tmp_path / name))).values[-1])
        for name, runtime in (("real.json", runtimes.real()), ("ours.json", runtimes.ours()))
    )
    more = {name: real.get(name, 0) - ours.get(name, 0) for name in real.keys() | ours.keys()}
    assert {name: count for name, count in more.items() if count} == MORE[told]


@pytest.mark.parametrize("told", FILES)
def test_either_reads_the_files_of_the_other(told, runtimes, tmp_path):
    saves, loads = FILES[told]
    values: list[list[Any]] = []
    for writer, reader in (
        (runtimes.real(), runtimes.ours()),
        (runtimes.ours(), runtimes.real()),
        (runtimes.real(), runtimes.real()),
    ):
        file = tmp_path / f"{len(values)}.params"
        name = f"FILE = {str(file)!r}\n"
        written = writer.run(START + name + SAVING + saves)
        assert not written.error, written
        outcome = reader.run(START + name + LOADING.format(loads=loads))
        assert not outcome.error, outcome
        values.append(outcome.values)
    alike(values[0], values[2], told, 0)
    alike(values[1], values[2], told, 0)


@pytest.mark.parametrize("told", REFUSED)
def test_both_refuse(told, runtimes, tmp_path):
    program, kind = REFUSED[told]
    text = f"{START}FILE = {str(tmp_path / 'a.params')!r}\n{program}\nnd.waitall()"
    expected, found = runtimes.real().run(text), runtimes.ours().run(text)
    assert expected.error, "MXNet takes it"
    assert found.error[0] == kind, found


def random_network(seed: int) -> str:
    """Return a program that makes a network of layers in any order, and the shape of its data."""
    draw = random.Random(seed)
    images = draw.random() < 0.6
    shape = (3, draw.randint(1, 4), 7, 8) if images else (3, draw.randint(1, 6))
    lines = [f"net = nn.{draw.choice(['Sequential', 'HybridSequential'])}()"]
    lines.append("with net.name_scope():")
    for _ in range(draw.randint(1, 6)):
        if images and draw.random() < 0.2:
            images = False
            made = draw.choice(["Flatten()", f"Dense({draw.randint(1, 5)})"])
        elif images:
            made = draw.choice(
                [
                    f"Conv2D({draw.randint(1, 4)}, {draw.randint(1, 3)}, padding=1)",
                    f"Conv2D({draw.randint(1, 4)}, (1, 3), padding=1, use_bias=False)",
                    f"Conv2DTranspose({draw.randint(1, 3)}, 2, strides={draw.randint(1, 2)})",
                    "MaxPool2D(2, strides=1)",
                    "AvgPool2D(3, strides=2, padding=1)",
                    "BatchNorm()",
                    "InstanceNorm(scale=True)",
                    "LayerNorm(axis=1)",
                    "Activation('softsign')",
                    "PReLU()",
                ]
            )
        else:
            made = draw.choice(
                [
                    f"Dense({draw.randint(1, 6)})",
                    f"Dense({draw.randint(1, 6)}, activation='sigmoid', use_bias=False)",
                    "BatchNorm(momentum=0.5)",
                    "LayerNorm()",
                    "Activation('tanh')",
                    "LeakyReLU(0.3)",
                    "ELU()",
                    "Swish()",
                    "Dropout(0)",
                    "HybridLambda(lambda F, x: F.square(x) + x)",
                ]
            )
        lines.append(f"    net.add(nn.{made})")
    return "\n".join(lines) + f"\nshape = {shape}\n"


TRIED = """
net.initialize()
x = values(shape, 1)
net(x)
fill(net)
x.attach_grad()
for round in range(2):
    with autograd.record():
        y = net(x)
    y.backward(values(y.shape, 2))
    show([y, x.grad])
    learn(net)
show(net(x))
tell(net)
net.summary(x)
show(list(net._collect_params_with_prefix()))
"""


def test_random_networks_agree(runtimes):
    programs = [START + random_network(seed) + TRIED for seed in range(80)]
    real, ours = runtimes.real().runs(programs), runtimes.ours().runs(programs)
    for text, expected, found in zip(programs, real, ours, strict=True):
        assert not expected.error, f"{text}\n{expected.message}"
        assert not found.error, f"{text}\n{found.message}"
        alike(found.values, expected.values, text, tolerance=1e-3)

"""Layers, losses, networks and their parameters: real MXNet's Gluon against ours."""

from __future__ import annotations

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

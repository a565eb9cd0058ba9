"""Layers, losses, networks and their parameters: real MXNet's Gluon against ours."""

from __future__ import annotations

import pytest

from tests.reference.agreement import alike
from tests.reference.conftest import Runtimes
from tests.reference.gluon_programs import (
    LAYERS,
    LOSSES,
    PROGRAMS,
    START,
    layer,
    loss,
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

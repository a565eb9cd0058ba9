"""Optimisers: their names, rates, counts, and what an updater keeps."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, MissingModuleError, ScheduledRateError
from mxprof_nb.runtime.optimizer import Optimizer

nd, optimizer = mx.nd, mx.optimizer


def after(made: Optimizer, names: int = 1, steps: int = 1) -> list[float]:
    """Weights of 1 after steps with gradients of 1, by an updater."""
    update = optimizer.get_updater(made)
    weights = [nd.ones(1) for _ in range(names)]
    for _ in range(steps):
        update(list(range(names)), [nd.ones(1) for _ in range(names)], weights)
    return [weight.asscalar().item() for weight in weights]


def test_optimisers_are_made_by_name_in_any_case():
    assert type(optimizer.create("AdaM")) is optimizer.Adam
    assert type(Optimizer.create_optimizer("sgd", momentum=0.5)) is optimizer.optimizer.SGD
    with pytest.raises(ArgumentError, match=r"no optimiser 'sdg'.*Did you mean 'sgd'.*adam"):
        optimizer.create("sdg")
    with pytest.raises(ArgumentError, match="no optimiser 3"):
        optimizer.create(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="momentun"):
        optimizer.create("sgd", momentun=0.9)


def test_what_mxnet_has_besides_is_said_to_be_absent():
    with pytest.raises(AttributeError, match=r"mx\.optimizer\.LAMB: MXNet 1\.9\.1 has it"):
        _ = optimizer.LAMB
    with pytest.raises(MissingModuleError, match=r"mx\.optimizer\.LAMB"):
        from mxprof_nb.runtime.optimizer import LAMB  # noqa: F401
    with pytest.raises(AttributeError, match="Did you mean 'RMSProp'"):
        _ = optimizer.RMSprop


def test_a_program_adds_an_optimiser_of_its_own():
    @optimizer.register
    class Halving(Optimizer):
        def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            weight *= 0.5

    try:
        assert after(optimizer.create("halving"), steps=2) == [0.25]

        class Other(Optimizer):
            pass

        Other.__name__ = "Halving"
        with pytest.warns(UserWarning, match="'halving' is now"):
            optimizer.register(Other)
    finally:
        del Optimizer.opt_registry["halving"]


def test_what_an_optimiser_has_to_define_is_said():
    with pytest.raises(NotImplementedError, match="Optimizer has to define update"):
        after(Optimizer())


def test_decay_is_for_weights_and_scales_alone_where_names_are_known():
    names = dict(enumerate(["a_weight", "a_bias", "b_gamma", "b_beta"]))
    made = optimizer.SGD(learning_rate=0.5, wd=1.0, rescale_grad=0, param_idx2name=names)
    assert after(made, 4) == [0.5, 1, 0.5, 1]
    made.set_wd_mult({"a_bias": 0.5, 0: 0.0})
    assert after(made, 4) == [1, 0.75, 0.5, 1]
    assert after(optimizer.SGD(learning_rate=0.5, wd=1.0, rescale_grad=0), 2) == [0.5, 0.5]


def test_factors_of_the_rate_go_by_number_name_or_parameter():
    class Slow:
        lr_mult, wd_mult = 0.25, 0.0

    made = optimizer.SGD(
        learning_rate=0.5, wd=1, param_idx2name={0: "a_weight"}, param_dict={2: Slow()}
    )
    made.set_lr_mult({"a_weight": 0.0, 1: 0.5})
    assert after(made, 3) == [1, 0.5, 1 - 0.125]


def test_updates_are_counted_for_each_parameter_and_the_most_count():
    made = optimizer.SGD(begin_num_update=10)
    update = optimizer.get_updater(made)
    update(0, nd.ones(1), nd.ones(1))
    assert made.num_update == 11
    update([0, 1], [nd.ones(1)] * 2, [nd.ones(1), nd.ones(1)])
    assert made.num_update == 12
    update(1, nd.ones(1), nd.ones(1, ctx=mx.cpu(1)))
    assert made.num_update == 12


def test_a_schedule_sets_the_rate():
    made = optimizer.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=1.0))
    assert after(made, steps=3) == [1 - 1 - 0.5 - 0.25]
    assert made.learning_rate == 0.25
    with pytest.raises(ScheduledRateError, match="comes from a schedule, FactorScheduler"):
        made.set_learning_rate(1)
    assert issubclass(ScheduledRateError, UserWarning)
    plain = optimizer.SGD()
    plain.set_learning_rate(0.5)
    assert plain.learning_rate == 0.5


def test_a_rate_beside_a_schedule_replaces_its_first_and_warns():
    schedule = mx.lr_scheduler.FactorScheduler(5, base_lr=1.0)
    with pytest.warns(UserWarning, match=r"learning_rate=0\.5,.*replaces base_lr=1\.0"):
        made = optimizer.SGD(learning_rate=0.5, lr_scheduler=schedule)
    assert made.learning_rate == schedule.base_lr == 0.5


@pytest.mark.parametrize(
    ("given", "problem"), [({"sym": 1}, "sym"), ({"param_idx2name": [1]}, "dict")]
)
def test_wrong_options_are_refused(given, problem):
    with pytest.raises(ArgumentError, match=problem):
        optimizer.SGD(**given)


def test_half_precision_without_a_copy_warns():
    half = nd.ones(2, dtype="float16")
    with pytest.warns(UserWarning, match="multi_precision=True"):
        optimizer.Adam().create_state_multi_precision(0, half)
    wide, state = optimizer.Adam(multi_precision=True).create_state_multi_precision(0, half)
    assert wide.dtype == state[0].dtype == np.float32


def test_the_size_of_a_group_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "2")
    assert optimizer.SGD().aggregate_num == 2
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "many")
    with pytest.raises(ArgumentError, match="MXNET_OPTIMIZER_AGGREGATION_SIZE='many'"):
        optimizer.SGD()


@pytest.mark.parametrize("size", [0, 1, 3, 4])
def test_the_size_of_a_group_changes_no_value(size, monkeypatch):
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", str(size))
    assert after(optimizer.SGD(learning_rate=0.5, momentum=0.5), 5, 2) == [-0.25] * 5


def test_weights_of_several_types_are_updated_together():
    update = optimizer.get_updater(optimizer.SGD(learning_rate=0.5))
    weights = [nd.ones(1), nd.ones(1, dtype="float64"), nd.ones(1)]
    update([0, 1, 2], [weight.copy() for weight in weights], weights)
    assert [weight.asscalar() for weight in weights] == [0.5] * 3
    update([], [], [])


def test_an_optimiser_can_be_copied_without_the_parameters_it_was_given():
    made = optimizer.Adam(param_dict={0: object()})
    twin = copy.copy(made)
    assert twin.param_dict == {}
    assert twin.beta2 == made.beta2

"""`gluon.Trainer`: whole steps or none, and states that fit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import (
    ArgumentError,
    DeferredInitializationError,
    EngineError,
    ParameterError,
    ScheduledRateError,
    StaleGradientError,
)
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.trace import Meta

gluon, nd, autograd = mx.gluon, mx.nd, mx.autograd


def network(*units: int) -> Any:
    net = gluon.nn.Sequential()
    for count in units:
        net.add(gluon.nn.Dense(count, in_units=3))
    net.initialize(mx.init.One())
    return net


def values(net: Any) -> list[Any]:
    return [each.data().asnumpy() for each in net.collect_params().values()]


def train(net: Any, trainer: Any, steps: int = 1) -> None:
    for step in range(steps):
        with autograd.record():
            loss = (net(nd.array([[1.0, 2.0, float(step)]])) ** 2).sum()
        loss.backward()
        trainer.step(1)


def same(found: list[Any], expected: list[Any]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


def test_a_step_divides_by_the_size_of_the_batch():
    weight = gluon.Parameter("w", shape=(2,), init="ones")
    weight.initialize()
    trainer = gluon.Trainer([weight], "sgd", {"learning_rate": 1, "rescale_grad": 2})
    for batch, expected in ((4, 0.5), (8, 0.25)):
        with autograd.record():
            loss = weight.data().sum()
        loss.backward()
        trainer.step(batch)
        np.testing.assert_array_equal(weight.data().asnumpy(), [expected] * 2)
    assert trainer.optimizer.rescale_grad == 0.25


def test_parameters_come_as_dictionary_or_list():
    net = network(3)
    params = net.collect_params()
    for given in (params, dict(params.items()), list(params.values()), tuple(params.values())):
        train(net, gluon.Trainer(given, "sgd"))
    for given, told in ((net, "not Sequential"), ([1], "not int"), (None, "not NoneType")):
        with pytest.raises(ArgumentError, match=f"{told}.*collect_params"):
            gluon.Trainer(given, "sgd")


def test_a_step_before_backward_is_refused_and_changes_nothing():
    net = network(3)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    before = values(net)
    with pytest.raises(StaleGradientError) as caught:
        trainer.step(1)
    name = min(net.collect_params())
    assert str(caught.value).startswith(
        f"Gradient of Parameter `{name}` on context cpu(0) has not been updated by backward since "
        "last `step`"
    )
    assert caught.value.parameter == name
    assert isinstance(caught.value, UserWarning)
    assert same(values(net), before)
    trainer.step(1, ignore_stale_grad=True)
    assert same(values(net), before)
    assert trainer.optimizer.num_update == 0


def test_one_stale_gradient_keeps_all_parameters():
    net = network(3, 3)
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    train(net, trainer)
    before = values(net)
    with autograd.record():
        loss = net[1](nd.ones((1, 3))).sum()
    loss.backward()
    with pytest.raises(StaleGradientError, match="2 of 4 parameters"):
        trainer.step(1)
    assert same(values(net), before)
    trainer.step(1, ignore_stale_grad=True)  # the gradients of the second layer still count
    changed = [not np.array_equal(*pair) for pair in zip(values(net), before, strict=True)]
    assert changed == [False, False, True, True]


@pytest.mark.parametrize("batch", [0, -1, "x", None])
def test_the_size_of_a_batch_is_a_number_above_0(batch):
    net = network(3)
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(ArgumentError, match="batch_size="):
        trainer.step(batch)


def test_parameters_without_a_value_are_refused():
    net = gluon.nn.Dense(2)
    with pytest.raises(ParameterError, match="has not been initialized"):
        gluon.Trainer(net.collect_params(), "sgd")
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(DeferredInitializationError):
        trainer.step(1)
    with pytest.raises(DeferredInitializationError):
        trainer.step(1, ignore_stale_grad=True)


def test_parameters_of_one_trainer_live_on_the_same_devices():
    one, other = (gluon.Parameter(name, shape=(2,)) for name in "ab")
    one.initialize(ctx=mx.cpu(0))
    other.initialize(ctx=mx.cpu(1))
    with pytest.raises(ArgumentError, match=r"'b' is on \[cpu\(1\)\], 'a' on \[cpu\(0\)\]"):
        gluon.Trainer([one, other], "sgd")


WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "an unknown optimiser": (("sgdd",), {}, "no optimiser 'sgdd'.*'sgd'"),
    "options of one that is made": ((mx.optimizer.SGD(), {"wd": 1}), {}, "is made already: SGD"),
    "a distributed store": (("sgd",), {"kvstore": "dist_sync"}, "no key-value stores"),
    "a misspelt store": (("sgd",), {"kvstore": "devise"}, "Did you mean 'device'"),
    "updates in the store": (("sgd",), {"update_on_kvstore": True}, "concern key-value stores"),
    "compression": (("sgd",), {"compression_params": {"type": "2bit"}}, "key-value stores"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_trainer_cannot_do_is_said_at_once(case):
    args, options, told = WRONG[case]
    net = network(3)
    with pytest.raises(ArgumentError, match=told):
        gluon.Trainer(net.collect_params(), *args, **options)
    with pytest.raises(TypeError, match="momentun"):
        gluon.Trainer(net.collect_params(), "sgd", {"momentun": 0.9})
    for store in ("local", "device", None):
        gluon.Trainer(net.collect_params(), "sgd", kvstore=store, update_on_kvstore=False)


def test_the_rate_is_set_by_hand_unless_a_schedule_sets_it():
    net = network(3)
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    trainer.set_learning_rate(0.25)
    assert trainer.learning_rate == trainer.optimizer.lr == 0.25
    schedule = mx.lr_scheduler.PolyScheduler(5, base_lr=0.5)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": schedule})
    assert trainer.learning_rate == 0.5
    with pytest.raises(ScheduledRateError):
        trainer.set_learning_rate(1)


def test_parameters_without_gradient_stay():
    net = network(3)
    net.collect_params(".*bias").setattr("grad_req", "null")
    before = values(net)
    train(net, gluon.Trainer(net.collect_params(), "sgd"))
    assert [np.array_equal(*pair) for pair in zip(values(net), before, strict=True)] == [
        False,
        True,
    ]


def test_gradients_of_several_devices_are_added_up():
    weight = gluon.Parameter("w", shape=(2,), init="ones")
    devices = [mx.cpu(0), mx.cpu(1)]
    weight.initialize(ctx=devices)
    for store, expected in (("device", [-2, -2]), (None, [-3, -4])):
        trainer = gluon.Trainer([weight], "sgd", {"learning_rate": 1}, kvstore=store)
        with autograd.record():
            losses = [weight.data(ctx).sum() * (n + 1) for n, ctx in enumerate(devices)]
        autograd.backward(losses)
        trainer.step(1)
        assert [each.asnumpy()[0] for each in weight.list_data()] == expected


# States


def test_states_continue_bit_by_bit(tmp_path):
    whole, parted = network(3, 3), network(3, 3)
    options = {"momentum": 0.9, "learning_rate": 1e-3}
    train(whole, gluon.Trainer(whole.collect_params(), "sgd", options), 5)
    trainer = gluon.Trainer(parted.collect_params(), "sgd", options)
    train(parted, trainer, 3)
    trainer.save_states(tmp_path / "states")
    again = gluon.Trainer(parted.collect_params(), "adam")
    again.load_states(str(tmp_path / "states"))
    for step in (3, 4):
        with autograd.record():
            loss = (parted(nd.array([[1.0, 2.0, float(step)]])) ** 2).sum()
        loss.backward()
        again.step(1)
    assert same(values(parted), values(whole))
    assert type(again.optimizer) is mx.optimizer.SGD
    assert again.optimizer.num_update == 5


def test_states_of_other_parameters_are_refused_and_change_nothing(tmp_path):
    net = network(3, 3)
    trainer = gluon.Trainer(net.collect_params(), "adam")
    train(net, trainer)
    path = tmp_path / "states"
    trainer.save_states(path)
    small = gluon.Trainer(network(3).collect_params(), "sgd")
    with pytest.raises(EngineError, match=r"parameter 2; this trainer has 2.*another network"):
        small.load_states(path)
    wide = gluon.Trainer(network(2, 2).collect_params(), "sgd")
    with pytest.raises(EngineError, match=r"has a state of \(float32\[2\].*float32\[3\]"):
        wide.load_states(path)
    for each in (small, wide):
        assert type(each.optimizer) is mx.optimizer.SGD
        assert each._updaters[0].states == {}


def test_files_that_hold_no_states_are_refused(tmp_path):
    trainer = gluon.Trainer(network(3).collect_params(), "sgd")
    path = tmp_path / "states"
    path.write_bytes(pickle.dumps(({0: None}, None)))
    with pytest.raises(EngineError, match=f"{path} is a pickle, as MXNet writes"):
        trainer.load_states(path)
    nd.save(path, {"w": nd.ones(2)})
    with pytest.raises(EngineError, match=f"{path} holds no states of an optimiser"):
        trainer.load_states(path)
    path.write_bytes(b"x")
    with pytest.raises(EngineError, match=f"Cannot load arrays from {path}"):
        trainer.load_states(path)
    with pytest.raises(FileNotFoundError):
        trainer.load_states(tmp_path / "missing")


def test_a_failed_step_leaves_no_file_of_states(tmp_path):
    net = network(3)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    train(net, trainer)
    state = trainer._updaters[0].states[0]
    nd.random.normal(0, -1, shape=state.shape, out=state)  # fails on the worker
    with pytest.raises(EngineError):
        trainer.save_states(tmp_path / "states")
    assert not (tmp_path / "states").exists()


def test_a_step_stands_in_profiles_with_the_line_of_the_program():
    net = network(3, 3, 3)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9})
    train(net, trainer)
    with autograd.record():
        loss = net(nd.ones((1, 3))).sum()
    loss.backward()
    nd.waitall()
    recording = RECORDER.start()
    try:
        trainer.step(1)  # here
        nd.waitall()
    finally:
        recording.stop()
    trace = freeze(recording, Meta())
    events = trace.frame("events")
    rows = events[events.domain == "operator"]
    assert rows.name.tolist() == ["multi_sgd_mom_update"] * 2
    texts = trace.frame("sites").text[rows.site]
    assert set(texts) == {"trainer.step(1)  # here"}
    calls = events[events.domain == "MXNET_C_API"].name.value_counts()
    assert calls["MXNDArrayGetGradState"] == calls["MXNDArraySetGradState"] == 6


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("sgd", {"learning_rate": "0.1"}), r"learning_rate='0\.1' must be a number"),
        (("ftrl", {"learning_rate": "0.1"}), r"learning_rate='0\.1' must be a number"),
        (("sgd", {"momentum": "0.9"}), r"momentum='0\.9' must be a number"),
        (("sgd", {"wd": None}), "wd=None must be a number"),
        (("sgd", {"clip_gradient": "5"}), "clip_gradient='5' must be a number"),
        (("adam", {"beta1": [0.9]}), r"beta1=\[0\.9\] must be a number"),
        (("sgd", {"lr_scheduler": 5}), "lr_scheduler=5 must be callable"),
        (("sgd", 0.1), r"optimizer_params=0\.1 must be a dict"),
        ((mx.optimizer.SGD,), r"goes by name or is one, SGD\(\), no class"),
    ],
)
def test_what_no_optimiser_can_use_is_refused_where_the_trainer_is_made(arguments, told):
    with pytest.raises(ArgumentError, match=told):
        gluon.Trainer(network(2).collect_params(), *arguments)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_a_learning_rate_of_none_leaves_it_to_the_schedule(name: str):
    schedule = mx.lr_scheduler.FactorScheduler(10, base_lr=0.3)
    told = {"learning_rate": None, "lr_scheduler": schedule}
    assert gluon.Trainer(network(2).collect_params(), name, told).learning_rate == 0.3

"""States of optimisers as bytes: read back bit by bit, and refused where they do not fit."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, EngineError

nd, optimizer, schedules = mx.nd, mx.optimizer, mx.lr_scheduler

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: optimizer.SGD(learning_rate=0.1),
    "momentum": lambda: optimizer.SGD(
        momentum=0.9, lr_scheduler=schedules.FactorScheduler(1, 0.7, base_lr=0.3)
    ),
    "nag": lambda: optimizer.NAG(momentum=0.9),
    "signum": optimizer.Signum,
    "adam": lambda: optimizer.Adam(0.2, lr_scheduler=schedules.CosineScheduler(9, 0.2)),
    "rmsprop": lambda: optimizer.RMSProp(centered=True, clip_weights=0.9),
    "ftrl": optimizer.Ftrl,
    "adagrad": optimizer.AdaGrad,
    "adadelta": optimizer.AdaDelta,
    "adamax": optimizer.Adamax,
    "nadam": optimizer.Nadam,
}


def steps(updater: Any, weights: list[Any], begin: int, end: int) -> None:
    for number in range(begin, end):
        grads = [nd.array(np.sin(np.arange(3) + number + place)) for place in range(2)]
        updater([0, "b"], grads, weights)


def weights() -> list[Any]:
    return [nd.array([0.5, -1.0, 2.0]), nd.array([0.25, 0.75, -0.5])]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_bit_by_bit_as_if_never_saved(name):
    through, saved = weights(), weights()
    updater = optimizer.get_updater(OPTIMIZERS[name]())
    steps(updater, through, 0, 6)
    updater = optimizer.get_updater(OPTIMIZERS[name]())
    steps(updater, saved, 0, 3)
    content = updater.get_states(dump_optimizer=True)
    again = optimizer.get_updater(optimizer.SGD())
    again.set_states(content)
    steps(again, saved, 3, 6)
    for one, other in zip(through, saved, strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
    assert type(again.optimizer) is type(updater.optimizer)
    assert again.optimizer.num_update == 6


def test_without_the_optimiser_the_states_go_to_the_one_there_is():
    updater = optimizer.get_updater(optimizer.SGD(momentum=0.9))
    steps(updater, weights(), 0, 2)
    own = optimizer.SGD(momentum=0.5)
    again = optimizer.get_updater(own)
    again.set_states(updater.get_states())
    assert again.optimizer is own
    np.testing.assert_array_equal(again.states["b"].asnumpy(), updater.states["b"].asnumpy())


def test_states_follow_their_parameter_to_its_device():
    updater = optimizer.get_updater(optimizer.Adam())
    updater(0, nd.ones(2), nd.ones(2))
    again = optimizer.get_updater(optimizer.Adam())
    again.set_states(updater.get_states())
    again(0, nd.ones(2, ctx=mx.cpu(1)), nd.ones(2, ctx=mx.cpu(1)))
    assert [each.context for each in again.states[0]] == [mx.cpu(1)] * 2


def test_the_bytes_are_a_file_of_arrays_and_json(tmp_path):
    updater = optimizer.get_updater(optimizer.SGD(momentum=0.9))
    updater(0, nd.ones(2), nd.ones(2))
    (tmp_path / "states").write_bytes(updater.get_states(dump_optimizer=True))
    held: Any = nd.load(tmp_path / "states")
    told = json.loads(held["optimizer"].asnumpy().tobytes())
    assert told["states"] == {"dict": [[0, {"array": "0"}]]}
    assert told["optimizer"]["name"] == "SGD"
    assert held["0"].shape == (2,)


def content(**changes: Any) -> bytes:
    """States as bytes whose JSON says something else."""
    told = {"format": "mxprof_nb optimizer states", "version": 1, "states": {"dict": []}}
    text = json.dumps({**told, "optimizer": None, **changes}).encode()
    return nd.files.packed({"optimizer": nd.array(np.frombuffer(text, "u1"), dtype="uint8")})


WHOLE = content()

BROKEN = {
    "a pickle": (pickle.dumps({0: None}), "is a pickle, as MXNet writes.*runs the code"),
    "nothing": (b"", "no file of arrays"),
    "cut short": (WHOLE[:-9], "cut short"),
    "noise": (b"\x12\x01" + bytes(range(200)), "Cannot load arrays"),
    "arrays without names": (nd.files.packed([nd.ones(2)]), "no states of an optimiser"),
    "other arrays": (nd.files.packed({"a": nd.ones(2)}), "no states of an optimiser"),
    "no JSON": (nd.files.packed({"optimizer": nd.ones(2, dtype="uint8")}), "no states"),
    "another format": (content(format="x"), "'x', version 1"),
    "a later version": (content(version=2), "version 2"),
    "no dict": (content(states=[]), "the states are no dict"),
    "an unknown kind": (content(states={"code": "x"}), "no states"),
    "an array that is not there": (content(states={"dict": [[0, {"array": "7"}]]}), "'7'"),
    "an unknown optimiser": (
        content(optimizer={"name": "SDG", "attributes": {"dict": []}}),
        "no optimiser 'SDG'.*'sgd'",
    ),
    "an unknown schedule": (
        content(states={"dict": [[0, {"schedule": {"name": "Own", "attributes": {"dict": []}}}]]}),
        "a schedule 'Own'.*Define it",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_are_no_states_is_refused_and_nothing_is_changed(case):
    broken, told = BROKEN[case]
    own = optimizer.SGD(momentum=0.9)
    updater = optimizer.get_updater(own)
    updater(0, nd.ones(2), nd.ones(2))
    before = dict(updater.states)
    with pytest.raises(EngineError, match=told):
        updater.set_states(broken)
    assert updater.states == before
    assert updater.optimizer is own
    updater.set_states(WHOLE)
    assert updater.states == {}


def test_states_are_bytes():
    with pytest.raises(EngineError, match=r"set_states takes the bytes.*not str"):
        optimizer.get_updater(optimizer.SGD()).set_states("states")  # type: ignore[arg-type]


def test_what_a_file_cannot_hold_is_refused_when_it_is_saved():
    updater = optimizer.get_updater(optimizer.SGD(lr_scheduler=lambda update: 0.1))
    assert updater.get_states()
    with pytest.raises(ArgumentError, match=r"SGD\.lr_scheduler: .*not function"):
        updater.get_states(dump_optimizer=True)


def test_numbers_of_numpy_are_saved_as_numbers():
    made: Any = optimizer.SGD(learning_rate=0.5)
    made.wd = np.float32(0.25)
    again = optimizer.get_updater(optimizer.SGD())
    made.set_lr_mult({np.int64(3): 0.5, ("a", 1): 2.0})
    again.set_states(optimizer.get_updater(made).get_states(dump_optimizer=True))
    assert again.optimizer.lr_mult == {3: 0.5, ("a", 1): 2.0}
    assert again.optimizer.wd == 0.25
    assert type(again.optimizer.wd) is float

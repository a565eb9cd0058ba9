"""Initializers: distributions, names, rules."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, ShapeError

nd = mx.nd
# What is refused here is of wrong types on purpose.
init: Any = mx.init


def filled(by: Any, shape: tuple[int, ...] = (200, 300), name: str = "layer_weight") -> Any:
    array = nd.full(shape, 7)
    by(init.InitDesc(name), array)
    return array.asnumpy()


def test_uniform_and_normal_weights_are_as_wide_as_asked():
    uniform = filled(init.Uniform(0.2))
    assert -0.2 <= uniform.min() < -0.19 < 0.19 < uniform.max() <= 0.2
    normal = filled(init.Normal(0.5))
    assert abs(normal.mean()) < 0.01
    assert normal.std() == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize(
    ("factor", "number"), [("avg", 250 * 6), ("in", 300 * 6), ("out", 200 * 6)]
)
def test_xavier_follows_the_numbers_of_inputs_and_outputs(factor, number):
    drawn = filled(init.Xavier("gaussian", factor, magnitude=2), (200, 300, 2, 3))
    assert drawn.std() == pytest.approx(np.sqrt(2 / number), rel=0.02)
    bounded = filled(init.Xavier(factor_type=factor), (200, 300, 2, 3))
    assert np.abs(bounded).max() == pytest.approx(np.sqrt(3 / number), rel=0.01)


def test_the_initializer_for_leaky_rectifiers_follows_their_slope():
    drawn = filled(init.MSRAPrelu(slope=1.0))
    assert drawn.std() == pytest.approx(np.sqrt(1 / 250), rel=0.02)


@pytest.mark.parametrize("kind", ["uniform", "normal"])
@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (2, 2, 2)])
def test_orthogonal_rows_or_columns_are_orthogonal(kind, shape):
    made = filled(init.Orthogonal(2.0, kind), shape)
    flat = made.reshape(shape[0], -1)
    product = flat @ flat.T if flat.shape[0] <= flat.shape[1] else flat.T @ flat
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: init.create("xaver"), "no initializer 'xaver'. Did you mean 'xavier'"),
        (lambda: init.create(5), "5 is no initializer.*mx.init.Xavier"),
        (lambda: init.create(init.Xavier), "is no initializer"),
        (lambda: init.create('["xavier", {'), "no initializer in JSON"),
        (lambda: init.create("[1, 2, 3]"), "is no initializer"),
        (lambda: init.create(init.One(), value=3), "leave its parameters out"),
        (lambda: init.Xavier("normal"), "rnd_type='normal' is not one of 'uniform', 'gaussian'"),
        (lambda: init.Xavier(factor_type="both"), "factor_type='both' is not one of"),
        (lambda: init.Orthogonal(rand_type="x"), "rand_type='x' is not one of"),
        (lambda: init.Mixed([".*"], []), "1 patterns and 0 initializers"),
        (lambda: filled(init.Mixed(["a"], [init.One()])), "no pattern fits 'layer_weight'"),
        (lambda: filled(init.Uniform(), name="odd"), "no rule to initialize 'odd'.*weight, bias"),
        (lambda: filled(init.Load({})), "no array 'layer_weight', and no default_init"),
        (lambda: init.Load([nd.ones((1,))]), "arrays need names"),
    ],
)
def test_what_cannot_be_is_refused(make, told):
    with pytest.raises(ArgumentError, match=told):
        make()


def test_shapes_that_an_initializer_cannot_fill_are_refused():
    with pytest.raises(ShapeError, match=r"Xavier needs two axes.*'layer_weight' has shape \(3,\)"):
        filled(init.Xavier(), (3,))
    with pytest.raises(ShapeError, match=r"Bilinear.*\(3, 3\)"):
        filled(init.Bilinear(), (3, 3))
    with pytest.raises(ShapeError, match=r"Load.*\(2,\).*\(3,\)"):
        filled(init.Load({"layer_weight": nd.ones((3,))}), (2,))


def test_initializers_are_made_of_what_they_wrote():
    for made in (init.Xavier("gaussian", "in", 2), init.Constant([1, 2]), init.MSRAPrelu()):
        assert init.create(made.dumps()).dumps() == made.dumps()
    assert init.create({"initializer": "uniform", "scale": 3}) == init.Uniform(3)
    assert init.create('{"initializer": "uniform", "scale": 3}') == init.Uniform(3)
    assert init.Uniform(3) != init.Uniform(4)
    assert init.Uniform(3) != init.Normal(3)
    assert init.Uniform(3) != 3


def test_one_can_be_registered_under_several_names():
    @init.alias("sevens", "all_seven")
    @init.register
    class Seven(mx.init.Initializer):
        def _init_weight(self, name: str, arr: Any) -> None:
            arr[:] = 7

    for name in ("seven", "Sevens", "all_seven"):
        assert isinstance(init.create(name), Seven)


def test_a_subclass_without_a_rule_for_weights_is_told():
    with pytest.raises(NotImplementedError, match="Initializer needs a method _init_weight"):
        filled(init.Initializer())


def test_arrays_are_loaded_by_name_and_the_others_filled(tmp_path):
    file = str(tmp_path / "saved")
    nd.save(file, {"arg:layer_weight": nd.array([1, 2])})
    load = init.Load(file, default_init=init.One())
    assert filled(load, (2,)).tolist() == [1, 2]
    assert filled(load, (2,), "other_weight").tolist() == [1, 1]
    net: Any = mx.gluon.nn.Dense(1, in_units=1, prefix="d_")
    net.initialize(init.Load({"d_weight": nd.array([[5]])}, init.One(), verbose=True))
    assert [each.data().asscalar() for each in (net.weight, net.bias)] == [5, 0]


def test_what_is_filled_how_is_logged_when_asked_for(caplog):
    net = mx.gluon.nn.Dense(1, in_units=2, prefix="d_")
    with caplog.at_level(logging.INFO):
        net.initialize(init.Constant(3), verbose=True)
    first, second = caplog.messages
    assert first.startswith("Initialized d_weight as ")
    assert first.endswith(": 3.0")
    assert second.endswith(": 0.0")


def test_seeded_networks_begin_alike():
    made = []
    for _ in range(2):
        mx.random.seed(5)
        net = mx.gluon.nn.Dense(4, in_units=3)
        net.initialize("xavier")
        made.append(net.weight.data().asnumpy())
    assert (made[0] == made[1]).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["uniform", "normal", "xavier", "ones", "orthogonal"])
def test_parameters_of_each_type_are_filled(dtype, name):
    weight = mx.gluon.Parameter("w", shape=(20, 30), dtype=dtype, init=name)
    weight.initialize()
    assert weight.data().dtype == np.dtype(dtype)
    assert weight.data().asnumpy().any()


# Names


def test_names_are_counted_by_kind_and_from_the_start_in_a_manager():
    with mx.name.NameManager() as outer:
        assert [outer.get(None, "a"), outer.get(None, "a"), outer.get(None, "b")] == [
            "a0",
            "a1",
            "b0",
        ]
        assert outer.get("given", "a") == "given"
        with mx.name.Prefix("all_") as inner:
            assert mx.gluon.nn.Dense(2).name == "all_dense0"
            assert inner.get("given", "a") == "all_given"
        assert mx.gluon.nn.Dense(2).name == "dense0"


def test_a_manager_can_be_entered_within_itself():
    with mx.name.NameManager() as manager:
        with manager:
            assert mx.gluon.nn.Dense(2).name == "dense0"
        assert mx.gluon.nn.Dense(2).name == "dense1"

"""Random arrays: reproducible, of the type asked for, refused where no distribution exists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, OperatorError, ShapeError
from mxprof_nb.runtime.ops import aval, spec
from mxprof_nb.runtime.ops.gradient import backward

nd = mx.nd

DRAWS: dict[str, Any] = {
    "uniform": lambda: nd.random.uniform(-1, 1, shape=50),
    "normal": lambda: nd.random.normal(1, 2, shape=50),
    "randn": lambda: nd.random.randn(50, loc=1.0),
    "exponential": lambda: nd.random.exponential(2.0, shape=50),
    "gamma": lambda: nd.random.gamma(2.0, 3.0, shape=50),
    "poisson": lambda: nd.random.poisson(4.0, shape=50),
    "negative_binomial": lambda: nd.random.negative_binomial(3, 0.5, shape=50),
    "randint": lambda: nd.random.randint(0, 1000, shape=50),
    "shuffle": lambda: nd.random.shuffle(nd.arange(50)),
    "multinomial": lambda: nd.random.multinomial(nd.ones(20) / 20, shape=50),
    "for each element": lambda: nd.random.normal(nd.zeros(50), nd.ones(50)),
    "like an array": lambda: nd.random.normal_like(nd.ones(50), 1, 2),
    "under another name": lambda: nd.random_uniform(0, 1, (50,)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_same_seed_gives_the_same_numbers(name):
    mx.random.seed(3)
    first, second = DRAWS[name](), DRAWS[name]()
    mx.random.seed(3)
    again = DRAWS[name]()
    np.testing.assert_array_equal(again.asnumpy(), first.asnumpy())
    assert (second.asnumpy() != first.asnumpy()).any()


def test_devices_have_sequences_of_their_own():
    mx.random.seed(3)
    here = nd.random.uniform(shape=9, ctx=mx.cpu(0)).asnumpy()
    there = nd.random.uniform(shape=9, ctx=mx.cpu(1)).asnumpy()
    assert (here != there).any()
    mx.random.seed(5, ctx=mx.cpu(1))
    before = nd.random.uniform(shape=9, device=mx.cpu(1)).asnumpy()
    nd.random.uniform(shape=9, ctx=mx.cpu(0)).wait_to_read()
    mx.random.seed(5, ctx=mx.cpu(1))
    after = nd.random.uniform(shape=9, device=mx.cpu(1)).asnumpy()
    np.testing.assert_array_equal(before, after)


def test_numbers_can_be_drawn_into_an_array():
    x = nd.zeros((2, 3), dtype="float64")
    assert nd.random.uniform(1, 2, out=x) is x
    assert ((x.asnumpy() >= 1) & (x.asnumpy() < 2)).all()


def test_a_shape_or_type_that_does_not_fit_out_is_refused():
    out = nd.zeros((3,))
    wrong: list[Any] = [{"shape": (4,)}, {"dtype": "float64"}]
    for asked in wrong:
        with pytest.raises(ShapeError, match=r"_random_normal .*out=float32\[3\]"):
            nd.random.normal(out=out, **asked)
    assert nd.random.normal(shape=3, dtype="float32", out=out) is out


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floating_point_numbers_have_the_type_asked_for(dtype):
    assert nd.random.normal(shape=3, dtype=dtype).dtype == np.dtype(dtype)
    assert nd.random.gamma(shape=3, dtype=dtype).asnumpy().dtype == dtype


def test_numbers_like_an_array_have_its_shape_type_and_device():
    data = nd.ones((2, 3), mx.cpu(1), "float64")
    for name in ("uniform", "normal", "exponential", "gamma", "poisson", "negative_binomial"):
        made = getattr(nd.random, f"{name}_like")(data)
        assert (made.shape, made.dtype, made.context) == ((2, 3), np.float64, mx.cpu(1))


def test_other_types_are_refused_at_once():
    with pytest.raises(ArgumentError, match="cannot be int32"):
        nd.random.uniform(shape=2, dtype="int32")
    with pytest.raises(ArgumentError, match="must be int32 or int64"):
        nd.random.randint(0, 5, shape=2, dtype="float32")


def test_a_bad_parameter_in_an_array_fails_where_the_result_is_read():
    bad = nd.random.poisson(nd.array([1, -1]))
    with pytest.raises(OperatorError, match="rate of a Poisson distribution"):
        bad.wait_to_read()
    zero = nd.random.normal(nd.ones(2), nd.zeros(2))
    assert zero.tolist() == [1, 1]


def test_parameters_are_all_numbers_or_all_arrays():
    with pytest.raises(TypeError, match="all numbers or all NDArrays"):
        nd.random.uniform(nd.zeros(2), 1.0)


def test_positions_are_drawn_by_their_probabilities():
    mx.random.seed(1)
    chances = nd.array([[0, 0.25, 0.75], [1, 0, 0]])
    drawn, logs = nd.random.multinomial(chances, shape=2000, get_prob=True)
    counts = np.bincount(drawn[0].asnumpy(), minlength=3)
    assert counts[0] == 0
    assert 0.7 < counts[2] / 2000 < 0.8
    assert (drawn[1].asnumpy() == 0).all()
    values = logs[0].asnumpy()[drawn[0].asnumpy() == 2]
    np.testing.assert_allclose(values, np.log(0.75), rtol=1e-6)


def test_the_slope_of_a_log_probability_is_one_over_the_probability():
    op = spec("_sample_multinomial")
    back = backward(op)
    assert back is not None
    chances, drawn = np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([[1, 1], [0, 1]])
    heads = np.zeros((2, 2)), np.array([[1.0, 2.0], [3.0, 4.0]])
    like = (aval(chances.shape, "float64"),)
    slopes = back.forward(*heads, chances, drawn, like=like, wanted=(0,), get_prob=True)
    np.testing.assert_allclose(slopes, [[0.0, 3 / 0.8], [6.0, 8.0]])
    nothing = back.forward(heads[0], chances, drawn, like=like, wanted=(0,))
    assert not nothing.any()


def test_shuffling_moves_rows_whole():
    x = nd.arange(20).reshape((10, 2))
    rows = nd.random.shuffle(x).asnumpy()
    assert (rows[:, 1] - rows[:, 0] == 1).all()
    assert sorted(rows[:, 0]) == list(range(0, 20, 2))

"""Norms: what they make of means and deviations, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime import mode
from mxprof_nb.runtime.ops import spec
from mxprof_nb.runtime.ops.gradient import backward
from tests.gradients import check_gradient, gradients
from tests.values import check

nd: Any = mx.nd


def numbers(*shape: int, seed: int = 0, dtype: str = "float64") -> Any:
    return np.random.default_rng(seed).permutation(np.linspace(-2, 2, int(np.prod(shape)))).reshape(
        shape
    ).astype(dtype)  # fmt: skip


def arrays(*values: Any) -> Any:
    return [nd.array(x, dtype=x.dtype) for x in values]


@pytest.mark.parametrize("axis", [1, -1])
def test_training_takes_mean_and_deviation_of_the_batch(axis):
    x = numbers(4, 3, 5, 3)
    others = tuple(i for i in range(4) if i != axis % 4)
    before = mode.set_training(True)
    try:
        y, mean, inverse = nd.BatchNorm(
            *arrays(x, numbers(3, seed=1), numbers(3, seed=2), np.zeros(3), np.ones(3)),
            fix_gamma=False,
            output_mean_var=True,
            axis=axis,
        )
    finally:
        mode.set_training(before)
    shape = [3 if i == axis % 4 else 1 for i in range(4)]
    centred = x - x.mean(axis=others, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=others, keepdims=True) + 1e-3)
    gamma, beta = numbers(3, seed=1).reshape(shape), numbers(3, seed=2).reshape(shape)
    check(mean, x.mean(axis=others), "float64")
    check(inverse, 1 / deviation.ravel(), "float64")
    check(y, centred / deviation * gamma + beta, "float64")


def test_prediction_takes_the_moving_averages_and_fix_gamma_a_scale_of_1():
    x = numbers(4, 3, 5)
    mean, variance = np.array([1.0, 2, 3]), np.array([1.0, 4, 9])
    inputs = arrays(x, np.full(3, 7.0), np.array([0.0, 10, 20]), mean, variance)
    y = nd.BatchNorm(*inputs, eps=0)
    expected = (x - mean[:, None]) / np.sqrt(variance)[:, None] + np.array([0, 10, 20])[:, None]
    check(y, expected, "float64")


def test_the_gradient_moves_the_averages_and_the_pass_forward_does_not():
    x, head = numbers(4, 3, 5), numbers(4, 3, 5, seed=3)
    mean, variance = np.array([1.0, 2, 3]), np.array([1.0, 4, 9])
    before = mean.copy(), variance.copy()
    op, attrs = spec("BatchNorm"), {"train": True, "momentum": 0.75}
    op.forward(x, np.ones(3), np.zeros(3), mean, variance, **attrs)
    np.testing.assert_array_equal([mean, variance], before)
    gradients(op, [x, np.ones(3), np.zeros(3), mean, variance], [head, None, None], attrs)
    np.testing.assert_allclose(mean, 0.75 * before[0] + 0.25 * x.mean(axis=(0, 2)))
    np.testing.assert_allclose(variance, 0.75 * before[1] + 0.25 * x.var(axis=(0, 2)))
    rule = backward(op)
    assert rule is not None
    assert rule.mutates == (3, 4)


def test_single_precision_is_normalized_with_statistics_of_twice_the_width():
    x = numbers(2, 3, 4, dtype="float16")
    vectors = arrays(*(np.ones(3, "float32") for _ in range(4)))
    y, mean, _ = nd.BatchNorm(*arrays(x), *vectors, output_mean_var=True)
    assert (y.dtype, mean.dtype) == (np.float16, np.float32)
    with pytest.raises(ShapeError, match="gamma must be float32"):
        nd.BatchNorm(*arrays(x), *(v.astype("float16") for v in vectors))


@pytest.mark.parametrize("axis", [-1, 1])
def test_layer_norm_has_mean_0_and_deviation_1_along_its_axis(axis):
    x = numbers(2, 4, 4)
    y, mean, deviation = nd.LayerNorm(
        *arrays(x, np.ones(4), np.zeros(4)), axis=axis, output_mean_var=True
    )
    check(mean, x.mean(axis=axis, keepdims=True), "float64")
    check(deviation, np.sqrt(x.var(axis=axis, keepdims=True) + 1e-5), "float64")
    np.testing.assert_allclose(y.asnumpy().mean(axis=axis), 0, atol=1e-12)
    np.testing.assert_allclose(y.asnumpy().std(axis=axis), 1, rtol=1e-3)


def test_groups_of_channels_are_normalized_apart():
    x = numbers(2, 4, 3)
    y, mean, _ = nd.GroupNorm(
        *arrays(x, np.array([1.0, 2]), np.array([0.0, 5])), num_groups=2, output_mean_var=True
    )
    groups = x.reshape(2, 2, 6)
    check(mean, groups.mean(axis=2), "float64")
    standard = groups - groups.mean(axis=2, keepdims=True)
    standard /= np.sqrt(groups.var(axis=2, keepdims=True) + 1e-5)
    check(y, (standard * [[1], [2]] + [[0], [5]]).reshape(2, 4, 3), "float64")
    one_each = nd.InstanceNorm(*arrays(x, np.ones(4), np.zeros(4)), eps=1e-5)
    same = nd.GroupNorm(*arrays(x, np.ones(4), np.zeros(4)), num_groups=4)
    np.testing.assert_array_equal(one_each.asnumpy(), same.asnumpy())


def test_results_that_only_gradients_need_are_written_beside_out():
    x, out = nd.array(numbers(2, 3, 4)), nd.empty((2, 3, 4))
    assert nd.InstanceNorm(x, nd.ones(3), nd.zeros(3), out=out) is out
    np.testing.assert_allclose(out.asnumpy().mean(axis=2), 0, atol=1e-6)


@pytest.mark.parametrize("inner", [(), (3,), (5, 4)])
@pytest.mark.parametrize("attrs", [{"train": True}, {"train": True, "use_global_stats": True}, {}])
def test_the_gradient_of_a_batch_norm_is_its_slope(attrs, inner):
    inputs = [numbers(4, 2, *inner), *(numbers(2, seed=s) for s in (1, 2, 3)), np.ones(2)]
    # Momentum 1 leaves the averages alone: else each pass back would change what is differentiated.
    check_gradient(
        spec("BatchNorm"), inputs, {**attrs, "fix_gamma": False, "momentum": 1.0}, tolerance=1e-5
    )


def test_a_fixed_scale_has_no_gradient():
    inputs = [numbers(4, 2, 3), np.full(2, 5.0), np.zeros(2), np.zeros(2), np.ones(2)]
    found = gradients(spec("BatchNorm"), inputs, [numbers(4, 2, 3), None, None], {"train": True})
    assert found[1].tolist() == [0, 0]


@pytest.mark.parametrize("nsize", [1, 3, 7])
def test_local_response_divides_by_the_neighbours_in_the_channels_beside(nsize):
    x = np.random.default_rng(0).normal(size=(2, 4, 2, 3))
    how = {"nsize": nsize, "alpha": 0.5, "beta": 0.6, "knorm": 1.5}
    expected = np.empty_like(x)
    for n, c, i, j in np.ndindex(x.shape):
        near = x[n, max(0, c - nsize // 2) : c + nsize // 2 + 1, i, j]
        expected[n, c, i, j] = x[n, c, i, j] / (1.5 + 0.5 / nsize * (near**2).sum()) ** 0.6
    check(nd.LRN(nd.array(x, dtype="float64"), **how), expected, "float64")
    check_gradient(spec("LRN"), [x], how)


def test_local_response_needs_an_odd_number_of_channels_and_an_image():
    for x, nsize, told in ((nd.ones((1, 2, 3, 3)), 4, "nsize=4"), (nd.ones((2, 3)), 3, "sample")):
        with pytest.raises(ShapeError, match=told):
            nd.LRN(x, nsize=nsize)
    with pytest.raises(ArgumentError, match="nsize is missing"):
        nd.LRN(nd.ones((1, 2, 3, 3)))

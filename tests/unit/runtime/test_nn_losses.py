"""Activations, the softmax family, dropout and losses, against formulas of one number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime import mode
from mxprof_nb.runtime.ops import aval, spec
from mxprof_nb.runtime.ops.gradient import backward
from tests.gradients import check_gradient, gradients
from tests.values import FLOATS, TOLERANCE, check, each

nd: Any = mx.nd

X = [[-3.0, -0.5, 0.25], [0.75, 2.0, 4.0]]


@pytest.fixture
def training() -> Iterator[None]:
    before = mode.set_training(True)
    yield
    mode.set_training(before)


# Activation and LeakyReLU

ACTIVATIONS = {
    "relu": lambda x: max(x, 0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "tanh": math.tanh,
    "softrelu": lambda x: math.log1p(math.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_applied_to_each_element(name, dtype):
    x = nd.array(X, dtype=dtype)
    check(nd.Activation(x, act_type=name), each(ACTIVATIONS[name], X), dtype)
    check_gradient(spec("Activation"), [np.array(X)], {"act_type": name})


@pytest.mark.parametrize(
    ("name", "ends"),
    [("sigmoid", [0, 1]), ("tanh", [-1, 1]), ("softrelu", [0, 1e4]), ("relu", [0, 1e4])],
)
def test_activations_do_not_overflow(name, ends):
    check(nd.Activation(nd.array([-1e4, 1e4]), act_type=name), ends, "float32")


ELU, SELU = 1.6732632423543772, 1.0507009873554805
LEAKY: dict[str, Any] = {
    "leaky": lambda x: x if x > 0 else 0.25 * x,
    "rrelu": lambda x: x if x > 0 else (0.125 + 0.334) / 2 * x,
    "elu": lambda x: x if x > 0 else 0.25 * (math.exp(x) - 1),
    "selu": lambda x: SELU * (x if x > 0 else ELU * (math.exp(x) - 1)),
    "gelu": lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", LEAKY)
def test_a_leaky_rectifier_lets_something_through_below_0(name, dtype):
    check(nd.LeakyReLU(nd.array(X, dtype=dtype), act_type=name), each(LEAKY[name], X), dtype)
    check_gradient(spec("LeakyReLU"), [np.array(X)], {"act_type": name})


@pytest.mark.parametrize("slopes", [[0.5], [0.1, 0.2, 0.3], [0.5, -1.0, 3.0]])
def test_prelu_learns_one_slope_or_one_for_each_channel(slopes):
    x, gamma = np.array(X), np.array(slopes)
    check(
        nd.LeakyReLU(nd.array(X), nd.array(slopes), act_type="prelu"),
        np.where(x > 0, x, gamma * x),
        "float32",
    )
    check_gradient(spec("LeakyReLU"), [x, gamma], {"act_type": "prelu"})
    image = np.stack([x, -x], axis=2)
    check_gradient(spec("LeakyReLU"), [image, gamma], {"act_type": "prelu"})


@pytest.mark.usefixtures("training")
@pytest.mark.parametrize("dtype", FLOATS)
def test_training_draws_slopes_between_the_bounds_and_goes_back_along_them(dtype):
    how = {"act_type": "rrelu", "lower_bound": 0.25, "upper_bound": 0.75}
    values = np.linspace(-2, 2, 4001).astype(dtype)
    made = nd.LeakyReLU(nd.array(values, dtype=dtype), **how).asnumpy()
    assert made.dtype == dtype
    np.testing.assert_array_equal(made[values >= 0], values[values >= 0])
    slopes = (made / np.where(values == 0, 1, values))[values < 0].astype("f8")
    assert abs(slopes.mean() - 0.5) < 0.02
    assert abs(slopes.std() - 0.5 / math.sqrt(12)) < 0.02
    assert slopes.min() >= 0.249
    assert slopes.max() <= 0.751
    back = backward(spec("LeakyReLU"))
    assert back is not None
    (gradient,) = (
        back.forward(
            np.full_like(values, 2), values, values, made, like=(), wanted=(0,), train=True, **how
        ),
    )
    expected = np.ones(4001)
    expected[values < 0] = slopes
    np.testing.assert_allclose(gradient, 2 * expected, rtol=TOLERANCE[dtype])
    assert gradient.dtype == dtype


@pytest.mark.usefixtures("training")
def test_slopes_are_drawn_in_program_order_and_only_where_they_are_random():
    x = nd.array(-np.ones(8))

    def drawn() -> list[float]:
        mx.random.seed(3)
        first = nd.LeakyReLU(x, act_type="rrelu")
        return [*first.tolist(), *nd.LeakyReLU(x, act_type="rrelu").tolist()]

    assert drawn() == drawn()
    mx.random.seed(3)
    expected = nd.random.uniform(shape=(2,)).tolist()
    mx.random.seed(3)
    nd.LeakyReLU(x, act_type="elu").wait_to_read()
    assert nd.random.uniform(shape=(2,)).tolist() == expected
    with pytest.raises(ShapeError, match="is above upper_bound"):
        nd.LeakyReLU(x, act_type="rrelu", lower_bound=0.5, upper_bound=0.1)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x: nd.Activation(x, act_type="swish"), "act_type='swish' is none of relu, sig"),
        (lambda x: nd.LeakyReLU(x, act_type="swish"), "'swish' is none of elu, gelu"),
        (lambda x: nd.LeakyReLU(x, act_type="prelu"), "gamma is for act_type='prelu'"),
        (lambda x: nd.LeakyReLU(x, x), "gamma is for act_type='prelu'"),
        (lambda x: nd.Activation(x.astype("int32"), act_type="relu"), "floating point"),
        (lambda x: nd.SoftmaxActivation(x, mode="row"), "mode='row'"),
        (lambda x: nd.softmax(x, axis=2), r"axis 2 is not in \[-2, 2\)"),
        (lambda x: nd.softmax(x, nd.ones(2)), "together with use_length"),
        (lambda x: nd.softmax(x, nd.ones(2), use_length=True), "integers"),
        (lambda x: nd.softmax(x, nd.ones(3, dtype="int32"), use_length=True), r"shape \(2,\)"),
        (lambda x: nd.Dropout(x, p=1.5), "p=1.5"),
        (lambda x: nd.Dropout(x, mode="often"), "mode='often'"),
        (lambda x: nd.Dropout(x, axes=(2,)), "axis 2"),
        (lambda x: nd.SoftmaxOutput(x, nd.ones(3)), r"label must have shape \(2,\)"),
        (lambda x: nd.SoftmaxOutput(x, nd.ones(2), normalization="all"), "normalization='all'"),
        (lambda x: nd.softmax_cross_entropy(x, x), "one label for each sample"),
        (lambda x: nd.LinearRegressionOutput(x, nd.ones(2)), "as many samples and elements"),
        (lambda x: nd.LinearRegressionOutput(x, x.astype("float64")), "the types differ"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_name_and_reason(call, told):
    with pytest.raises(ArgumentError, match=told):
        call(nd.array(X))


# The softmax family


def shares(row: list[float]) -> list[float]:
    powers = [math.exp(x) for x in row]
    return [power / math.fsum(powers) for power in powers]


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_gives_shares_that_sum_to_1(dtype):
    x = nd.array(X, dtype=dtype)
    rows = [shares(row) for row in X]
    check(nd.softmax(x), rows, dtype)
    check(nd.softmin(-x), rows, dtype)
    check(nd.log_softmax(x), np.log(rows), dtype)
    check(nd.SoftmaxActivation(x), rows, dtype)
    for name in ("softmax", "log_softmax", "softmin"):
        function, method = getattr(nd, name)(x, axis=0), getattr(x, name)(axis=0)
        np.testing.assert_array_equal(method.asnumpy(), function.asnumpy())
    check(nd.softmax(x, axis=0), np.transpose([shares(list(c)) for c in np.transpose(X)]), dtype)


def test_the_temperature_divides_and_dtype_is_the_type_of_the_result():
    x = nd.array(X)
    hot = [shares([value / 4 for value in row]) for row in X]
    check(nd.softmax(x, temperature=4), hot, "float32")
    found = nd.softmax(x.astype("float16"), dtype="float64")
    assert found.dtype == np.float64
    np.testing.assert_allclose(found.asnumpy(), [shares(row) for row in X], rtol=1e-3)


def test_only_as_many_elements_count_as_length_says():
    lengths = nd.array([0, 2], dtype="int32")
    found = nd.softmax(nd.array(X), lengths, use_length=True)
    check(found, [[0, 0, 0], [*shares(X[1][:2]), 0]], "float32")
    columns = nd.softmax(nd.array(X), nd.array([1, 2, 0], dtype="int32"), axis=0, use_length=True)
    second = shares([X[0][1], X[1][1]])
    check(columns, [[1, second[0], 0], [0, second[1], 0]], "float32")


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize("attrs", [{}, {"axis": 0}, {"temperature": 2.5}])
def test_the_gradient_of_the_softmax_family_is_its_slope(name, attrs):
    check_gradient(spec(name), [np.array(X)], attrs)


def test_the_gradient_of_softmax_heeds_length():
    lengths = np.array([1, 2], "int32")
    op, attrs = spec("softmax"), {"use_length": True}
    found = gradients(op, [np.array(X), lengths], [np.array([[1.0, 2, 3]] * 2)], attrs)[0]
    first, second = shares(X[1][:2])
    product = first * second
    np.testing.assert_allclose(found, np.array([[0, 0, 0], [-product, product, 0]]))


@pytest.mark.parametrize("how", ["instance", "channel"])
def test_softmax_over_a_sample_or_its_channels(how):
    x = np.arange(12.0).reshape(2, 3, 2) % 5
    found = nd.SoftmaxActivation(nd.array(x), mode=how).asnumpy()
    np.testing.assert_allclose(found.sum(axis=1 if how == "channel" else (1, 2)), 1, rtol=1e-6)
    check_gradient(spec("SoftmaxActivation"), [x], {"mode": how})


# Dropout


@pytest.mark.usefixtures("training")
@pytest.mark.parametrize("dtype", FLOATS)
def test_dropout_sets_a_share_to_0_and_scales_the_rest_up(dtype):
    value = nd.Dropout(nd.ones((100, 100), dtype=dtype), p=0.25).asnumpy()
    assert value.dtype == dtype
    kept = value[value != 0]
    np.testing.assert_allclose(kept.astype(float), 4 / 3, rtol=1e-3)
    assert 0.70 < kept.size / value.size < 0.80


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_prediction_drops_nothing_and_keeps_no_mask(p):
    x = nd.array(X)
    result = nd.Dropout(x, p=p)
    check(result, X, "float32")
    assert spec("Dropout").infer(x.aval, p=p)[1].size == 0


def test_dropout_always_drops_if_told_so_and_all_at_1():
    assert (nd.Dropout(nd.ones(1000), mode="always").asnumpy() == 0).any()
    check(nd.Dropout(nd.array(X), p=1, mode="always"), np.zeros((2, 3)), "float32")


def test_elements_along_chosen_axes_are_dropped_together():
    value = nd.Dropout(nd.ones((200, 5)), mode="always", axes=(1,)).asnumpy()
    assert {tuple(row) for row in value.tolist()} == {(0,) * 5, (2,) * 5}


def test_the_gradient_passes_where_elements_were_kept():
    op, attrs = spec("Dropout"), {"p": 0.5, "mode": "always"}
    x = np.array(X)
    result, mask = op.forward(np.random.default_rng(0), x, **attrs)
    np.testing.assert_array_equal(result, x * mask)
    rule = op.gradient
    assert rule is not None
    np.testing.assert_array_equal(rule.forward(x, mask, **attrs), x * mask)
    unchanged = rule.forward(x, np.empty(0), p=0.5)
    np.testing.assert_array_equal(unchanged, x)
    assert not np.may_share_memory(unchanged, x)


def test_seeded_dropout_repeats_itself():
    results = []
    for _ in range(2):
        mx.random.seed(3)
        results.append(nd.Dropout(nd.ones(100), mode="always").asnumpy())
    np.testing.assert_array_equal(results[0], results[1])


# Losses

HEAD = np.array([[5.0, 6, 7], [8, 9, 10]])


def softmax_output(label: Any, data: Any = X, head: Any = HEAD, **attrs: Any) -> Any:
    x, y = np.array(data, float), np.array(label, float)
    op = spec("SoftmaxOutput")
    op.infer(aval(x.shape, x.dtype), aval(y.shape, y.dtype), **attrs)
    return gradients(op, [x, y], [np.array(head)], attrs)[0]


P = np.array([shares(row) for row in X])
ONE_HOT = np.array([[0.0, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    ("label", "attrs", "expected"),
    [
        ([1, 0], {}, P - ONE_HOT),
        ([1, 0], {"grad_scale": 3.0}, 3 * (P - ONE_HOT)),
        ([1, 0], {"normalization": "batch"}, (P - ONE_HOT) / 2),
        ([1, 0], {"out_grad": True}, (P - ONE_HOT) * HEAD),
        ([1, 0], {"use_ignore": True, "ignore_label": 1.0}, (P - ONE_HOT) * [[0], [1]]),
        ([1, 0], {"normalization": "valid"}, (P - ONE_HOT) / 2),
        ([1, 0], {"normalization": "valid", "ignore_label": 1.0}, P - ONE_HOT),
        ([1, 1], {"normalization": "valid", "ignore_label": 1.0}, P - [[0, 1, 0], [0, 1, 0]]),
        ([1, 0], {"smooth_alpha": 0.5}, P - [[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]),
        ([7, -1], {}, P),
        ([[0.2, 0.5, 0.3], [0, 1, 0]], {"grad_scale": 2.0}, 2 * (P - [[0.2, 0.5, 0.3], [0, 1, 0]])),
    ],
)
def test_the_gradient_of_an_output_layer_is_that_of_its_loss(label, attrs, expected):
    np.testing.assert_allclose(softmax_output(label, **attrs), expected, atol=1e-12)


def test_classes_may_lie_on_the_second_or_the_last_axis():
    x = np.stack([X, np.flip(X)], axis=2)  # (sample, class, place)
    label = np.array([[1, 2], [0, 0]])
    by_place = np.stack([softmax_output(label[:, n], x[:, :, n]) for n in (0, 1)], axis=2)
    head = np.ones(x.shape)
    found = softmax_output(label, x, head, multi_output=True)
    np.testing.assert_allclose(found, by_place / 2, atol=1e-12)  # the mean over places
    flat = softmax_output(label, x, head, multi_output=True, normalization="valid")
    np.testing.assert_allclose(flat, by_place / 4, atol=1e-12)
    last = softmax_output(label, np.moveaxis(x, 1, 2), np.ones((2, 2, 3)), preserve_shape=True)
    np.testing.assert_allclose(np.moveaxis(last, 2, 1), by_place, atol=1e-12)


def test_labels_of_a_layer_over_many_axes_are_one_for_each_sample():
    x = np.arange(12.0).reshape(2, 3, 2) / 7
    found = nd.SoftmaxOutput(nd.array(x), nd.array([1, 5])).asnumpy()
    np.testing.assert_allclose(found.sum(axis=(1, 2)), 1, rtol=1e-6)
    with pytest.raises(ShapeError, match="preserve_shape=True"):
        nd.SoftmaxOutput(nd.array(x), nd.ones((2, 3)))


def test_the_cross_entropy_is_summed_over_samples_and_stays_finite():
    label = np.array([1.0, 0.0])
    expected = -math.log(P[0, 1]) - math.log(P[1, 0])
    found = nd.softmax_cross_entropy(nd.array(X), nd.array(label))
    check(found, [expected], "float32")
    check_gradient(spec("softmax_cross_entropy"), [np.array(X), label])
    certain = nd.softmax_cross_entropy(nd.array([[1e4, 0]]), nd.array([1]))
    check(certain, [-math.log(1e-8)], "float32")


LABEL = np.array([[-2.0, -0.5, 1], [0.5, 1, 0]])


@pytest.mark.parametrize(
    ("name", "value", "slope"),
    [
        ("LinearRegressionOutput", lambda x: x, lambda y, label: y - label),
        ("LogisticRegressionOutput", ACTIVATIONS["sigmoid"], lambda y, label: y - label),
        ("MAERegressionOutput", lambda x: x, lambda y, label: np.where(y > label, 1.0, -1.0)),
    ],
)
def test_a_regression_output_has_the_gradient_of_its_loss(name, value, slope):
    expected = each(value, X)
    check(getattr(nd, name)(nd.array(X), nd.array(LABEL)), expected, "float32")
    found = gradients(spec(name), [np.array(X), LABEL], [HEAD], {"grad_scale": 6.0})[0]
    np.testing.assert_allclose(found, 6 * slope(expected, LABEL) / 3)  # the mean of 3 outputs


def test_one_output_for_each_sample_may_have_labels_without_the_axis():
    x, label = np.array([[1.0], [2.0]]), np.array([0.5, 0.5])
    assert nd.LinearRegressionOutput(nd.array(x), nd.array(label)).shape == (2, 1)
    found = gradients(spec("LinearRegressionOutput"), [x, label], [x], {})[0]
    np.testing.assert_array_equal(found, [[0.5], [1.5]])


# The mode


def test_each_thread_predicts_until_it_is_told_to_train():
    assert not mode.is_training()
    assert mode.set_training(True) is False
    assert mode.is_training()
    assert mode.set_training(False) is True

"""Gradients of layers against central differences, and what layers cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb
import mxprof_nb.runtime as mx
from mxprof_nb.runtime.ops import aval, spec
from mxprof_nb.runtime.ops.gradient import backward, over_head
from tests.gradients import check_gradient, gradients


def numbers(*shape: int, seed: int = 0, dtype: str = "float64") -> Any:
    return np.random.default_rng(seed).permutation(np.linspace(-2, 2, int(np.prod(shape)))).reshape(
        shape
    ).astype(dtype)  # fmt: skip


WINDOWS = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1), "num_filter": 2}
LINE = {"kernel": (2,), "dilate": (2,), "num_filter": 2}


@pytest.mark.parametrize(
    ("name", "shapes", "attrs"),
    [
        ("FullyConnected", [(2, 3), (4, 3), (4,)], {"num_hidden": 4}),
        ("FullyConnected", [(2, 3, 2), (4, 6)], {"num_hidden": 4, "no_bias": True}),
        ("FullyConnected", [(2, 3, 2), (4, 2), (4,)], {"num_hidden": 4, "flatten": False}),
        ("Convolution", [(2, 2, 4, 4), (2, 2, 3, 2), (2,)], WINDOWS),
        ("Convolution", [(2, 2, 4, 4), (2, 1, 3, 2)], {**WINDOWS, "num_group": 2, "no_bias": True}),
        ("Convolution", [(1, 2, 5), (2, 2, 2), (2,)], LINE),
        ("Deconvolution", [(2, 2, 3, 3), (2, 2, 3, 2), (2,)], {**WINDOWS, "no_bias": False}),
        ("Pooling", [(2, 2, 4, 5)], {"kernel": (2, 2), "stride": (2, 2)}),
        ("Pooling", [(2, 2, 4, 5)], {"kernel": (3, 2), "pad": (1, 1)}),
        ("Pooling", [(2, 2, 4, 5)], {"kernel": (3, 2), "pad": (1, 1), "pool_type": "avg"}),
        ("Pooling", [(2, 2, 4, 5)], {"kernel": (3, 3), "stride": (2, 3), "pool_type": "sum"}),
        ("Pooling", [(2, 2, 4, 5)], {"global_pool": True}),
        ("Pooling", [(2, 2, 6)], {"kernel": (3,), "stride": (2,), "pool_type": "avg"}),
        ("LayerNorm", [(2, 3, 4), (3,), (3,)], {"axis": 1}),
        ("LayerNorm", [(5,), (5,), (5,)], {}),
        ("GroupNorm", [(2, 4, 3), (2,), (2,)], {"num_groups": 2}),
        ("InstanceNorm", [(2, 2, 4), (2,), (2,)], {}),
        ("UpSampling", [(1, 2, 2, 3)], {"scale": 2}),
    ],
)  # fmt: skip
def test_a_gradient_is_the_slope_of_its_operator(name, shapes, attrs):
    inputs = [numbers(*shape, seed=seed) for seed, shape in enumerate(shapes)]
    check_gradient(spec(name), inputs, attrs, tolerance=1e-5)


@pytest.mark.parametrize("name", ["FullyConnected", "Convolution", "Deconvolution"])
@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (1, 2)])
def test_only_wanted_gradients_are_computed(name, wanted):
    op = spec(name)
    attrs: dict[str, Any]
    if name == "FullyConnected":
        shapes, attrs = [(2, 3), (4, 3), (4,)], {"num_hidden": 4}
    else:
        shapes, attrs = [(2, 2, 4, 4), (2, 2, 3, 3), (2,)], {"kernel": (3, 3), "num_filter": 2}
        attrs |= {} if name == "Convolution" else {"no_bias": False}
    inputs = [numbers(*shape) for shape in shapes]
    head = np.ones(op.infer(*(aval(x.shape, x.dtype) for x in inputs), **attrs).shape)
    every = gradients(op, inputs, [head], attrs)
    rule = op.gradient
    assert rule is not None
    chosen = rule.forward(head, *inputs[:2], wanted=wanted, **attrs)
    for place in range(3):
        if place in wanted:
            np.testing.assert_array_equal(chosen[place], every[place])
        else:
            assert chosen[place] is None


# Cost


def test_products_are_counted_as_two_operations_for_each_weight_and_place():
    image, weight = aval((2, 3, 8, 8), "f4"), aval((4, 3, 3, 3), "f4")
    op, attrs = spec("Convolution"), {"kernel": (3, 3), "num_filter": 4, "no_bias": True}
    result = op.infer(image, weight, **attrs)
    assert op.flops((image, weight), (result,), attrs) == 2 * 27 * result.size
    rule = backward(op)
    assert rule is not None
    asked = {**attrs, "wanted": (0, 1)}
    assert rule.flops((result, image, weight), (image, weight), asked) == 4 * 27 * result.size
    data, matrix, bias = aval((5, 6), "f4"), aval((7, 6), "f4"), aval((7,), "f4")
    dense = spec("FullyConnected")
    made = dense.infer(data, matrix, bias, num_hidden=7)
    assert dense.flops((data, matrix, bias), (made,), {}) == 35 * (2 * 6 + 1)


@pytest.mark.parametrize("name", ["FullyConnected", "Convolution", "Deconvolution"])
def test_each_wanted_product_of_a_gradient_is_counted(name):
    attrs: dict[str, Any]
    if name == "FullyConnected":
        shapes, attrs = [(5, 6), (7, 6), (7,)], {"num_hidden": 7}
    else:
        shapes, attrs = [(2, 3, 6, 6), (3, 3, 2, 2), (3,)], {"kernel": (2, 2), "num_filter": 3}
    inputs = tuple(aval(shape, "f4") for shape in shapes)
    op, rule = spec(name), backward(spec(name))
    assert rule is not None
    result = op.infer(*inputs, **attrs, no_bias=False)
    taken = (result, *inputs[:2])
    forward = op.flops(inputs, (result,), attrs) - result.size  # without the bias
    for wanted in ((0,), (1,), (0, 1), (2,), (0, 1, 2)):
        made = tuple(inputs[place] for place in wanted)
        products = len(set(wanted) & {0, 1})
        expected = products * forward + (2 in wanted) * result.size
        assert rule.flops(taken, made, {**attrs, "wanted": wanted}) == expected


# Memory


@pytest.mark.parametrize("act_type", ["relu", "sigmoid", "tanh", "softrelu", "softsign"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_gradient_written_over_its_head_has_the_same_digits(act_type, dtype):
    rule = spec("Activation").gradient
    assert rule is not None
    over = over_head(rule)
    assert over is not None
    head, result = numbers(3, 4, dtype=dtype), abs(numbers(3, 4, seed=1, dtype=dtype)) / 3
    like, wanted = (aval(result.shape, result.dtype),), (0,)
    expected = rule.forward(head.copy(), result, act_type=act_type)
    found = over.forward(head, result, act_type=act_type, like=like, wanted=wanted)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    assert (found is head) == (dtype != "float16")  # which is computed in another type


def test_the_gradient_of_an_activation_lies_where_that_of_its_result_lay():
    x = mx.nd.array(numbers(300, 300, dtype="float32"))
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Activation(mx.nd.Activation(x * 2, act_type="tanh"), act_type="relu").sum()
    mx.nd.waitall()
    with mxprof_nb.profile() as p:
        y.backward()
    used = p.counters[p.counters.name == "Memory: cpu/0"].value
    assert x.grad.size * 4 <= used.max() < 1.5 * x.grad.size * 4


def test_a_head_that_the_program_gave_stays_as_it_is():
    x = mx.nd.array([-1, 2, 3])
    x.attach_grad()
    head = mx.nd.array([1, 2, 3])
    with mx.autograd.record():
        y = mx.nd.Activation(x, act_type="relu")
        z = mx.nd.Activation(y * 2, act_type="tanh")
    y.backward(head, retain_graph=True)
    mx.autograd.backward([y, z], [head, mx.nd.zeros(3)])
    assert head.asnumpy().tolist() == [1, 2, 3]
    assert x.grad.asnumpy().tolist() == [0, 2, 3]


def test_a_head_that_a_function_of_the_program_kept_stays_as_it_is():
    class Keep(mx.autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, dy):
            kept.append(dy)
            return dy

    kept: list[Any] = []
    x = mx.nd.array([-1, 2, 3])
    x.attach_grad()
    with mx.autograd.record():
        y = (Keep()(mx.nd.Activation(x, act_type="relu")) * 5).sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 5, 5]
    assert kept[0].asnumpy().tolist() == [5, 5, 5]

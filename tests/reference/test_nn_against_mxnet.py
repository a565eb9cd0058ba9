"""The operators of neural networks against real MXNet: values, gradients, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.errors import EngineError
from mxprof_nb.runtime import api, mode
from mxprof_nb.runtime.ops import OpSpec
from tests.gradients import gradients
from tests.reference.agreement import Call, graded
from tests.reference.conftest import Runtimes

types = st.sampled_from(["float32", "float64"])
flags = st.booleans()


def near(found: Any, expected: Any, told: str) -> None:
    loose = found.dtype == np.float32
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(
        found, expected, rtol=2e-4 if loose else 1e-6, atol=scale * (2e-5 if loose else 1e-7),
        err_msg=told,
    )  # fmt: skip


def numbers(draw: Any, *shape: int, dtype: str, low: float = -2, high: float = 2) -> Any:
    """Numbers no two of which are close, so that no largest element is a matter of rounding."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = int(np.prod(shape))
    return (generator.permutation(size) / max(1, size - 1) * (high - low) + low).reshape(
        shape
    ).astype(dtype)  # fmt: skip


@st.composite
def fully_connected(draw: Any) -> Call:
    dtype, no_bias, flatten = draw(types), draw(flags), draw(flags)
    shape = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    features = int(np.prod(shape[1:])) if flatten else shape[-1]
    hidden = draw(st.integers(1, 5))
    inputs = [numbers(draw, *shape, dtype=dtype), numbers(draw, hidden, features, dtype=dtype)]
    if not no_bias:
        inputs.append(numbers(draw, hidden, dtype=dtype))
    return "FullyConnected", inputs, {"num_hidden": hidden, "no_bias": no_bias, "flatten": flatten}


def pairs(draw: Any, rank: int, low: int, high: int) -> tuple[int, ...]:
    return tuple(draw(st.integers(low, high)) for _ in range(rank))


@st.composite
def convolution(draw: Any) -> Call:
    dtype, rank, group = draw(types), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    channels, filters = group * draw(st.integers(1, 3)), group * draw(st.integers(1, 3))
    kernel, stride = pairs(draw, rank, 1, 4), pairs(draw, rank, 1, 3)
    dilate, pad = pairs(draw, rank, 1, 2), pairs(draw, rank, 0, 3)
    image = pairs(draw, rank, 1, 9)
    reach = [d * (k - 1) + 1 for d, k in zip(dilate, kernel, strict=True)]
    assume(all(r <= n + 2 * p for r, n, p in zip(reach, image, pad, strict=True)))
    no_bias = draw(flags)
    inputs = [
        numbers(draw, draw(st.integers(1, 3)), channels, *image, dtype=dtype),
        numbers(draw, filters, channels // group, *kernel, dtype=dtype),
    ]
    if not no_bias:
        inputs.append(numbers(draw, filters, dtype=dtype))
    attrs = {
        "kernel": kernel,
        "stride": stride,
        "dilate": dilate,
        "pad": pad,
        "num_filter": filters,
    }
    return "Convolution", inputs, dict(**attrs, num_group=group, no_bias=no_bias)


@st.composite
def deconvolution(draw: Any) -> Call:
    dtype, group = draw(types), draw(st.integers(1, 2))
    channels, filters = group * draw(st.integers(1, 2)), group * draw(st.integers(1, 2))
    kernel, stride = pairs(draw, 2, 1, 4), pairs(draw, 2, 1, 3)
    pad = tuple(draw(st.integers(0, k - 1)) for k in kernel)
    adj = tuple(draw(st.integers(0, s - 1)) for s in stride)
    image = pairs(draw, 2, 1, 5)
    whole = [s * (n - 1) + k - 2 * p for s, n, k, p in zip(stride, image, kernel, pad, strict=True)]
    assume(min(whole) > 0)
    no_bias = draw(flags)
    inputs = [
        numbers(draw, draw(st.integers(1, 3)), channels, *image, dtype=dtype),
        numbers(draw, channels, filters // group, *kernel, dtype=dtype),
    ]
    if not no_bias:
        inputs.append(numbers(draw, filters, dtype=dtype))
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "adj": adj, "num_filter": filters}
    return "Deconvolution", inputs, dict(**attrs, num_group=group, no_bias=no_bias)


@st.composite
def pooling(draw: Any) -> Call:
    dtype, rank = draw(types), draw(st.integers(1, 2))
    kernel, stride = pairs(draw, rank, 1, 4), pairs(draw, rank, 1, 3)
    pad = tuple(draw(st.integers(0, k - 1)) for k in kernel)
    image = pairs(draw, rank, 1, 9)
    assume(all(k <= n + 2 * p for k, n, p in zip(kernel, image, pad, strict=True)))
    full = draw(flags)
    # With gaps between windows MXNet's last full window may lie outside, where it reads garbage.
    assume(not full or all(s <= k for s, k in zip(stride, kernel, strict=True)))
    attrs = {
        "kernel": kernel,
        "stride": stride,
        "pad": pad,
        "pool_type": draw(st.sampled_from(["max", "avg", "sum"])),
        "pooling_convention": "full" if full else "valid",
        "count_include_pad": draw(flags),
        "global_pool": draw(st.sampled_from([False, False, False, True])),
    }
    if full and attrs["pool_type"] == "avg":
        dtype = "float64"  # in float32 MXNet divides by other numbers going back
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 3)), *image)
    return "Pooling", [numbers(draw, *shape, dtype=dtype)], attrs


@st.composite
def batch_norm(draw: Any) -> Call:
    dtype = draw(types)
    shape = draw(st.lists(st.integers(2, 5), min_size=2, max_size=4))
    axis = draw(st.integers(1, len(shape) - 1))
    count = shape[axis]
    inputs = [
        numbers(draw, *shape, dtype=dtype),
        *(numbers(draw, count, dtype=dtype) for _ in range(3)),
        numbers(draw, count, dtype=dtype, low=0.5),
    ]
    attrs = {
        "axis": axis,
        "eps": draw(st.sampled_from([1e-3, 1e-2])),
        "momentum": draw(st.sampled_from([0.9, 0.5])),
        "fix_gamma": draw(flags),
        "use_global_stats": draw(flags),
    }
    return "BatchNorm", inputs, attrs


@st.composite
def layer_norm(draw: Any) -> Call:
    dtype = draw(types)
    shape = draw(st.lists(st.integers(2, 5), min_size=1, max_size=4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    vectors = [numbers(draw, shape[axis], dtype=dtype) for _ in range(2)]
    return "LayerNorm", [numbers(draw, *shape, dtype=dtype), *vectors], {"axis": axis}


@st.composite
def group_norm(draw: Any) -> Call:
    dtype, groups = draw(types), draw(st.integers(1, 3))
    shape = (2, groups * draw(st.integers(1, 2)), draw(st.integers(2, 5)))
    vectors = [numbers(draw, groups, dtype=dtype) for _ in range(2)]
    return "GroupNorm", [numbers(draw, *shape, dtype=dtype), *vectors], {"num_groups": groups}


@st.composite
def instance_norm(draw: Any) -> Call:
    dtype = "float32"  # MXNet has no other
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(2, 5)), 2)
    vectors = [numbers(draw, shape[1], dtype=dtype) for _ in range(2)]
    return "InstanceNorm", [numbers(draw, *shape, dtype=dtype), *vectors], {}


@st.composite
def activation(draw: Any) -> Call:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    chosen = draw(st.sampled_from(["relu", "sigmoid", "tanh", "softrelu", "softsign"]))
    x = numbers(draw, *shape, dtype=draw(types), low=-9, high=9.5)
    return "Activation", [x], {"act_type": chosen}


@st.composite
def leaky_relu(draw: Any) -> Call:
    dtype = draw(types)
    shape = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    chosen = draw(st.sampled_from(["leaky", "prelu", "elu", "selu", "gelu"]))
    inputs = [numbers(draw, *shape, dtype=dtype, low=-4, high=4.5)]
    if chosen == "prelu":
        count = draw(st.sampled_from([1, shape[1]]))
        inputs.append(numbers(draw, count, dtype=dtype, low=0.1, high=0.5))
    return "LeakyReLU", inputs, {"act_type": chosen, "slope": draw(st.sampled_from([0.25, 0.5]))}


@st.composite
def softmax(draw: Any) -> Call:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    name = draw(st.sampled_from(["softmax", "log_softmax", "softmin"]))
    attrs: dict[str, Any] = {"axis": draw(st.integers(-len(shape), len(shape) - 1))}
    if draw(flags):
        attrs["temperature"] = draw(st.sampled_from([0.5, 2.0]))
    return name, [numbers(draw, *shape, dtype=draw(types))], attrs


@st.composite
def softmax_activation(draw: Any) -> Call:
    mode = draw(st.sampled_from(["instance", "channel"]))
    # Over several axes together MXNet's gradient is wrong, and for float64 it has none.
    axes = (2, 2) if mode == "instance" else (3, 4)
    shape = draw(st.lists(st.integers(1, 4), min_size=axes[0], max_size=axes[1]))
    return "SoftmaxActivation", [numbers(draw, *shape, dtype="float32")], {"mode": mode}


@st.composite
def softmax_output(draw: Any) -> Call:
    dtype, kind = draw(types), draw(st.sampled_from(["plain", "multi_output", "preserve_shape"]))
    shape = draw(st.lists(st.integers(2, 4), min_size=2, max_size=2 if kind == "plain" else 4))
    attrs: dict[str, Any] = {
        "grad_scale": draw(st.sampled_from([1.0, 0.5])),
        "use_ignore": draw(flags),
        "ignore_label": draw(st.sampled_from([-1, 1])),
        "normalization": draw(st.sampled_from(["null", "batch", "valid"])),
        "smooth_alpha": draw(st.sampled_from([0.0, 0.0, 0.25])),
    }
    if kind != "plain":
        attrs[kind] = True
    classes = shape[1] if kind == "multi_output" else shape[-1]
    places = [shape[0], *shape[2:]] if kind == "multi_output" else shape[:-1]
    if draw(flags):
        label = numbers(draw, *shape, dtype=dtype, low=0, high=1)
        attrs["smooth_alpha"] = 0.0
    else:
        generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        label = generator.integers(-1, classes + 1, places).astype(dtype)
        assume(not (attrs["smooth_alpha"] and attrs["normalization"] == "valid"))
    return "SoftmaxOutput", [numbers(draw, *shape, dtype=dtype), label], attrs


@st.composite
def cross_entropy(draw: Any) -> Call:
    dtype, samples, classes = draw(types), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    label = (np.arange(samples) * 7 % classes).astype(dtype)
    return "softmax_cross_entropy", [numbers(draw, samples, classes, dtype=dtype), label], {}


@st.composite
def regression(draw: Any) -> Call:
    name = draw(st.sampled_from(["Linear", "Logistic", "MAE"])) + "RegressionOutput"
    dtype = draw(types)
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    inputs = [numbers(draw, *shape, dtype=dtype), numbers(draw, *shape, dtype=dtype, high=2.5)]
    return name, inputs, {"grad_scale": draw(st.sampled_from([1.0, 2.0]))}


@st.composite
def up_sampling(draw: Any) -> Call:
    shape = [draw(st.integers(1, 3)) for _ in range(4)]
    attrs = {"scale": draw(st.integers(1, 3)), "sample_type": "nearest"}
    return "UpSampling", [numbers(draw, *shape, dtype=draw(types))], attrs


CALLS = [
    fully_connected(),
    convolution(),
    deconvolution(),
    pooling(),
    batch_norm(),
    layer_norm(),
    group_norm(),
    instance_norm(),
    activation(),
    leaky_relu(),
    softmax(),
    softmax_activation(),
    softmax_output(),
    cross_entropy(),
    regression(),
    up_sampling(),
]


class Invoked:
    """The operator called last, and its attributes."""

    op: OpSpec
    attrs: dict[str, Any]


@pytest.fixture
def invoked(monkeypatch) -> Invoked:
    seen = Invoked()
    invoke = api.invoke

    def noting(op, inputs, attrs=(), *rest):
        seen.op, seen.attrs = op, dict(attrs)
        return invoke(op, inputs, attrs, *rest)

    monkeypatch.setattr(api, "invoke", noting)
    return seen


@pytest.fixture
def training() -> Iterator[None]:
    before = mode.set_training(True)
    yield
    mode.set_training(before)


@pytest.mark.parametrize("calls", CALLS, ids=lambda calls: calls.function.__name__)
@pytest.mark.usefixtures("training")
@given(data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_and_gradients_are_those_of_mxnet(
    runtimes: Runtimes, calls: Any, data: Any, invoked: Invoked
):
    name, inputs, attrs = data.draw(calls)
    given_inputs = [x.copy() for x in inputs]
    made = getattr(mx.nd, name)(*(mx.nd.array(x, dtype=x.dtype) for x in inputs), **attrs)
    found = made.asnumpy()
    head = np.cos(np.arange(found.size)).reshape(found.shape).astype(found.dtype)
    rule = invoked.op.gradient
    assert rule is not None
    wrt = tuple(range(len(inputs))) if rule.wrt is None else rule.wrt
    (value, *_), of_inputs, after = graded(runtimes, (name, given_inputs, attrs), wrt, head)
    assert (value.shape, value.dtype) == (found.shape, found.dtype)
    near(found, value, name)
    heads = [head, *[None] * 3]
    for place, gradient in gradients(invoked.op, inputs, heads, invoked.attrs).items():
        if attrs.get("act_type") != "selu":  # MXNet multiplies by its scale twice
            near(gradient, of_inputs[place], f"{name}, gradient for input {place}")
    for place, then in enumerate(after):
        if name == "BatchNorm" and place == 1 and attrs["fix_gamma"]:
            continue  # MXNet also writes 1 to gamma
        near(inputs[place], then, f"{name}, input {place} afterwards")


ones = np.ones
F = np.float32
IMAGE = ones((2, 3, 6, 6), F)
WEIGHT = ones((4, 3, 3, 3), F)
THREE = {"kernel": (3, 3), "num_filter": 4}
BAD: list[Call] = [
    ("FullyConnected", [ones((2, 3), F), ones((4, 5), F), ones(4, F)], {"num_hidden": 4}),
    ("FullyConnected", [ones((2, 3), F), ones((4, 3), F), ones(5, F)], {"num_hidden": 4}),
    ("FullyConnected", [ones((2, 3), F), ones((4, 3), F), ones(4, F)], {"num_hidden": 3}),
    ("FullyConnected", [ones((2, 3), F), ones((4, 3), F), ones(4, F)], {}),
    ("FullyConnected", [ones((2, 3), F), ones((4, 3), F)], {"num_hidden": 4}),
    ("FullyConnected", [ones((2, 3), F), ones((4, 3)), ones(4, F)], {"num_hidden": 4}),
    ("FullyConnected", [ones((2, 3), int), ones((4, 3), int), ones(4, int)], {"num_hidden": 4}),
    ("Convolution", [IMAGE, WEIGHT, ones(4, F)], {"kernel": (2, 2), "num_filter": 4}),
    ("Convolution", [IMAGE, WEIGHT, ones(4, F)], {"kernel": (3, 3), "num_filter": 5}),
    ("Convolution", [IMAGE, WEIGHT, ones(4, F)], {**THREE, "num_group": 2}),
    ("Convolution", [IMAGE, WEIGHT, ones(4, F)], {**THREE, "stride": (0, 1)}),
    ("Convolution", [IMAGE, WEIGHT, ones(4, F)], {"kernel": (3,), "num_filter": 4}),
    ("Convolution", [IMAGE, WEIGHT], {**THREE}),
    ("Convolution", [IMAGE[:, :, :2], WEIGHT, ones(4, F)], {**THREE}),
    ("Deconvolution", [IMAGE, ones((3, 2, 3, 3), F)], {"kernel": (3, 3), "num_filter": 3}),
    ("Deconvolution", [IMAGE, ones((3, 2, 3, 3), F)], {**THREE, "num_filter": 2, "adj": (1, 1)}),
    ("Pooling", [IMAGE], {"kernel": (9, 9)}),
    ("Pooling", [IMAGE], {"kernel": (2, 2), "pad": (2, 2)}),
    ("Pooling", [IMAGE], {"kernel": (2,)}),
    ("Pooling", [IMAGE], {}),
    ("Pooling", [IMAGE], {"kernel": (2, 2), "pool_type": "median"}),
    ("Pooling", [IMAGE.astype(int)], {"kernel": (2, 2)}),
    ("Pooling", [ones((2, 3), F)], {"kernel": (2, 2)}),
    ("LayerNorm", [IMAGE, ones(5, F), ones(5, F)], {}),
    ("LayerNorm", [IMAGE, ones(6, F), ones(6, F)], {"axis": 7}),
    ("GroupNorm", [IMAGE, ones(2, F), ones(2, F)], {"num_groups": 2}),
    ("Activation", [IMAGE], {"act_type": "swish"}),
    ("Activation", [IMAGE.astype(int)], {"act_type": "relu"}),
    ("Activation", [IMAGE], {}),
    ("LeakyReLU", [ones((2, 4), F), ones(3, F)], {"act_type": "prelu"}),
    ("LeakyReLU", [IMAGE], {"act_type": "cubic"}),
    ("softmax", [IMAGE], {"axis": 4}),
    ("softmax", [IMAGE.astype(int)], {}),
    ("log_softmax", [IMAGE], {"axis": -5}),
    ("SoftmaxOutput", [ones((2, 3), F), ones(3, F)], {}),
    ("SoftmaxOutput", [ones((2, 3), F), ones(2)], {}),
    ("SoftmaxOutput", [IMAGE, ones(2, F)], {"multi_output": True}),
    ("softmax_cross_entropy", [ones((2, 3), F), ones(3, F)], {}),
    ("softmax_cross_entropy", [IMAGE, ones(2, F)], {}),
    ("LinearRegressionOutput", [ones((2, 3), F), ones(2, F)], {}),
    ("MAERegressionOutput", [ones((2, 3), F), ones((3, 2), F)], {}),
    ("Dropout", [IMAGE], {"p": 2.0}),
    ("Dropout", [IMAGE], {"mode": "sometimes"}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "attrs"), BAD)
def test_what_mxnet_refuses_is_refused_at_the_call(runtimes, name, inputs, attrs):
    assert "MXNetError" in runtimes.real().call(f"nd.{name}", inputs, **attrs).error
    with pytest.raises(EngineError, match=name):
        getattr(mx.nd, name)(*(mx.nd.array(x, dtype=x.dtype) for x in inputs), **attrs)

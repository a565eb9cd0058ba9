"""Layers with weights: products, windows, norms, against loops; and what they refuse."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime import pool
from mxprof_nb.runtime.ops import spec
from mxprof_nb.runtime.ops.nn import unfolding
from tests.gradients import gradients
from tests.values import FLOATS, check

nd: Any = mx.nd


def numbers(*shape: int, seed: int = 0, dtype: str = "float64") -> Any:
    return np.random.default_rng(seed).permutation(np.linspace(-2, 2, int(np.prod(shape)))).reshape(
        shape
    ).astype(dtype)  # fmt: skip


def arrays(*values: Any) -> Any:
    return [nd.array(x, dtype=x.dtype) for x in values]


# FullyConnected


@pytest.mark.parametrize("dtype", FLOATS)
def test_each_sample_is_multiplied_with_the_weights(dtype):
    x, w, b = (numbers(*s, dtype=dtype) for s in ((3, 2, 2), (5, 4), (5,)))
    expected = [
        [sum(w[h, f] * x[n].ravel()[f] for f in range(4)) + b[h] for h in range(5)]
        for n in range(3)
    ]
    check(nd.FullyConnected(*arrays(x, w, b), num_hidden=5), expected, dtype)
    found = nd.FullyConnected(*arrays(x, w), num_hidden=5, no_bias=True)
    check(found, np.subtract(expected, b), dtype)


def test_without_flatten_only_the_last_axis_is_multiplied():
    x, w, b = numbers(3, 2, 4), numbers(5, 4), numbers(5)
    result = nd.FullyConnected(*arrays(x, w, b), num_hidden=5, flatten=False)
    check(result, np.einsum("abf,hf->abh", x, w) + b, "float64")


def test_the_error_names_operator_argument_and_shapes():
    with pytest.raises(ShapeError) as found:
        nd.FullyConnected(nd.ones((2, 3)), nd.ones((4, 5)), nd.ones(4), num_hidden=4)
    for told in ("FullyConnected", "weight", "(4, 3)", "float32[4, 5]"):
        assert told in str(found.value)


@pytest.mark.parametrize("bias", [None, nd.ones(4)])
def test_a_bias_is_given_or_renounced(bias):
    with pytest.raises(ShapeError, match="either a bias or no_bias=True"):
        nd.FullyConnected(
            nd.ones((2, 3)), nd.ones((4, 3)), bias, num_hidden=4, no_bias=bias is not None
        )


# Convolution


def convolved(x: Any, w: Any, b: Any, stride: Any, dilate: Any, pad: Any, groups: int) -> Any:
    """Convolve the slow way, one product after the other."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in pad)])
    filters, channels, *kernel = w.shape
    reach = [d * (k - 1) + 1 for d, k in zip(dilate, kernel, strict=True)]
    places = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride, strict=True)]
    result = np.empty((len(x), filters, *places))
    for n, f, i, j in np.ndindex(*result.shape):
        group = f // (filters // groups)
        total = b[f]
        for c, k, m in np.ndindex(channels, *kernel):
            y, z = i * stride[0] + k * dilate[0], j * stride[1] + m * dilate[1]
            total += w[f, c, k, m] * x[n, group * channels + c, y, z]
        result[n, f, i, j] = total
    return result


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("kernel", "stride", "dilate", "pad", "groups"),
    [
        ((3, 3), (1, 1), (1, 1), (0, 0), 1),
        ((1, 1), (1, 1), (1, 1), (0, 0), 1),
        ((3, 1), (1, 1), (1, 1), (0, 0), 2),
        ((3, 2), (2, 3), (1, 1), (1, 2), 1),
        ((2, 3), (3, 2), (2, 1), (2, 1), 2),
        ((3, 3), (2, 2), (2, 2), (3, 3), 4),
        ((2, 2), (5, 5), (1, 1), (0, 0), 1),
    ],
)
def test_a_filter_sees_every_window(kernel, stride, dilate, pad, groups, dtype):
    x, w, b = (numbers(*s, dtype=dtype) for s in ((2, 4, 6, 7), (4, 4 // groups, *kernel), (4,)))
    attrs = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad}
    result = nd.Convolution(*arrays(x, w, b), num_filter=4, num_group=groups, **attrs)
    expected = convolved(x.astype(float), w, b, stride, dilate, pad, groups)
    value = result.asnumpy()
    assert (value.shape, value.dtype) == (expected.shape, np.dtype(dtype))
    tolerance = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-13}[dtype]
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=10 * tolerance)


def test_a_convolution_over_one_axis_is_one_over_an_image_of_one_row():
    x, w, b = numbers(2, 3, 9), numbers(4, 3, 3), numbers(4)
    line = nd.Convolution(*arrays(x, w, b), kernel=3, stride=2, pad=1, num_filter=4)
    expected = convolved(x[:, :, None], w[:, :, None], b, (1, 2), (1, 1), (0, 1), 1)
    check(line, expected[:, :, 0], "float64")


@pytest.mark.parametrize("samples", [1, 5])
def test_samples_are_unfolded_in_blocks_with_the_same_result(samples, monkeypatch):
    x, w, b = numbers(samples, 2, 6, 6), numbers(3, 2, 3, 3), numbers(3)
    op, attrs = spec("Convolution"), {"kernel": (3, 3), "num_filter": 3, "pad": (1, 1)}
    head = numbers(samples, 3, 6, 6, seed=1)
    whole = op.forward(x, w, b, **attrs)
    expected = gradients(op, [x, w, b], [head], attrs)
    monkeypatch.setattr(unfolding, "BLOCK", 2 * 8 * 2 * 3 * 8 * 6)  # two samples
    np.testing.assert_allclose(op.forward(x, w, b, **attrs), whole, atol=1e-13)
    for place, gradient in gradients(op, [x, w, b], [head], attrs).items():
        np.testing.assert_allclose(gradient, expected[place], atol=1e-12)


@pytest.mark.parametrize(
    ("attrs", "told"),
    [
        ({"kernel": (3, 3, 3)}, "as many axes of space"),
        ({"kernel": (3, 3), "stride": (1, 1, 1)}, "stride"),
        ({"kernel": (3, 3), "pad": (-1, 0)}, "pad"),
        ({"kernel": (3, 3), "num_group": 2}, "num_group=2 must divide 3 channels"),
        ({"kernel": (3, 3), "layout": "NHWC"}, "NCHW"),
        ({"kernel": (3, 3), "dilate": (4, 4)}, "larger than the padded image"),
    ],
)
def test_a_convolution_says_what_does_not_fit(attrs, told):
    x, w, b = nd.ones((2, 3, 6, 6)), nd.ones((4, 3, 3, 3)), nd.ones(4)
    with pytest.raises(ArgumentError, match="Convolution") as found:
        nd.Convolution(x, w, b, num_filter=4, **attrs)
    assert told in str(found.value)


def test_deconvolution_gives_back_the_shape_that_a_convolution_took():
    x, w = numbers(2, 3, 4, 5), numbers(3, 2, 3, 3)
    result = nd.Deconvolution(
        *arrays(x, w), kernel=(3, 3), stride=(2, 2), pad=(1, 1), adj=(1, 0), num_filter=2
    )
    expected = np.zeros((2, 2, 10, 11))
    for n, c, i, j in np.ndindex(*x.shape):
        expected[n, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += x[n, c, i, j] * w[c]
    check(result, expected[:, :, 1:9, 1:10], "float64")
    target = nd.Deconvolution(
        *arrays(x, w), kernel=(3, 3), stride=(2, 2), target_shape=(8, 9), num_filter=2
    )
    assert target.shape == (2, 2, 8, 9)
    np.testing.assert_allclose(target.asnumpy(), expected[:, :, 1:9, 1:10], atol=1e-13)


# Pooling


def pooled(x: Any, places: Any, kernel: Any, stride: Any, pad: Any, pool_type: str) -> Any:
    result = np.empty((*x.shape[:2], *places))
    for n, c, i, j in np.ndindex(*result.shape):
        rows = [i * stride[0] - pad[0] + k for k in range(kernel[0])]
        columns = [j * stride[1] - pad[1] + k for k in range(kernel[1])]
        window = [
            x[n, c, y, z]
            for y, z in itertools.product(rows, columns)
            if 0 <= y < x.shape[2] and 0 <= z < x.shape[3]
        ]
        # Padding counts, what lies beyond it does not.
        counted = sum(
            y < x.shape[2] + pad[0] and z < x.shape[3] + pad[1]
            for y, z in itertools.product(rows, columns)
        )
        result[n, c, i, j] = max(window) if pool_type == "max" else sum(window)
        if pool_type == "avg":
            result[n, c, i, j] /= counted
    return result


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("pool_type", ["max", "avg", "sum"])
@pytest.mark.parametrize(
    ("kernel", "stride", "pad", "convention", "places"),
    [
        ((2, 2), (2, 2), (0, 0), "valid", (3, 3)),
        ((2, 2), (2, 2), (0, 0), "full", (4, 3)),
        ((3, 2), (1, 2), (1, 1), "valid", (7, 4)),
        ((3, 3), (2, 2), (1, 0), "full", (4, 3)),
        ((1, 1), (3, 2), (0, 0), "valid", (3, 3)),
    ],
)
def test_each_window_gives_one_number(pool_type, kernel, stride, pad, convention, places, dtype):
    x = numbers(2, 2, 7, 6, dtype=dtype)
    result = nd.Pooling(
        *arrays(x),
        kernel=kernel,
        stride=stride,
        pad=pad,
        pool_type=pool_type,
        pooling_convention=convention,
    )
    check(result, pooled(x.astype(float), places, kernel, stride, pad, pool_type), dtype)


def test_a_mean_need_not_count_the_padding():
    x = nd.ones((1, 1, 4, 4))
    attrs: dict[str, Any] = {"kernel": (3, 3), "pad": (1, 1), "pool_type": "avg"}
    check(nd.Pooling(x, count_include_pad=False, **attrs), np.ones((1, 1, 4, 4)), "float32")
    assert nd.Pooling(x, **attrs).asnumpy()[0, 0, 0, 0] == pytest.approx(4 / 9)


@pytest.mark.parametrize(("pool_type", "function"), [("max", np.max), ("avg", np.mean)])
def test_a_global_window_covers_everything_whatever_the_kernel(pool_type, function):
    x = numbers(2, 3, 4, 5)
    result = nd.Pooling(*arrays(x), kernel=(2, 2), global_pool=True, pool_type=pool_type)
    check(result, function(x, axis=(2, 3), keepdims=True), "float64")


def test_the_convention_same_gives_as_many_windows_as_the_stride_allows():
    x = numbers(1, 1, 7, 6)
    attrs: dict[str, Any] = {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "same"}
    expected = pooled(x, (4, 3), (3, 3), (2, 2), (1, 0), "max")
    check(nd.Pooling(*arrays(x), **attrs), expected, "float64")
    with pytest.raises(ShapeError, match="chooses pad itself"):
        nd.Pooling(nd.ones((1, 1, 7, 6)), pad=(1, 1), **attrs)


@pytest.mark.parametrize("everything", [False, True])
def test_the_first_of_several_largest_elements_gets_the_gradient(everything):
    x = np.array([[[[1.0, 1, 2, 2], [1, 1, 2, 2]]]])
    attrs = {"kernel": (2, 2), "stride": (2, 2), "global_pool": everything}
    head = np.array([[[[7.0]]]]) if everything else np.array([[[[5.0, 7.0]]]])
    found = gradients(spec("Pooling"), [x], [head], attrs)[0]
    expected = [[0 if everything else 5, 0, 7, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(found[0, 0], expected)


# UpSampling


def test_an_image_is_enlarged_by_repeating_its_elements():
    x = np.array([[[[1.0, 2], [3, 4]]]])
    expected = np.repeat(np.repeat(x, 3, axis=2), 3, axis=3)
    check(nd.UpSampling(*arrays(x), scale=3, sample_type="nearest"), expected, "float64")
    with pytest.raises(ShapeError, match="nearest"):
        nd.UpSampling(*arrays(x), scale=3, sample_type="bilinear")


# Refusals

IMAGE = nd.ones((2, 4, 6, 6))
VOLUME = nd.ones((2, 4, 6, 6, 6))
FILTERS = nd.ones((4, 2, 3, 3))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nd.Pooling(nd.ones((2, 3)), kernel=(2, 2)), "one or two axes more"),
        (lambda: nd.Pooling(IMAGE), "one number for each axis"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), stride=(0, 1)), "must be 1 or more"),
        (lambda: nd.Pooling(IMAGE, kernel=(9, 9)), "larger than the padded image"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), pad=(2, 2)), "smaller than the window"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), layout="NHWC"), "NCHW"),
        (lambda: nd.Pooling(IMAGE, kernel=(2, 2), pool_type="lp"), "none of avg, max, sum"),
        (lambda: nd.Deconvolution(IMAGE, FILTERS, kernel=3, num_filter=2), "as many axes"),
        (lambda: nd.Deconvolution(VOLUME, FILTERS, kernel=3, num_filter=2), "three axes of space"),
        (lambda: nd.Convolution(VOLUME, FILTERS, kernel=3, num_filter=2), "three axes of space"),
        (lambda: nd.Pooling(VOLUME, kernel=3), "three axes of space"),
        (
            lambda: nd.Deconvolution(IMAGE, FILTERS, nd.ones(2), kernel=(3, 3), num_filter=2),
            "either a bias or no_bias=True",
        ),
        (
            lambda: nd.Deconvolution(IMAGE, FILTERS, kernel=(3, 3), num_filter=2, adj=(1, 0)),
            "smaller than the stride",
        ),
        (
            lambda: nd.Deconvolution(IMAGE, FILTERS, kernel=(3, 3), num_filter=2, num_group=3),
            "num_group=3 must divide",
        ),
        (
            lambda: nd.Deconvolution(IMAGE, FILTERS, kernel=(3, 3), num_filter=2, pad=(4, 4)),
            "its result would have",
        ),
        (lambda: nd.UpSampling(nd.ones((2, 3)), scale=2), "data must have shape"),
        (lambda: nd.UpSampling(IMAGE, scale=0), "scale=0 must be 1 or more"),
        (lambda: nd.GroupNorm(nd.ones((2, 3)), nd.ones(1), nd.ones(1)), "sample, channel"),
        (lambda: nd.GroupNorm(IMAGE, nd.ones(3), nd.ones(3), num_groups=3), "must divide"),
        (lambda: nd.InstanceNorm(nd.ones((2, 3)), nd.ones(3), nd.ones(3)), "sample, channel"),
        (lambda: nd.SoftmaxActivation(nd.ones(3)), "needs 2 axes"),
        (lambda: nd.SoftmaxActivation(nd.ones((2, 3)), mode="channel"), "needs 3 axes"),
        (lambda: nd.SoftmaxOutput(nd.ones(3), nd.ones(3)), "an axis of samples"),
    ],
)
def test_a_layer_says_what_does_not_fit(call, told):
    with pytest.raises(ArgumentError, match=re.escape(told)):
        call()


# Memory


def test_large_results_lie_in_blocks_of_the_pool():
    x = np.ones((8, 16, 32, 32), np.float32)
    for name, attrs in (("Pooling", {"kernel": (1, 1)}), ("Activation", {"act_type": "relu"})):
        made = spec(name).forward(x, **attrs)
        assert made.base is not None
        assert pool.owned(made)

"""Calls that cannot be carried out say so where they stand, and what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, EngineError, OperatorError, ShapeError
from mxprof_nb.runtime.nd.absent import ABSENT

nd = mx.nd
X = nd.array([[1, 2], [3, 4]])


@pytest.mark.parametrize(
    "call",
    [
        lambda device: nd.array([1], ctx=device),
        lambda device: nd.empty(2, device=device),
        lambda device: nd.zeros(2, ctx=device),
        lambda device: nd.full(2, 3, ctx=device),
        lambda device: nd.arange(3, ctx=device),
        lambda device: nd.linspace(0, 1, 3, device=device),
        lambda device: nd.eye(2, ctx=device),
        lambda device: nd.random.normal(shape=2, ctx=device),
        lambda device: nd.random_uniform(shape=2, device=device),
        lambda device: nd.random.seed(1, ctx=device),
    ],
)
def test_a_device_is_a_context_and_not_its_name(call):
    with pytest.raises(TypeError, match=r"ctx='cpu\(1\)' is str, no Context.*mx\.cpu\(1\)"):
        call("cpu(1)")
    call(mx.cpu(1))


@pytest.mark.parametrize(
    ("call", "operator", "parameter"),
    [
        (lambda: nd.FullyConnected(X, X, X), "FullyConnected", "num_hidden"),
        (lambda: nd.Convolution(X, X, X), "Convolution", "kernel"),
        (lambda: nd.Convolution(X, X, X, kernel=3), "Convolution", "num_filter"),
        (lambda: nd.Deconvolution(X, X), "Deconvolution", "kernel"),
        (lambda: nd.Deconvolution(X, X, kernel=3), "Deconvolution", "num_filter"),
        (lambda: nd.Activation(X), "Activation", "act_type"),
        (lambda: nd.UpSampling(X), "UpSampling", "scale"),
    ],
)
def test_a_parameter_without_default_is_asked_for(call, operator, parameter):
    told = rf"^{operator}: the required parameter {parameter} is missing: \w.*{parameter}="
    with pytest.raises(ArgumentError, match=told):
        call()


def test_what_is_wrong_with_a_parameter_is_said_without_inputs():
    with pytest.raises(ArgumentError, match=r"^Pooling: pool_type='most' is none of") as found:
        nd.Pooling(X, kernel=2, pool_type="most")
    assert isinstance(found.value, mx.MXNetError)
    assert isinstance(found.value, ValueError)


@pytest.mark.parametrize("axis", ["x", 0.5, [[0]], (0, "x")])
@pytest.mark.parametrize("name", ["sum", "max", "norm", "argmax", "sort"])
def test_an_axis_that_is_no_number_is_refused_by_the_operator(name: str, axis: Any):
    told = rf"{name} got float32\[2, 2\]: ax.* (is no whole number|one number or None)"
    with pytest.raises(ArgumentError, match=told):
        getattr(nd, name)(X, axis=axis)


#: The functions without their types, as wrong calls are meant here.
loose: Any = mx.nd


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: loose.tile(X, "a"), r"tile got float32\[2, 2\]: reps: 'a' is no whole number"),
        (
            lambda: loose.expand_dims(X, axis=1.5),
            r"expand_dims got .*: axis=1\.5 is no whole number",
        ),
        (lambda: loose.concat(X, X, dim=None), r"Concat got .*: dim=None is no whole number"),
        (
            lambda: loose.slice_axis(X, axis=0, begin="a", end=1),
            "slice_axis got .*: begin='a' is no",
        ),
        (
            lambda: loose.softmax(X, temperature=[1]),
            r"softmax got .*: temperature=\[1\] is no number",
        ),
        (lambda: loose.sum(X, keepdims="False"), "sum got .*: keepdims='False' is no truth value"),
        (lambda: loose.sum(X, axis=0, exclude=X), r"sum got .*: exclude=the array float32\[2, 2\]"),
        (
            lambda: loose.Activation(X, act_type=["relu"]),
            "Activation got .*: act_type=.* is of type",
        ),
        (lambda: loose.clip(X, "a", 1), "clip: a_min='a' is no number"),
        (lambda: loose.ones(2).clip(0, None), "clip: a_max=None is no number"),
        (lambda: loose.moveaxis(X, "a", 0), "moveaxis: source a and destination 0"),
        (lambda: loose.split_v2(X, 2, axis="a"), "_split_v2 got .*: axis='a' is no whole number"),
        (lambda: loose.random.uniform("a"), "uniform: low='a' is no number"),
        (lambda: loose.random.exponential("a"), "exponential: scale='a' is no number"),
        (lambda: loose.random.randint(0.5, 5), r"randint: low=0\.5 is no whole number"),
        (lambda: loose.random.normal_like(X, 0, None), "normal: scale=None is no number"),
        (lambda: loose.random.seed("a"), "seed: seed_state='a' is no whole number"),
    ],
)
def test_a_parameter_of_another_kind_is_refused_by_operator_and_name(call: Any, told: str):
    with pytest.raises(ArgumentError, match=f"^{told}"):
        call()


@pytest.mark.parametrize("dtype", ["x", 1.5, {}])
def test_a_type_of_elements_that_there_is_not_is_told_as_one(dtype: Any):
    for call in (loose.log_softmax, loose.cumsum, loose.cast, loose.argsort):
        with pytest.raises(TypeError, match=r"^dtype .* must be one of float16"):
            call(X, dtype=dtype)


EMPTY: Any = nd.zeros((0, 3))
TRUTH: Any = nd.ones((2, 2), dtype="bool")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: nd.mean(EMPTY.astype("int8"), axis=0), [0, 0, 0]),
        (lambda: nd.mean(EMPTY.astype("int32")), [0]),
        (lambda: loose.random.multinomial(EMPTY, shape=2).sum(axis=0), [0, 0]),
        (lambda: nd.SoftmaxActivation(EMPTY).sum(axis=0), [0, 0, 0]),
    ],
)
def test_no_elements_make_a_result_without_a_warning(call: Any, expected: list[float]):
    assert call().tolist() == expected


@pytest.mark.parametrize(
    ("call", "operator"),
    [
        (lambda: nd.random.multinomial(nd.zeros((3, 0))), "_sample_multinomial"),
        (lambda: nd.random.multinomial(TRUTH), "_sample_multinomial"),
        (lambda: nd.random.uniform(TRUTH, TRUTH), "_sample_uniform"),
        (lambda: nd.Embedding(X, EMPTY, input_dim=0, output_dim=3), "Embedding"),
        (lambda: nd.softmax(X, dtype="int64"), "softmax"),
        (lambda: nd.log_softmax(X, dtype="bool"), "log_softmax"),
    ],
)
def test_what_no_kernel_can_compute_is_refused_at_the_call(call: Any, operator: str):
    with pytest.raises(ShapeError, match=f"^{operator} got "):
        call()


def test_several_results_are_written_to_a_list_of_arrays_only():
    for out in (1.5, nd.zeros((2, 2))):
        with pytest.raises(TypeError, match="SliceChannel: out must be a list of NDArrays"):
            loose.split(X, 2, out=out)


def test_exponential_numbers_of_mean_0_are_0():
    assert nd.random.exponential(0, shape=2).asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("out", [np.zeros((2, 2)), [1, 2], 3])
def test_results_are_written_to_arrays_of_ours_only(out: Any):
    told = r": out must be an NDArray to write to, not \w+\. Make one with nd\.empty"
    with pytest.raises(TypeError, match=f"exp{told}"):
        nd.exp(X, out=out)
    with pytest.raises(TypeError, match=f"sum{told}"):
        X.sum(out=out)
    with pytest.raises(TypeError, match=f"_random_uniform{told}"):
        nd.random.uniform(out=out)
    with pytest.raises(TypeError, match=f"SliceChannel{told}"):
        nd.split(X, num_outputs=2, out=[X, out])


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "argmax", "argmin"])
def test_numpy_hands_its_reductions_over_to_the_array(name: str, axis: int | None):
    found: Any = getattr(np, name)(X, axis=axis)
    assert isinstance(found, nd.NDArray)
    expected = getattr(np, name)(X.asnumpy(), axis=axis)
    np.testing.assert_array_equal(found.asnumpy(), np.atleast_1d(expected))
    target = nd.empty(found.shape)
    assert getattr(np, name)(X, axis=axis, out=target) is target
    assert target.tolist() == found.tolist()


def test_numpy_may_ask_for_a_mean_in_another_type():
    found: Any = np.mean(nd.array([1, 2], dtype="int32"), dtype="float64")
    assert (found.dtype, found.tolist()) == (np.float64, [1.5])


def test_an_unknown_name_is_met_with_the_closest_known_one():
    with pytest.raises(AttributeError, match=r"'softmaxx'\. Did you mean 'softmax'"):
        nd.softmaxx  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no 'qqqq'\.$"):
        nd.qqqq  # noqa: B018
    assert not hasattr(nd, "__wrapped__")


def test_what_only_mxnet_has_is_said_to_be_absent_here():
    with pytest.raises(AttributeError, match=r"nd\.RNN: MXNet 1\.9\.1 has it, .* does not"):
        nd.RNN  # noqa: B018
    with pytest.raises(AttributeError, match=r"see mx\.nd\.linalg\.gemm2"):
        nd.linalg_gemm2  # noqa: B018
    assert not ABSENT & {*dir(nd)}


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" * 10])
def test_a_file_of_something_else_is_said_to_be_no_file_of_arrays(content: bytes, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(EngineError, match=r"no file of arrays.*nd\.save.*byte 0"):
        nd.load(path)


@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_that_is_no_class_is_refused(label: int):
    loss = nd.softmax_cross_entropy(nd.ones((2, 3)), nd.array([0, label]))
    with pytest.raises(OperatorError, match=f"label {label} of sample 1 is none of 3 classes"):
        loss.asnumpy()

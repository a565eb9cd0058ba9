"""Calls of the operators of neural networks, for laws that hold for every operator."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.runtime.nd import NDArray

__all__ = ["CALLS"]

Call = tuple[list[NDArray], dict[str, Any], tuple[Any, ...]]

floats = st.sampled_from(["float16", "float32", "float64"])
flags = st.booleans()
extents = st.integers(1, 4)


def array(shape: Any, dtype: str = "float32") -> NDArray:
    values = np.arange(int(np.prod(shape))) % 5 - 1
    return mx.nd.array(values.reshape(shape), dtype=dtype)


@st.composite
def fully_connected(draw: Any) -> Call:
    dtype, flatten = draw(floats), draw(flags)
    shape = draw(st.lists(extents, min_size=2, max_size=3))
    features = int(np.prod(shape[1:])) if flatten else shape[-1]
    inputs = [array(shape, dtype), array((3, features), dtype), array(3, dtype)]
    return inputs, {"num_hidden": 3, "flatten": flatten}, ()


@st.composite
def convolution(draw: Any) -> Call:
    dtype, rank, group = draw(floats), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    kernel = tuple(draw(extents) for _ in range(rank))
    image = tuple(k + draw(st.integers(0, 3)) for k in kernel)
    attrs = {
        "kernel": kernel,
        "stride": tuple(draw(extents) for _ in range(rank)),
        "pad": tuple(draw(st.integers(0, 2)) for _ in range(rank)),
        "num_filter": 2,
        "num_group": group,
    }
    inputs = [array((2, 2, *image), dtype), array((2, 2 // group, *kernel), dtype), array(2, dtype)]
    return inputs, attrs, ()


@st.composite
def deconvolution(draw: Any) -> Call:
    (data, weight, _), attrs, _ = draw(convolution())
    attrs["pad"] = tuple(0 for _ in attrs["pad"])
    return [data, weight], {**attrs, "num_filter": weight.shape[1] * attrs["num_group"]}, ()


@st.composite
def pooling(draw: Any) -> Call:
    rank = draw(st.integers(1, 2))
    kernel = tuple(draw(extents) for _ in range(rank))
    image = tuple(k + draw(st.integers(0, 3)) for k in kernel)
    attrs = {
        "kernel": kernel,
        "stride": tuple(draw(extents) for _ in range(rank)),
        "pad": tuple(draw(st.integers(0, k - 1)) for k in kernel),
        "pool_type": draw(st.sampled_from(["avg", "max", "sum"])),
        "pooling_convention": draw(st.sampled_from(["full", "valid"])),
        "global_pool": draw(flags),
    }
    return [array((2, 2, *image), draw(floats))], attrs, ()


@st.composite
def batch_norm(draw: Any) -> Call:
    dtype = draw(floats)
    shape = (2, 3, *draw(st.lists(extents, max_size=2)))
    of_channels = "float32" if dtype == "float16" else dtype
    vectors = [array(3, of_channels) for _ in range(3)] + [mx.nd.ones(3, dtype=of_channels)]
    attrs = {"train": draw(flags), "fix_gamma": draw(flags), "use_global_stats": draw(flags)}
    return [array(shape, dtype), *vectors], attrs, ()


@st.composite
def layer_norm(draw: Any) -> Call:
    dtype = draw(floats)
    shape = draw(st.lists(extents, min_size=1, max_size=3))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    vectors = [array(shape[axis], dtype) for _ in range(2)]
    return [array(shape, dtype), *vectors], {"axis": axis}, ()


@st.composite
def group_norm(draw: Any) -> Call:
    dtype, groups = draw(floats), draw(st.integers(1, 2))
    vectors = [array(groups, dtype) for _ in range(2)]
    return [array((2, 2 * groups, draw(extents)), dtype), *vectors], {"num_groups": groups}, ()


@st.composite
def instance_norm(draw: Any) -> Call:
    dtype = draw(floats)
    return [array((2, 3, draw(extents)), dtype), *(array(3, dtype) for _ in range(2))], {}, ()


@st.composite
def dropout(draw: Any) -> Call:
    shape = draw(st.lists(extents, min_size=1, max_size=3))
    attrs = {
        "p": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "mode": draw(st.sampled_from(["always", "training"])),
        "axes": draw(st.sampled_from([(), (0,), (len(shape) - 1,)])),
        "train": draw(flags),
    }
    return [array(shape, draw(floats))], attrs, ()


def of_one_array(attrs: Any, least: int = 1) -> Any:
    shapes = st.lists(extents, min_size=least, max_size=3)
    arrays = st.builds(array, shapes, floats)
    return st.tuples(arrays.map(lambda x: [x]), attrs, st.just(()))


def chosen(argument: str, *words: str) -> Any:
    return st.sampled_from([{argument: word} for word in words])


@st.composite
def softmax(draw: Any) -> Call:
    shape = draw(st.lists(extents, min_size=1, max_size=3))
    attrs: dict[str, Any] = {"axis": draw(st.integers(-len(shape), len(shape) - 1))}
    if draw(flags):
        attrs["temperature"] = 2.0
    if draw(flags):
        attrs["dtype"] = draw(floats)
    return [array(shape, draw(floats))], attrs, ()


@st.composite
def labelled(draw: Any) -> Call:
    dtype = draw(floats)
    return [array((2, 3), dtype), mx.nd.array([2, 0], dtype=dtype)], {}, ()


@st.composite
def compared(draw: Any) -> Call:
    dtype, shape = draw(floats), draw(st.lists(extents, min_size=1, max_size=3))
    return [array(shape, dtype), array(shape, dtype)], {}, ()


@st.composite
def enlarged(draw: Any) -> Call:
    return [array([draw(extents) for _ in range(4)], draw(floats))], {"scale": draw(extents)}, ()


@st.composite
def local_response(draw: Any) -> Call:
    attrs = {
        "nsize": draw(st.sampled_from([1, 3, 5])),
        "alpha": draw(st.sampled_from([1e-4, 0.5])),
        "beta": 0.75,
        "knorm": draw(st.sampled_from([1.0, 2.0])),
    }
    return [array([draw(extents) for _ in range(4)], draw(floats))], attrs, ()


#: Operator to strategy for inputs, attributes and numbers.
CALLS: dict[str, Any] = {
    "FullyConnected": fully_connected(),
    "Convolution": convolution(),
    "Deconvolution": deconvolution(),
    "Pooling": pooling(),
    "BatchNorm": batch_norm(),
    "LayerNorm": layer_norm(),
    "GroupNorm": group_norm(),
    "InstanceNorm": instance_norm(),
    "Dropout": dropout(),
    "Activation": of_one_array(
        chosen("act_type", "relu", "sigmoid", "softrelu", "softsign", "tanh")
    ),
    "LeakyReLU": of_one_array(chosen("act_type", "elu", "gelu", "leaky", "rrelu", "selu")),
    **dict.fromkeys(["softmax", "log_softmax", "softmin"], softmax()),
    "SoftmaxActivation": st.one_of(
        of_one_array(chosen("mode", "channel"), least=3),
        of_one_array(chosen("mode", "instance"), least=2),
    ),
    **dict.fromkeys(["SoftmaxOutput", "softmax_cross_entropy"], labelled()),
    **{f"{kind}RegressionOutput": compared() for kind in ("Linear", "Logistic", "MAE")},
    "UpSampling": enlarged(),
    "LRN": local_response(),
}

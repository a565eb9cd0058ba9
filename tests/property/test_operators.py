"""Laws that hold for every operator in the registry, whatever its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.nd.array import apply
from mxprof_nb.runtime.nd.indexing import hashable
from mxprof_nb.runtime.ops import operator_names, spec

nd = mx.nd

FLOATS = ("float16", "float32", "float64")
TYPES = (*FLOATS, "int8", "uint8", "int32", "int64")
floats, types = st.sampled_from(FLOATS), st.sampled_from(TYPES)
shapes = hnp.array_shapes(max_dims=3, max_side=3)
numbers = st.integers(-4, 4)

Call = tuple[list[NDArray], dict[str, Any], tuple[Any, ...]]


def array(shape: tuple[int, ...], dtype: str) -> NDArray:
    """An array of small numbers, some of them 0 or negative."""
    values = np.arange(int(np.prod(shape))) % 5 - 1
    return nd.array(
        np.abs(values) if dtype == "uint8" else values.reshape(shape), dtype=dtype
    ).reshape(shape)


@st.composite
def two_arrays(draw: Any) -> Call:
    fitting = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
    dtype = draw(types)
    left, right = (shape or (1,) for shape in fitting.input_shapes)
    return [array(left, dtype), array(right, dtype)], {}, ()


@st.composite
def array_and_number(draw: Any) -> Call:
    return [array(draw(shapes), draw(types))], {}, (draw(numbers),)


@st.composite
def one_array(draw: Any) -> Call:
    return [array(draw(shapes), draw(types))], {}, ()


def axes(rank: int) -> Any:
    some = st.lists(st.integers(0, rank - 1), unique=True, max_size=rank).map(tuple)
    return some.map(lambda chosen: tuple(axis - rank if axis % 2 else axis for axis in chosen))


@st.composite
def reduction(draw: Any) -> Call:
    shape = draw(shapes)
    attrs = {"axis": draw(axes(len(shape))), "keepdims": draw(st.booleans())}
    return [array(shape, draw(types))], attrs, ()


@st.composite
def position(draw: Any) -> Call:
    inputs, attrs, dynamic = draw(reduction())
    return inputs, {**attrs, "axis": attrs["axis"][:1]}, dynamic


@st.composite
def softmax(draw: Any) -> Call:
    shape = draw(shapes)
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return [array(shape, draw(floats))], {"axis": axis}, ()


@st.composite
def dot(draw: Any) -> Call:
    left, right = list(draw(shapes)), list(draw(shapes))
    flags = {name: True for name in ("transpose_a", "transpose_b") if draw(st.booleans())}
    right[-1 if "transpose_b" in flags else 0] = left[0 if "transpose_a" in flags else -1]
    dtype = draw(types)
    return [array(tuple(left), dtype), array(tuple(right), dtype)], flags, ()


@st.composite
def diag(draw: Any) -> Call:
    shape = draw(hnp.array_shapes(max_dims=2, max_side=3))
    limit = 3 if len(shape) == 1 else 0
    low, high = (-limit, limit) if limit else (1 - shape[0], shape[1] - 1)
    return [array(shape, draw(types))], {"k": draw(st.integers(low, high))}, ()


@st.composite
def transpose(draw: Any) -> Call:
    shape = draw(shapes)
    order = draw(st.one_of(st.just(()), st.permutations(range(len(shape))).map(tuple)))
    return [array(shape, draw(types))], {"axes": order}, ()


@st.composite
def copy(draw: Any) -> Call:
    attrs = {"dtype": draw(types)} if draw(st.booleans()) else {}
    return [array(draw(shapes), draw(types))], attrs, ()


def keys(shape: tuple[int, ...]) -> Any:
    return hnp.basic_indices(shape, allow_newaxis=True).map(hashable)


@st.composite
def part(draw: Any) -> Call:
    shape = draw(shapes)
    return [array(shape, draw(types))], {"key": draw(keys(shape))}, ()


@st.composite
def part_and_number(draw: Any) -> Call:
    inputs, attrs, _ = draw(part())
    return inputs, attrs, (draw(numbers),)


@st.composite
def part_and_array(draw: Any) -> Call:
    (target,), attrs, _ = draw(part())
    dtype = np.dtype(target.dtype).name
    chosen = np.empty(target.shape)[
        tuple(slice(*k) if isinstance(k, tuple) else k for k in attrs["key"])
    ]
    shape = draw(st.sampled_from([chosen.shape or (1,), (1,)]))
    return [target, array(shape, dtype)], attrs, ()


@st.composite
def constant(draw: Any) -> Call:
    return [], {"shape": draw(shapes), "dtype": draw(types)}, ()


@st.composite
def filled(draw: Any) -> Call:
    return [], {"shape": draw(shapes), "dtype": draw(types)}, (draw(numbers),)


@st.composite
def drawn(draw: Any) -> Call:
    return [], {"shape": draw(shapes), "dtype": draw(floats)}, (1.0, 2.0)


@st.composite
def counted(draw: Any) -> Call:
    attrs = {
        "start": float(draw(numbers)),
        "stop": float(draw(numbers)),
        "step": draw(st.sampled_from([0.3, 1.0, -0.5])),
        "repeat": draw(st.integers(1, 3)),
        "dtype": draw(types),
    }
    return [], attrs, ()


CALLS: dict[str, Any] = {
    **{name: two_arrays() for name in operator_names() if name.startswith("broadcast_")},
    **{name: array_and_number() for name in operator_names() if name.endswith("_scalar")},
    **dict.fromkeys(
        ["exp", "log", "sqrt", "square", "abs", "tanh", "sigmoid", "relu"], one_array()
    ),
    **dict.fromkeys(["sum", "mean", "max", "min", "prod"], reduction()),
    **dict.fromkeys(["argmax", "argmin"], position()),
    **dict.fromkeys(["softmax", "log_softmax"], softmax()),
    "dot": dot(),
    "diag": diag(),
    "transpose": transpose(),
    "slice": part(),
    "_slice_assign": part_and_array(),
    "_slice_assign_scalar": part_and_number(),
    "CopyCPU2CPU": copy(),
    "_zeros": constant(),
    "_ones": constant(),
    "_full": filled(),
    "_arange": counted(),
    "_random_uniform": drawn(),
    "_random_normal": drawn(),
}


def test_no_operator_is_left_out():
    assert CALLS.keys() == operator_names().keys()


@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
@settings(max_examples=15)
def test_what_is_promised_is_what_comes(name: str, data: Any):
    """Shape, type and size are known at once; the memory belongs to the result, in C order."""
    inputs, attrs, dynamic = data.draw(CALLS[name])
    before = [x.asnumpy() for x in inputs]
    assigns = name.startswith("_slice_assign")
    out = inputs[0] if assigns else None
    result = apply(spec(name), inputs, tuple(attrs.items()), dynamic, out)
    promised = result.aval
    value = result.asnumpy()
    assert (value.shape, value.dtype) == (promised.shape, promised.dtype)
    data_of = result.chunk.data
    assert data_of is not None
    assert data_of.flags.c_contiguous
    assert data_of.nbytes == result.chunk.nbytes
    if not assigns:
        assert data_of.base is None
        assert (data_of.shape, data_of.dtype) == (promised.shape, promised.dtype)
        for x, old in zip(inputs, before, strict=True):
            assert x.chunk.data is not data_of
            np.testing.assert_array_equal(x.asnumpy(), old)


ELEMENTWISE: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
}


@pytest.mark.parametrize("name", ELEMENTWISE)
@given(call=two_arrays())
@settings(max_examples=15)
def test_two_arrays_are_combined_as_numpy_combines_them(name: str, call: Call):
    (left, right), _, _ = call
    expected = ELEMENTWISE[name](left.asnumpy(), right.asnumpy())
    result = apply(spec(f"broadcast_{name}"), (left, right))
    np.testing.assert_array_equal(result.asnumpy(), expected.astype(left.dtype))


@given(shapes, shapes)
def test_what_numpy_cannot_broadcast_is_refused_at_once(left: Any, right: Any):
    try:
        expected = np.broadcast_shapes(left, right)
    except ValueError:
        with pytest.raises(ShapeError, match="cannot be broadcast"):
            nd.ones(left) + nd.ones(right)
    else:
        assert (nd.ones(left) + nd.ones(right)).shape == expected


@given(data=st.data(), shape=shapes)
def test_any_basic_index_chooses_and_sets_what_it_does_in_numpy(data: Any, shape: Any):
    values = np.arange(int(np.prod(shape)), dtype="f4").reshape(shape)
    key = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    x = nd.array(values)
    np.testing.assert_array_equal(x[key].asnumpy(), np.atleast_1d(values[key]))
    x[key] = -1
    values[key] = -1
    np.testing.assert_array_equal(x.asnumpy(), values)
    chosen = values[key]
    new = np.arange(chosen.size, dtype="f4").reshape(chosen.shape) + 100
    x[key] = nd.array(new)
    values[key] = new
    np.testing.assert_array_equal(x.asnumpy(), values)
    x[key] = new + 1
    values[key] = new + 1
    np.testing.assert_array_equal(x.asnumpy(), values)


@given(shapes, types, types)
def test_a_copy_in_another_type_has_the_values_that_fit(shape: Any, before: str, after: str):
    x = array(shape, before)
    expected = x.asnumpy().astype(after)
    np.testing.assert_array_equal(x.astype(after).asnumpy(), expected)
    target = nd.zeros(shape, dtype=after)
    assert x.copyto(target) is target
    np.testing.assert_array_equal(target.asnumpy(), expected)

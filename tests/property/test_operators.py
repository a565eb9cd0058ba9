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
from mxprof_nb.runtime.nd.array import apply, apply_several
from mxprof_nb.runtime.ops import operator_names, spec
from tests.property.operator_calls import CALLS, Call, array, shapes, two_arrays, types

nd = mx.nd


def test_no_operator_is_left_out():
    assert CALLS.keys() == operator_names().keys()


@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
@settings(max_examples=15)
def test_what_is_promised_is_what_comes(name: str, data: Any):
    """Shape, type and size are known at once; the memory belongs to the result, in C order."""
    inputs, attrs, dynamic = data.draw(CALLS[name])
    before = [x.asnumpy() for x in inputs]
    assigns = name.startswith(("_slice_assign", "_scatter_set"))
    out = inputs[:1] if assigns else None
    for result in apply_several(spec(name), inputs, tuple(attrs.items()), dynamic, out):
        check_promise(result, [] if assigns else inputs)
    for place, (x, old) in enumerate(zip(inputs, before, strict=True)):
        if not assigns and place not in spec(name).mutated(len(inputs)):
            np.testing.assert_array_equal(x.asnumpy(), old)


def check_promise(result: NDArray, inputs: list[NDArray]) -> None:
    """Compare a result with what was said of it; its memory is none of the inputs'."""
    promised = result.aval
    value = result.asnumpy()
    assert (value.shape, value.dtype) == (promised.shape, promised.dtype)
    data_of = result.chunk.data
    assert data_of is not None
    assert data_of.flags.c_contiguous
    assert data_of.nbytes == result.chunk.nbytes
    for x in inputs:
        assert data_of.base is None
        assert (data_of.shape, data_of.dtype) == (promised.shape, promised.dtype)
        assert x.chunk.data is not data_of


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

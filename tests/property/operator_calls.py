"""A call of every operator in the registry, as Hypothesis draws it.

Each is inputs, attributes and numbers, as `mxprof_nb.runtime.nd.array.apply` takes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mxprof_nb.runtime as mx
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops.elementwise import BINARY, ELEMWISE, SCALAR, UNARY
from mxprof_nb.runtime.ops.reduction import REDUCE
from tests.property import array_calls, image_calls, nn_calls, optimizer_calls

__all__ = ["CALLS", "Call", "array", "shapes", "two_arrays", "types"]

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


@st.composite
def two_alike(draw: Any) -> Call:
    shape, dtype = draw(shapes), draw(types)
    return [array(shape, dtype), array(shape, dtype)], {}, ()


@st.composite
def several_alike(draw: Any) -> Call:
    shape, dtype = draw(shapes), draw(types)
    return [array(shape, dtype) for _ in range(draw(st.integers(1, 4)))], {}, ()


@st.composite
def one_array_and_numbers(draw: Any, *dynamic: float, of: Any = types) -> Call:
    return [array(draw(shapes), draw(of))], {}, dynamic


@st.composite
def cast(draw: Any) -> Call:
    return [array(draw(shapes), draw(types))], {"dtype": draw(types)}, ()


@st.composite
def choice(draw: Any) -> Call:
    shape, dtype = draw(shapes), draw(types)
    condition = draw(st.sampled_from([shape, shape[:1]]))
    return [array(condition, draw(types)), array(shape, dtype), array(shape, dtype)], {}, ()


def axes(rank: int) -> Any:
    some = st.lists(st.integers(0, rank - 1), unique=True, max_size=rank).map(tuple)
    return some.map(lambda chosen: tuple(axis - rank if axis % 2 else axis for axis in chosen))


@st.composite
def reduction(draw: Any) -> Call:
    shape = draw(shapes)
    attrs = {"axis": draw(axes(len(shape))), "keepdims": draw(st.booleans())}
    return [array(shape, draw(types))], attrs, ()


@st.composite
def norm(draw: Any) -> Call:
    inputs, attrs, _ = draw(reduction())
    return inputs, {**attrs, "ord": draw(st.sampled_from([1, 2]))}, ()


@st.composite
def normalization(draw: Any) -> Call:
    shape = draw(shapes)
    modes = ["instance", "channel", "spatial"] if len(shape) > 2 else ["instance"]
    return [array(shape, draw(floats))], {"mode": draw(st.sampled_from(modes))}, ()


def maybe_axis(rank: int) -> Any:
    return st.one_of(st.none(), st.integers(-rank, rank - 1))


@st.composite
def running_sum(draw: Any) -> Call:
    shape = draw(shapes)
    axis = draw(st.one_of(st.none(), st.integers(0, len(shape) - 1)))
    dtype = draw(st.one_of(st.none(), types))
    return [array(shape, draw(types))], {"axis": axis, "dtype": dtype}, ()


@st.composite
def channels(draw: Any) -> Call:
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=3, max_side=3))
    return [array(shape, draw(types))], {}, ()


@st.composite
def order(draw: Any) -> Call:
    shape = draw(shapes)
    attrs = {"axis": draw(maybe_axis(len(shape))), "is_ascend": draw(st.booleans())}
    return [array(shape, draw(types))], attrs, ()


@st.composite
def first_few(draw: Any) -> Call:
    (x,), attrs, _ = draw(order())
    length = x.size if attrs["axis"] is None else x.shape[attrs["axis"]]
    kinds = st.sampled_from(["value", "indices", "mask", "both"])
    return [x], {**attrs, "k": draw(st.integers(0, length)), "ret_typ": draw(kinds)}, ()


@st.composite
def position(draw: Any) -> Call:
    inputs, attrs, dynamic = draw(reduction())
    return inputs, {**attrs, "axis": attrs["axis"][:1]}, dynamic


COPIES = ("_copy", "BlockGrad", "make_loss", "zeros_like", "ones_like")

#: Operator to strategy.
CALLS: dict[str, Any] = {
    **array_calls.CALLS,
    **image_calls.CALLS,
    **{op.name: two_arrays() for op in BINARY.values()},
    **{op.name: two_alike() for op in ELEMWISE.values()},
    **{op.name: array_and_number() for op in SCALAR.values()},
    **dict.fromkeys([*UNARY, *COPIES], one_array()),
    "hard_sigmoid": one_array_and_numbers(0.2, 0.5, of=floats),
    "MakeLoss": one_array_and_numbers(2.0, 0.5, of=floats),
    "clip": one_array_and_numbers(-0.5, 1.5),
    "smooth_l1": one_array_and_numbers(1.5),
    "Cast": cast(),
    "where": choice(),
    "add_n": several_alike(),
    **dict.fromkeys(REDUCE, reduction()),
    "norm": norm(),
    "L2Normalization": normalization(),
    "_np_cumsum": running_sum(),
    **dict.fromkeys(["argmax", "argmin"], position()),
    "argmax_channel": channels(),
    **dict.fromkeys(["argsort", "sort"], order()),
    "topk": first_few(),
    **nn_calls.CALLS,
    **optimizer_calls.CALLS,
}

"""Gradients of the operators that reshape, choose and multiply, against differences of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mxprof_nb.runtime.ops import OpSpec, aval, spec
from mxprof_nb.runtime.ops.gradient import backward
from tests.property.array_calls import CALLS

DIFFERENTIABLE = sorted(name for name in CALLS if spec(name).gradient and not spec(name).draws)
STEP = 1e-6


def evaluate(op: OpSpec, arrays: list[Any], numbers: Any, attrs: Any) -> list[Any]:
    made = op.forward(*arrays, *numbers, **attrs)
    return list(made) if isinstance(made, tuple) else [made]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_a_gradient_is_the_slope_of_the_operator(name: str, data: Any, seed: int):
    op = spec(name)
    gradient, back = op.gradient, backward(op)
    assert gradient is not None
    assert back is not None
    inputs, attrs, numbers = data.draw(CALLS[name])
    attrs.pop("dtype", None)
    draw = np.random.default_rng(seed)
    places = range(len(inputs)) if gradient.wrt is None else gradient.wrt
    arrays = [x.asnumpy() for x in inputs]
    for place in places:
        noise = draw.uniform(-0.1, 0.1, arrays[place].shape)
        arrays[place] = arrays[place].astype("float64") + symmetric(name, noise)

    results = evaluate(op, arrays, numbers, attrs)
    heads = [draw.standard_normal(result.shape) for result in results]
    if name == "_linalg_slogdet":
        heads[0][:] = 0  # the sign jumps
    taken = range(len(results)) if gradient.heads is None else gradient.heads
    for position, place in enumerate(places):
        direction = symmetric(name, draw.standard_normal(arrays[place].shape))
        moved = []
        for step in (STEP, -STEP):
            there = list(arrays)
            there[place] = arrays[place] + step * direction
            moved.append(evaluate(op, there, numbers, attrs))
        slope = sum(
            np.sum(head * (up - down)) / (2 * STEP)
            for head, up, down in zip(heads, *moved, strict=True)
        )
        found = back.forward(
            *(heads[k] for k in taken),
            *(arrays[k] for k in gradient.inputs),
            *(results[k] for k in gradient.outputs),
            *numbers,
            like=tuple(aval(each.shape, each.dtype) for each in arrays),
            wanted=(position,),
            **attrs,
        )
        assert (found.shape, found.dtype) == (arrays[place].shape, np.dtype("float64"))
        assert found.flags.c_contiguous
        assert np.sum(found * direction) == pytest.approx(slope, rel=1e-4, abs=1e-6)


def symmetric(name: str, values: Any) -> Any:
    """Keep symmetric what the operator takes for symmetric."""
    return values + values.swapaxes(-1, -2) if name == "_linalg_potrf" else values


def test_all_operators_that_mxnet_differentiates_have_a_gradient():
    without = sorted(name for name in CALLS if spec(name).gradient is None)
    drawn = [name for name in without if name.startswith(("_random_", "_sample_"))]
    assert spec("_sample_multinomial").gradient is not None
    assert sorted({*without} - {*drawn}) == [
        "_arange",
        "_eye",
        "_full",
        "_linspace",
        "_ones",
        "_ravel_multi_index",
        "_scatter_set_nd",
        "_shuffle",
        "_slice_assign",
        "_slice_assign_scalar",
        "_unravel_index",
        "_zeros",
        "batch_take",
        "one_hot",
        "shape_array",
        "size_array",
    ]

"""Every gradient is the slope of its operator, against differences of values in float64.

Inputs lie where an operator is smooth, by construction: values differ from each other and from
all places where some operator has a kink, by far more than the step of the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mxprof_nb.runtime.ops import OpSpec, aval, operator_names, spec
from mxprof_nb.runtime.ops.gradient import backward
from tests.property import array_calls
from tests.property.operator_calls import CALLS

STEP = 1e-6

#: Operators whose gradient is not the slope of what they return, and what it is.
NO_SLOPE = {
    **dict.fromkeys(
        [
            "LinearRegressionOutput",
            "LogisticRegressionOutput",
            "MAERegressionOutput",
            "SoftmaxOutput",
        ],
        "they return predictions; the gradient is that of the loss, whatever the head",
    ),
    **dict.fromkeys(["MakeLoss", "make_loss"], "the head is not asked: a loss has a gradient of 1"),
}

#: Operators without a gradient, as in MXNet, by the reason.
NO_GRADIENT = {
    "steps: the slope is 0 wherever there is one": {
        *("argmax", "argmax_channel", "argmin", "argsort", "ceil", "fix", "floor", "rint", "round"),
        *("trunc", "logical_not", "ones_like", "zeros_like", "shape_array", "size_array"),
        *("one_hot", "_ravel_multi_index", "_unravel_index"),
        *(
            form.format(name)
            for form in ("broadcast_{}", "_{}_scalar", "_{}")
            for name in (
                *("equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and"),
                *("logical_or", "logical_xor", "not_equal"),
            )
        ),
    },
    "made of no array": {"_arange", "_eye", "_full", "_linspace", "_ones", "_zeros"},
    "MXNet lets none through": {"BlockGrad", "batch_take", "_shuffle"},
    "writes into an array; MXNet refuses that while recording": {
        *("_scatter_set_nd", "_slice_assign", "_slice_assign_scalar"),
    },
}

PIECES = ((0.1, 0.4), (0.6, 0.9), (1.1, 1.4), (1.6, 1.9))
#: Kinks lie at multiples of 1/2: those of abs, clip, hard_sigmoid, remainders by whole numbers.
EVERYWHERE = (*((-high, -low) for low, high in PIECES[::-1]), *PIECES)

#: Where operators are smooth that are not so on all of `EVERYWHERE`, for all inputs or for each.
SMOOTH: dict[str, Sequence[tuple[float, float]]] = {
    **dict.fromkeys(["arcsin", "arccos", "arctanh", "erfinv"], EVERYWHERE[2:-2]),
    **dict.fromkeys(["log", "log10", "log1p", "log2", "sqrt", "rsqrt", "gamma", "gammaln"], PIECES),
    **dict.fromkeys(["broadcast_power", "_power", "_power_scalar"], PIECES),
    # 3 modulo these is 3 - x or 3 - 2 x, with no whole quotient in between.
    **dict.fromkeys(["arccosh", "_rmod_scalar"], PIECES[2:]),
}
SMOOTH_EACH = dict.fromkeys(["broadcast_mod", "_mod"], ((2.5, 2.9), (1.05, 1.2)))

#: Numbers for which operators are smooth on their inputs.
NUMBERS = {
    "_div_scalar": (-3,),
    "_mod_scalar": (3,),
    "_rmod_scalar": (3,),
    "_rpower_scalar": (2.5,),
}

DIFFERENTIABLE = sorted(name for name in CALLS if spec(name).gradient and name not in NO_SLOPE)


def spread(pieces: Sequence[tuple[float, float]], positions: Any) -> Any:
    """Map positions from 0 to 1 onto intervals, in their order."""
    ends = np.cumsum([0, *(high - low for low, high in pieces)])
    piece = np.clip(np.searchsorted(ends, positions * ends[-1], "right") - 1, 0, len(pieces) - 1)
    return np.array([low for low, _ in pieces])[piece] + positions * ends[-1] - ends[piece]


def smooth_inputs(name: str, arrays: Sequence[Any], places: Sequence[int], draw: Any) -> list[Any]:
    """Return arrays near which the operator is smooth; those not in `places` as given."""
    made = list(arrays)
    count = sum(arrays[place].size for place in places)
    positions = (draw.permutation(count) + 0.5) / max(1, count)
    for place in places:
        here, positions = np.split(positions, [arrays[place].size])
        if name in array_calls.CALLS:  # which choose matrices that can be inverted, and the like
            values = arrays[place] + symmetric(
                name, 0.2 * (here - 0.5).reshape(arrays[place].shape)
            )
        else:
            pieces = SMOOTH.get(name, EVERYWHERE)
            if name in SMOOTH_EACH:
                pieces = (SMOOTH_EACH[name][place],)
            values = spread(pieces, here).reshape(arrays[place].shape)
        made[place] = values.astype("float64")
    return made


def symmetric(name: str, values: Any) -> Any:
    """Keep symmetric what the operator takes for symmetric."""
    return values + values.swapaxes(-1, -2) if name == "_linalg_potrf" else values


def evaluate(op: OpSpec, arrays: Sequence[Any], numbers: Any, attrs: dict[str, Any]) -> list[Any]:
    """Return the results; random numbers are the same each time, states are not touched."""
    given = [np.copy(each) if place in op.mutates else each for place, each in enumerate(arrays)]
    draws = op.draws or attrs.get(op.draws_if)
    first = (np.random.default_rng(0),) if draws else ()
    made = op.forward(*first, *given, *numbers, **attrs)
    return list(made) if isinstance(made, tuple) else [made]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_a_gradient_is_the_slope_of_its_operator(name: str, data: Any, seed: int):
    op = spec(name)
    gradient, back = op.gradient, backward(op)
    assert gradient is not None
    assert back is not None
    inputs, attrs, numbers = data.draw(CALLS[name])
    attrs.pop("dtype", None)
    if name == "Cast":
        attrs["dtype"] = "float64"
    numbers = NUMBERS.get(name, numbers)
    draw = np.random.default_rng(seed)
    every = range(len(inputs))
    places = every if gradient.wrt is None else [n for n in gradient.wrt if n in every]
    given = [x.asnumpy() for x in inputs]
    given = [each.astype("float64") if each.dtype.kind == "f" else each for each in given]
    arrays = smooth_inputs(name, given, places, draw)

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
        slope = sum(np.sum(heads[k] * (moved[0][k] - moved[1][k])) / (2 * STEP) for k in taken)
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


def test_every_operator_has_a_gradient_that_is_checked_or_a_reason_to_have_none():
    without = {name: op for name, op in operator_names().items() if not op.gradient}
    drawn = {name for name, op in without.items() if op.draws}
    updates = {name for name in without if name.endswith("_update")}  # of weights, by gradients
    pictures = {name for name in without if name.startswith("_image_")}  # of whole numbers
    stated = {*NO_SLOPE, *drawn, *updates, *pictures}.union(*NO_GRADIENT.values())
    assert {*DIFFERENTIABLE, *stated} == operator_names().keys()
    assert not stated & {*DIFFERENTIABLE}
    with_one = {name for name, op in operator_names().items() if op.gradient}
    assert with_one == {*DIFFERENTIABLE, *NO_SLOPE}

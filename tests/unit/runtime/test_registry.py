"""Every operator in the registry has every part, and `mx.nd` reaches it."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.errors import UnknownOperatorError
from mxprof_nb.runtime import api
from mxprof_nb.runtime.ops import OpSpec, operator_names, optimizer, spec
from mxprof_nb.runtime.ops.binary import COMPARISONS, ELEMWISE
from mxprof_nb.runtime.ops.gradient import backward
from tests.gradients import gradients, outputs_of
from tests.property.operator_calls import CALLS

OPERATORS = operator_names()

DIFFERENTIABLE = {name for name, op in OPERATORS.items() if op.gradient is not None}

#: Operators through which no gradient flows, and why.
WITHOUT_GRADIENT = {
    # What is done with gradients.
    *optimizer.UPDATES,
    *optimizer.MULTI,
    # Steps: flat wherever they have a slope.
    *("ceil", "floor", "rint", "round", "trunc", "fix", "logical_not"),
    *(f"broadcast_{name}" for name in ("equal", "not_equal", "greater", "greater_equal")),
    *(f"broadcast_{name}" for name in ("lesser", "lesser_equal")),
    *(f"broadcast_logical_{name}" for name in ("and", "or", "xor")),
    *(f"_{name}" for name in COMPARISONS),
    *(f"_{name}_scalar" for name in ("equal", "not_equal", "greater", "greater_equal")),
    *(f"_{name}_scalar" for name in ("lesser", "lesser_equal")),
    *(f"_logical_{name}_scalar" for name in ("and", "or", "xor")),
    # Positions move in steps.
    *("argmax", "argmin", "argmax_channel", "argsort"),
    *("_ravel_multi_index", "_unravel_index"),
    # The result does not depend on the values of the inputs.
    *("zeros_like", "ones_like"),
    *("shape_array", "size_array"),
    # No inputs.
    *("_zeros", "_ones", "_full", "_arange", "_eye", "_linspace"),
    # MXNet's fails: it has the shape of the result.
    "_image_to_tensor",
    # Drawn by chance.
    *(name for name in OPERATORS if name.startswith("_random_")),
    *(name for name in OPERATORS if name.startswith("_sample_") and name[8:] != "multinomial"),
    "_shuffle",
    # Chosen by position alone; MXNet has no gradient either.
    *("batch_take", "one_hot"),
    # Meant to stop it.
    "BlockGrad",
    # Writes into an array, which MXNet does not record.
    *("_slice_assign", "_slice_assign_scalar", "_scatter_set_nd"),
}

#: MXNet's internal names that no function of `mx.nd` leads to; symbols use them.
INTERNAL = {
    *(name for name in OPERATORS if name.endswith("_like") and name.startswith("_random_")),
    *(op.name for op in ELEMWISE.values() if op.name.startswith("_")),
}

#: Parts of `mx.nd` that have the operators whose names begin so.
FAMILIES = {
    "_linalg_": "linalg",
    "_contrib_": "contrib",
    "_image_": "image",
    "_random_": "random",
    "_sample_": "random",
}

#: Where `mx.nd` has an operator that is not a function of its name: a program that uses it.
ELSEWHERE = {
    "_copy": "nd.identity(x)",
    "_np_cumsum": "nd.cumsum(x)",
    "CopyCPU2CPU": "x.copy()",
    "_zeros": "nd.zeros(2)",
    "_ones": "nd.ones(2)",
    "_full": "x.__setitem__(slice(None), 3)",
    "_arange": "nd.arange(2)",
    "_eye": "nd.eye(2)",
    "_linspace": "nd.linspace(0, 1, 3)",
    "_shuffle": "nd.random.shuffle(x)",
    "_scatter_set_nd": "x.__setitem__(nd.array([0, 1]), 3)",
    "_ravel_multi_index": "nd.ravel_multi_index(x, shape=(3, 3))",
    "_unravel_index": "nd.unravel_index(x[0], shape=(3, 3))",
    "_split_v2": "nd.split_v2(x, 2)",
    "_slice_assign": "x.__setitem__((slice(0, 1), 0), nd.ones(1))",
    "_slice_assign_scalar": "x.__setitem__((slice(0, 1), 0), 1)",
    "_plus_scalar": "x + 1",
    "_minus_scalar": "x - 1",
    "_rminus_scalar": "1 - x",
    "_mul_scalar": "x * 2",
    "_div_scalar": "x / 2",
    "_rdiv_scalar": "2 / x",
    "_mod_scalar": "x % 2",
    "_rmod_scalar": "2 % x",
    "_power_scalar": "x ** 2",
    "_rpower_scalar": "2 ** x",
    "_maximum_scalar": "nd.maximum(x, 1)",
    "_minimum_scalar": "nd.minimum(1, x)",
    "_hypot_scalar": "nd.hypot(x, 2)",
    "_equal_scalar": "x == 1",
    "_not_equal_scalar": "x != 1",
    "_greater_scalar": "x > 1",
    "_greater_equal_scalar": "x >= 1",
    "_lesser_scalar": "x < 1",
    "_lesser_equal_scalar": "x <= 1",
    "_logical_and_scalar": "nd.logical_and(x, 1)",
    "_logical_or_scalar": "nd.logical_or(1, x)",
    "_logical_xor_scalar": "nd.logical_xor(x, 0)",
}


def test_an_operator_is_found_by_its_name_and_a_wrong_name_gets_a_suggestion():
    assert spec("dot").name == "dot"
    with pytest.raises(UnknownOperatorError, match=r"'dott'.*Did you mean 'dot'"):
        spec("dott")


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_its_parts(name):
    op = OPERATORS[name]
    assert op.name == name
    assert callable(op.forward)
    assert callable(op.infer)
    assert re.fullmatch(r"\S[^.]*(\.\S[^.]*)*\.", op.doc), "one sentence"
    assert op.doc[0] == op.doc[0].upper() or op.doc.split()[0].isidentifier()
    assert all(place >= 0 for place in op.mutates)


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_a_gradient_or_a_reason_for_none(name):
    gradient = OPERATORS[name].gradient
    assert (gradient is None) == (name in WITHOUT_GRADIENT)
    computed = backward(OPERATORS[name])
    assert (computed is None) == (gradient is None)
    if gradient is not None and computed is not None:
        assert computed.name == gradient.name
        assert computed.doc.endswith(".")


def test_of_groups_of_inputs_each_has_those_that_are_written():
    assert spec("multi_sgd_mom_update").mutated(9) == [2, 5, 8]
    assert spec("multi_sgd_update").mutated(8) == []
    assert spec("adam_update").mutated(4) == (2, 3)


def test_no_reason_is_given_for_what_is_no_operator():
    assert OPERATORS.keys() >= WITHOUT_GRADIENT
    assert ELSEWHERE.keys() <= OPERATORS.keys()


@pytest.mark.parametrize("name", [name for name in CALLS if name in OPERATORS])
@given(data=st.data())
@settings(max_examples=10)
def test_every_operator_says_what_it_costs(name: str, data: Any):
    """Counts are whole numbers, known from shapes alone; so are those of the gradient."""
    inputs, attrs, _ = data.draw(CALLS[name])
    op = OPERATORS[name]
    avals = [x.aval for x in inputs]
    inferred = op.infer(*avals, **attrs)
    results = inferred if isinstance(inferred, tuple) else (inferred,)
    flops, moved = op.flops(avals, results, attrs), op.bytes(avals, results, attrs)
    assert isinstance(flops, int)
    assert isinstance(moved, int)
    assert flops >= 0
    assert moved >= 0
    assert moved > 0 or not sum(result.nbytes for result in results)
    rule, computed = op.gradient, backward(op)
    if rule is None or computed is None:
        return
    places = range(len(avals)) if rule.wrt is None else rule.wrt
    heads = range(len(results)) if rule.heads is None else rule.heads
    taken = [results[n] for n in heads] + [avals[n] for n in rule.inputs]
    taken += [results[n] for n in rule.outputs]
    wanted = tuple(n for n, place in enumerate(places) if place < len(avals))
    told = {**attrs, "like": tuple(avals), "wanted": wanted}
    made = computed.infer(*taken, **told)
    made = made if isinstance(made, tuple) else (made,)
    assert list(made) == [avals[tuple(places)[n]] for n in wanted]
    assert isinstance(computed.flops(taken, made, told), int)
    assert isinstance(computed.bytes(taken, made, told), int)


@pytest.mark.parametrize("name", [name for name in CALLS if name in DIFFERENTIABLE])
@given(data=st.data())
@settings(max_examples=10)
def test_every_gradient_has_the_shape_and_the_type_of_its_input(name: str, data: Any):
    inputs, attrs, dynamic = data.draw(CALLS[name])
    op = OPERATORS[name]
    if op.draws:
        return  # the kernel needs a generator; its gradient has a test of its own
    arrays = [x.asnumpy() for x in inputs]
    heads = [np.ones_like(output) for output in outputs_of(op, arrays, attrs, dynamic)]
    assert gradients(op, arrays, heads, attrs, dynamic)


@pytest.mark.parametrize("name", [name for name in OPERATORS if name not in INTERNAL])
def test_every_operator_is_reached_from_nd(name, monkeypatch):
    if name in ELSEWHERE:
        assert name in operators_of(ELSEWHERE[name], monkeypatch)
        return
    family = next((prefix for prefix in FAMILIES if name.startswith(prefix)), "")
    home = getattr(mx.nd, FAMILIES[family]) if family else mx.nd
    function = getattr(home, name.removeprefix(family), None)
    assert inspect.isfunction(function), f"there is no {home.__name__}.{name}"
    assert function.__doc__


def operators_of(expression: str, monkeypatch: Any) -> list[str]:
    """Return the operators that an expression with ``nd`` and an array ``x`` calls."""
    x, called = mx.nd.ones((2, 2)), []
    through = api.invoke

    def listen(op: OpSpec, *rest: Any) -> Any:
        called.append(op.name)
        return through(op, *rest)

    monkeypatch.setattr(api, "invoke", listen)
    eval(expression, {"nd": mx.nd, "x": x})
    return called

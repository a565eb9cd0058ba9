"""Graphs say what calls one by one say: for every operator, with whatever it can be called."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.errors import MxprofError
from mxprof_nb.runtime.graph import Node, Program, lower
from mxprof_nb.runtime.graph.functions import ALIASES, FUNCTIONS
from mxprof_nb.runtime.graph.operators import operator_of
from mxprof_nb.runtime.graph.raising import called
from mxprof_nb.runtime.nd.array import apply_several
from mxprof_nb.runtime.ops import aval, operator_names, spec
from mxprof_nb.runtime.symbol.symbol import Symbol, symbol_of
from tests.property.operator_calls import CALLS

#: The length of its result depends on values, which a graph does not have when it is made.
BY_VALUE = {"_contrib_boolean_mask"}

#: Copies between arrays: a graph has a copy or a cast.
COPIES = {"CopyCPU2CPU"}

#: What says whether a call is for training; a graph is made for one or the other.
TRAINING = {"train"}

#: Diagonals of a vector have no use for axes, and are called without.
WITHOUT_USE = {"diag": {"axis1", "axis2"}}


def graph_of(name: str, call: Any) -> Symbol:
    """Return the node that calls an operator as a call of it does."""
    inputs, attrs, dynamic = call
    operator, words = called(spec(name), tuple(attrs.items()), dynamic)
    taken = [(Node("null", f"x{place}"), 0) for place in range(len(inputs))]
    count = len(operator_of(operator).outputs(words))
    node = Node(operator, "node", words, taken)
    return symbol_of([(node, place) for place in range(count)])


def lowered(symbol: Symbol, inputs: Any, *, train: bool = False) -> Program:
    known = {f"x{place}": each.aval for place, each in enumerate(inputs)}
    return lower(symbol._entries, known, train=train)


OPERATORS = sorted(CALLS.keys() - BY_VALUE)


@pytest.mark.parametrize("name", OPERATORS)
@given(data=st.data())
@settings(max_examples=6)
def test_a_node_is_lowered_to_the_call_that_it_was_raised_from(name: str, data: Any):
    call = inputs, attrs, dynamic = data.draw(CALLS[name])
    symbol = graph_of(name, call)
    for each in (symbol, mx.sym.load_json(symbol.tojson())):
        (step,) = lowered(each, inputs).steps
        assert step.op is spec(name) or name in COPIES
        left_out = TRAINING | WITHOUT_USE.get(name, set())
        told, wanted = dict(step.attrs), {**attrs}
        assert {key: told.get(key) for key in wanted if key not in left_out} == {
            key: value for key, value in wanted.items() if key not in left_out
        }
        assert step.dynamic == dynamic
        assert step.inputs == tuple(range(len(inputs)))


@pytest.mark.parametrize("name", OPERATORS)
@given(data=st.data())
@settings(max_examples=4)
def test_a_graph_that_is_run_gives_what_the_call_gives(name: str, data: Any):
    op = spec(name)
    call = inputs, attrs, dynamic = data.draw(CALLS[name])
    symbol = graph_of(name, call)
    arrays = {f"x{place}": each.copy() for place, each in enumerate(inputs)}
    states = {name: arrays.pop(name) for name in symbol.list_auxiliary_states()}
    executor = symbol.bind(mx.cpu(), arrays, aux_states=states, grad_req="null")
    found = executor.forward()
    expected = apply_several(op, inputs, tuple({**attrs, **predicting(attrs)}.items()), dynamic)
    for one, other in zip(found, expected, strict=False):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if not (op.draws or attrs.get(op.draws_if)):
            np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def predicting(attrs: dict[str, Any]) -> dict[str, bool]:
    return dict.fromkeys(TRAINING & attrs.keys(), False)


@pytest.mark.parametrize("name", OPERATORS)
@given(data=st.data())
@settings(max_examples=4)
def test_shapes_and_types_are_inferred_without_arrays(name: str, data: Any):
    inputs, attrs, dynamic = data.draw(CALLS[name])
    if any(0 in each.shape for each in inputs):
        return  # to symbols, 0 is a length that is not known
    symbol = graph_of(name, (inputs, attrs, dynamic))
    program = lowered(symbol, inputs)
    results = [program.avals[place] for place in program.outputs]
    types = symbol.infer_type_partial(**{f"x{n}": each.dtype for n, each in enumerate(inputs)})
    assert types[1] == [each.dtype.type for each in results]


def test_every_operator_can_stand_in_a_graph():
    assert operator_names().keys() - FUNCTIONS.keys() == COPIES
    assert set(ALIASES.values()) <= FUNCTIONS.keys()
    assert not ALIASES.keys() & FUNCTIONS.keys()
    for name in FUNCTIONS:
        assert operator_of(name).name == name


# What strangers write

#: Values of parameters, right ones for some.
WORDS = st.sampled_from(
    [
        *(
            "True",
            "False",
            "None",
            "0",
            "1",
            "2",
            "3",
            "-1",
            "(1, 2)",
            "(2,)",
            "()",
            "[1,2]",
            "relu",
        ),
        *("float32", "int32", "both", "1e400", "-0.5", "nan", "(None, 1)", "(1e9,)", "9" * 20),
        *("1000000000000", "((1))", "(a, b)", "prelu", "(1000000000000, 1000000000000)", "x" * 50),
        *("(0,)", "same", "instance", "cpu(0)", "'quoted'", "\x00", ""),
    ]
)
MARKS = st.dictionaries(
    st.sampled_from(["__shape__", "__dtype__", "__mine__", "lr_mult", "plain"]),
    st.sampled_from(["(2, 3)", "(4,)", "(1, 2, 4, 4)", "(2, 0)", "()", "x", "(1e3,)", "0", "99"]),
    max_size=2,
)


@st.composite
def files(draw: Any) -> str:
    """Return the text of a graph whose operators, inputs and words fit each other by chance."""
    nodes: list[dict[str, Any]] = [
        {"op": "null", "name": f"x{number}", "attrs": draw(MARKS), "inputs": []}
        for number in range(3)
    ]
    for number in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from([*FUNCTIONS, *ALIASES]))
        operator = operator_of(name)
        told = {
            key: draw(WORDS)
            for key in operator.parameters
            if key in operator.required or draw(st.booleans())
        }
        count = 2 if operator.variadic else draw(st.integers(0, 1)) + len(operator.inputs)
        taken = [[draw(st.integers(0, len(nodes) - 1)), 0, 0] for _ in range(count)]
        nodes.append({"op": name, "name": f"n{number}", "attrs": told, "inputs": taken})
    return json.dumps({"nodes": nodes, "heads": [[len(nodes) - 1, 0, 0]]})


@given(text=files())
@settings(max_examples=300, deadline=5000)
def test_a_file_of_a_stranger_is_a_graph_or_refused_in_words(text: str):
    with contextlib.suppress(MxprofError):
        graph = mx.sym.load_json(text)
        assert mx.sym.load_json(graph.tojson()).tojson() == graph.tojson()
        assert len(graph.get_internals().list_outputs()) >= len(graph.list_inputs())
        graph.infer_type_partial()
        graph.infer_shape_partial()
        lower(graph._entries, {"x0": aval((2, 3), "float32")}, train=True)


@given(text=st.text(), place=st.integers(0, 400), length=st.integers(0, 20))
@settings(max_examples=200)
def test_a_damaged_file_is_a_graph_or_refused_in_words(text: str, place: int, length: int):
    whole = mx.sym.BatchNorm(mx.sym.var("x", shape=(2, 3)), name="bn").tojson()
    with contextlib.suppress(MxprofError):
        mx.sym.load_json(whole[:place] + text + whole[place + length :]).infer_shape_partial()


# What was recorded


@given(data=st.data())
@settings(max_examples=60)
def test_what_was_recorded_comes_back_as_a_graph_that_gives_the_same(data: Any):
    x = mx.nd.array(data.draw(st.lists(st.integers(-3, 3), min_size=6, max_size=6))).reshape((2, 3))
    x.attach_grad()
    y = mx.nd.ones((3, 4))
    y.attach_grad()
    with mx.autograd.record():
        known = [x * 1]
        for _ in range(data.draw(st.integers(1, 8))):
            one = known[data.draw(st.integers(0, len(known) - 1))]
            known.append(data.draw(st.sampled_from(STEPS))(one, y))
    graph = mx.autograd.get_symbol(known[-1])
    names = graph.list_arguments()
    assert names in (["var0"], ["var0", "var1"])
    arrays = dict(zip(names, (x, y), strict=False))
    (found,) = graph.bind(mx.cpu(), arrays, grad_req="null").forward()
    np.testing.assert_array_equal(found.asnumpy(), known[-1].asnumpy())
    again = mx.sym.load_json(graph.tojson())
    assert again.tojson() == graph.tojson()


STEPS = (
    lambda one, y: one + 2,
    lambda one, y: 3 - one,
    lambda one, y: mx.nd.relu(one),
    lambda one, y: one * one,
    lambda one, y: one.reshape((-1,)).reshape((2, 3)),
    lambda one, y: mx.nd.dot(mx.nd.dot(one, y), y.T),
    lambda one, y: one[0:2],
    lambda one, y: mx.nd.stack(one[0], one[1]),
    lambda one, y: mx.nd.concat(*mx.nd.split(one, num_outputs=3, axis=1)[::-1], dim=1),
    lambda one, y: mx.nd.clip(one, -1, 4),
    lambda one, y: mx.nd.broadcast_add(one, one.sum(axis=0, keepdims=True)),
    lambda one, y: mx.nd.LayerNorm(one, y[:, 0], y[:, 1]),
)

"""Symbols against real MXNet: names, attributes, JSON, shapes, types, results and gradients."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.agreement import alike
from tests.reference.conftest import Runtimes
from tests.reference.symbol_programs import (
    EXPRESSIONS,
    NETWORKS,
    calls_of_all_operators,
    made,
)

pytestmark = pytest.mark.reference


def texts(values: list[Any]) -> list[Any]:
    """Return what a program showed, with texts of several lines as lists, for messages."""
    return [each.splitlines() if isinstance(each, str) else each for each in values]


def check_same(program: str, runtimes: Runtimes) -> list[Any]:
    """Run a program on both sides and compare what it shows."""
    ours, real = runtimes.ours().run(program), runtimes.real().run(program)
    assert not real.error, real.message
    assert not ours.error, ours.message
    assert texts(ours.values) == texts(real.values)
    return ours.values


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_symbol_says_the_same_of_itself(expression: str, runtimes: Runtimes):
    check_same(made(expression), runtimes)


def test_every_operator_has_the_same_inputs_and_results(runtimes: Runtimes):
    calls = list(calls_of_all_operators())
    programs = [made(expression) for _, expression in calls]
    ours, real = runtimes.ours().runs(programs), runtimes.real().runs(programs)
    assert len({name for name, _ in calls}) > 150
    for (_, expression), one, other in zip(calls, ours, real, strict=True):
        assert not other.error, (expression, other.message)
        assert texts(one.values) == texts(other.values), (expression, one.message)


# Shapes and types

SHAPES = """
{source}
show(s.infer_shape(**{shapes}))
show(s.infer_shape_partial(**{shapes}))
show(s.infer_type(**{{name: "float32" for name in {shapes}}}))
show(s.infer_type(**{{name: "float16" for name in {shapes}}}))
"""


@pytest.mark.parametrize("name", NETWORKS)
def test_the_same_shapes_and_types_follow(name: str, runtimes: Runtimes):
    source, shapes = NETWORKS[name]
    check_same(SHAPES.format(source=source, shapes=shapes), runtimes)


PARTIAL = {
    "backwards through what keeps its shape": (
        "s = mx.sym.relu(mx.sym.var('x') * 2) + mx.sym.var('y')",
        {"y": (2, 3)},
    ),
    "lengths that are not known": (
        "s = mx.sym.FullyConnected(mx.sym.var('x'), mx.sym.var('w', shape=(0, 5)), num_hidden=4)",
        {"x": (2, 5)},
    ),
    "a shape given later counts more than the variable's own": (
        "s = mx.sym.var('x', shape=(9, 9)) + 1",
        {"x": (2, 5)},
    ),
    "slopes": (
        "s = mx.sym.LeakyReLU(mx.sym.var('x'), act_type='prelu', name='p')",
        {"x": (2, 5, 3)},
    ),
    "a batch of unknown size": (
        "x = mx.sym.Convolution(mx.sym.var('x'), kernel=(3, 3), num_filter=4, name='c')\n"
        "x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type='max')\n"
        "x = mx.sym.BatchNorm(x, name='b')\n"
        "s = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, name='f'), name='s')",
        {"x": (0, 1, 8, 8)},
    ),
    "parts of a batch of unknown size": (
        "x, y = mx.sym.split(mx.sym.var('x'), num_outputs=2, axis=1, name='p')\n"
        "s = mx.sym.Group([mx.sym.concat(x, y * 2, dim=1), x.transpose((1, 0))])",
        {"x": (0, 6)},
    ),
    "a part of the graph": (
        "s = mx.sym.Group([mx.sym.var('x') + 1, mx.sym.dot(mx.sym.var('y'), mx.sym.var('z'))])",
        {"x": (2, 5)},
    ),
}


@pytest.mark.parametrize("name", PARTIAL)
def test_the_same_shapes_follow_in_part(name: str, runtimes: Runtimes):
    source, shapes = PARTIAL[name]
    program = "{}\nshow(s.infer_shape_partial(**{}))\nshow(s.infer_shape(**{}))"
    check_same(program.format(source, shapes, shapes), runtimes)


TYPES = [
    "mx.sym.cast(v[0], dtype='int32')",
    "mx.sym.cast(v[0], dtype='float64') + v[1]",
    "mx.sym.one_hot(v[0], depth=3)",
    "mx.sym.where(v[0], v[1], v[2])",
    "mx.sym.Embedding(v[0], input_dim=3, output_dim=2)",
    "mx.sym.topk(v[0], ret_typ='both', dtype='int32')",
    "mx.sym.argsort(v[0], dtype='int32')",
    "mx.sym.BatchNorm(v[0])",
    "mx.sym.zeros((2, 3), dtype='int8')",
    "mx.sym.softmax(v[0], dtype='float64')",
    "mx.sym.shape_array(v[0])",
    "mx.sym.SoftmaxOutput(v[0])",
    "mx.sym.gather_nd(v[0], v[1])",
]


@pytest.mark.parametrize("expression", TYPES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_same_types_follow_of_one(expression: str, dtype: str, runtimes: Runtimes):
    program = f"""
import warnings
v = [mx.sym.var(name) for name in "abcdefgh"]
s = {expression}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    given = {{"a": {dtype!r}}} if "a" in s.list_arguments() else {{}}
    show(s.infer_type_partial(**given))
"""
    check_same(program, runtimes)


# Results and gradients of graphs that came as JSON from the other side

RUN = """
s = mx.sym.load_json({text!r})
requests = {{name: "null" if name == "i" else "write" for name in s.list_arguments()}}
e = s.simple_bind(mx.cpu(), grad_req=requests, **{shapes})
values = np.random.RandomState(0)
for arrays in (e.arg_dict, e.aux_dict):
    for name in sorted(arrays):
        array = arrays[name]
        drawn = values.uniform(0.5, 1.5, array.shape)
        if name in ("i", "label"):
            drawn = np.arange(array.size).reshape(array.shape) % 3
        array[:] = drawn.astype("float32")
show(e.forward(is_train=True))
e.backward([mx.nd.ones(each.shape) * 0.5 for each in e.outputs])
show([e.grad_dict[name] for name in sorted(e.grad_dict) if name != "i"])
mx.nd.waitall()
show([e.aux_dict[name] for name in sorted(e.aux_dict)])
show(e.forward(is_train=False))
"""


def check_runs(source: str, shapes: dict[str, Any], runtimes: Runtimes, tolerance: float) -> None:
    """Let each side run what the other wrote, and compare results and gradients."""
    program = (
        f"with mx.name.NameManager():\n    {source.strip().replace(chr(10), chr(10) + '    ')}"
    )
    ours, real = (
        side.run(f"{program}\nshow(s.tojson())") for side in (runtimes.ours(), runtimes.real())
    )
    assert not ours.error, ours.message
    assert not real.error, real.message
    assert texts(ours.values) == texts(real.values)
    found = runtimes.ours().run(RUN.format(text=real.values[0], shapes=shapes))
    expected = runtimes.real().run(RUN.format(text=ours.values[0], shapes=shapes))
    assert not expected.error, expected.message
    assert not found.error, found.message
    for what, one, other in zip(
        ("results", "gradients", "states", "predictions"),
        found.values,
        expected.values,
        strict=True,
    ):
        alike(one, other, what, tolerance)


@pytest.mark.parametrize("name", NETWORKS)
def test_graphs_of_the_other_side_have_its_results_and_gradients(name: str, runtimes: Runtimes):
    source, shapes = NETWORKS[name]
    check_runs(source, shapes, runtimes, 2e-4)


@st.composite
def graphs(draw: Any) -> tuple[str, dict[str, tuple[int, ...]]]:
    """Return a program of random operators on matrices, and the shape of its input."""
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    lines, known = ["n0 = mx.sym.var('x')"], [shape]
    for number in range(1, draw(st.integers(2, 9))):
        place = draw(st.integers(0, len(known) - 1))
        rows, columns = known[place]
        same = [each for each, other in enumerate(known) if other == known[place]]
        other = draw(st.sampled_from(same))
        x, y, width = f"n{place}", f"n{other}", draw(st.integers(1, 4))
        calls: list[tuple[str, tuple[int, int]]] = [
            (f"mx.sym.{draw(st.sampled_from(UNARY))}({x})", (rows, columns)),
            (f"{x} {draw(st.sampled_from('+-*/'))} {width}", (rows, columns)),
            (f"{width} {draw(st.sampled_from('+-*'))} {x}", (rows, columns)),
            (f"{x} {draw(st.sampled_from('+-*'))} {y}", (rows, columns)),
            (f"mx.sym.FullyConnected({x}, num_hidden={width})", (rows, width)),
            (f"mx.sym.BatchNorm({x}, axis=1, fix_gamma=False, eps=0.1)", (rows, columns)),
            (f"mx.sym.LayerNorm({x}, eps=0.1)", (rows, columns)),
            (f"mx.sym.transpose({x})", (columns, rows)),
            (f"mx.sym.concat({x}, {y}, dim=1)", (rows, 2 * columns)),
            (f"mx.sym.reshape({x}, shape=(-1, 1))", (rows * columns, 1)),
            (f"mx.sym.broadcast_add({x}, mx.sym.mean({x}, axis=0, keepdims=True))", known[place]),
            (f"{x}.softmax(axis={draw(st.integers(0, 1))})", (rows, columns)),
            (
                f"mx.sym.split(mx.sym.concat({x}, {y}, dim=0), num_outputs=2, axis=0)[1]",
                known[place],
            ),
            (f"mx.sym.dot({x}, mx.sym.transpose({y}))", (rows, rows)),
        ]
        call, result = draw(st.sampled_from(calls))
        lines.append(f"n{number} = {call}")
        known.append(result)
    heads = draw(st.lists(st.integers(0, len(known) - 1), max_size=2, unique=True))
    chosen = ", ".join(f"n{each}" for each in dict.fromkeys([*heads, len(known) - 1]))
    return "\n".join([*lines, f"s = mx.sym.Group([{chosen}])"]), {"x": shape}


UNARY = ("tanh", "sigmoid", "relu", "softsign", "square", "identity", "sin", "BlockGrad", "Flatten")


@given(graph=graphs())
@settings(max_examples=40, deadline=None)
def test_random_graphs_agree(graph: tuple[str, dict[str, tuple[int, ...]]], runtimes: Runtimes):
    source, shapes = graph
    check_same(
        SHAPES.format(source=f"with mx.name.NameManager():\n    {indented(source)}", shapes=shapes),
        runtimes,
    )
    check_runs(source, shapes, runtimes, 2e-3)


def indented(source: str) -> str:
    return source.replace("\n", "\n    ")


# What profiles show

CALLS = [
    "mx.sym.var('x')",
    "mx.sym.var('x', shape=(2, 3), lr_mult=2)",
    "mx.sym.relu(x)",
    "x + 1",
    "x * x",
    "mx.sym.split(x, num_outputs=2)",
    "mx.sym.Group([x, y])",
    "y.list_arguments(), y.list_outputs(), y.list_auxiliary_states(), y.list_inputs()",
    "y.get_internals()",
    "y.get_children()",
    "y.infer_shape(x=(2, 3))",
    "y.infer_shape_partial(x=(2, 3))",
    "y.infer_type(x='float32')",
    "y.tojson()",
    "mx.sym.load_json(text)",
    "y.name, len(y), repr(y), y[0]",
    "y.attr('__a__')",
    "y.list_attr()",
    "y.attr_dict()",
    "y._set_attr(__a__='1')",
    "y(x=x)",
    "y.save(path), mx.sym.load(path)",
]

PROFILED = """
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "net.json")
x = mx.sym.var("x")
y = mx.sym.FullyConnected(x, num_hidden=3)
text = y.tojson()
mx.profiler.set_config(
    profile_all=True, filename=path + ".profile", aggregate_stats=True, continuous_dump=False
)
mx.profiler.dumps(reset=True)
mx.profiler.set_state("run")
{}
mx.profiler.set_state("stop")
lines = [each.split() for each in mx.profiler.dumps(reset=True).splitlines()]
show(sorted(each[:2] for each in lines if each and each[0].startswith(("MXSymbol", "MXExec"))))
"""


@pytest.mark.parametrize("call", CALLS)
def test_profiles_show_the_same_calls(call: str, runtimes: Runtimes):
    program = PROFILED.format(call)
    (ours,), (real,) = runtimes.ours().run(program).values, runtimes.real().run(program).values
    assert ours == [each for each in real if each[0] != "MXSymbolRemoveAmpCast"]


# What is refused

REFUSED = [
    "mx.sym.FullyConnected(v[0])",
    "mx.sym.FullyConnected(v[0], num_hidden='many')",
    "mx.sym.FullyConnected(v[0], num_hidden=3, numhidden=3)",
    "mx.sym.Activation(v[0])",
    "mx.sym.FullyConnected(3, num_hidden=3)",
    "mx.sym.relu(mx.sym.split(v[0], num_outputs=2))",
    "mx.sym.relu(v[0])(nothing=v[1])",
    "mx.sym.relu(v[0])(v[1])",
    "mx.sym.relu(v[0])['nothing_output']",
    "mx.sym.relu(v[0])[1]",
    "mx.sym.load_json('{')",
    "mx.sym.load_json('{}')",
    'mx.sym.load_json(\'{"nodes": [], "heads": [[0, 0, 0]], "arg_nodes": []}\')',
    "mx.sym.load('there is no such file.json')",
    "mx.sym.var(3)",
    "mx.sym.var('x', unknown=3)",
    "mx.sym.Group([])",
    "mx.sym.Group([v[0], 3])",
    "(v[0] + v[1]).infer_shape(a=(2, 3), b=(3, 2))",
    "mx.sym.dot(v[0], v[1]).infer_shape(a=(2, 3), b=(2, 2))",
    "mx.sym.FullyConnected(v[0], v[1], num_hidden=3).infer_shape(a=(2, 3), b=(2, 2))",
    "v[0] + 'text'",
    "v[0] + None",
    "bool(v[0])",
    "v[0].asnumpy()",
    "mx.sym.AttrScope",
    "mx.AttrScope(number=3)",
    "mx.sym.maximum(v[0], 'x')",
    "mx.sym.relu(v[0], v[1])",
]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_mxnet_refuses_is_refused(expression: str, runtimes: Runtimes):
    program = f"v = [mx.sym.var(name) for name in 'abcdefgh']\n{expression}"
    assert runtimes.real().run(program).error
    ours = runtimes.ours().run(program)
    assert ours.error
    assert ours.line == 2
    assert len(ours.message) > 10


def test_the_text_is_json(runtimes: Runtimes):
    (text,) = runtimes.ours().run("show((mx.sym.var('é\"\\\\') + 1).tojson())").values
    assert json.loads(text)["nodes"][0]["name"] == 'é"\\'
    back = runtimes.real().run(f"show(mx.sym.load_json({text!r}).list_arguments())").values
    assert back == [['é"\\']]


RECORDED = """
x, w, b = mx.nd.ones((2, 3)), mx.nd.ones((4, 3)), mx.nd.ones((4,))
x.attach_grad()
with mx.autograd.record():
    y = mx.nd.FullyConnected(mx.nd.relu(x * 2), w, b, num_hidden=4)
    z = y.reshape((4, 2))[1] + y.sum()
    a, c = mx.nd.split(y, num_outputs=2)
    z = z + a.reshape((-1,))[0:2] + mx.nd.clip(c, 0, 1).sum(axis=(0, 1))
s = mx.autograd.get_symbol(z)
show(s.list_arguments())
show(s.get_internals().list_outputs())
show([each["op"] for each in __import__("json").loads(s.tojson())["nodes"]])
show(s.infer_shape(var0=(2, 3), null1=(4, 3), null2=(4,)))
"""


def test_what_was_recorded_comes_back_as_the_same_graph(runtimes: Runtimes):
    check_same(RECORDED, runtimes)

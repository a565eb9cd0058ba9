"""Symbols: how they are made, named, composed and written, and what is refused."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import (
    ArgumentError,
    EngineError,
    GradientError,
    ShapeError,
    UnknownOperatorError,
)
from mxprof_nb.runtime.graph import lower
from mxprof_nb.runtime.graph.words import value_of, word_of
from mxprof_nb.runtime.ops import aval

#: Without types: many calls here are wrong on purpose.
sym: Any = mx.sym
AttrScope: Any = mx.AttrScope


@pytest.fixture(autouse=True)
def fresh_names():
    with mx.name.NameManager():
        yield


def perceptron() -> Any:
    x = sym.FullyConnected(sym.var("data"), num_hidden=4, name="fc1")
    x = sym.BatchNorm(sym.Activation(x, act_type="relu"), name="bn")
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=2, name="fc2"), name="softmax")


# Names


def test_variables_are_made_for_what_is_not_given():
    net = perceptron()
    assert net.list_arguments() == [
        *("data", "fc1_weight", "fc1_bias", "bn_gamma", "bn_beta"),
        *("fc2_weight", "fc2_bias", "softmax_label"),
    ]
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.list_outputs() == ["softmax_output"]


def test_nodes_without_a_name_are_counted_by_what_they_are():
    x = sym.var("x")
    made = [x + 1, x + 1, x - x, sym.flatten(x), x.reshape((1, -1)), sym.linalg.det(x)]
    assert [each.name for each in made] == [
        *("_plusscalar0", "_plusscalar1", "_minus0", "flatten0", "reshape0", "det0")
    ]


def test_a_prefix_stands_before_the_names_of_a_block():
    with mx.name.Prefix("left_"):
        assert sym.relu(sym.var("x")).name == "left_relu0"
        assert sym.relu(sym.var("x"), name="mine").name == "left_mine"


def test_what_is_given_by_place_and_by_name_is_the_same():
    x, w = sym.var("x"), sym.var("w")
    one = sym.FullyConnected(x, w, None, 3, True, name="fc")
    other = sym.FullyConnected(weight=w, data=x, num_hidden=3, no_bias=True, name="fc")
    assert one.tojson() == other.tojson()


# Shapes


def test_shapes_of_parameters_follow_from_the_data():
    arguments, results, states = perceptron().infer_shape(data=(8, 5))
    assert arguments == [(8, 5), (4, 5), (4,), (4,), (4,), (2, 4), (2,), (8,)]
    assert (results, states) == ([(8, 2)], [(4,), (4,)])


def test_a_conflict_names_the_node():
    x, y = sym.var("x"), sym.var("y")
    with pytest.raises(ShapeError, match=r"Node 'total'.*2, 3.*3, 2") as caught:
        sym.elemwise_add(x, y, name="total").infer_shape(x=(2, 3), y=(3, 2))
    assert caught.value.layer == "total"
    weight = sym.var("w", shape=(0, 9))
    net = sym.FullyConnected(x, weight, num_hidden=3, name="fc")
    with pytest.raises(ShapeError, match=r"Node 'fc'.*'w' has shape \(0, 9\).*needs \(3, 2\)"):
        net.infer_shape(x=(4, 2))


def test_what_does_not_follow_is_none_or_empty():
    x = sym.var("x") + sym.var("y")
    assert x.infer_shape() == (None, None, None)
    assert x.infer_shape_partial() == ([(), ()], [()], [])
    assert x.infer_type() == (None, None, None)
    assert x.infer_shape((2, 3)) == ([(2, 3), (2, 3)], [(2, 3)], [])


def test_lengths_that_are_not_known_are_0_and_all_else_follows():
    net = perceptron()
    arguments, results, states = net.infer_shape_partial(data=(0, 5))
    assert arguments == [(0, 5), (4, 5), (4,), (4,), (4,), (2, 4), (2,), (0,)]
    assert (results, states) == ([(0, 2)], [(4,), (4,)])
    assert net.infer_shape(data=(0, 5)) == (None, None, None)
    apart = sym.var("x") + sym.var("y")
    assert apart.infer_shape_partial(x=(0, 6), y=(8, 0))[0] == [(0, 6), (8, 0)]
    assert apart.reshape((-1, 4)).infer_shape_partial(x=(0, 6))[1] == [(0, 4)]


def test_the_name_is_an_attribute():
    net = perceptron()
    assert net.attr("name") == net.name
    assert "name" not in net.list_attr()
    assert sym.var("x").attr("name") == "x"
    assert sym.var("x").attr("other") is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nothing": (2,)}, "no variable 'nothing'"),
        ({"x": "2, 3"}, "no shape"),
        ({"x": (-1, 2)}, "no shape"),
        ({"x": (1.5,)}, "no shape"),
    ],
)
def test_shapes_that_are_none_are_refused(given, message):
    with pytest.raises(ArgumentError, match=message):
        (sym.var("x") * 2).infer_shape(**given)


# Lowering


def test_a_graph_becomes_a_list_of_operators():
    net = perceptron()
    program = lower(net._entries, {"data": aval((8, 5), "float32")}, train=True)
    assert [step.op.name for step in program.steps] == [
        *("FullyConnected", "Activation", "BatchNorm", "FullyConnected", "SoftmaxOutput")
    ]
    assert [step.node for step in program.steps] == ["fc1", "activation0", "bn", "fc2", "softmax"]
    assert list(program.inputs) == net.list_inputs()
    (result,) = program.outputs
    assert program.avals[result] is aval((8, 2), "float32")
    assert dict(program.steps[2].attrs)["train"] is True


def test_two_variables_of_one_name_are_refused():
    with pytest.raises(ArgumentError, match="Two variables are called 'x'"):
        lower((sym.var("x") + sym.var("x"))._entries, {"x": aval((2,), "float32")}, train=False)


def test_a_shape_that_does_not_follow_is_refused_by_name():
    with pytest.raises(ShapeError, match="'y' is not known"):
        lower(
            sym.dot(sym.var("x"), sym.var("y"))._entries,
            {"x": aval((2, 3), "float32")},
            train=False,
        )


def test_what_needs_a_value_cannot_stand_in_a_graph():
    net = sym.contrib.boolean_mask(sym.var("x"), sym.var("y"), name="mask")
    known = {"x": aval((2, 3), "float32"), "y": aval((2,), "float32")}
    with pytest.raises(ArgumentError, match=r"Node 'mask'.*value of an array"):
        lower(net._entries, known, train=False)


def test_making_and_lowering_a_graph_runs_nothing_and_records_nothing():
    x = mx.nd.ones((2, 3))
    x.attach_grad()
    with mx.autograd.record():
        net = perceptron()
        lower(net._entries, {"data": aval((8, 5), "float32")}, train=False)
        assert mx.autograd.is_recording()
        y = x * 2
    y.backward()
    assert (x.grad.asnumpy() == 2).all()
    assert not mx.autograd.is_recording()


# Composition


def test_a_copy_is_composed_and_the_symbol_stays():
    net = sym.relu(sym.var("x"), name="outer")
    made = net(x=sym.var("y") * 2)
    assert made.list_arguments() == ["y"]
    assert net.list_arguments() == ["x"]
    assert made.get_internals().list_outputs() == ["y", "_mulscalar0_output", "outer_output"]


def test_results_are_chosen_by_place_and_by_name():
    parts = sym.split(sym.var("x"), num_outputs=3, name="parts")
    assert len(parts) == 3
    assert parts["parts_output1"].list_outputs() == parts[1].list_outputs() == ["parts_output1"]
    assert [each.list_outputs()[0] for each in parts] == parts.list_outputs()
    group = sym.Group([parts[0], sym.var("y")])
    assert (group.name, len(group), group[1].name) == (None, 2, "y")
    assert repr(group) == "<Symbol group [parts, y]>"


def test_copies_and_pickles_are_whole():
    net = perceptron()
    for other in (copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.tojson() == net.tojson()
        other._set_attr(__mine__="1")
        assert net.attr("__mine__") is None


def test_a_long_chain_is_no_trouble():
    x = sym.var("x", shape=(2,))
    for _ in range(3000):
        x = x + 1
    again = sym.load_json(x.tojson())
    assert again.infer_shape()[1] == [(2,)]
    assert copy.deepcopy(again)(x=sym.var("y")).list_arguments() == ["y"]


# Attributes


def test_scopes_of_attributes_add_up():
    with AttrScope(ctx_group="one", __outer__="1"):
        with AttrScope(ctx_group="two"):
            inner = sym.var("x", attr={"__own__": "3"})
        outer = sym.relu(inner)
    assert inner.list_attr() == {
        "__ctx_group__": "two",
        "ctx_group": "two",
        "__outer__": "1",
        "__own__": "3",
    }
    assert (outer.attr("ctx_group"), outer.attr("nothing")) == ("one", None)
    assert sym.relu(inner).list_attr() == {}


def test_a_scope_belongs_to_its_thread():
    found = []
    with AttrScope(__mine__="1"):
        thread = threading.Thread(target=lambda: found.append(sym.var("x").list_attr()))
        thread.start()
        thread.join()
    assert found == [{}]


def test_parameters_can_be_set_anew_and_are_checked():
    net = sym.FullyConnected(sym.var("x"), num_hidden=3)
    net._set_attr(num_hidden="5")
    assert net.infer_shape(x=(1, 2))[1] == [(1, 5)]
    with pytest.raises(ArgumentError, match="whole number"):
        net._set_attr(num_hidden="five")
    with pytest.raises(ArgumentError, match="attributes are texts"):
        net._set_attr(num_hidden=5)


# Words


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ((3, 3), "(3, 3)"),
        ((np.int64(2),), "(2,)"),
        ([1, 2], "[1, 2]"),
        (True, "True"),
        (None, "None"),
        (1e-5, "1e-05"),
        (np.float32(0.5), "0.5"),
        ("relu", "relu"),
        (np.float16, "float16"),
        (np.dtype("int8"), "int8"),
        (mx.cpu(1), "cpu(1)"),
        ((None, 2), "(None, 2)"),
    ],
)
def test_values_are_written_as_mxnet_writes_them(value, word):
    assert word_of(value) == word


@pytest.mark.parametrize(
    ("word", "wanted", "value"),
    [
        ("(3, 3)", "Sizes", (3, 3)),
        ("[1,2]", "Sizes", (1, 2)),
        ("()", "Sizes", ()),
        ("(2,)", "Shape", (2,)),
        ("3L", "int", 3),
        ("1", "bool", True),
        ("0", "bool", False),
        ("false", "bool", False),
        ("1e-05", "float", 1e-5),
        ("inf", "float", float("inf")),
        ("None", "Axis", None),
        ("None", "str", "None"),
        ("None", "str | None", None),
        ("3", "str", "3"),
        ("(None, -1)", "Bounds", (None, -1)),
        ("__import__('os')", "Any", "__import__('os')"),
    ],
)
def test_words_are_read_and_never_run(word, wanted, value):
    assert value_of(word, wanted) == value
    assert type(value_of(word, wanted)) is type(value)


# Files


def test_a_graph_is_saved_and_loaded(tmp_path: Path):
    net = perceptron()
    net.save(str(tmp_path / "net.json"))
    again = sym.load(str(tmp_path / "net.json"))
    assert again.tojson() == net.tojson()
    assert again.infer_shape(data=(8, 5)) == net.infer_shape(data=(8, 5))


def test_files_of_old_versions_are_read():
    text = json.dumps(
        {
            "nodes": [
                {"op": "null", "param": {}, "name": "x", "inputs": [], "backward_source_id": -1},
                {"op": "null", "name": "w", "inputs": [], "attr": {"lr_mult": "2"}},
                {
                    "op": "FullyConnected",
                    "param": {"no_bias": "True", "num_hidden": "4"},
                    "name": "fc",
                    "inputs": [[0, 0], [1, 0]],
                    "attr": {"ctx_group": "a"},
                },
            ],
            "arg_nodes": [0, 1],
            "heads": [[2, 0]],
        }
    )
    net = sym.load_json(text)
    assert net.infer_shape(x=(2, 3))[0] == [(2, 3), (4, 3)]
    assert net.attr_dict()["w"]["lr_mult"] == "2"


def changed(**changes: Any) -> str:
    """Return the text of a graph with something about its last node changed."""
    read = json.loads(sym.FullyConnected(sym.var("x"), num_hidden=3, name="fc").tojson())
    read["nodes"][-1].update(changes)
    return json.dumps(read)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("{", ArgumentError, "no JSON"),
        ("", ArgumentError, "no JSON"),
        ("[" * 100_000, ArgumentError, "no JSON"),
        ("9" * 10_000, ArgumentError, "no JSON"),
        ("[]", ArgumentError, "no list of nodes"),
        ('{"nodes": []}', ArgumentError, "no heads"),
        ('{"nodes": [], "heads": [[0, 0, 0]]}', ArgumentError, "takes node 0"),
        ('{"nodes": [3], "heads": [[0, 0]]}', ArgumentError, "node 0 is no object"),
        ('{"nodes": [{"op": "null"}], "heads": [[0, 0]]}', ArgumentError, "no op or no name"),
        ('{"nodes": [{"op": "null", "name": "x"}], "heads": [[0, 1]]}', ArgumentError, "result 1"),
        ('{"nodes": [{"op": "null", "name": "x"}], "heads": [["0", 1]]}', ArgumentError, "is no"),
        (changed(op="Nonsense"), UnknownOperatorError, "'fc'.*'Nonsense'"),
        (changed(op="FullyConected"), UnknownOperatorError, "Did you mean 'FullyConnected'"),
        (changed(inputs=[[0, 0, 0]]), ArgumentError, "'fc'.*takes 3 inputs"),
        (changed(inputs=[[3, 0, 0]] * 3), ArgumentError, "takes node 3"),
        (changed(inputs=[[True, 0, 0]] * 3), ArgumentError, r"no \[node, result, version\]"),
        (changed(inputs="x"), ArgumentError, "inputs of node 'fc'"),
        (changed(attrs={"num_hidden": 3}), ArgumentError, "no texts"),
        (changed(attrs={"num_hidden": "3", "more": "1"}), ArgumentError, "no parameter 'more'"),
        (changed(attrs={"num_hidden": "x"}), ArgumentError, "num_hidden='x' is no whole number"),
        (changed(attrs={}), ArgumentError, "num_hidden is missing"),
        (changed(attrs={"num_hidden": "9" * 200_000}), ArgumentError, "characters"),
        (changed(op="null"), ArgumentError, "variable 'fc' has inputs"),
        (
            changed(op="Concat", attrs={"num_args": "1000000000"}),
            ArgumentError,
            "1000000000 inputs or results",
        ),
        (
            changed(op="SliceChannel", attrs={"num_outputs": "1000000000"}, inputs=[[0, 0, 0]]),
            ArgumentError,
            "1000000000 inputs or results",
        ),
    ],
)
def test_a_broken_file_is_refused_in_words(text, error, message, tmp_path: Path):
    begun = time.process_time()
    with pytest.raises(error, match=message):
        sym.load_json(text)
    (tmp_path / "net.json").write_text(text)
    with pytest.raises(error, match=message):
        sym.load(str(tmp_path / "net.json"))
    assert time.process_time() - begun < 10, "it hung"


def test_what_is_no_text_is_no_graph(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        sym.load(str(tmp_path / "nothing.json"))
    (tmp_path / "net.params").write_bytes(b"\x12\x01\xff\xfe" * 40)
    with pytest.raises(ArgumentError, match="no graph"):
        sym.load(str(tmp_path / "net.params"))
    for call in (sym.load, sym.load_json):
        with pytest.raises(TypeError, match="int"):
            call(3)


# What is refused


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda x: sym.FullyConnected(x), ArgumentError, "num_hidden is missing"),
        (lambda x: sym.Activation(x, act_typ="relu"), ArgumentError, "Did you mean 'act_type'"),
        (lambda x: sym.FullyConnected(3, num_hidden=3), TypeError, "data must be a Symbol"),
        (lambda x: sym.concat(x, 3), TypeError, "must be a Symbol"),
        (lambda x: sym.FullyConnected(x, num_hidden=x), ArgumentError, "cannot be a Symbol"),
        (lambda x: sym.FullyConnected(x, num_hidden=object()), ArgumentError, "object"),
        (lambda x: sym.relu(x, data=x), ArgumentError, "given twice"),
        (lambda x: sym.relu(x, x), ArgumentError, "too many"),
        (lambda x: sym.relu(x, weight=x), ArgumentError, "no input 'weight'"),
        (lambda x: sym.relu(sym.split(x, num_outputs=2)), ArgumentError, "2 results"),
        (lambda x: sym.split(x, num_outputs=0), ArgumentError, "0 inputs or results"),
        (lambda x: sym.FullyConnected(x, num_hidden=1, weight_lr_mult="2"), ArgumentError, "var"),
        (lambda x: sym.Group([x, 3]), TypeError, "Group"),
        (lambda x: sym.var(3), TypeError, "needs a name"),
        (lambda x: sym.var("y", color="red"), ArgumentError, "'color'"),
        (lambda x: sym.var("y", stype="csr"), ArgumentError, "'default' only"),
        (lambda x: sym.var("y", dtype="complex64"), TypeError, "complex64"),
        (lambda x: sym.var("y", attr={"a": 1}), ArgumentError, "texts"),
        (lambda x: x + "1", TypeError, "do not mix"),
        (lambda x: x == None, TypeError, "do not mix"),  # noqa: E711
        (lambda x: x + mx.nd.ones((2,)), TypeError, "NDArray"),
        (lambda x: np.ones(2) + x, TypeError, "ndarray"),
        (lambda x: sym.maximum("a", "b"), TypeError, "symbols or numbers"),
        (lambda x: bool(x), TypeError, "neither true nor false"),
        (lambda x: x[1], IndexError, "no number 1"),
        (lambda x: x[1.5], TypeError, "float"),
        (lambda x: x["y"], ArgumentError, "no result named 'y'"),
        (lambda x: sym.relu(x)(y=x), ArgumentError, "no variable 'y'"),
        (lambda x: sym.relu(x)(x), ArgumentError, "by names"),
        (lambda x: sym.relu(x)(x=3), TypeError, "must be a Symbol"),
        (lambda x: sym.Group([x, x + 1]).attr("a"), ArgumentError, "several nodes"),
        (lambda x: x.asnumpy(), AttributeError, "no value"),
        (lambda x: x.rehsape((1,)), AttributeError, "Did you mean 'reshape'"),
        (lambda x: sym.FullConnected(x), AttributeError, "Did you mean 'FullyConnected'"),
        (lambda x: sym.RNN(x), AttributeError, "MXNet 1.9.1 has it"),
        (lambda x: sym.linalg_gemm2(x, x), AttributeError, "see mx.sym.linalg.gemm2"),
        (lambda x: sym.linalg.gem2(x, x), AttributeError, "mx.sym.linalg"),
        (lambda x: AttrScope(a=1), ArgumentError, "texts"),
        (lambda x: sym.random.uniform(x, 1), ArgumentError, "all numbers or all symbols"),
        (lambda x: mx.autograd.get_symbol(x), TypeError, "NDArray"),
        (lambda x: mx.autograd.get_symbol(mx.nd.ones((2,))), GradientError, "record"),
    ],
)
def test_wrong_calls_are_refused_in_words(make, error, message):
    with pytest.raises(error, match=message):
        make(sym.var("x"))


@pytest.mark.parametrize("sign", ["+=", "-=", "*=", "/="])
def test_a_symbol_does_not_change(sign):
    with pytest.raises(TypeError, match="does not change"):
        exec(f"x {sign} 1", {"x": sym.var("x")})


def test_an_operator_that_refuses_is_named_with_its_node():
    net = sym.Convolution(sym.var("x"), kernel=(9, 9), num_filter=2, name="conv")
    with pytest.raises(EngineError, match="Node 'conv'"):
        net.infer_shape(x=(1, 1, 4, 4))
    net = sym.split_v2(sym.var("x"), 4)
    with pytest.raises(ArgumentError, match=r"Node '_split_v20'.*4 equal parts"):
        net.infer_shape(x=(3, 2))


def test_functions_written_in_python_are_no_graph():
    class Same(mx.autograd.Function):
        def forward(self, x):
            return x

        def backward(self, head):
            return head

    x = mx.nd.ones((2,))
    x.attach_grad()
    with mx.autograd.record():
        y = Same()(x) * 2
    with pytest.raises(GradientError, match="no operator"):
        mx.autograd.get_symbol(y)


def test_functions_have_names_and_words_of_their_own():
    assert sym.FullyConnected.__name__ == "FullyConnected"
    assert sym.FullyConnected.__doc__.endswith(".")
    assert {"FullyConnected", "relu", "var", "zeros"} <= {*sym.__all__}
    assert all(callable(getattr(sym, name)) for name in sym.__all__ if name not in PARTS)
    assert "reshape" in dir(sym.var("x"))


PARTS = ("contrib", "image", "linalg", "random")

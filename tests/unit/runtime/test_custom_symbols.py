"""Operators that a program writes in Python, in graphs: composed, inferred, bound, written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import (
    ArgumentError,
    CustomOperatorError,
    OperatorError,
    ShapeError,
    UnknownOperatorError,
)
from tests.unit.runtime.test_custom_operators import define, each_engine, two_arguments

nd, sym = mx.nd, mx.sym

__all__ = ["each_engine"]

pytestmark = pytest.mark.timeout(60)


def product(self, is_train, req, in_data, out_data, aux):
    self.calls = getattr(self, "calls", 0) + 1
    self.assign(out_data[0], req[0], in_data[0] * in_data[1])


def product_backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    assert self.calls
    self.assign(in_grad[0], req[0], out_grad[0] * in_data[1])
    self.assign(in_grad[1], req[1], out_grad[0] * in_data[0])


@pytest.fixture
def times() -> Any:
    """A symbol of the product of two variables, plus one."""
    define("times", product, product_backward, **two_arguments())
    return sym.Custom(sym.var("x"), b=sym.var("y"), op_type="times", name="product") + 1


def test_a_graph_has_what_the_description_lists(times):
    inner = times.get_internals()["product_output"]
    assert times.list_arguments() == ["x", "y"]
    assert inner.list_outputs() == ["product_output"]
    assert times.infer_shape(x=(2, 3), y=(2, 3))[1] == [(2, 3)]
    assert times.infer_type(x="float16")[0] == [np.float16] * 2


def test_inputs_that_are_missing_are_variables():
    define(
        "dense",
        product,
        list_arguments=lambda self: ["data", "weight"],
        list_auxiliary_states=lambda self: ["count"],
        infer_shape=lambda self, shapes: (
            [shapes[0], [4, shapes[0][1]]],
            [[shapes[0][0], 4]],
            [[1]],
        ),
    )
    symbol = sym.Custom(data=sym.var("x"), op_type="dense", name="layer")
    assert symbol.list_arguments() == ["x", "layer_weight"]
    assert symbol.list_auxiliary_states() == ["layer_count"]
    assert symbol.infer_shape(x=(5, 3)) == ([(5, 3), (4, 3)], [(5, 4)], [(1,)])
    assert symbol.infer_shape_partial()[0] == [(), ()]


def test_an_executor_computes_results_and_gradients(times, each_engine):
    x, y = nd.array([1, 2]), nd.array([3, 4])
    grads = {"x": nd.ones(2), "y": nd.ones(2)}
    bound = times.bind(mx.cpu(), {"x": x, "y": y}, grads, grad_req={"x": "write", "y": "add"})
    for number in (1, 2):
        (result,) = bound.forward(is_train=True)
        bound.backward(nd.ones(2))
        assert result.asnumpy().tolist() == [4, 9]
        assert grads["x"].asnumpy().tolist() == [3, 4]
        assert grads["y"].asnumpy().tolist() == [1 + number, 1 + 2 * number]
    bound.forward(x=nd.array([5, 6]))
    assert bound.outputs[0].asnumpy().tolist() == [16, 25]


def test_a_loss_goes_back_without_a_gradient(each_engine):
    def init(self):
        mx.operator.CustomOpProp.__init__(self, need_top_grad=False)

    def forward(self, req, in_data, out_data, **_):
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, in_data, in_grad, **_):
        self.assign(in_grad[0], req[0], in_data[0] * 3)

    define("loss", forward, backward, __init__=init)
    x, grad = nd.array([1, 2]), nd.zeros(2)
    bound = sym.Custom(sym.var("x"), op_type="loss").bind(mx.cpu(), {"x": x}, {"x": grad})
    bound.forward(is_train=True)
    bound.backward()
    assert grad.asnumpy().tolist() == [3, 6]


def test_states_of_a_graph_are_written(each_engine):
    def forward(self, req, in_data, out_data, aux, **_):
        aux[0][:] += 1
        self.assign(out_data[0], req[0], in_data[0] * aux[0])

    define(
        "counts",
        forward,
        list_auxiliary_states=lambda self: ["count"],
        infer_shape=lambda self, shapes: (shapes, [shapes[0]], [shapes[0]]),
    )
    symbol = sym.Custom(sym.var("x"), op_type="counts", name="c")
    bound = symbol.simple_bind(mx.cpu(), x=(2,))
    bound.arg_dict["x"][:] = 5
    bound.aux_dict["c_count"][:] = 0
    bound.forward()
    bound.forward()
    assert bound.outputs[0].asnumpy().tolist() == [10, 10]
    assert bound.aux_dict["c_count"].asnumpy().tolist() == [2, 2]


def test_a_graph_keeps_the_attributes_as_words_when_it_is_written():
    seen = []

    def init(self, by):
        mx.operator.CustomOpProp.__init__(self)
        seen.append(by)

    define("scaled", product, __init__=init)
    text = sym.Custom(sym.var("x"), op_type="scaled", by=(1, 2)).tojson()
    assert '"op_type": "scaled"' in text
    seen.clear()
    read = mx.sym.load_json(text)
    assert read.list_arguments() == ["x"]
    assert set(seen) == {"(1, 2)"}


def test_an_error_reaches_the_result_of_a_graph():
    def forward(self, **_):
        raise ValueError("boom")

    define("fails", forward)
    bound = sym.Custom(sym.var("x"), op_type="fails").bind(mx.cpu(), {"x": nd.ones(2)})
    bound.forward()
    with pytest.raises(OperatorError, match=r"'fails' failed.*ValueError: boom"):
        bound.outputs[0].asnumpy()


def test_what_does_not_fit_is_refused_with_the_node():
    same = {"infer_shape": lambda self, shapes: ([shapes[0]] * 2, [shapes[0]])}
    define("pair", product, **two_arguments(**same))
    define("lies", product, infer_shape=lambda self, shapes: (shapes, [], []))
    x = sym.var("x")
    with pytest.raises(UnknownOperatorError, match="mean 'pair'"):
        sym.Custom(x, op_type="pairr")
    with pytest.raises(ArgumentError, match="no input 'c'"):
        sym.Custom(x, c=x, op_type="pair")
    with pytest.raises(CustomOperatorError, match=r"Node 'n' \(Custom\): .*infer_shape returned 0"):
        sym.Custom(x, op_type="lies", name="n").infer_shape(x=(2,))
    pair = sym.Custom(x, sym.var("y"), op_type="pair", name="n")
    with pytest.raises(ShapeError, match="Node 'n'"):
        pair.infer_shape(x=(2,), y=(3,))


class Squared(mx.gluon.HybridBlock):
    """A layer, squared by an operator that keeps what its gradient needs."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = mx.gluon.nn.Dense(2, in_units=2)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.Custom(self.layer(x), op_type="square") + 1


@pytest.mark.parametrize("options", [{}, {"static_alloc": True, "static_shape": True}])
def test_a_hybridized_block_computes_as_without(options, each_engine):
    def forward(self, req, in_data, out_data, **_):
        self.kept = in_data[0] * 2
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_grad, **_):
        self.assign(in_grad[0], req[0], out_grad[0] * self.kept)

    define("square", forward, backward)
    net = Squared()
    net.initialize(mx.init.One())
    found = []
    for hybrid in (False, True):
        if hybrid:
            net.hybridize(**options)
        inputs = [nd.array([[1, 2]]), nd.array([[3, 5]])]
        made = []
        for x in inputs:
            x.attach_grad()
            with mx.autograd.record():
                made.append(net(x))
        for y in made:  # both calls are under way: each has kept its own
            y.backward()
        found.append([each.asnumpy().tolist() for each in (*made, *(x.grad for x in inputs))])
    assert found[0] == found[1]
    assert found[0][2] == [[12, 12]]

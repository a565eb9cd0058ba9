"""Executors: graphs tied to arrays, run forward and back; what does not fit is told at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, EngineError, GradientError, OperatorError, ShapeError
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.trace import Meta, Trace

nd, sym, autograd, cpu = mx.nd, mx.sym, mx.autograd, mx.cpu()


def recorded(program: Callable[[], object]) -> Trace:
    nd.waitall()
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta())


def product() -> Any:
    return sym.var("a") * sym.var("b") + 1


def bound(grad_req: Any = "write", **grads: Any) -> Any:
    args = {"a": nd.array([1, 2]), "b": nd.array([3, 4])}
    return product().bind(cpu, args, grads or {"a": nd.zeros(2), "b": nd.zeros(2)}, grad_req)


def network() -> Any:
    hidden = sym.FullyConnected(sym.var("data"), num_hidden=4, name="one")
    hidden = sym.BatchNorm(sym.Activation(hidden, act_type="tanh"), name="norm")
    return sym.SoftmaxOutput(sym.FullyConnected(hidden, num_hidden=3, name="two"), name="softmax")


class TestForward:
    def test_it_gives_what_the_operators_give(self):
        executor = bound()
        (result,) = executor.forward()
        assert result.asnumpy().tolist() == [4, 9]
        (only,) = executor.output_dict.values()
        assert only is result

    def test_the_results_are_the_same_arrays_each_time(self):
        executor = bound()
        (before,) = executor.forward()
        (after,) = executor.forward(a=nd.array([0, 0]), b=np.array([1.0, 1.0], "float32"))
        assert before is after
        assert before.asnumpy().tolist() == [1, 1]
        assert executor.arg_dict["a"].asnumpy().tolist() == [0, 0]

    def test_arguments_are_read_where_they_are(self):
        executor = bound()
        executor.arg_dict["a"][:] = 10
        assert executor.forward()[0].asnumpy().tolist() == [31, 41]

    def test_a_variable_may_be_a_result_and_a_result_stand_twice(self):
        a = sym.var("a")
        twice = a + a
        executor = sym.Group([twice, a, twice]).bind(cpu, [nd.array([5])])
        assert [each.asscalar() for each in executor.forward()] == [10, 5, 10]
        assert executor.outputs[0] is executor.outputs[2]

    def test_training_and_inference_differ_where_operators_do(self):
        executor: Any = network().simple_bind(cpu, data=(5, 2))
        for name, each in executor.arg_dict.items():
            each[:] = nd.random.normal(shape=each.shape) if "label" not in name else 0
        assert executor.aux_dict.keys() == {"norm_moving_mean", "norm_moving_var"}
        executor.aux_dict["norm_moving_var"][:] = 1
        executor.forward(is_train=False)
        assert executor.aux_dict["norm_moving_mean"].asnumpy().tolist() == [0] * 4
        executor.forward(is_train=True)
        executor.backward()  # which moves the averages, as in MXNet
        assert (executor.aux_dict["norm_moving_mean"].asnumpy() != 0).all()

    def test_eval_binds_and_runs(self):
        (result,) = product().eval(a=nd.ones(3), b=nd.ones(3))
        assert result.asnumpy().tolist() == [2, 2, 2]

    def test_it_works_on_any_device_and_engine(self):
        other = mx.cpu(1)
        args = [nd.ones(2, ctx=other), nd.ones(2, ctx=other)]
        (result,) = product().bind(other, args).forward()
        assert result.context == other
        assert result.asnumpy().tolist() == [2, 2]
        before = mx.engine.get_type()
        mx.engine.set_type("NaiveEngine")
        try:
            assert bound().forward()[0].asnumpy().tolist() == [4, 9]
        finally:
            mx.engine.set_type(before)

    def test_the_program_may_record_meanwhile(self):
        x = nd.array([1, 2])
        x.attach_grad()
        with autograd.record():
            y = x * 3
            executor = product().bind(cpu, [x, nd.ones(2)], {"a": nd.zeros(2)})
            executor.forward(is_train=True)
        executor.backward(nd.ones(2))
        y.backward()
        assert x.grad.asnumpy().tolist() == [3, 3]
        assert executor.grad_dict["a"].asnumpy().tolist() == [1, 1]


class TestBackward:
    @pytest.mark.parametrize("req", ["write", "add", "null"])
    @pytest.mark.parametrize("kind", ["word", "list", "dict"])
    def test_each_request_is_kept(self, req, kind):
        given = {"word": req, "list": [req, req], "dict": {"a": req, "b": req}}[kind]
        executor = bound(given)
        for time in (1, 2):
            executor.forward(is_train=True)
            executor.backward(nd.array([10, 100])) if req != "null" else None
            expected = {"write": 1, "add": time, "null": 0}[req]
            assert executor.grad_dict["a"].asnumpy().tolist() == [30 * expected, 400 * expected]
            assert executor.grad_dict["b"].asnumpy().tolist() == [10 * expected, 200 * expected]

    def test_requests_differ_by_argument(self):
        executor = bound({"a": "add"})
        for _ in range(2):
            executor.forward(is_train=True)
            executor.backward([nd.ones(2)])
        assert executor.grad_dict["a"].asnumpy().tolist() == [6, 8]
        assert executor.grad_dict["b"].asnumpy().tolist() == [0, 0]

    def test_gradients_may_be_given_by_name(self):
        a = sym.var("a")
        graph = sym.Group([a * sym.var("b"), a * 2])
        executor: Any = graph.bind(cpu, [nd.array([1]), nd.array([3])], {"a": nd.zeros(1)})
        executor.forward(is_train=True)
        first, second = graph.list_outputs()
        executor.backward({first: nd.array([10]), second: nd.array([100])})
        assert executor.grad_dict["a"].asscalar() == 230
        assert executor.grad_dict["b"] is None

    def test_what_is_given_is_not_written_to(self):
        executor: Any = sym.relu(sym.relu(sym.var("a"))).bind(
            cpu, [nd.array([-1, 2])], [nd.zeros(2)]
        )
        executor.forward(is_train=True)
        head = nd.array([5, 5])
        executor.backward(head)
        assert executor.grad_arrays[0].asnumpy().tolist() == [0, 5]
        assert head.asnumpy().tolist() == [5, 5]

    def test_a_loss_needs_no_gradient_and_its_label_gets_none(self):
        executor: Any = network().simple_bind(cpu, data=(5, 2))
        executor.grad_dict["softmax_label"][:] = 7
        executor.forward(is_train=True)
        executor.backward()
        assert executor.grad_dict["softmax_label"].asnumpy().tolist() == [7] * 5
        assert (executor.grad_dict["two_bias"].asnumpy() != 0).any()

    def test_what_no_gradient_reaches_gets_zeros(self):
        graph = sym.BlockGrad(sym.var("a")) * sym.var("b")
        executor: Any = graph.bind(cpu, [nd.ones(2), nd.ones(2)], [nd.ones(2), nd.ones(2)])
        executor.forward(is_train=True)
        executor.backward(nd.ones(2))
        assert [each.asnumpy().tolist() for each in executor.grad_arrays] == [[0, 0], [1, 1]]

    def test_it_goes_back_over_the_last_forward_pass(self):
        graph = sym.Dropout(sym.var("a"), p=0.5)
        executor: Any = graph.bind(cpu, [nd.ones(1000)], [nd.zeros(1000)])
        executor.forward(is_train=False)
        executor.backward(nd.ones(1000))
        assert set(executor.grad_arrays[0].asnumpy().tolist()) == {1}
        executor.forward(is_train=True)
        executor.backward(nd.ones(1000))
        assert executor.grad_arrays[0].asnumpy().tolist() == executor.outputs[0].asnumpy().tolist()

    def test_a_network_learns(self):
        executor: Any = network().simple_bind(cpu, data=(30, 2))
        draws = np.random.default_rng(1)
        data = draws.normal(size=(30, 2)).astype("float32")
        labels = (data[:, 0] > 0).astype("float32")
        for name, each in executor.arg_dict.items():
            if name.endswith("weight"):
                each[:] = draws.normal(size=each.shape)
        executor.arg_dict["norm_gamma"][:] = 1
        for _ in range(30):
            executor.forward(is_train=True, data=data, softmax_label=labels)
            executor.backward()
            for name, grad in executor.grad_dict.items():
                if name not in ("data", "softmax_label"):
                    nd.sgd_update(
                        executor.arg_dict[name], grad, lr=0.05, out=executor.arg_dict[name]
                    )
        chosen = executor.outputs[0].asnumpy().argmax(axis=1)
        assert (chosen == labels).mean() > 0.9


class TestProfiles:
    def test_passes_are_segments_in_calls_with_mxnets_names(self):
        executor: Any = network().simple_bind(cpu, data=(5, 2))

        def step() -> None:
            executor.forward(is_train=True)
            executor.backward()

        step()
        frame = recorded(step).frame()
        operators = frame[frame.domain == "operator"]
        assert operators.name.tolist() == [
            "[FullyConnected,Activation,BatchNorm,FullyConnected,SoftmaxOutput]",
            "[_backward_SoftmaxOutput,_backward_FullyConnected,_backward_BatchNorm,"
            "_backward_Activation,_backward_FullyConnected]"[:127],
        ]
        calls = frame[frame.domain == "MXNET_C_API"].name.tolist()
        assert calls == ["MXExecutorForward", "MXExecutorOutputs", "MXExecutorBackwardEx"]
        assert (frame[frame.domain == "bulk"].dur_ns > 0).all()
        assert len(frame[frame.domain == "bulk"]) == 10

    def test_both_switches_let_each_operator_go_alone(self, monkeypatch):
        executor = bound()
        monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_TRAIN", "0")
        monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")

        def program() -> None:
            for train in (True, False):
                executor.forward(is_train=train)
            executor.backward(nd.ones(2))

        frame = recorded(program).frame()
        assert not frame.name.astype(str).str.contains(",").any()
        assert (frame.name == "elemwise_mul").sum() == 2

    def test_binding_is_a_call(self):
        names = recorded(bound).frame().name.tolist()
        assert "MXExecutorBindEX" in names
        frame = recorded(lambda: product().simple_bind(cpu, a=(2,), b=(2,))).frame()
        assert (frame.name == "_SimpleBindImpl").sum() == 1
        assert (frame.name == "SetValueOp").sum() == 4


class TestBinding:
    def test_shapes_and_types_of_parameters_follow(self):
        executor: Any = network().simple_bind(cpu, data=(5, 2), type_dict={"data": "float64"})
        shapes = {name: each.shape for name, each in executor.arg_dict.items()}
        assert shapes["one_weight"] == (4, 2)
        assert shapes["softmax_label"] == (5,)
        assert executor.arg_dict["two_weight"].dtype == np.float64
        assert executor.outputs[0].shape == (5, 3)

    def test_simple_bind_makes_no_gradient_where_none_is_asked_for(self):
        executor: Any = network().simple_bind(cpu, grad_req={"one_weight": "write"}, data=(5, 2))
        made = [name for name, each in executor.grad_dict.items() if each is not None]
        assert made == ["one_weight"]

    def test_parameters_are_copied(self):
        executor = bound()
        executor.copy_params_from({"a": nd.array([8, 9], dtype="float64")})
        assert executor.arg_dict["a"].asnumpy().tolist() == [8, 9]
        executor.copy_params_from({"zz": nd.ones(1)}, allow_extra_params=True)
        with pytest.raises(ArgumentError, match="no argument 'zz'"):
            executor.copy_params_from({"zz": nd.ones(1)})
        with pytest.raises(ArgumentError, match="no auxiliary state 'a'"):
            executor.copy_params_from({}, {"a": nd.ones(2)})
        with pytest.raises(ShapeError, match=r"'b' has shape \(2,\); got \(3,\)"):
            executor.copy_params_from({"a": nd.zeros(2), "b": nd.ones(3)})
        assert executor.arg_dict["a"].asnumpy().tolist() == [8, 9], "nothing half done"

    def test_another_shape_shares_parameters(self):
        executor: Any = network().simple_bind(cpu, data=(6, 2))
        executor.arg_dict["one_weight"][:] = 3
        smaller = executor.reshape(partial_shaping=True, data=(3, 2))
        assert smaller.outputs[0].shape == (3, 3)
        assert smaller.arg_dict["one_weight"] is executor.arg_dict["one_weight"]
        with pytest.raises(ArgumentError, match="'softmax_label' changes"):
            executor.reshape(data=(3, 2))
        with pytest.raises(ArgumentError, match="allow_up_sizing"):
            executor.reshape(partial_shaping=True, data=(9, 2))
        larger = executor.reshape(partial_shaping=True, allow_up_sizing=True, data=(9, 2))
        larger.forward(is_train=True)
        larger.backward()
        assert larger.grad_dict["one_weight"] is executor.grad_dict["one_weight"]
        with pytest.raises(ArgumentError, match=r"no variable 'date'.* mean 'data'"):
            executor.reshape(date=(3, 2))


A, B = nd.ones(2), nd.ones(2)
WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a missing argument": (
        lambda: product().bind(cpu, {"a": A}),
        ArgumentError,
        "args: 'b' missing",
    ),
    "too few arguments": (
        lambda: product().bind(cpu, [A]),
        ArgumentError,
        "args has 1 arrays; the graph has 2 such variables: 'a', 'b'",
    ),
    "an unknown argument": (
        lambda: product().bind(cpu, {"a": A, "b": B, "c": A}),
        ArgumentError,
        "args: the graph has no variable 'c'",
    ),
    "no array": (
        lambda: product().bind(cpu, {"a": A, "b": 3}),
        TypeError,
        "args is a list or a dict of NDArrays; it has int",
    ),
    "one array": (
        lambda: product().bind(cpu, A),
        TypeError,
        "args is a list or a dict of NDArrays, not NDArray",
    ),
    "shapes that do not fit": (
        lambda: product().bind(cpu, [A, nd.ones(3)]),
        ShapeError,
        "Node '.*mul.*' .*float32.2. and float32.3.",
    ),
    "types that do not fit": (
        lambda: product().bind(cpu, [A, nd.ones(2, dtype="int32")]),
        ShapeError,
        "Node '.*mul.*'",
    ),
    "a gradient of another shape": (
        lambda: product().bind(cpu, [A, B], {"a": nd.ones(3)}),
        ShapeError,
        "the gradient of 'a' has its shape and type, float32.2.; got float32.3.",
    ),
    "an unknown gradient": (
        lambda: product().bind(cpu, [A, B], {"c": A}),
        ArgumentError,
        "args_grad: the graph has no variable 'c'",
    ),
    "too many gradients": (
        lambda: product().bind(cpu, [A, B], [A, B, A]),
        ArgumentError,
        "args_grad has 3 arrays",
    ),
    "an unknown request": (
        lambda: product().bind(cpu, [A, B], grad_req="overwrite"),
        ArgumentError,
        "grad_req='overwrite' is none of 'write', 'add', 'null'",
    ),
    "an unknown request in a list": (
        lambda: product().bind(cpu, [A, B], grad_req=["write", "x"]),
        ArgumentError,
        "grad_req='x'",
    ),
    "too few requests": (
        lambda: product().bind(cpu, [A, B], grad_req=["write"]),
        ArgumentError,
        "grad_req has 1 entries; the graph has 2 arguments",
    ),
    "a request for nobody": (
        lambda: product().bind(cpu, [A, B], grad_req={"c": "add"}),
        ArgumentError,
        "grad_req: the graph has no variable 'c'",
    ),
    "a request that is none": (
        lambda: product().bind(cpu, [A, B], grad_req=3),
        TypeError,
        "grad_req is a word, a list or a dict, not int",
    ),
    "a device in words": (
        lambda: product().bind("cpu", [A, B]),
        TypeError,
        "ctx is a context such as",
    ),
    "missing states": (
        lambda: sym.BatchNorm(sym.var("a"), name="n").bind(cpu, [nd.ones((2, 3)), A, B]),
        ArgumentError,
        "args has 3 arrays|aux_states: 'n_moving_mean', 'n_moving_var' missing",
    ),
    "no shape at all": (
        lambda: product().simple_bind(cpu),
        ShapeError,
        "The shape of 'a', 'b' is not known",
    ),
    "a shape of nobody": (
        lambda: product().simple_bind(cpu, a=(2,), bb=(2,)),
        ArgumentError,
        "no variable 'bb'. Did you mean 'b'",
    ),
    "a shape that is none": (
        lambda: product().simple_bind(cpu, a=2),
        TypeError,
        "a=2 is no shape",
    ),
    "shapes in conflict": (
        lambda: product().simple_bind(cpu, a=(2,), b=(3,)),
        ShapeError,
        "Node '.*mul.*'",
    ),
    "backward before forward": (
        lambda: bound().backward(A),
        GradientError,
        "call forward",
    ),
    "a value for nobody": (
        lambda: bound().forward(c=A),
        ArgumentError,
        "no argument 'c'",
    ),
    "a value of another shape": (
        lambda: bound().forward(a=nd.ones(3)),
        ShapeError,
        r"'a' was bound with shape \(2,\); got \(3,\)",
    ),
    "a value that is none": (
        lambda: bound().forward(a=[1, 2]),
        TypeError,
        "forward.a=.*not list",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_told(what):
    call, error, told = WRONG[what]
    with pytest.raises(error, match=told):
        call()


class TestGradientsThatDoNotFit:
    @pytest.mark.parametrize(
        ("given", "error", "told"),
        [
            (None, GradientError, "no loss, so backward.. needs the gradient"),
            ([A, A], ArgumentError, "got 2 gradients; the graph has 1 results"),
            ({"c": A}, ArgumentError, "no result 'c'"),
            ([3], TypeError, "out_grads must be NDArrays, not int"),
            (nd.ones(3), ShapeError, "float32.2.; got float32.3."),
        ],
    )
    def test_it_is_told(self, given, error, told):
        executor = bound()
        executor.forward(is_train=True)
        with pytest.raises(error, match=told):
            executor.backward(given)
        executor.backward(A)
        assert executor.grad_dict["a"].asnumpy().tolist() == [3, 4]

    def test_without_an_array_for_a_gradient_there_is_no_way_back(self):
        executor = product().bind(cpu, [A, B])
        executor.forward(is_train=True)
        with pytest.raises(GradientError, match="No argument was bound"):
            executor.backward(A)


def test_a_result_is_no_value_before_the_first_pass():
    with pytest.raises(EngineError, match="no value"):
        bound().outputs[0].asnumpy()


def test_a_failure_names_its_operator_and_the_line_of_the_call():
    graph = sym.take(sym.var("a"), sym.var("where"), mode="raise") * 2
    executor: Any = graph.bind(cpu, [nd.ones(2), nd.array([9])])
    (result,) = executor.forward()  # this line
    with pytest.raises(OperatorError, match=r"take(?s:.*)this line"):
        result.asnumpy()
    executor.forward(where=nd.array([1]))
    assert result.asnumpy().tolist() == [2], "the next pass is a new one"


UNARY = ("relu", "tanh", "sigmoid", "square", "negative", "identity", "exp")
BINARY = ("elemwise_add", "elemwise_mul", "elemwise_sub", "broadcast_maximum")


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[str, tuple[int, ...]]]:
    """Operators over three variables and what came before."""
    steps: list[tuple[str, tuple[int, ...]]] = []
    for number in range(draw(st.integers(1, 8))):
        before = st.integers(0, number + 2)
        if draw(st.booleans()):
            steps.append((draw(st.sampled_from(UNARY)), (draw(before),)))
        else:
            steps.append((draw(st.sampled_from(BINARY)), (draw(before), draw(before))))
    return steps


@settings(deadline=None)
@given(graphs(), st.lists(st.sampled_from(["write", "add", "null"]), min_size=3, max_size=3))
def test_graphs_give_what_recorded_calls_give(steps, requests):
    draws = np.random.default_rng(7)
    values = [draws.uniform(-1, 1, (2, 3)).astype("float32") for _ in range(3)]
    names = ["x", "y", "z"]
    symbols: list[Any] = [sym.var(name) for name in names]
    arrays: list[Any] = [nd.array(value) for value in values]
    for array, request in zip(arrays, requests, strict=True):
        array.attach_grad(request)
    kept = list(arrays)
    graph = [*symbols]
    for name, places in steps:
        graph.append(getattr(sym, name)(*(graph[place] for place in places)))
    used = graph[-1].list_arguments()
    order = [names.index(name) for name in used]
    executor = graph[-1].bind(
        cpu,
        {names[place]: nd.array(values[place]) for place in order},
        {names[place]: nd.zeros((2, 3)) for place in order},
        {names[place]: requests[place] for place in order},
    )
    wanted = any(requests[place] != "null" for place in order)
    for _ in range(2):
        with autograd.record():
            arrays = list(kept)
            for name, places in steps:
                arrays.append(getattr(nd, name)(*(arrays[place] for place in places)))
        (result,) = executor.forward(is_train=True)
        np.testing.assert_array_equal(result.asnumpy(), arrays[-1].asnumpy())
        if wanted:
            arrays[-1].backward(nd.ones((2, 3)))
            executor.backward(nd.ones((2, 3)))
        for place in order:
            if requests[place] != "null":
                np.testing.assert_allclose(
                    executor.grad_dict[names[place]].asnumpy(),
                    kept[place].grad.asnumpy(),
                    rtol=1e-6,
                )

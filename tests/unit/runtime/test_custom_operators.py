"""Operators that a program writes in Python: what they compute, on every kind of engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import (
    ArgumentError,
    CustomOperatorError,
    EngineError,
    OperatorError,
    ShapeError,
    UnknownOperatorError,
)
from mxprof_nb.runtime import operator
from mxprof_nb.runtime.engine import Operator, default_engine
from mxprof_nb.runtime.engine.inside import INSIDE
from mxprof_nb.runtime.engine.python_lane import LIMIT

nd, autograd = mx.nd, mx.autograd

ENGINES = ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine")
Forward = Callable[..., Any]

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(params=ENGINES)
def each_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Use one engine after the other, those with workers with one."""
    before = mx.engine.get_type()
    monkeypatch.setenv("MXNET_CPU_WORKER_NTHREADS", "1")
    mx.engine.set_type(request.param)
    yield request.param
    monkeypatch.delenv("MXNET_CPU_WORKER_NTHREADS")
    mx.engine.set_type(before)
    assert not INSIDE


def define(
    name: str,
    forward: Forward | None = None,
    backward: Forward | None = None,
    base: type[operator.CustomOpProp] = operator.CustomOpProp,
    **methods: Any,
) -> None:
    """Register an operator that computes by functions of (op, **arrays)."""
    code = {}
    if forward is not None:
        code["forward"] = forward
    if backward is not None:
        code["backward"] = backward
    kind: Any = type("Op", (operator.CustomOp,), code)
    methods.setdefault("create_operator", lambda self, ctx, shapes, dtypes: kind())
    operator.register(name)(type("Prop", (base,), methods))


def two_arguments(**more: Any) -> dict[str, Any]:
    return {"list_arguments": lambda self: ["a", "b"], **more}


def ones(*shape: int) -> Any:
    return nd.ones(shape or (2,))


# What they compute


def test_forward_and_backward_may_wait_for_arrays_with_one_worker(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.double = in_data[0].asnumpy() * 2
        assert (in_data[0] + 1).asnumpy().tolist() == [4, 5]
        self.assign(out_data[0], req[0], nd.array(self.double))
        out_data[0].wait_to_read()

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        assert self.double.tolist() == out_data[0].asnumpy().tolist() == [6, 8]
        self.assign(in_grad[0], req[0], (out_grad[0] * 2).copy())
        assert in_grad[0].asnumpy().tolist() == [2, 2]

    define("waits", forward, backward)
    x = nd.array([3, 4])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="waits")
    y.backward()
    assert y.asnumpy().tolist() == [6, 8]
    assert x.grad.asnumpy().tolist() == [2, 2]


def test_they_call_each_other_to_any_depth(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        if self.depth:
            inner = nd.Custom(in_data[0], op_type="deep", depth=self.depth - 1)
            if self.depth % 2:
                inner.wait_to_read()
            self.assign(out_data[0], req[0], inner + 1)
        else:
            out_data[0][:] = in_data[0]

    def create(self, ctx, shapes, dtypes):
        made = type("Op", (operator.CustomOp,), {"forward": forward})()
        made.depth = int(self.depth)
        return made

    def init(self, depth):
        operator.CustomOpProp.__init__(self)
        self.depth = depth

    define("deep", __init__=init, create_operator=create)
    many = [nd.Custom(ones(), op_type="deep", depth=20) for _ in range(3)]
    assert [one.asnumpy().tolist() for one in many] == [[21, 21]] * 3


@pytest.mark.parametrize("waits", [True, False])
def test_one_that_calls_itself_without_end_is_stopped_and_says_so_once(waits, each_engine):
    def forward(self, in_data, out_data, **_):
        inner = nd.Custom(in_data[0] + 1, op_type="endless")
        if waits:
            inner.wait_to_read()
        out_data[0][:] = inner

    define("endless", forward)
    with pytest.raises(OperatorError, match="Does 'endless' call itself without end") as caught:
        nd.Custom(ones(), op_type="endless").asnumpy()
    assert str(caught.value).count("Operator 'endless' failed") == 1
    assert not waits or "as 128 that it called" in str(caught.value)
    define("endless", lambda self, in_data, out_data, **_: out_data[0].__iadd__(in_data[0]))
    assert nd.Custom(ones(), op_type="endless").tolist() == [1, 1]


@pytest.mark.parametrize("request_", ["write", "inplace", "add", "null"])
def test_assign_does_what_is_asked(request_, each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        out_data[0][:] = 10
        self.assign(out_data[0], request_, in_data[0])

    define("assigns", forward)
    expected = {"write": 1, "inplace": 1, "add": 11, "null": 10}[request_]
    assert nd.Custom(ones(), op_type="assigns").asnumpy().tolist() == [expected] * 2


@pytest.mark.parametrize("source", [3, 3.0, np.float32(3)])
def test_assign_takes_numbers(source):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], source)

    define("number", forward)
    assert nd.Custom(ones(), op_type="number").asnumpy().tolist() == [3, 3]


def test_a_request_that_does_not_exist_is_refused():
    with pytest.raises(ArgumentError, match="null, write, inplace or add"):
        operator.CustomOp().assign(ones(), "wirte", 1)


def test_results_are_zero_where_nothing_is_written(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        out_data[0][1:] = in_data[0][1:]

    define("part", forward)
    assert nd.Custom(ones(3), op_type="part").asnumpy().tolist() == [0, 1, 1]


def test_there_may_be_no_inputs_and_words_for_arguments(each_engine):
    seen = []

    def init(self, **words):
        operator.CustomOpProp.__init__(self)
        seen.append(words)

    def forward(self, is_train, req, in_data, out_data, aux):
        assert (in_data, aux) == ([], [])
        self.assign(out_data[0], req[0], 5)

    define(
        "constant",
        forward,
        __init__=init,
        list_arguments=lambda self: [],
        infer_shape=lambda self, shapes: ([], [(3,)], []),
    )
    found = nd.Custom(op_type="constant", count=3, name="hidden", at=(1, 2), on=True)
    assert found.asnumpy().tolist() == [5, 5, 5]
    assert seen == [{"count": "3", "at": "(1, 2)", "on": "True"}]


def test_several_results_are_a_list_and_have_gradients(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + in_data[1])
        self.assign(out_data[1], req[1], in_data[0] * in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] + out_grad[1] * in_data[1])
        self.assign(in_grad[1], req[1], out_grad[0] + out_grad[1] * in_data[0])

    define("both", forward, backward, **two_arguments(list_outputs=lambda self: ["sum", "product"]))
    a, b = nd.array([2, 3]), nd.array([5, 7])
    a.attach_grad()
    b.attach_grad("add")
    b.grad[:] = 100
    with autograd.record():
        total, product = nd.Custom(a, b, op_type="both")
        y = total + 2 * product
    y.backward()
    assert product.asnumpy().tolist() == [10, 21]
    assert a.grad.asnumpy().tolist() == [11, 15]
    assert b.grad.asnumpy().tolist() == [105, 107]


def test_only_the_gradients_that_are_wanted_are_asked_for(each_engine):
    asked = []

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        asked.append(req)
        in_grad[0][:] = 77  # of no consequence
        self.assign(in_grad[1], req[1], out_grad[0] * in_data[0])

    define("times", forward, backward, **two_arguments())
    a, b = nd.array([2, 3]), nd.array([5, 7])
    b.attach_grad()
    with autograd.record():
        y = nd.Custom(a, b=b, op_type="times")
    y.backward()
    assert b.grad.asnumpy().tolist() == [2, 3]
    assert asked == [["null", "write"]]
    assert a.asnumpy().tolist() == [2, 3]


def test_a_loss_needs_no_gradient_of_its_result(each_engine):
    def init(self):
        operator.CustomOpProp.__init__(self, need_top_grad=False)

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        with pytest.raises(CustomOperatorError, match=r"uses out_grad\[0\]"):
            out_grad[0] * 2
        self.assign(in_grad[0], req[0], in_data[0] * 3)

    define("loss", forward, backward, __init__=init)
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="loss")
    y.backward()
    assert x.grad.asnumpy().tolist() == [3, 6]


def test_only_what_backward_declares_is_kept_for_it(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0].exp())

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        with pytest.raises(CustomOperatorError, match=r"in_data\[0\]"):
            in_data[0].asnumpy()
        self.assign(in_grad[0], req[0], out_grad[0] * out_data[0])

    define(
        "exponential",
        forward,
        backward,
        declare_backward_dependency=lambda self, grad, data, out: [*grad, *out],
    )
    x = nd.array([0, 1])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="exponential")
    y.backward()
    assert x.grad.asnumpy() == pytest.approx(np.exp([0, 1]))


def test_auxiliary_states_are_read_and_written(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        assert (aux[0].shape, aux[1].shape) == ((1,), (2,))
        aux[0] += 1
        aux[1][:] = in_data[0]
        self.assign(out_data[0], req[0], in_data[0] * aux[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * aux[0])
        aux[0][:] = -1

    define(
        "counts",
        forward,
        backward,
        list_auxiliary_states=lambda self: ["count", "last"],
        infer_shape=lambda self, shapes: (shapes, [shapes[0]], [(1,), shapes[0]]),
    )
    x, states = nd.array([2, 3]), nd.zeros((2, 2))
    count, last = nd.zeros(1), states[1]  # one is part of another array
    x.attach_grad()
    nd.Custom(x, count, last, op_type="counts")
    with autograd.record():
        y = nd.Custom(x, count, last=last, op_type="counts")
    assert count.asscalar() == 2
    y.backward()
    assert y.asnumpy().tolist() == [4, 6]
    assert x.grad.asnumpy().tolist() == [2, 2]
    assert states.asnumpy().tolist() == [[0, 0], [2, 3]]
    assert count.asscalar() == -1


def test_results_go_where_out_says(each_engine):
    define(
        "copies", lambda self, req, in_data, out_data, **_: self.assign(*out_data, *req, *in_data)
    )
    whole, rows = nd.zeros(2), nd.zeros((2, 2))
    assert nd.Custom(ones(), op_type="copies", out=whole) is whole
    nd.Custom(ones(), op_type="copies", out=rows[1])
    assert whole.asnumpy().tolist() == [1, 1]
    assert rows.asnumpy().tolist() == [[0, 0], [1, 1]]


def test_parts_of_arrays_come_as_they_are(each_engine):
    define(
        "copies", lambda self, req, in_data, out_data, **_: self.assign(*out_data, *req, *in_data)
    )
    rows = nd.array([[1, 2], [3, 4]])
    assert nd.Custom(rows[1], op_type="copies").asnumpy().tolist() == [3, 4]
    assert nd.Custom(rows.reshape((4,)), op_type="copies").shape == (4,)


def test_types_are_those_that_are_inferred(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        assert out_data[0].dtype is np.int32
        self.assign(out_data[0], req[0], in_data[0].astype("int32"))

    define("rounds", forward, infer_type=lambda self, types: (types, [np.int32], []))
    found = nd.Custom(nd.array([1.5, 2.5]), op_type="rounds")
    assert (found.dtype, found.asnumpy().tolist()) == (np.int32, [1, 2])


def test_code_knows_where_and_how_it_runs(each_engine):
    seen = []

    def forward(self, is_train, req, in_data, out_data, aux):
        here = nd.zeros(1).context, in_data[0].context, self.made_for
        seen.append((is_train, autograd.is_training(), autograd.is_recording(), here))
        out_data[0][:] = 0

    def create(self, ctx, shapes, dtypes):
        made = type("Op", (operator.CustomOp,), {"forward": forward})()
        made.made_for = ctx
        assert (shapes, dtypes) == ([[2]], [np.float32])
        return made

    define("looks", create_operator=create)
    x = nd.ones(2, ctx=mx.cpu(1))
    nd.Custom(x, op_type="looks").wait_to_read()
    with autograd.record():
        nd.Custom(x, op_type="looks").wait_to_read()
    one = mx.cpu(1)
    assert seen == [(train, train, False, (one, one, one)) for train in (False, True)]
    assert not autograd.is_recording()


def test_gradients_may_be_computed_inside(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].copy()
        x.attach_grad()
        with autograd.record():
            y = x * x
        y.backward()
        self.assign(out_data[0], req[0], x.grad)

    define("derives", forward)
    assert nd.Custom(nd.array([1, 2]), op_type="derives").asnumpy().tolist() == [2, 4]


def test_they_take_part_in_bulks_of_others(each_engine):
    define(
        "copies", lambda self, req, in_data, out_data, **_: self.assign(*out_data, *req, *in_data)
    )
    with mx.engine.bulk(8):
        x = ones() + 1
        y = nd.Custom(x, op_type="copies") + 1
        z = nd.Custom(y * 2, op_type="copies")
    assert z.asnumpy().tolist() == [6, 6]


def test_what_an_operator_reads_is_not_overwritten_before_it_has_ended():
    gate = threading.Event()

    def forward(self, is_train, req, in_data, out_data, aux):
        assert gate.wait(60)
        self.assign(out_data[0], req[0], in_data[0] * 1)

    define("slow", forward)
    x = ones()
    y = nd.Custom(x, op_type="slow")
    x[:] = 9
    gate.set()
    assert y.asnumpy().tolist() == [1, 1]
    assert x.asnumpy().tolist() == [9, 9]


def test_more_of_them_than_run_at_a_time_can_wait_for_one_that_comes_later():
    gate = threading.Event()
    held: list[bool] = []

    def first(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + 1)

    def others(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], late.asnumpy()[0])

    define("first", first)
    define("others", others)
    x = nd.zeros(2)
    default_engine().push(Operator(lambda _: held.append(gate.wait(60)), writes=(x.chunk,)))
    late = nd.Custom(x, op_type="first")
    found = [nd.Custom(ones(), op_type="others") for _ in range(3 * LIMIT)]
    gate.set()
    assert {each.asnumpy()[0] for each in found} == {1}


def test_an_array_that_code_keeps_can_be_read_later(each_engine):
    kept = []

    def forward(self, is_train, req, in_data, out_data, aux):
        kept.extend(in_data)
        out_data[0][:] = 0

    define("keeps", forward)
    nd.Custom(nd.array([1, 2]), op_type="keeps").wait_to_read()
    nd.waitall()
    assert kept[0].asnumpy().tolist() == [1, 2]


# What goes wrong


def raising(error: BaseException) -> Forward:
    def forward(self, is_train, req, in_data, out_data, aux):
        raise error

    return forward


def test_an_error_inside_is_raised_where_a_value_is_needed(each_engine):
    define("fails", raising(ValueError("boom")))
    define(
        "copies", lambda self, req, in_data, out_data, **_: self.assign(*out_data, *req, *in_data)
    )

    def program() -> None:
        y = nd.Custom(ones(), op_type="fails")
        nd.Custom(y + 1, op_type="copies").asnumpy()

    with pytest.raises(OperatorError, match="boom") as info:
        program()
    told = str(info.value)
    assert told.startswith("Operator 'fails' failed on inputs (2,): ValueError: boom")
    assert 'nd.Custom(ones(), op_type="fails")' in told
    assert "in forward" in told
    assert "raise error" in told
    assert isinstance(info.value.__cause__, ValueError)
    assert (ones() + 1).asnumpy().tolist() == [2, 2]


def test_an_error_reaches_what_depends_on_it_and_nothing_else():
    define("fails", raising(ValueError("boom")))
    x, other = ones(), ones() * 3
    y = nd.Custom(x, op_type="fails")
    z = y * 2
    with pytest.raises(OperatorError, match="boom"):
        nd.waitall()
    for each in (y, z):
        with pytest.raises(OperatorError, match="boom"):
            each.asnumpy()
    assert x.asnumpy().tolist() == [1, 1]
    assert other.asnumpy().tolist() == [3, 3]
    nd.waitall()


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_no_error_ends_a_thread(error):
    define("fails", raising(error))
    for _ in range(3):
        with pytest.raises(OperatorError, match=type(error).__name__):
            nd.Custom(ones(), op_type="fails").asnumpy()


def test_an_error_in_backward_reaches_the_gradient(each_engine):
    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        raise LookupError("nothing here")

    define(
        "halfway",
        lambda self, req, in_data, out_data, **_: self.assign(*out_data, *req, *in_data),
        backward,
    )
    x = ones()
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="halfway")

    def program() -> None:
        y.backward()
        x.grad.asnumpy()

    with pytest.raises(OperatorError, match=r"'_backward_halfway' failed.*nothing here"):
        program()
    assert y.asnumpy().tolist() == [1, 1]


def test_a_failure_of_what_code_queues_reaches_its_result(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        out_data[0][:] = nd.random.normal(0, -1, shape=(2,))

    define("draws", forward)
    with pytest.raises((OperatorError, ArgumentError), match="scale"):
        nd.Custom(ones(), op_type="draws").asnumpy()


def test_code_is_not_run_for_inputs_that_failed(failing):
    ran = []
    define("runs", lambda self, **_: ran.append(1))
    with pytest.raises(OperatorError, match="upstream"):
        nd.Custom(failing(ValueError("upstream")), op_type="runs").asnumpy()
    assert not ran


def test_a_failed_result_can_be_overwritten():
    define("fails", raising(ValueError("boom")))
    define(
        "copies", lambda self, req, in_data, out_data, **_: self.assign(*out_data, *req, *in_data)
    )
    x = nd.zeros(2)
    nd.Custom(ones(), op_type="fails", out=x)
    with pytest.raises(OperatorError):
        x.asnumpy()
    nd.Custom(ones(), op_type="copies", out=x)
    assert x.asnumpy().tolist() == [1, 1]


def test_inputs_cannot_be_written(each_engine):
    def forward(self, is_train, req, in_data, out_data, aux):
        with pytest.raises(ValueError, match="cannot write to its inputs"):
            in_data[0][:] = 5
        with pytest.raises(ValueError, match="cannot write to its inputs"):
            in_data[0] += 5
        out_data[0][:] = in_data[0]

    define("writes", forward)
    x = ones()
    assert nd.Custom(x, op_type="writes").asnumpy().tolist() == [1, 1]
    assert x.asnumpy().tolist() == [1, 1]


def test_code_cannot_wait_for_everything():
    define("waits", lambda self, **_: nd.waitall())
    with pytest.raises(OperatorError, match="includes itself"):
        nd.Custom(ones(), op_type="waits").asnumpy()


def write_all(self, *, out_data=(), in_grad=(), **_):
    for each in (*out_data, *in_grad):
        each[:] = 1


def replace_result(self, *, out_data=(), in_grad=(), **_):
    for arrays in (out_data, in_grad):
        for place, each in enumerate(arrays):
            arrays[place] = each + 1


def replace_state(self, *, aux, **_):
    aux[0] = aux[0] + 1


def yielding(self, **_):
    yield write_all(self, **_)


async def asynchronous(self, **_):
    write_all(self, **_)


async def asynchronous_and_yielding(self, **_):
    yield write_all(self, **_)


@pytest.mark.parametrize("method", ["forward", "backward"])
@pytest.mark.parametrize(
    ("code", "told"),
    [
        (replace_result, "nobody sees"),
        (replace_state, r"aux\[0\] = .* nobody sees"),
        (yielding, "yields, so its code does not run"),
        (asynchronous, "is asynchronous, so its code does not run"),
        (asynchronous_and_yielding, "is asynchronous, so its code does not run"),
    ],
)
def test_results_that_go_nowhere_are_no_silent_zeros(method, code, told, each_engine):
    define(
        "nowhere",
        **{"forward": write_all, "backward": write_all, method: code},
        list_auxiliary_states=lambda self: ["count"],
        infer_shape=lambda self, shapes: (shapes, shapes, [(1,)]),
    )
    x = ones()
    x.attach_grad()
    with pytest.raises(OperatorError, match=told):  # noqa: PT012 - the naive engine is early
        with autograd.record():
            y = nd.Custom(x, ones(1), op_type="nowhere")
        y.backward()
        x.grad.asnumpy()


def test_code_may_use_the_lists_for_other_things(each_engine):
    def backward(self, req, in_data, in_grad, **_):
        in_grad[0][:] = 5
        for place, (each, wanted) in enumerate(zip(in_data, req, strict=True)):
            in_data[place] = each.asnumpy()
            if wanted == "null":
                in_grad[place] = nd.zeros((2,))

    def forward(self, in_data, out_data, **_):
        out_data[0] += 2
        out_data[0] = out_data[0].asnumpy() + in_data[0].asnumpy()
        return out_data[0]

    define("scratch", forward, backward, **two_arguments())
    x = ones()
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, ones(), op_type="scratch")
    y.backward()
    assert y.tolist() == [2, 2]
    assert x.grad.tolist() == [5, 5]


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_a_method_that_is_missing_is_named(method):
    forward = lambda self, out_data, **_: out_data[0].__setitem__(slice(None), 1)  # noqa: E731
    define("unfinished", None if method == "forward" else forward)
    x = ones()
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="unfinished")
    y.backward()
    with pytest.raises(OperatorError, match=f"Op has no method {method}"):
        (y if method == "forward" else x.grad).asnumpy()


LIES: dict[str, tuple[str, dict[str, Any]]] = {
    "few results": (
        r"infer_shape returned 0 for 1 result \(output\)",
        {"infer_shape": lambda self, s: (s, [], [])},
    ),
    "many results": (
        "infer_shape returned 2 for 1 result",
        {"infer_shape": lambda self, s: (s, [s[0], s[0]], [])},
    ),
    "many states": (
        "infer_shape returned 1 for 0 states",
        {"infer_shape": lambda self, s: (s, [s[0]], [s[0]])},
    ),
    "one list": ("infer_shape returned 1 lists", {"infer_shape": lambda self, s: (s,)}),
    "nothing": ("infer_shape failed: TypeError", {"infer_shape": lambda self, s: None}),
    "no shape": ("which is no shape", {"infer_shape": lambda self, s: (s, [(-3,)], [])}),
    "words": ("which is no shape", {"infer_shape": lambda self, s: (s, ["ab"], [])}),
    "other input": (
        r"infer_shape says that data is float32\[7\], and it is float32\[2\]",
        {"infer_shape": lambda self, s: ([(7,)], [s[0]], [])},
    ),
    "other type": (
        r"infer_type says that data is int32\[2\]",
        {"infer_type": lambda self, t: (["int32"], t, [])},
    ),
    "no type": ("infer_type returned a type", {"infer_type": lambda self, t: (t, ["huge"], [])}),
    "no results": ("list_outputs returns no name", {"list_outputs": lambda self: []}),
    "one name twice": ("it must be different names", {"list_outputs": lambda self: ["a", "a"]}),
    "a state that is an input": (
        "which list_arguments does, too",
        {"list_auxiliary_states": lambda self: ["data"]},
    ),
    "unknown number": (
        "it must be some of 0 to 2",
        {"declare_backward_dependency": lambda self, *ids: [5]},
    ),
    "no operator": ("must be a CustomOp", {"create_operator": lambda self, *given: 5}),
    "error in create_operator": (
        "create_operator failed: ZeroDivisionError",
        {"create_operator": lambda self, *given: 1 // 0},
    ),
    "error in __init__": ("__init__ failed: ZeroDivisionError", {"__init__": lambda self: 1 // 0}),
    "error in infer_shape": (
        "infer_shape failed: IndexError",
        {"infer_shape": lambda self, s: s[4]},
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_description_that_is_wrong_is_refused_at_the_call(lie):
    told, methods = LIES[lie]
    define("lies", lambda self, **_: None, **methods)
    with pytest.raises((CustomOperatorError, ShapeError), match=told) as info:
        nd.Custom(ones(), op_type="lies")
    assert isinstance(info.value, EngineError)
    assert "lies" in str(info.value)


def test_the_error_of_a_description_has_the_one_that_caused_it():
    define("lies", infer_shape=lambda self, shapes: shapes[4])
    with pytest.raises(CustomOperatorError) as info:
        nd.Custom(ones(), op_type="lies")
    assert isinstance(info.value.__cause__, IndexError)
    assert (info.value.operator, info.value.method) == ("lies", "infer_shape")


#: What is no array.
number: Any = 5
several: Any = [ones()]


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: nd.Custom(ones()), ArgumentError, "op_type is missing"),
        (lambda: nd.Custom(ones(), op_type="pairr"), UnknownOperatorError, "mean 'pair'"),
        (lambda: nd.Custom(ones(), op_type="pair"), ArgumentError, r"2 inputs \(a, b\), got 1\."),
        (lambda: nd.Custom(op_type="pair"), ArgumentError, "got 0"),
        (lambda: nd.Custom(*[ones()] * 3, op_type="pair"), ArgumentError, "got 3"),
        (lambda: nd.Custom(ones(), a=ones(), op_type="pair"), ArgumentError, "got 1 and a"),
        (lambda: nd.Custom(ones(), c=ones(), op_type="pair"), ArgumentError, "got 1 and c"),
        (lambda: nd.Custom(ones(), number, op_type="pair"), TypeError, "must be NDArrays, not int"),
        (lambda: nd.Custom(several, op_type="pair"), TypeError, "not list"),
        (lambda: nd.Custom(ones(), by=1, op_type="pair"), CustomOperatorError, "'by'"),
        (lambda: nd.Custom(ones(), ones(), op_type="pair", out=ones(3)), ShapeError, "out="),
    ],
)
def test_a_call_that_does_not_fit_is_refused(call, error, told):
    define("pair", lambda self, **_: None, **two_arguments())
    with pytest.raises(error, match=told):
        call()


# Names


def test_a_class_of_the_same_name_replaces_the_one_before():
    for number in (1, 2):
        define("again", lambda self, out_data, number=number, **_: out_data[0].__iadd__(number))
        assert nd.Custom(ones(), op_type="again").asnumpy().tolist() == [number] * 2


def test_another_class_cannot_take_a_name():
    define("taken")

    class Another(operator.CustomOpProp):
        pass

    with pytest.raises(ArgumentError, match=r"Prop has that name, and .*Another cannot"):
        operator.register("taken")(Another)


@pytest.mark.parametrize("wrong", [operator.CustomOp, 5, operator.CustomOpProp()])
def test_only_descriptions_can_be_registered(wrong: Any):
    with pytest.raises(ArgumentError, match="no class of CustomOpProp"):
        operator.register("wrong")(wrong)


def test_a_name_is_needed():
    with pytest.raises(ArgumentError, match="is no name"):
        operator.register(operator.CustomOpProp)  # type: ignore[arg-type]


def test_registering_returns_the_class():
    assert operator.register("itself")(Itself) is Itself


class Itself(operator.CustomOpProp):
    pass


def test_operators_of_the_runtime_are_listed():
    names = operator.get_all_registered_operators()
    assert {"Custom", "FullyConnected", "_plus_scalar"} <= set(names)


@pytest.mark.parametrize("name", ["PythonOp", "NDArrayOp", "NumpyOp"])
def test_the_forerunners_are_refused(name):
    with pytest.raises(AttributeError, match="There are CustomOp, CustomOpProp"):
        getattr(operator, name)

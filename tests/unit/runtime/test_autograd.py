"""Recording, going back, and what is refused; against real MXNet see tests/reference."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mxprof_nb.errors import ArgumentError, GradientError, OperatorError, ShapeError
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime import autograd, nd
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.runtime.mode import RECORDERS
from mxprof_nb.runtime.nd.array import apply
from mxprof_nb.runtime.ops import spec
from mxprof_nb.runtime.tape import Step
from mxprof_nb.trace import Meta


def variable(*values: float, grad_req: str = "write") -> nd.NDArray:
    made = nd.array(values or (1.0, 2.0, 3.0))
    made.attach_grad(grad_req)
    return made


def values(array: nd.NDArray) -> list[Any]:
    return array.tolist()


# What is recorded


def test_the_gradient_of_a_square_is_twice_the_array():
    x = variable()
    with autograd.record():
        y = x * x
    y.backward()
    assert values(x.grad) == [2, 4, 6]


def test_gradients_are_promises_that_a_failed_operator_breaks():
    x = variable(1, 2)
    with autograd.record():
        y = x * nd.random.normal(scale=-1, shape=(2,))
    y.backward()
    with pytest.raises(OperatorError, match="_random_normal"):
        x.grad.asnumpy()
    default_engine().untold()


def test_recording_belongs_to_a_thread():
    found = []
    with autograd.record():
        other = threading.Thread(target=lambda: found.append(autograd.is_recording()))
        other.start()
        other.join()
        assert autograd.is_recording()
    assert found == [False]
    assert not RECORDERS


def test_a_computation_can_be_taken_back_by_another_thread():
    x = variable()
    with autograd.record():
        y = x * 3
    other = threading.Thread(target=y.backward)
    other.start()
    other.join()
    assert values(x.grad) == [3, 3, 3]


def test_an_error_within_the_scope_ends_it():
    with pytest.raises(ZeroDivisionError), autograd.record():
        _ = 1 / 0
    assert not autograd.is_recording()
    assert not autograd.is_training()


def test_a_scope_can_be_entered_within_itself():
    scope = autograd.record()
    with scope, scope, autograd.pause():
        assert not autograd.is_recording()
    assert not autograd.is_recording()


def test_a_long_chain_needs_no_recursion():
    x = variable(1)
    with autograd.record():
        y = x
        for _ in range(5_000):
            y = y + 1
    y.backward()
    assert values(x.grad) == [1]


def test_a_head_that_is_named_twice_counts_twice():
    x = variable(1)
    with autograd.record():
        y = x * 2
    autograd.backward([y, y])
    assert values(x.grad) == [4]


def test_gradients_are_added_where_that_is_wanted():
    x = variable(1, 2, grad_req="add")
    for _ in range(3):
        with autograd.record():
            y = x * x + x
        y.backward()
    assert values(x.grad) == [9, 15]


def test_a_gradient_tells_that_it_is_fresh():
    x = variable()
    with autograd.record():
        y = x * 2
    assert not x._fresh_grad
    y.backward()
    assert x._fresh_grad
    x._fresh_grad = False
    assert not x._fresh_grad


def test_gradients_from_grad_leave_those_of_backward_alone():
    x = variable(1, 2)
    with autograd.record():
        y = x * x
    (found,) = autograd.grad(y, x, retain_graph=True)
    assert values(found) == [2, 4]
    assert values(x.grad) == [0, 0]
    assert not x._fresh_grad
    y.backward()
    assert values(x.grad) == [2, 4]


# What is held


def steps() -> int:
    return sum(isinstance(each, Step) for each in gc.get_objects())


def test_what_was_recorded_goes_with_its_last_array_or_by_going_back():
    x = variable()
    gc.collect()
    before = steps()
    gc.disable()  # only what reference counts do
    try:
        with autograd.record():
            u = x.exp()
            y = u * u
        memory = u.chunk
        held = weakref.ref(u)
        del u
        assert held() is None
        y.backward(retain_graph=True)
        assert steps() == before + 2
        assert y.entry[0].saved[0].chunk is memory
        y.backward()
        assert steps() == before + 1
        assert y.entry[0].saved == ()
        del y
        with autograd.record():
            y = x.exp() * x
        assert steps() == before + 2
        del y
        assert steps() == before
    finally:
        gc.enable()


class _Keeping(autograd.Function):
    """Keeps what it makes, which must not keep it."""

    def forward(self, x: Any) -> Any:
        self.made = x * 2
        self.save_for_backward(self.made)
        return self.made

    def backward(self, head: Any) -> Any:
        return head * 2


def test_a_function_that_saves_its_result_is_freed_without_the_collector():
    x = variable()
    gc.collect()
    gc.disable()
    try:
        function = _Keeping()
        with autograd.record():
            y = function(x)
        gone = weakref.ref(function)
        del function
        assert gone() is not None
        del y
        assert gone() is None
    finally:
        gc.enable()


# What is refused


def test_going_back_from_what_was_not_recorded_says_what_to_do():
    y = variable() * 2
    with pytest.raises(GradientError, match=r"autograd\.record\(\)"):
        y.backward()


def test_going_back_twice_says_what_to_do():
    x = variable()
    with autograd.record():
        y = x * 2
    y.backward()
    with pytest.raises(GradientError, match="retain_graph=True"):
        y.backward()
    assert values(x.grad) == [2, 2, 2]


def test_going_back_to_no_variable_says_what_to_do():
    x = variable(grad_req="null")
    u = variable()
    with autograd.record():
        y = u * x
    u.attach_grad("null")
    with pytest.raises(GradientError, match=r"attach_grad\(\)"):
        autograd.grad(y, x)


@pytest.mark.parametrize("shape", [(3,), (1,), (2, 2)])
def test_a_head_gradient_of_another_shape_is_refused_before_anything_is_queued(shape):
    x = variable(1, 2)
    with autograd.record():
        y = x * 2
    with pytest.raises(ShapeError, match=r"float32\[2\]"):
        y.backward(nd.ones(shape))
    y.backward()
    assert values(x.grad) == [2, 2]


def test_head_gradients_of_another_kind_are_refused():
    x = variable(1, 2)
    with autograd.record():
        y = x * 2
    with pytest.raises(TypeError, match="ndarray"):
        autograd.backward(y, [np.ones(2)])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="1 heads and 2 gradients"):
        autograd.backward([y], [None, None])
    with pytest.raises(ArgumentError, match="at least one"):
        autograd.backward([])
    with pytest.raises(TypeError, match="heads must be NDArrays"):
        autograd.backward([3])  # type: ignore[list-item]


def write_sum(x: nd.NDArray, y: nd.NDArray) -> None:
    y += x


def write_all(x: nd.NDArray, y: nd.NDArray) -> None:
    y[:] = 0


def write_part(x: nd.NDArray, y: nd.NDArray) -> None:
    y[1] = x[0]


def write_out(x: nd.NDArray, y: nd.NDArray) -> None:
    nd.exp(x, out=y)


def write_variable(x: nd.NDArray, y: nd.NDArray) -> None:
    x *= 2


@pytest.mark.parametrize("write", [write_sum, write_all, write_part, write_out, write_variable])
def test_writing_to_a_recorded_array_is_refused_and_changes_nothing(write):
    x = variable(1, 2)
    with autograd.record():
        y = x * 3
        with pytest.raises(GradientError, match="would write"):
            write(x, y)
    assert values(y) == [3, 6]
    y.backward()
    assert values(x.grad) == [3, 3]


def test_writing_is_allowed_outside_of_the_scope_and_after_going_back():
    x = variable(1, 2)
    with autograd.record():
        y = x * x
    y.backward()
    x -= x.grad
    with autograd.record():
        y += 1
    assert values(y) == [2, 5]


@pytest.mark.parametrize("write", [write_sum, write_part])
def test_writing_what_is_recorded_over_what_is_not_is_refused(write):
    x, z = variable(1, 2), nd.zeros((2,))
    with autograd.record(), pytest.raises(GradientError, match="would write"):
        write(x, z)
    assert values(z) == [0, 0]


def test_marking_is_refused_as_a_whole():
    first, second = nd.ones((2,)), nd.ones((3,))
    with pytest.raises(ShapeError, match=r"float32\[3\]"):
        autograd.mark_variables([first, second], [nd.ones((2,)), nd.ones((2,))])
    with pytest.raises(ArgumentError, match="'sum'"):
        autograd.mark_variables([first], [nd.ones((2,))], "sum")
    with pytest.raises(ArgumentError, match="2 variables, 1 gradients"):
        autograd.mark_variables([first, second], [first])
    assert first.grad is second.grad is None
    for choice in ({"grad_req": "sum"}, {"stype": "csr"}):
        with pytest.raises(ArgumentError, match=r"sum|csr"):
            first.attach_grad(**choice)
    assert first.grad is None


# Functions


def test_a_function_that_returns_something_else_is_refused():
    class Wrong(autograd.Function):
        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def forward(self, x: Any, y: Any) -> Any:
            return x + y

        def backward(self, head: Any) -> Any:
            return self.answer(head)

    for answer, told in (
        (lambda head: head, "1 gradients; Wrong has 2 inputs"),
        (lambda head: (head, 1), "gradient 2"),
        (lambda head: (nd.ones((5,)), head), r"gradient 1 must be float32\[3\]"),
    ):
        x, y = variable(), variable()
        with autograd.record():
            z = Wrong(answer)(x, y)
        with pytest.raises(GradientError, match=told):
            z.backward()


def test_a_function_is_called_once():
    function = _Keeping()
    function(variable())
    with pytest.raises(GradientError, match="was called before"):
        function(variable())


def test_a_function_without_its_methods_says_which():
    with pytest.raises(NotImplementedError, match="forward"):
        autograd.Function()(variable())


def test_a_function_passes_gradients_on():
    x = variable(1, 2)
    with autograd.record():
        y = _Keeping()(x * 3) * 5
    y.backward()
    assert values(x.grad) == [30, 30]


# Every kind of operator, by differences

STEP = 1e-6

OPERATORS: dict[str, tuple[list[tuple[int, ...]], dict[str, Any]]] = {
    "exp": ([(2, 3)], {}),
    "tanh": ([(2, 3)], {}),
    "relu": ([(2, 3)], {}),
    "_plus_scalar": ([(2, 3)], {}),
    "_rdiv_scalar": ([(2, 3)], {}),
    "_power_scalar": ([(2, 3)], {}),
    "broadcast_mul": ([(2, 3), (1, 3)], {}),
    "broadcast_div": ([(2, 1), (2, 3)], {}),
    "elemwise_sub": ([(2, 3), (2, 3)], {}),
    "sum": ([(2, 3)], {"axis": (1,), "keepdims": False}),
    "mean": ([(2, 3)], {"axis": (), "keepdims": True}),
    "max": ([(2, 3)], {"axis": (0,), "keepdims": False}),
    "dot": ([(2, 3), (3, 2)], {}),
    "batch_dot": ([(2, 2, 3), (2, 3, 2)], {}),
    "transpose": ([(2, 3)], {"axes": (1, 0)}),
    "Reshape": ([(2, 3)], {"shape": (3, 2)}),
    "Flatten": ([(2, 3, 2)], {}),
    "slice": ([(2, 3)], {"begin": (0, 1), "end": (2, 3)}),
    "Concat": ([(2, 3), (2, 1)], {"dim": 1}),
    "stack": ([(2, 3), (2, 3)], {"axis": 0}),
    "add_n": ([(2, 3), (2, 3), (2, 3)], {}),
    "FullyConnected": ([(2, 3), (4, 3), (4,)], {"num_hidden": 4}),
    "Convolution": ([(1, 2, 3, 3), (2, 2, 2, 2), (2,)], {"kernel": (2, 2), "num_filter": 2}),
    "Pooling": ([(1, 1, 3, 4)], {"kernel": (2, 2), "pool_type": "avg"}),
    "LayerNorm": ([(2, 3), (3,), (3,)], {}),
    "log_softmax": ([(2, 3)], {}),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_the_gradient_is_the_slope_of(name, grad_req):
    shapes, attrs = OPERATORS[name]
    dynamic = (2.0,) if name.endswith("_scalar") else ()
    generator = np.random.default_rng(1)
    given = [generator.permutation(np.linspace(0.3, 2, int(np.prod(s)))).reshape(s) for s in shapes]
    weights: Any = None

    def compute(arrays: list[nd.NDArray]) -> nd.NDArray:
        call = apply if name != "LayerNorm" else lambda *a: nd.NDArray._apply_several(*a)[0]
        return call(spec(name), arrays, tuple(attrs.items()), dynamic)

    def weighed(data: list[Any]) -> float:
        made = compute([nd.array(each, dtype="float64") for each in data])
        return float((made.asnumpy() * weights).sum())

    arrays = [nd.array(each, dtype="float64") for each in given]
    for each in arrays:
        each.attach_grad(grad_req)
    times = 2 if grad_req == "add" else 1
    for _ in range(times):
        with autograd.record():
            y = compute(arrays)
        weights = generator.uniform(0.5, 1.5, y.shape) if weights is None else weights
        y.backward(nd.array(weights, dtype="float64"))
    for place, each in enumerate(arrays):
        expected = np.empty(each.shape)
        for index in np.ndindex(each.shape):
            up, down = ([data.copy() for data in given] for _ in range(2))
            up[place][index] += STEP
            down[place][index] -= STEP
            expected[index] = (weighed(up) - weighed(down)) / (2 * STEP)
        np.testing.assert_allclose(each.grad.asnumpy(), times * expected, rtol=1e-5, atol=1e-6)


# Gradients of gradients

HIGHER: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, w: (x + w) * x * w,
    "sub": lambda x, w: (x - w) * (w - x) * x,
    "mul": lambda x, w: x * w * x,
    "div": lambda x, w: x / w,
    "broadcast": lambda x, w: nd.sum(w, axis=0, keepdims=True) * x * x,
    "numbers": lambda x, w: ((2 - x) * 3 + 1 - 0.5) / 2 * x + 2 / w,
    "power": lambda x, w: x**3 * w**2,
    "exp": lambda x, w: (x * w).exp(),
    "log": lambda x, w: x.log() * w,
    "sqrt": lambda x, w: x.sqrt() * w.sqrt(),
    "square": lambda x, w: x.square() * w.reciprocal(),
    "sine": lambda x, w: x.sin() * w.cos(),
    "tanh": lambda x, w: (x * w).tanh(),
    "sigmoid": lambda x, w: nd.sigmoid(x * w),
    "relu": lambda x, w: nd.relu(x - w) * x,
    "abs": lambda x, w: (x * (x - w)).abs(),
    "negative": lambda x, w: nd.negative(x) * x * w,
    "sum": lambda x, w: (x * x).sum(axis=1) * w.sum(axis=1),
    "mean": lambda x, w: (x * x).mean(axis=0, exclude=True) * w.mean(),
    "dot": lambda x, w: nd.dot(x, w.T) * nd.dot(w, x, transpose_b=True),
    "dot turned": lambda x, w: nd.dot(x, nd.dot(w, x, transpose_a=True), transpose_b=True),
    "FullyConnected": lambda x, w: nd.FullyConnected(x, w, w.sum(axis=1), num_hidden=2) ** 2,
    "shapes": lambda x, w: (x.reshape((3, 2)).T.expand_dims(0).flatten() ** 2) * w.sum(),
    "add_n": lambda x, w: nd.add_n(x, w, x) * nd.identity(x),
    "elemwise": lambda x, w: nd.elemwise_mul(x, nd.elemwise_add(w, x)),
}


@pytest.mark.parametrize("told", HIGHER)
def test_a_gradient_can_be_differentiated_through(told):
    generator = np.random.default_rng(2)
    given = [generator.uniform(0.5, 2, (2, 3)) for _ in range(2)]
    heads: list[Any] = []

    def slopes(data: list[Any], create_graph: bool) -> tuple[list[Any], list[Any]]:
        arrays = [nd.array(each, dtype="float64") for each in data]
        for each in arrays:
            each.attach_grad()
        with autograd.record():
            y = HIGHER[told](*arrays)
        if not heads:
            heads.append(nd.array(generator.uniform(0.5, 2, y.shape), dtype="float64"))
        return arrays, autograd.grad(y, arrays, heads, create_graph=create_graph)

    _, expected = slopes(given, False)
    arrays, found = slopes(given, True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-12)
    with autograd.record():
        z = nd.add_n(*(each.square().sum() for each in found))
    z.backward()

    def total(data: list[Any]) -> float:
        return sum(float((each.asnumpy() ** 2).sum()) for each in slopes(data, False)[1])

    for place, each in enumerate(arrays):
        wanted = np.empty(each.shape)
        for index in np.ndindex(each.shape):
            up, down = ([data.copy() for data in given] for _ in range(2))
            up[place][index] += STEP
            down[place][index] -= STEP
            wanted[index] = (total(up) - total(down)) / (2 * STEP)
        np.testing.assert_allclose(each.grad.asnumpy(), wanted, rtol=1e-4, atol=1e-5)


def test_a_gradient_that_cannot_be_differentiated_is_refused_by_name():
    x = variable(1, 2)
    with autograd.record():
        y = nd.softmax(x)
    with pytest.raises(GradientError, match="gradient of softmax cannot"):
        autograd.grad(y, x, create_graph=True)
    y.backward()


# What profiles show


def test_backward_is_in_the_profile_with_links_from_its_line():
    x, w = variable(), variable(grad_req="add")
    nd.waitall()
    recording = RECORDER.start()
    try:
        with autograd.record():
            y = (x * w + x).reshape((1, 3))
        y.backward()
        nd.waitall()
        default_engine().observe()
    finally:
        recording.stop()
    trace = freeze(recording, Meta())
    events = trace.frame("events")
    names = events[events.domain == "operator"].name.value_counts()
    for name in ("broadcast_mul", "broadcast_add", "SetValueOp", "ImperativeBulk"):
        assert names[name] == 1, name
    members = events[events.domain == "bulk"]
    assert sorted(members.name.astype(str)) == [
        "_backward_broadcast_add",
        "_backward_broadcast_mul",
        "_backward_reshape",
        "add_n",
    ]
    assert set(members.parent) == {events.index[events.name == "ImperativeBulk"][0]}
    calls = events[events.domain == "MXNET_C_API"].name.value_counts()
    assert calls["MXAutogradBackwardEx"] == 1
    assert calls["MXAutogradSetIsRecording"] == calls["MXAutogradSetIsTraining"] == 2
    back = events.index[events.line.notna() & (events.name == "MXAutogradBackwardEx")]
    flows = trace.frame("flows")
    launches = flows[flows.kind == "launch"].set_index("target").source
    went = events[events.name.isin(["SetValueOp", "ImperativeBulk"])]
    assert len(went) == 2
    for row in went.index:
        assert events.parent[launches[row]] == back[0]
        assert events.line[row] == events.line[back[0]]


def test_a_gradient_of_a_gradient_needs_what_was_recorded():
    """Without it the part that the first gradient does not show would be missing, in silence."""
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = x * x * x
        with pytest.raises(GradientError, match="Leave retain_graph out"):
            autograd.grad(y, [x], create_graph=True, retain_graph=False)
        slope = autograd.grad(y, [x], create_graph=True)[0]
    slope.backward()
    assert x.grad.asnumpy().tolist() == [6, 12]

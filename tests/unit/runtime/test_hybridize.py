"""Hybridized blocks: the same results by a graph, made once, for any shapes, types and devices."""

from __future__ import annotations

import json
import pickle
import threading
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import (
    ArgumentError,
    DeferredInitializationError,
    GradientError,
    NoGraphError,
    ParameterError,
    ParameterFileError,
    ShapeError,
)
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.cached_op import MAX_PROGRAMS, CachedOp
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.trace import Meta

nd, autograd = mx.nd, mx.autograd
# What is refused here is of wrong types on purpose.
gluon: Any = mx.gluon
nn: Any = mx.gluon.nn
sym: Any = mx.sym

MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "static_alloc": {"static_alloc": True},
    "static_shape": {"static_alloc": True, "static_shape": True},
    "bulks of two": {"forward_bulk_size": 2, "backward_bulk_size": 2},
}
every_mode = pytest.mark.parametrize("options", MODES.values(), ids=MODES)


def network(*layers: Any) -> Any:
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(*layers)
    net.initialize(mx.init.Uniform(1))
    return net


def values(*shape: int, seed: int = 0) -> Any:
    return nd.array(np.random.default_rng(seed).uniform(-1, 1, shape))


def step(net: Any, *args: Any) -> list[Any]:
    """Return result, gradients and states after a step forward and backward."""
    for each in args:
        each.attach_grad()
    with autograd.record():
        made = net(*args)
        total = (made * made).sum()
    total.backward()
    found = [made, *(each.grad for each in args)]
    for param in net.collect_params().values():
        found.append(param.data() if param.grad_req == "null" else param.grad())
    return [each.asnumpy() for each in found]


def copied(net: Any, make: Any) -> Any:
    """Return another network with the same values."""
    other = make()
    for one, two in zip(
        net.collect_params().values(), other.collect_params().values(), strict=True
    ):
        two.set_data(one.data())
    return other


def convolutional() -> Any:
    net = network(
        nn.Conv2D(4, 3, activation="relu"),
        nn.MaxPool2D(2),
        nn.BatchNorm(),
        nn.Flatten(),
        nn.Dense(6, activation="tanh"),
        nn.Dense(3),
    )
    net(values(1, 2, 8, 8))
    return net


def same(found: Any, expected: Any) -> None:
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-7)


@every_mode
def test_results_gradients_and_states_are_those_of_single_calls(options):
    plain = convolutional()
    graph = copied(plain, convolutional)
    graph.hybridize(**options)
    for seed in range(3):
        x = values(2, 2, 8, 8, seed=seed)
        same(step(graph, x), step(plain, x))
        same([graph(x).asnumpy()], [plain(x).asnumpy()])


@every_mode
def test_other_shapes_and_types_may_come(options):
    net = network(nn.Dense(3, flatten=False))
    net(values(1, 4))
    expected = [net(values(*shape)).asnumpy() for shape in ((2, 4), (5, 4), (2, 3, 4), (2, 4))]
    net.hybridize(**options)
    same([net(values(*shape)).asnumpy() for shape in ((2, 4), (5, 4), (2, 3, 4), (2, 4))], expected)
    net.cast("float64")
    assert net(values(2, 4).astype("float64")).dtype == np.float64


def test_the_graph_is_made_once_and_python_in_it_runs_once():
    calls = []

    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            calls.append(F)
            return F.relu(x)

    net = Net()
    net(nd.ones((2,)))
    net.hybridize()
    for _ in range(3):
        net(nd.ones((2,)))
    assert calls == [nd, sym]
    net.hybridize(False)
    net(nd.ones((2,)))
    assert calls[-1] is nd


def test_shapes_of_parameters_follow_from_the_first_data():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Dense(5), nn.LayerNorm(), nn.Dense(2))
    net.initialize()
    net.hybridize()
    assert net(nd.ones((2, 3, 6, 6))).shape == (2, 2)
    assert net[0].weight.shape == (4, 3, 3, 3)
    assert net[1].running_mean.shape == (4,)
    assert net[2].weight.shape == (5, 64)


def test_shapes_that_do_not_follow_are_told_and_nothing_is_initialized():
    class Net(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__(prefix="odd_")
            self.scale = self.params.get("scale", shape=(0,), allow_deferred_init=True)

        def hybrid_forward(self, F: Any, x: Any, scale: Any) -> Any:
            return F.broadcast_mul(x, F.exp(scale))

    net = Net()
    net.initialize()
    net.hybridize()
    with pytest.raises(ShapeError, match="odd"):
        net(nd.ones((2, 3)))
    with pytest.raises(DeferredInitializationError):
        net.scale.data()


def test_a_network_without_values_says_so():
    net = nn.Dense(2, in_units=3)
    net.hybridize()
    with pytest.raises(ParameterError, match="has not been initialized"):
        net(nd.ones((1, 3)))


def test_arrays_that_do_not_fit_name_the_node():
    net = nn.Dense(2, in_units=3, prefix="head_")
    net.initialize()
    net.hybridize()
    with pytest.raises(ShapeError, match="head_fwd"):
        net(nd.ones((1, 4)))


def test_arguments_and_results_may_be_nested_and_missing():
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, pair: Any, extra: Any = None) -> Any:
            one, (two,) = pair
            made = x + one * 2
            return made, [two, (made - two,)], None if extra is None else F.exp(extra)

    def call(net: Any, *extra: Any) -> Any:
        x, y = nd.array([1, 2]), nd.array([3, 4])
        return net(x, [y, (x,)], *extra)

    def told(made: Any) -> Any:
        if made is None:
            return None
        if isinstance(made, (list, tuple)):
            return type(made)(map(told, made))
        return made.tolist()

    net = Net()
    cases: list[tuple[Any, ...]] = [(), (None,), (nd.array([0, 0]),), ()]
    expected = [told(call(net, *extra)) for extra in cases]
    net.hybridize()
    assert [told(call(net, *extra)) for extra in cases] == expected


def test_arguments_may_be_given_by_name():
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, mask: Any) -> Any:
            return x * mask

    net = Net()
    net.hybridize()
    assert net(nd.ones((2,)), mask=nd.array([0, 3])).tolist() == [0, 3]


def test_results_of_operators_with_several_stay_a_list():
    net = nn.HybridLambda(lambda F, x: F.split(x, num_outputs=2, axis=0))
    expected = [each.tolist() for each in net(nd.array([[1], [2]]))]
    net.hybridize()
    made = net(nd.array([[1], [2]]))
    assert isinstance(made, list)
    assert [each.tolist() for each in made] == expected


def test_a_result_that_is_an_argument_is_that_array():
    net = nn.HybridLambda(lambda F, x: [x, x * 2])
    net.hybridize()
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        one, two = net(x)
        total = (one * two).sum()
    total.backward()
    assert one.tolist() == [1, 2]
    assert x.grad.tolist() == [4, 8]


def test_a_number_among_the_arguments_is_refused():
    net = nn.HybridLambda(lambda F, x, y: x * y)
    net.hybridize()
    with pytest.raises(ArgumentError, match="3 of type int is none"):
        net(nd.ones((2,)), 3)


def test_arrays_of_two_devices_are_refused():
    net = nn.HybridLambda(lambda F, x, y: x * y)
    net.hybridize()
    with pytest.raises(ArgumentError, match=r"cpu\(0\), cpu\(1\)"):
        net(nd.ones((2,)), nd.ones((2,), ctx=mx.cpu(1)))


@every_mode
def test_each_device_has_values_of_its_own(options):
    devices = [mx.cpu(0), mx.cpu(1)]
    net = nn.Dense(2, in_units=3)
    net.initialize("ones", ctx=devices)
    net.hybridize(**options)
    for device in devices:
        x = nd.ones((1, 3), ctx=device) * (device.device_id + 1)
        with autograd.record():
            made = net(x)
        made.backward()
        assert made.context == device
        assert made.tolist() == [[3 * (device.device_id + 1)] * 2]
        assert net.weight.grad(device).tolist() == [[device.device_id + 1] * 3] * 2


def test_dropout_drops_while_training_only():
    net = network(nn.Dropout(0.5))
    net.hybridize()
    x = nd.ones((100,))
    assert net(x).tolist() == [1] * 100
    with autograd.record():
        made = net(x).asnumpy()
    assert set(made.tolist()) == {0.0, 2.0}
    with autograd.record(train_mode=False):
        assert net(x).tolist() == [1] * 100


@every_mode
def test_random_draws_are_those_of_single_calls(options):
    net = nn.HybridLambda(lambda F, x: F.Dropout(x, p=0.3) + F.random.normal(shape=(4, 5)))
    mx.random.seed(3)
    with autograd.train_mode():
        expected = [net(nd.ones((4, 5))).asnumpy() for _ in range(2)]
    net.hybridize(**options)
    mx.random.seed(3)
    with autograd.train_mode():
        same([net(nd.ones((4, 5))).asnumpy() for _ in range(2)], expected)


@every_mode
def test_gradients_can_be_asked_twice(options):
    net = network(nn.Dense(3, activation="tanh"), nn.Dense(1))
    net(values(1, 2))
    net.hybridize(**options)
    x = values(4, 2)
    x.attach_grad()
    with autograd.record():
        made = net(x)
    made.backward(retain_graph=True)
    first = x.grad.asnumpy()
    made.backward()
    same([x.grad.asnumpy()], [first])
    with pytest.raises(GradientError, match="retain_graph"):
        made.backward()


@every_mode
def test_gradients_of_gradients_pass(options):
    net = nn.HybridLambda(lambda F, x: F.exp(x) * x)
    net.hybridize(**options)
    x = nd.array([0.5, 1])
    x.attach_grad()
    with autograd.record():
        made = net(x)
        (slope,) = autograd.grad(made, [x], create_graph=True)
        total = slope.sum()
    total.backward()
    at = x.asnumpy()
    np.testing.assert_allclose(x.grad.asnumpy(), np.exp(at) * (at + 2), rtol=1e-5)


@every_mode
def test_a_block_called_again_before_the_gradients_are_asked_keeps_each_calls_values(options):
    """As a recurrent network does: memory that is kept from call to call serves one at a time."""
    plain = network(nn.Dense(3, activation="tanh"))
    plain(values(1, 3))

    def rolled(net: Any) -> list[Any]:
        x = values(2, 3)
        x.attach_grad()
        with autograd.record():
            state = x
            for _ in range(4):
                state = net(state)
            unused = net(state)
        state.backward()
        del unused
        return [state.asnumpy(), x.grad.asnumpy(), plain[0].weight.grad().asnumpy()]

    expected = rolled(plain)
    plain.hybridize(**options)
    for _ in range(3):
        same(rolled(plain), expected)


@every_mode
def test_gradients_are_added_where_that_is_asked(options):
    net = network(nn.Dense(2))
    net(values(1, 3))
    net.collect_params().setattr("grad_req", "add")
    net.hybridize(**options)
    once = step(net, values(2, 3))[2]
    twice = step(net, values(2, 3))[2]
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-6)


def test_a_hybridized_network_learns():
    net = network(nn.Dense(8, activation="relu"), nn.Dense(2))
    net.hybridize(static_alloc=True, static_shape=True)
    x = values(64, 3)
    labels = (x.sum(axis=1) > 0).astype("float32")
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    loss.hybridize()
    net(x)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    losses = []
    for _ in range(40):
        with autograd.record():
            total = loss(net(x), labels)
        total.backward()
        trainer.step(64)
        losses.append(total.mean().asscalar())
    assert losses[-1] < losses[0] / 2


def test_parameters_may_be_shared_set_and_initialized_anew():
    one = nn.Dense(2, in_units=2, prefix="one_")
    two = nn.Dense(2, in_units=2, params=one.params)
    net = nn.HybridSequential()
    net.add(one, two)
    net.initialize("ones")
    net.hybridize()
    x = nd.ones((1, 2))
    assert net(x).tolist() == [[4, 4]]
    one.weight.set_data(nd.ones((2, 2)) * 2)
    assert net(x).tolist() == [[16, 16]]
    net.initialize(mx.init.Constant(3), force_reinit=True)
    one.weight.set_data(nd.ones((2, 2)) * 3)
    one.bias.set_data(nd.zeros((2,)))
    assert net(x).tolist() == [[36, 36]]


def test_a_layer_that_comes_later_belongs_to_the_next_graph():
    net = network(nn.Dense(2, in_units=2))
    net.hybridize()
    net(nd.ones((1, 2)))
    net.add(nn.HybridLambda(lambda F, x: x * 0))
    assert net(nd.ones((1, 2))).tolist() == [[0, 0]]


@every_mode
def test_a_layer_that_a_block_within_gets_later_is_not_left_out_in_silence(options, tmp_path: Path):
    inner, middle = nn.HybridSequential(), nn.HybridSequential()
    inner.add(nn.Dense(4, in_units=4))
    middle.add(inner)
    net = network(middle, nn.Dense(2, in_units=4))
    x = values(3, 4)
    net.hybridize(**options)
    net(x)
    inner.add(nn.Dense(4, in_units=4, activation="tanh"))
    inner[1].initialize()
    with pytest.raises(NoGraphError, match="no graph to export"):
        net.export(tmp_path / "net")
    by_graph = net(x).asnumpy()
    net.export(tmp_path / "net")
    for copy in (pickle.loads(pickle.dumps(net)), deepcopy(net)):
        np.testing.assert_array_equal(copy(x).asnumpy(), by_graph)
        copy[0][0].add(nn.HybridLambda(lambda F, x: x * 0))
        assert not np.allclose(copy(x).asnumpy(), by_graph)
    np.testing.assert_array_equal(net(x).asnumpy(), by_graph)
    net.hybridize(active=False)
    np.testing.assert_allclose(net(x).asnumpy(), by_graph, rtol=1e-5)


def test_a_graph_stays_when_other_networks_get_layers_or_blocks_within_are_hybridized_again():
    traced: list[int] = []

    def note(F: Any, x: Any) -> Any:
        traced.append(1)
        return x + 1

    net = network(nn.HybridLambda(note), nn.Dense(2))
    net.hybridize()
    net(values(3, 4))
    network(nn.Dense(2), nn.Dense(3))
    net[1].hybridize(static_alloc=True)
    net.hybridize(clear=False, static_alloc=True)
    net(values(3, 4))
    assert traced == [1]


def test_hooks_of_the_block_are_called_and_those_within_it_once_with_symbols():
    net = network(nn.Dense(2, in_units=2))
    seen: list[Any] = []
    net.register_forward_hook(lambda block, args, made: seen.append(type(args[0]).__name__))
    net[0].register_forward_hook(lambda block, args, made: seen.append(type(made).__name__))
    with pytest.warns(UserWarning, match="has hooks"):
        net.hybridize()
    for _ in range(2):
        net(nd.ones((1, 2)))
    assert seen == ["Symbol", "NDArray", "NDArray"]


def test_a_block_that_is_not_hybrid_hybridizes_those_within():
    class Net(mx.gluon.Block):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(2, in_units=2)

        def forward(self, x: Any) -> Any:
            return self.body(x).asnumpy().sum()

    net = Net()
    net.initialize("ones")
    net.hybridize()
    assert net(nd.ones((1, 2))) == 4
    assert net.body._active


def test_what_is_not_used_is_told():
    class Net(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__(prefix="idle_")
            self.spare = self.params.get("spare", shape=(1,))

        def hybrid_forward(self, F: Any, x: Any, y: Any, spare: Any) -> Any:
            return x + 1

    net = Net()
    net.initialize()
    net.hybridize()
    with pytest.warns(UserWarning, match="is not used") as caught:
        assert net(nd.ones((1,)), nd.ones((1,))).tolist() == [2]
    told = [str(each.message) for each in caught]
    assert told == [
        "idle: argument 1 is not used by any computation.",
        "idle: parameter idle_spare is not used by any computation.",
    ]


def test_what_depends_on_values_cannot_stand_in_a_graph():
    net = nn.HybridLambda(lambda F, x: x if x.sum() > 0 else -x)
    net.hybridize()
    with pytest.raises(TypeError, match="no value"):
        net(nd.ones((2,)))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"static_shape": True}, "static_alloc"),
        ({"static_aloc": True}, "no such option"),
        ({"backend": "MKLDNN"}, "no other backends"),
        ({"forward_bulk_size": -1}, "0 or more"),
        ({"backward_bulk_size": "many"}, "0 or more"),
    ],
)
def test_options_that_cannot_be_are_refused(options, told):
    net = nn.Dense(2)
    with pytest.raises(ArgumentError, match=told):
        net.hybridize(**options)
    assert not net._active


def test_optimize_for_is_refused():
    with pytest.raises(ArgumentError, match="no other backends"):
        nn.Dense(2).optimize_for(nd.ones((1, 2)), backend="MKLDNN")


def test_shapes_and_types_can_be_inferred_without_a_call():
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Dense(2))
    net.infer_shape(nd.ones((2, 4)))
    assert [each.shape for each in net.collect_params().values()] == [(3, 4), (3,), (2, 3), (2,)]
    net.cast("float64")
    net.infer_type(nd.ones((2, 4), dtype="float64"))
    assert {np.dtype(each.dtype) for each in net.collect_params().values()} == {np.dtype("float64")}


def test_a_parameter_has_one_variable():
    weight = gluon.Parameter("weight", shape=(2, 3), lr_mult=2.0)
    made = weight.var()
    assert made is weight.var()
    assert made.name == "weight"
    assert made.attr("__shape__") == "(2, 3)"
    assert float(made.attr("__lr_mult__")) == 2


def test_a_block_called_with_symbols_gives_symbols():
    net = nn.Dense(2, in_units=3, prefix="head_")
    made = net(sym.var("x"))
    assert made.list_arguments() == ["x", "head_weight", "head_bias"]
    assert made.name == "head_fwd"


# Many calls


def test_programs_of_shapes_that_never_repeat_are_bounded():
    net = nn.HybridLambda(lambda F, x: x + 1)
    net.hybridize()
    for length in range(1, MAX_PROGRAMS + 20):
        net(nd.zeros((length,)))
    (graph,) = net._graphs.values()
    assert len(graph.op._plans) == MAX_PROGRAMS


def test_several_threads_may_call_a_block_also_for_the_first_time():
    net = network(nn.Dense(16, activation="relu"), nn.Dense(4))
    net.hybridize(static_alloc=True, static_shape=True)
    data = [values(3, 5, seed=seed) for seed in range(8)]
    made: dict[int, Any] = {}
    start = threading.Barrier(4)

    def work(first: int) -> None:
        start.wait()
        for place in (first, first + 4):
            made[place] = net(data[place]).asnumpy()

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    net.hybridize(False)
    same([made[place] for place in range(8)], [net(x).asnumpy() for x in data])


# What is recorded


def recorded(work: Any) -> Any:
    recording = RECORDER.start()
    try:
        work()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta()).frame()


def test_one_call_is_recorded_for_all_operators_and_another_inside():
    net = network(nn.Dense(3, activation="relu"), nn.Dense(2))
    net.hybridize()
    x = values(1, 4)
    net(x)
    events = recorded(lambda: net(x))
    calls = events[events.domain == "MXNET_C_API"]
    outer = calls[calls.name == "MXInvokeCachedOpEx"].iloc[0]
    inner = calls[calls.name == "MXInvokeCachedOp"].iloc[0]
    assert outer.start_ns <= inner.start_ns
    assert outer.start_ns + outer.dur_ns >= inner.start_ns + inner.dur_ns
    assert "MXImperativeInvokeEx" not in set(calls.name)


# A graph by itself


def test_a_cached_op_takes_arrays_in_the_order_of_its_inputs():
    x, y = sym.var("x"), sym.var("y")
    op = CachedOp(x - y * 2, [("static_alloc", True)])
    assert op(nd.array([5]), nd.array([1])).tolist() == [3]
    out = nd.zeros((1,))
    op(nd.array([7]), nd.array([1]), out=out)
    assert out.tolist() == [5]
    with pytest.raises(ArgumentError, match="takes 2 arrays: x, y; got 1"):
        op(nd.ones((1,)))
    with pytest.raises(TypeError, match="y must be an NDArray"):
        op(nd.ones((1,)), 2)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="static_alloc"):
        CachedOp(x, {"fast": True})


# Files


def test_what_is_exported_can_be_imported(tmp_path: Path):
    net = convolutional()
    net.hybridize()
    x = values(2, 2, 8, 8)
    expected = net(x).asnumpy()
    names = net.export(tmp_path / "net", epoch=7)
    assert names == (str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0007.params"))
    assert json.loads(Path(names[0]).read_text())["nodes"][0]["name"] == "data"
    again = gluon.SymbolBlock.imports(names[0], ["data"], names[1])
    same([again(x).asnumpy()], [expected])
    same(step(again, x), step(net, x))
    again.export(tmp_path / "again")
    assert json.loads((tmp_path / "again-symbol.json").read_text()) == json.loads(
        Path(names[0]).read_text()
    )


def test_a_block_without_a_graph_cannot_be_exported(tmp_path: Path):
    net = nn.Dense(2, in_units=2)
    net.initialize()
    net(nd.ones((1, 2)))
    with pytest.raises(NoGraphError, match="hybridize"):
        net.export(tmp_path / "net")
    assert not list(tmp_path.iterdir())


def test_a_graph_without_values_waits_for_initialize(tmp_path: Path):
    net = network(nn.Dense(2, in_units=3))
    net.hybridize()
    net(values(1, 3))
    file, _ = net.export(tmp_path / "net")
    again = gluon.SymbolBlock.imports(file, "data")
    with pytest.raises(ParameterError, match="has not been initialized"):
        again(values(1, 3))
    again.initialize("ones")
    assert again(nd.ones((1, 3))).tolist() == [[4, 4]]


def test_values_that_do_not_fit_the_graph_are_refused(tmp_path: Path):
    net = network(nn.Dense(2, in_units=3))
    net.hybridize()
    net(values(1, 3))
    file, _ = net.export(tmp_path / "net")
    nd.save(str(tmp_path / "other"), {"arg:elsewhere": nd.ones((1,))})
    with pytest.raises(ParameterFileError):
        gluon.SymbolBlock.imports(file, "data", tmp_path / "other")


def test_a_symbol_block_can_stand_in_another_network():
    x = sym.var("x")
    inner = gluon.SymbolBlock([sym.exp(x), x * 2], x)
    net = nn.HybridLambda(lambda F, a: a)

    class Net(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def hybrid_forward(self, F: Any, a: Any) -> Any:
            one, two = self.inner(a + 1)
            return one + two

    net = Net()
    expected = net(nd.array([0, 1])).asnumpy()
    net.hybridize()
    same([net(nd.array([0, 1])).asnumpy()], [expected])


def test_a_symbol_block_wants_variables_and_as_many_arrays():
    x = sym.var("x")
    with pytest.raises(ArgumentError, match="inputs are variables"):
        gluon.SymbolBlock(x * 2, x + 1)
    block = gluon.SymbolBlock(x * 2, x)
    with pytest.raises(ArgumentError, match="takes 1 arguments, x; got 2"):
        block(nd.ones((1,)), nd.ones((1,)))


def test_features_from_within_a_network_can_be_had():
    net = network(nn.Dense(3, activation="relu", in_units=2, prefix="body_"), nn.Dense(1))
    data = sym.var("data")
    graph = net(data)
    inner = graph.get_internals()
    name = next(each for each in inner.list_outputs() if each.endswith("relu_fwd_output"))
    block = gluon.SymbolBlock(inner[name], data, params=net.collect_params())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = values(2, 2)
        same([block(x).asnumpy()], [net[0](x).asnumpy()])

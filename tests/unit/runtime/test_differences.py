"""Each difference from MXNet that the package's docstring lists, shown on our side.

What MXNet does instead is in tests/reference, where it can be run.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import (
    ArgumentError,
    EngineError,
    GradientError,
    OperatorError,
    ParameterError,
    ShapeError,
)
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import default, default_engine
from mxprof_nb.runtime.gluon.absent import ABSENT
from mxprof_nb.runtime.gluon.data.vision import idx
from mxprof_nb.runtime.graph import Program, Step, in_segments, run
from mxprof_nb.runtime.mode import set_training
from mxprof_nb.runtime.ops import spec
from mxprof_nb.trace import Meta
from tests.gradients import gradients, outputs_of
from tests.unit.runtime.test_custom_operators import define

nd, engine, autograd, gluon = mx.nd, mx.engine, mx.autograd, mx.gluon

SHOWN: dict[str, Callable[[], None]] = {}


def listed() -> list[str]:
    """The lines of the docstring's list."""
    return re.findall(r"^- (.*)$", mx.__doc__ or "", re.MULTILINE)


def difference(line: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function that shows the difference whose line begins like this."""

    def keep(show: Callable[[], None]) -> Callable[[], None]:
        assert line not in SHOWN
        SHOWN[line] = show
        return show

    return keep


def test_every_difference_has_one_line_and_is_shown():
    lines = listed()
    assert len(lines) == len(set(lines)) == len(SHOWN)
    for line in lines:
        assert line.endswith("."), line
        assert [begin for begin in SHOWN if line.startswith(begin)], f"not shown: {line}"


@pytest.mark.parametrize("line", SHOWN)
def test_the_difference_is_there(line):
    SHOWN[line]()


def recorded(program: Callable[[], Any]) -> Any:
    default_engine().observe()  # what ends later belongs to the recording
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta())


def failed(shape: tuple[int, ...] = (2,)) -> Any:
    return nd.random.normal(scale=-1, shape=shape)


def raises(array: Any) -> None:
    with pytest.raises(OperatorError):
        array.asnumpy()


def training(program: Callable[[], Any]) -> Any:
    before = set_training(True)
    try:
        return program()
    finally:
        set_training(before)


def slope(name: str, x: Any, **attrs: Any) -> Any:
    """Return the gradient of the sum of an operator's result, in single precision."""
    inputs = [np.array(x, np.float32)]
    heads = [np.ones_like(made) for made in outputs_of(spec(name), inputs, attrs)]
    return gradients(spec(name), inputs, heads, attrs)[0]


@pytest.fixture(autouse=True)
def several_workers():
    default_engine()


@difference("A value that could not be computed raises whenever read")
def _() -> None:
    x = failed()
    for _ in range(3):
        raises(x)


@difference("A failure in a bulk reaches what depends on it")
def _() -> None:
    with engine.bulk(4):
        x, y = failed(), nd.ones((2,)) + 1
    assert y.asnumpy().tolist() == [2, 2]
    raises(x)


@difference("A failed operator spoils nothing else")
def _() -> None:
    raises(failed())
    assert (nd.ones((2,)).sum() + 1).asnumpy().tolist() == [3]
    assert nd.random.uniform(shape=(2,)).asnumpy().shape == (2,)


@difference("A failed array that is overwritten whole (x[:] = 0) can be read")
def _() -> None:
    x = failed()
    raises(x)
    x[:] = 3
    assert x.asnumpy().tolist() == [3, 3]


@difference("Two workers for each device")
def _() -> None:
    assert default._workers() == int(
        os.environ.get("MXNET_CPU_WORKER_NTHREADS") or min(2, os.cpu_count() or 1)
    )


@difference("Copies have a lane of their own")
def _() -> None:
    trace = recorded(lambda: nd.ones((2,)).copy().wait_to_read())
    tracks, events = trace.frame("tracks"), trace.frame()
    copies = events[events.name == "CopyCPU2CPU"].track
    assert tracks.thread[copies].tolist() == ["cpu/0 copy"]


@difference("Priorities order all that is ready")
def _() -> None:
    order: list[int] = []
    workers = len(default_engine().lanes[0].threads)  # type: ignore[union-attr]
    started, gates = threading.Barrier(workers + 1), [threading.Event() for _ in range(workers)]

    def hold(gate: threading.Event) -> None:
        started.wait(60)
        gate.wait(60)

    for gate in gates:
        engine.push(partial(hold, gate))
    started.wait(60)
    for n in (0, 3, -1, 9):
        engine.push(partial(order.append, n), priority=n)
    gates[0].set()  # one worker alone takes them
    while len(order) < 4:
        time.sleep(0.001)
    for gate in gates:
        gate.set()
    assert order == [9, 3, 0, -1]


@difference("A thread is held back at 100,000 queued operators")
def _() -> None:
    before = engine.set_queue_limit(100_000)
    assert before == 100_000


@difference("A shift within one array")
def _() -> None:
    x = nd.array([1.0, 2.0, 3.0, 4.0])
    x[1:4] += x[0:3]
    assert x.asnumpy().tolist() == [1, 3, 5, 7]


@difference("Random numbers are NumPy's Philox")
def _() -> None:
    mx.random.seed(5)
    drawn = nd.random.uniform(shape=(3,)).asnumpy()
    philox = np.random.Generator(np.random.Philox(np.random.SeedSequence((5, 0))))
    assert drawn.tolist() == philox.random(3, dtype=np.float32).tolist()


# Arrays


@difference("What shapes, types and parameters tell is refused at the call")
def _() -> None:
    for call in (
        lambda: nd.argmax(nd.ones(3), axis=1),
        lambda: nd.hard_sigmoid(nd.ones(3, dtype="int32")),
        lambda: nd.SoftmaxActivation(nd.ones((2, 3)), mode="channel"),
        lambda: nd.flip(nd.ones((2, 3)), axis=-1),
    ):
        with pytest.raises(ShapeError):
            call()


@difference("All shapes are checked")
def _() -> None:
    two, image = nd.ones(2), nd.ones((1, 4, 3, 3))
    for call in (
        lambda: nd.BatchNorm(image, two, two, two, two),
        lambda: nd.GroupNorm(image, nd.ones((1, 1)), nd.ones(1)),
        lambda: nd.batch_take(nd.ones((2, 2, 1)), nd.zeros(2, dtype="int32")),
        lambda: nd.pad(image, mode="reflect", pad_width=(0, 0, 0, 0, 3, 3, 0, 0)),
        lambda: nd.Pooling(image, kernel=(2, 2), stride=(1, 1, 1)),
        lambda: nd.stack(two, nd.ones((1, 2))),
        lambda: nd.transpose(image, axes=(0, 1, 2, 2)),
        lambda: nd.unravel_index(nd.ones((1, 2)), shape=(2, 2)),
    ):
        with pytest.raises(ShapeError):
            call()


@difference("Types and ranks that MXNet refuses here and there are taken")
def _() -> None:
    for dtype in ("float16", "int32"):
        x = nd.array([1, 2], dtype=dtype)
        assert nd.dot(x, x).tolist() == [5]
    assert nd.tile(nd.ones((1, 2, 1, 2)), reps=(2,) * 6).shape == (2, 2, 2, 4, 2, 4)


@difference("Parameters without a distribution fail everywhere")
def _() -> None:
    raises(nd.random.negative_binomial(k=2, p=0))
    raises(nd.random.exponential(nd.array([-1.0])))


@difference("nd.reshape to another number of elements is refused")
def _() -> None:
    for shape in ((2, 1), (2, 8)):
        with pytest.raises(ShapeError):
            nd.reshape(nd.ones(4), shape=shape)


@difference("Writing at a negative position")
def _() -> None:
    x = nd.array([1, 2, 3])
    x[[-1]] = 9
    assert x.tolist() == [1, 2, 9]


@difference("nd.scatter_nd and softmax_cross_entropy refuse what is out of range")
def _() -> None:
    raises(nd.scatter_nd(nd.array([1]), nd.array([[5]]), shape=(3,)))
    raises(nd.softmax_cross_entropy(nd.ones((1, 3)), nd.array([3])))


@difference("Whole numbers divided by 0")
def _() -> None:
    five = nd.array([5], dtype="int32")
    for quotient in (five / 0, five / (five - 5), 5 / (five - 5)):
        assert quotient.dtype == np.int32
        quotient.wait_to_read()


@difference("Mean and norm of whole numbers are right")
def _() -> None:
    assert nd.mean(nd.array([100] * 3, dtype="int8")).tolist() == [100]
    assert nd.norm(nd.array([0, 1, 2, 3, 4, 5], dtype="int32")).tolist() == [7]


@difference("linalg.trsm fails for a 0 on the diagonal")
def _() -> None:
    raises(nd.linalg.trsm(nd.zeros((2, 2)), nd.ones((2, 2))))


@difference("Powers of whole numbers wrap")
def _() -> None:
    assert (nd.array([3], dtype="int32") ** 40).tolist() == [(3**40 + 2**31) % 2**32 - 2**31]


@difference("Arrays of truth values choose elements")
def _() -> None:
    x = nd.array([1, 2, 3])
    assert x[np.array([False, True, True])].tolist() == [2, 3]
    assert x[nd.array([0, 1, 1], dtype="bool")].tolist() == [2, 3]


@difference("None beside arrays in an index")
def _() -> None:
    assert nd.zeros((2, 3, 4))[[0, 1], None].shape == (2, 1, 3, 4)


@difference("Sorting puts NaN behind all numbers")
def _() -> None:
    found = nd.sort(nd.array([float("nan"), 3, 2, 1])).tolist()
    assert str(found) == "[1.0, 2.0, 3.0, nan]"


@difference("Max pooling and relu keep NaN")
def _() -> None:
    x = nd.array([[[2, float("nan"), 1, 4]]])
    assert str(nd.Pooling(x, kernel=2).tolist()) == "[[[nan, nan, 4.0]]]"
    assert np.isnan(nd.Activation(x, act_type="relu").asnumpy()[0, 0, 1])


@difference("Sorts are stable")
def _() -> None:
    found = nd.argsort(nd.array([1, 0] * 20)).tolist()
    assert found == [*range(1, 40, 2), *range(0, 40, 2)]


@difference("Arrays without elements can be made")
def _() -> None:
    assert (nd.ones((0, 2)) + 1).shape == (0, 2)
    assert nd.ones((0, 2)).sum().tolist() == [0]


@difference("Arrays have an axis or more")
def _() -> None:
    assert nd.array(5).shape == (nd.array(5) + 1).shape == (1,)


@difference("BatchNorm with fix_gamma leaves gamma as it is")
def _() -> None:
    gamma, beta, mean, variance = (nd.full(2, value) for value in (3, 0, 0, 1))
    x = nd.array([[1, 2], [5, 7]])
    training(lambda: nd.BatchNorm(x, gamma, beta, mean, variance).wait_to_read())
    assert gamma.tolist() == [3, 3]


@difference("SoftmaxOutput wants one label for each softmax")
def _() -> None:
    x = nd.ones((2, 3, 4))
    assert nd.SoftmaxOutput(x, nd.zeros(2)).shape == (2, 3, 4)
    with pytest.raises(ShapeError):
        nd.SoftmaxOutput(x, nd.zeros((2, 3)))


@difference("SoftmaxActivation takes the softmax over all of a sample")
def _() -> None:
    np.testing.assert_allclose(nd.SoftmaxActivation(nd.ones((1, 2, 2))).asnumpy(), 0.25)


@difference('LeakyReLU with act_type="rrelu" draws slopes while training')
def _() -> None:
    made = training(lambda: nd.LeakyReLU(-nd.ones(50), act_type="rrelu")).asnumpy()
    assert len(set(made.tolist())) > 1


@difference("Dropout with p=1 gives 0")
def _() -> None:
    assert training(lambda: nd.Dropout(nd.ones(3), p=1)).tolist() == [0, 0, 0]


@difference("Layers compute float16 in float32")
def _() -> None:
    x = nd.ones((1, 4096), dtype="float16")
    assert nd.FullyConnected(x, x, num_hidden=1, no_bias=True).tolist() == [[4096]]
    assert nd.softmax(x).tolist() == [[1 / 4096] * 4096]


@difference("The gradient of selu below 0")
def _() -> None:
    expected = 1.6732632423543772 * 1.0507009873554805 * np.exp(-1.0)
    found = slope("LeakyReLU", [-1.0], act_type="selu")
    np.testing.assert_allclose(found, [expected])


@difference('The gradient of "full" average pooling')
def _() -> None:
    how = {"kernel": (3,), "stride": (2,), "pool_type": "avg", "pooling_convention": "full"}
    found = slope("Pooling", [[[0, 1, 2, 3, 4, 5]]], **how)
    np.testing.assert_allclose(found, [[[1 / 3, 1 / 3, 2 / 3, 1 / 3, 5 / 6, 1 / 2]]], rtol=1e-6)


@difference("The gradients of prod with a 0 and of norm at 0 are numbers")
def _() -> None:
    assert slope("prod", [0, 2, 3]).tolist() == [6, 0, 0]
    assert slope("norm", [0, 0]).tolist() == [0, 0]


@difference("A device is a Context")
def _() -> None:
    with pytest.raises(TypeError, match="no Context"):
        nd.ones(2, ctx="cpu(1)")  # type: ignore[arg-type]


@difference("nd.load of a missing file is a FileNotFoundError")
def _() -> None:
    with pytest.raises(FileNotFoundError):
        nd.load("no such file")


@difference("float(x), int(x), np.array(x), np.mean(x), x.item() and x.tolist() work")
def _() -> None:
    x = nd.array([3])
    assert float(x) == int(x) == np.array(x)[0] == np.mean(x).item() == x.item() == 3
    assert x.tolist() == [3]


@difference("Devices go by device=")
def _() -> None:
    there = mx.cpu(1)
    assert nd.ones((1,)).to_device(there).device == there
    with there:
        assert mx.current_device() == mx.device.current_context() == there
    net = mx.gluon.nn.Dense(1, in_units=1)
    net.initialize(device=there)
    assert net.weight.list_device() == [there]


@difference("Absent: gluon.rnn, mx.np, sparse")
def _() -> None:
    assert "np" not in dir(mx)
    assert not hasattr(mx.gluon, "rnn")
    for name in ("sparse", "ftml_update", "RNN", "SequenceMask", "CTCLoss"):
        with pytest.raises(AttributeError, match=r"MXNet 1\.9\.1 has it"):
            getattr(nd, name)


# Data


@difference("DataLoader has threads that load batches ahead")
def _() -> None:
    def here(_: object) -> int:
        return threading.get_ident()

    samples = gluon.data.SimpleDataset(range(6)).transform(here)
    by_workers = gluon.data.DataLoader(samples, 1, num_workers=2)
    assert threading.get_ident() not in {int(x.asscalar()) for x in by_workers}


@difference("After an error in a worker a DataLoader can be used again")
def _() -> None:
    samples: list[Any] = [1, "no number"]
    loader = gluon.data.DataLoader(samples, 1, num_workers=1)
    with pytest.raises(TypeError, match="batchify_fn"):
        list(loader)
    samples[1] = 2
    assert [x.asscalar() for x in loader] == [1, 2]


@difference("MNIST reads files that are there")
def _() -> None:
    Path("t10k-images-idx3-ubyte").write_bytes(idx.pack(np.ones((1, 28, 28), "u1")))
    with gzip.open("t10k-labels-idx1-ubyte.gz", "wb") as file:
        file.write(idx.pack(np.array([7], "u1")))
    assert gluon.data.vision.MNIST(".", train=False)[0][1] == 7
    with pytest.raises(FileNotFoundError, match="nothing is downloaded"):
        gluon.data.vision.MNIST(".", train=True)


@difference("Absent: the other datasets and pictures of files")
def _() -> None:
    for module in ("gluon.data", "gluon.data.vision", "gluon.data.vision.transforms"):
        for name in ABSENT[module]:
            with pytest.raises(AttributeError, match=r"MXNet 1\.9\.1 has it"):
                attrgetter(f"{module}.{name}")(mx)


# Gradients


def variable(*values: float, grad_req: str = "write") -> Any:
    made = nd.array(values)
    made.attach_grad(grad_req)
    return made


@difference("Writing to a recorded array is refused before it is done")
def _() -> None:
    x = variable(1)
    with autograd.record(), pytest.raises(GradientError):
        x += 1
    assert x.asscalar() == 1


@difference("A head that is named twice counts twice")
def _() -> None:
    x = variable(1)
    with autograd.record():
        y = x * 2
    autograd.backward([y, y])
    assert x.grad.asscalar() == 4


@difference("Gradients follow the mode of the forward pass")
def _() -> None:
    found: list[Any] = []
    for mode in (True, False):
        x = nd.array([[1, 2], [3, 5]])
        x.attach_grad()
        with autograd.record():
            y = nd.BatchNorm(x, nd.ones(2), nd.zeros(2), nd.zeros(2), nd.ones(2))
        y.backward(nd.array([[1, 2], [3, 5]]), train_mode=mode)
        found.append(x.grad.asnumpy())
    np.testing.assert_array_equal(found[0], found[1])


class Doubled(autograd.Function):
    """Twice its input."""

    def forward(self, x: Any) -> Any:
        return x * 2

    def backward(self, head: Any) -> Any:
        if head[0] < 0:
            raise ZeroDivisionError
        return head * 2


@difference("The backward of an autograd.Function runs, and raises, where backward() is called")
def _() -> None:
    x = variable(1)
    with autograd.record():
        y = Doubled()(x)
    with pytest.raises(ZeroDivisionError):
        y.backward(nd.array([-1]))


@difference('What an autograd.Function gives is added for grad_req="add"')
def _() -> None:
    x = variable(1, grad_req="add")
    for _ in range(2):
        with autograd.record():
            y = Doubled()(x)
        y.backward()
    assert x.grad.asscalar() == 4


@difference("autograd.mark_variables checks shapes and numbers")
def _() -> None:
    for given in ([nd.ones(2)], []):
        with pytest.raises(ArgumentError):
            autograd.mark_variables([nd.ones(3)], given)


@difference("autograd.grad(create_graph=True) passes x * 2, a + b, dot, mean and others")
def _() -> None:
    x = variable(1)
    for compute in (nd.mean, nd.gamma):
        with autograd.record():
            y = compute(x * x)
        if compute is nd.gamma:
            with pytest.raises(GradientError, match="gamma cannot"):
                autograd.grad(y, x, create_graph=True)
        else:
            assert autograd.grad(y, x, create_graph=True)[0].asscalar() == 2


@difference("A bias of FullyConnected has a gradient")
def _() -> None:
    x, weight, bias = nd.ones((3, 2)), nd.ones((1, 2)), variable(0)
    with autograd.record():
        y = nd.FullyConnected(x, weight, bias, num_hidden=1)
    y.backward()
    assert bias.grad.tolist() == [3]


# Networks


def go_back(compute: Callable[[], Any]) -> None:
    with autograd.record():
        head = compute()
    head.backward()


def dense(**options: Any) -> Any:
    return gluon.nn.Dense(1, in_units=2, **options)


def hybrid(function: Any) -> Any:
    net = gluon.nn.HybridLambda(function)
    net.hybridize()
    return net


@difference("A hybridized block can be called with arguments nested")
def _() -> None:
    net = hybrid(lambda F, x, *rest: x * len(rest))
    x = nd.ones((1,))
    with pytest.warns(UserWarning, match="not used"):
        assert [net(x, x).tolist(), net(x, [x, x]).tolist(), net(x, x, x).tolist()] == [
            [1],
            [1],
            [2],
        ]


@difference("A block within a hybridized one can get more layers")
def _() -> None:
    inner, net = mx.gluon.nn.HybridSequential(), mx.gluon.nn.HybridSequential()
    inner.add(mx.gluon.nn.HybridLambda(lambda F, x: x + 1))
    net.add(inner)
    net.hybridize()
    net(nd.ones((1,)))
    inner.add(mx.gluon.nn.HybridLambda(lambda F, x: x * 10))
    assert net(nd.ones((1,))).asscalar() == 20


@difference("Results of a hybridized block are nested in tuples")
def _() -> None:
    assert type(hybrid(lambda F, x: (x, x))(nd.ones((1,)))) is tuple


@difference("hybridize() refuses options")
def _() -> None:
    with pytest.raises(ArgumentError, match="no such option"):
        dense().hybridize(static_aloc=True)


@difference("There are no other backends for graphs")
def _() -> None:
    with pytest.raises(ArgumentError, match="no other backends"):
        dense().hybridize(backend="MKLDNN")
    with pytest.raises(ArgumentError, match="no other backends"):
        dense().optimize_for(nd.ones((1, 2)), backend="MKLDNN")


@difference("export returns the names")
@difference("A graph from a file is checked whole")
def _() -> None:
    nodes: list[dict[str, Any]] = [{"op": "null", "name": "x", "inputs": []}]
    with pytest.raises(ArgumentError, match="result 7 of node 'x'"):
        mx.sym.load_json(json.dumps({"nodes": nodes, "heads": [[0, 7, 0]]}))
    nodes.append({"op": "relu", "name": "r", "inputs": []})
    with pytest.raises(ArgumentError, match="takes 1 inputs"):
        mx.sym.load_json(json.dumps({"nodes": nodes, "heads": [[1, 0, 0]]}))


@difference("Shapes are inferred together with types")
def _() -> None:
    x, y = mx.sym.var("x", shape=(2,), dtype="int32"), mx.sym.var("y", dtype="float32")
    with pytest.raises(ShapeError, match="types differ"):
        (x + y).infer_shape()


@difference("Operators of optimisers can stand in a graph")
def _() -> None:
    step = mx.sym.sgd_update(mx.sym.var("w"), mx.sym.var("g"), lr=0.5)
    (weight,) = step.eval(w=nd.ones((2,)), g=nd.ones((2,)))
    assert weight.asnumpy().tolist() == [0.5, 0.5]


@difference("contrib.boolean_mask cannot stand in a graph")
def _() -> None:
    chosen = mx.sym.contrib.boolean_mask(mx.sym.var("x"), mx.sym.var("y"))
    with pytest.raises(ArgumentError, match="value of an array"):
        chosen.eval(x=nd.ones((2, 3)), y=nd.ones((2,)))


@difference('LeakyReLU with act_type="rrelu" has one result')
def _() -> None:
    assert len(mx.sym.LeakyReLU(mx.sym.var("x"), act_type="rrelu")) == 1


@difference("autograd.get_symbol counts nodes from 0")
def _() -> None:
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = x * 2
    names = [autograd.get_symbol(y).name for _ in range(2)]
    assert names == ["node_0", "node_0"]


@difference("Writing a graph has no MXSymbolRemoveAmpCast")
def _() -> None:
    written = (mx.sym.var("x") + 1).tojson()
    assert (mx.sym.var("x") + 1).tojson(remove_amp_cast=False).count("op") == written.count("op")


@difference("Slopes of a prelu have their gradient in a graph")
def _() -> None:
    made = mx.sym.LeakyReLU(mx.sym.var("x") * 1, mx.sym.var("s"), act_type="prelu")
    arrays = {"x": nd.array([[-3.0, 4.0]]), "s": nd.array([0.5, 0.5])}
    grads = {"s": nd.zeros((2,))}
    executor = mx.sym.sum(made).bind(mx.cpu(), arrays, grads)
    executor.forward(is_train=True)
    executor.backward(nd.ones((1,)))
    assert grads["s"].asnumpy().tolist() == [-3, 0]


@difference("What does not fit is a Shape-")
def _() -> None:
    with pytest.raises(ShapeError):
        dense().weight.shape = (3, 4)
    with pytest.raises(ArgumentError):
        gluon.Parameter("weight", grad_req="sometimes")
    with pytest.raises(ParameterError):
        dense().weight.set_data(nd.ones((1, 2)))


@difference("A file of parameters is checked")
def _() -> None:
    net = dense()
    net.initialize("ones")
    with pytest.raises(ParameterError, match="bias"):
        net.collect_params().load_dict(
            {net.weight.name: nd.zeros((1, 2)), net.bias.name: nd.zeros((7,))}
        )
    assert net.weight.data().tolist() == [[1, 1]]


@difference("initialize() that fails")
def _() -> None:
    net = dense(bias_initializer="xavier")
    with pytest.raises(ShapeError, match="bias"):
        net.initialize()
    with pytest.raises(ParameterError, match="has not been initialized"):
        net.weight.data()


@difference("initialize() takes Mixed")
def _() -> None:
    net = dense(bias_initializer=None)
    net.initialize(mx.init.Mixed([".*bias", ".*"], [mx.init.Zero(), mx.init.One()]))
    assert net.weight.data().tolist() == [[1, 1]]
    assert net.bias.data().tolist() == [0]

    def named(name: str, array: Any) -> None:
        array[:] = len(name)

    net.initialize(named, force_reinit=True)
    assert net.bias.data().tolist() == [len(net.bias.name)]


@difference("Names that end in running_mean")
def _() -> None:
    for name, value in (("running_mean", 0), ("moving_var", 1)):
        array = nd.full((1,), 5)
        mx.init.Uniform()(mx.init.InitDesc(f"batchnorm0_{name}"), array)
        assert array.tolist() == [value]


@difference("A Parameter that is an attribute belongs to its block")
def _() -> None:
    net: Any = gluon.nn.Sequential(prefix="net_")
    net.scale = gluon.Parameter(shape=(2,))
    net.shift = gluon.Constant("shift", [1, 2])
    net.initialize()
    assert list(net.collect_params()) == ["net_scale", "net_shift"]
    net.cast("float64")
    assert net.scale.data().dtype == np.float64


@difference("Layers take arguments by name")
def _() -> None:
    loss = gluon.loss.L1Loss()
    weighted = loss(nd.ones((1, 1)), nd.zeros((1, 1)), sample_weight=nd.full((1, 1), 3))
    assert weighted.tolist() == [3]


@difference("Embedding(sparse_grad=True)")
def _() -> None:
    net = gluon.nn.Embedding(3, 1, sparse_grad=True)
    net.initialize()
    go_back(lambda: net(nd.array([2])))
    assert net.weight.grad().stype == "default"
    assert net.weight.grad().tolist() == [[0], [0], [1]]


@difference("ParameterDict.zero_grad runs zeros_like")
def _() -> None:
    net = dense()
    net.initialize()
    go_back(lambda: net(nd.ones((1, 2))))
    names = recorded(net.collect_params().zero_grad).frame().name.astype(str).tolist()
    assert names.count("zeros_like") == 2
    assert net.weight.grad().tolist() == [[0, 0]]


@difference("PoissonNLLLoss(compute_full=True)")
def _() -> None:
    pred = variable(1.0)
    loss = gluon.loss.PoissonNLLLoss(compute_full=True)
    go_back(lambda: loss(pred, nd.array([3])))
    assert pred.grad.asscalar() == pytest.approx(np.e - 3, rel=1e-5)


@difference("Layers over three axes of space")
def _() -> None:
    for name in ("Conv3D", "MaxPool3D", "GlobalAvgPool3D"):
        with pytest.raises(AttributeError, match=r"MXNet 1\.9\.1 has it"):
            getattr(gluon.nn, name)


# Training


@difference("NAG's momentum takes the decay of the weight before the step")
def _() -> None:
    weight, mom = nd.ones(1), nd.zeros(1)
    nd.nag_mom_update(weight, nd.zeros(1), mom, lr=0.5, wd=0.25, out=weight)
    assert mom.asscalar() == -0.5 * 0.25


@difference("AdaDelta leaves the gradient as it is")
def _() -> None:
    update = mx.optimizer.get_updater(mx.optimizer.AdaDelta(rescale_grad=0.5))
    grad = nd.ones(1)
    update(0, grad, nd.ones(1))
    assert grad.asscalar() == 1


@difference("A step with a stale gradient changes nothing")
def _() -> None:
    used, stale = (mx.gluon.Parameter(name, shape=(1,)) for name in "ab")
    for each in (used, stale):
        each.initialize()
    trainer = mx.gluon.Trainer([used, stale], "sgd")
    with autograd.record():
        loss = used.data() * 2
    loss.backward()
    with pytest.raises(UserWarning, match="Gradient of Parameter `b`"):
        trainer.step(1)
    assert used.data()._fresh_grad


@difference("A learning rate beside a schedule, which it replaces, is a warning")
def _() -> None:
    with pytest.warns(UserWarning, match="replaces"):
        mx.optimizer.Adam(lr_scheduler=mx.lr_scheduler.FactorScheduler(2))


@difference("States of optimisers are saved as arrays and JSON")
def _() -> None:
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.5))
    updater(0, nd.ones(1), nd.ones(1))
    assert set(nd.load_frombuffer(updater.get_states())) == {"optimizer", "0"}
    with pytest.raises(EngineError, match="is a pickle, as MXNet writes"):
        updater.set_states(pickle.dumps({}))


@difference("There are no key-value stores")
def _() -> None:
    weight = mx.gluon.Parameter("w", shape=(1,), init="ones")
    weight.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    assert not hasattr(mx, "kvstore")
    with pytest.raises(ArgumentError, match="no key-value stores"):
        mx.gluon.Trainer([weight], "sgd", kvstore="dist_sync")
    trainer = mx.gluon.Trainer([weight], "sgd", {"learning_rate": 0.5})
    with autograd.record():
        losses = [each * 2 for each in weight.list_data()]
    autograd.backward(losses)
    events = recorded(lambda: trainer.step(1)).frame("events")
    assert (events.name == "multi_sgd_update").sum() == 2
    assert (events.name == "add_n").sum() == 1
    assert [each.asscalar() for each in weight.list_data()] == [-1, -1]


@difference("A batch that does not fit leaves a metric as it was")
def _() -> None:
    accuracy, labels = mx.metric.Accuracy(), nd.ones(2)
    with pytest.raises(ShapeError, match="accuracy"):
        accuracy.update([labels, labels], [labels, nd.ones((3, 2))])
    assert accuracy.num_inst == 0


@difference("Figures of metrics are floats of Python")
def _() -> None:
    error = mx.metric.MSE()
    error.update(nd.ones(2), nd.zeros(2))
    assert type(error.get()[1]) is float


@difference("CompositeEvalMetric.get_metric raises")
def _() -> None:
    with pytest.raises(ArgumentError, match="has 1 metrics"):
        mx.metric.create(["acc"]).get_metric(1)  # type: ignore[attr-defined]


@difference('PearsonCorrelation(average="micro") begins anew')
def _() -> None:
    metric, x = mx.metric.PearsonCorrelation(average="micro"), nd.arange(3)
    metric.update(x, -x)
    metric.reset_local()
    metric.update(x, x)
    assert metric.get()[1] == pytest.approx(1)


# Executors


def bound(*grads: Any) -> Any:
    """An executor of a product of one variable."""
    return (mx.sym.var("a") * 2).bind(mx.cpu(), [nd.ones(2)], list(grads) or None)


@difference("bind and simple_bind refuse names and lengths that do not fit the graph")
def _() -> None:
    graph = mx.sym.var("a") * 2
    with pytest.raises(ArgumentError, match="no variable 'b'"):
        graph.bind(mx.cpu(), {"a": nd.ones(2), "b": nd.ones(2)})
    with pytest.raises(ArgumentError, match="grad_req has 2 entries"):
        graph.simple_bind(mx.cpu(), grad_req=["write", "write"], a=(2,))


@difference("Executor.backward wants a forward pass and bound gradients")
def _() -> None:
    with pytest.raises(GradientError, match="call forward"):
        bound(nd.zeros(2)).backward(nd.ones(2))
    executor = bound()
    executor.forward(is_train=True)
    with pytest.raises(GradientError, match="No argument was bound"):
        executor.backward(nd.ones(2))


@difference("A graph runs on one device in memory of its own")
def _() -> None:
    first = (mx.sym.var("a") * 2).simple_bind(mx.cpu(), a=(2,))
    second = (mx.sym.var("a") * 2).simple_bind(
        mx.cpu(), a=(2,), group2ctx={"one": mx.cpu(1)}, shared_exec=first
    )
    assert second.arg_dict["a"].context == mx.cpu()
    assert second.arg_dict["a"].chunk is not first.arg_dict["a"].chunk


@difference("Executor.grad_dict has None for arguments without gradient")
def _() -> None:
    assert bound().grad_dict == {"a": None}


@difference("Executor.set_monitor_callback, debug_str and get_optimized_symbol are absent")
def _() -> None:
    for name in ("set_monitor_callback", "debug_str", "get_optimized_symbol"):
        assert not hasattr(bound(), name)


# What profiles show


@difference("The gradient of add_n or batch_dot is one operator")
def _() -> None:
    x, y = variable(1), variable(2)
    with autograd.record():
        z = nd.add_n(x, y)
    events = recorded(z.backward).frame("events")
    assert (events[events.domain == "bulk"].name == "_copy").sum() == 1


@difference("What a graph or a way back queues has an EnginePush")
def _() -> None:
    x = variable(1)
    with autograd.record():
        y = x * 2
    events = recorded(y.backward).frame("events")
    calls = events[events.category == "api"]
    assert calls.name.tolist() == ["MXAutogradBackwardEx", "EnginePush", "EnginePush"]
    assert set(calls.domain[calls.name == "EnginePush"]) == {"engine"}


@difference("Pooling has one result; in MXNet a hidden second one")
def _() -> None:
    x = nd.ones((1, 1, 2, 2))
    x.attach_grad()
    with autograd.record():
        y = nd.Pooling(x, kernel=(2, 2), pool_type="max")
    events = recorded(y.backward).frame("events")
    assert not (events.name == "_zeros_without_dtype").any()


@difference("MXNET_EXEC_BULK_EXEC_INFERENCE=0 and _TRAIN=0 split hybridized blocks")
def _() -> None:
    net = hybrid(lambda F, x: F.relu(x) * 2)
    x = variable(1)
    net(x)
    with pytest.MonkeyPatch.context() as environment:
        for mode in ("INFERENCE", "TRAIN"):
            environment.setenv(f"MXNET_EXEC_BULK_EXEC_{mode}", "0")
        with autograd.record():
            y = net(x)
        events = recorded(lambda: (net(x), y.backward())).frame("events")
    assert "ImperativeBulk" not in set(events.name)
    assert {"relu", "_backward_relu"} <= set(events.name)


@difference("The members of a bulk or segment lie inside it")
def _() -> None:
    x = variable(1)
    with autograd.record():
        y = x * 2
    events = recorded(y.backward).frame("events")
    bulk = events.index[events.name == "ImperativeBulk"]
    inside = events[events.parent == bulk[0]]
    assert set(inside.name) == {"_backward_mul_scalar"}
    assert (inside.dur_ns > 0).all()


@difference("NaiveEngine records a segment once")
def _() -> None:
    x = nd.ones((2,))
    relu = Step(spec("relu"), (), (), (0,), (1,), "relu0")
    program = Program((relu,), (x.aval, x.aval), ("x",), (1,))

    def twice() -> None:
        with in_segments(15, brackets=True) as send:
            run(program, [x, None], send)

    before = engine.get_type()
    engine.set_type("NaiveEngine")
    try:
        events = recorded(twice).frame("events")
    finally:
        engine.set_type(before)
    assert (events.name == "[relu]").sum() == 1


@difference("Binding queues no SetupExec, and heads' gradients are not copied")
def _() -> None:
    names = recorded(lambda: bound(nd.zeros(2))).frame("events").name
    assert "SetupExec" not in set(names)
    executor = bound(nd.zeros(2))
    executor.forward(is_train=True)
    events = recorded(lambda: executor.backward(nd.ones(2))).frame("events")
    assert "CopyCPU2CPU" not in set(events.name)


@difference("With MXNET_EXEC_BULK_EXEC_TRAIN and _INFERENCE at 0 hybridized nets are split")
def _() -> None:
    x = nd.ones((2, 3))

    def names() -> set[str]:
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(2), gluon.nn.Dense(2))
        net.initialize()
        net.hybridize()
        net(x)

        def step() -> None:
            with autograd.record():
                y = net(x)
            y.backward()
            net(x)

        return set(recorded(step).frame("events").query("domain == 'operator'").name)

    assert "ImperativeBulk" in names()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MXNET_EXEC_BULK_EXEC_TRAIN", "0")
        patch.setenv("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")
        assert {"FullyConnected", "_backward_FullyConnected"} <= names()
        assert "ImperativeBulk" not in names()


@difference("MXNET_EXEC_BULK_EXEC_* are read when they are used")
def _() -> None:
    x = variable(1)

    def bulks() -> int:
        with autograd.record():
            y = x * 2
        events = recorded(y.backward).frame("events")
        return int((events.name == "ImperativeBulk").sum())

    assert bulks() == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MXNET_EXEC_BULK_EXEC_TRAIN", "0")
        assert bulks() == 0


@difference("WaitForVar lasts as long as the host was blocked")
def _() -> None:
    gate, var = threading.Event(), engine.Var()

    def program() -> None:
        engine.push(lambda: gate.wait(60), writes=[var])
        threading.Timer(0.3, gate.set).start()
        var.wait_to_read()

    trace = recorded(program)
    events, tracks = trace.frame(), trace.frame("tracks")
    (wait,) = events[events.name == "WaitForVar"].itertuples()
    assert tracks.role[wait.track] == "host"
    assert wait.dur_ns > 1_000_000


@difference("Dropping an array under 64 kB")
def _() -> None:
    recording = RECORDER.start()
    small, large = nd.ones((2, 2)), nd.ones((200, 200))
    nd.waitall()
    del small
    del large
    recording.stop()
    events = freeze(recording, Meta()).frame()
    for name in ("MXNDArrayFree", "DeleteVariable"):
        lasted = sorted(events.dur_ns[events.name == name])
        assert len(lasted) == 2
        assert lasted[0] == 0 < lasted[1]


@difference("A wait of no length counts as one that did not block")
def _() -> None:
    def program() -> None:
        ready.wait_to_read()
        mx.waitall()

    ready = nd.ones((2,))
    mx.waitall()
    names = recorded(program).frame().name.astype(str).tolist()
    assert names.count("MXNDArrayWaitToRead") == names.count("MXNDArrayWaitAll") == 1
    assert not {"WaitForVar", "WaitForAll"} & set(names)


@difference("Their errors keep message and lines where a value is needed")
def _() -> None:
    def forward(self: Any, **_: Any) -> None:
        raise ValueError("boom")

    define("different", forward)
    with pytest.raises(OperatorError, match=r"ValueError: boom(.|\n)*in forward, line \d+: raise"):
        nd.Custom(nd.ones(2), op_type="different").asnumpy()


@difference("Their inputs cannot be written")
def _() -> None:
    def forward(self: Any, in_data: list[Any], **_: Any) -> None:
        in_data[0][:] = 5

    x = nd.ones(2)
    define("different", forward)
    with pytest.raises(OperatorError, match="cannot write to its inputs"):
        nd.Custom(x, op_type="different").asnumpy()
    assert x.asnumpy().tolist() == [1, 1]


@difference("Waiting for everything inside of one is refused")
def _() -> None:
    define("different", lambda self, **_: nd.waitall())
    with pytest.raises(OperatorError, match="cannot wait for everything"):
        nd.Custom(nd.ones(2), op_type="different").asnumpy()


@difference("A name that another class has is refused")
def _() -> None:
    class Other(mx.operator.CustomOpProp):
        pass

    define("different")
    with pytest.raises(ArgumentError, match="has that name"):
        mx.operator.register("different")(Other)


@difference("A missing forward or backward is an error")
def _() -> None:
    define("different", lambda self, **_: None)
    assert nd.Custom(nd.ones(2), op_type="different").asnumpy().tolist() == [0, 0]
    define("different")
    with pytest.raises(OperatorError, match="no method forward"):
        nd.Custom(nd.ones(2), op_type="different").asnumpy()


@difference("Another array put in place of out_data[0] is an error")
def _() -> None:
    define("replaces", lambda self, out_data, **_: out_data.__setitem__(0, nd.ones((2,))))
    with pytest.raises(OperatorError, match="nobody sees"):
        nd.Custom(nd.ones((2,)), op_type="replaces").asnumpy()


@difference("create_operator gets types of NumPy")
def _() -> None:
    seen = []

    def create(self: Any, ctx: Any, shapes: Any, dtypes: list[Any]) -> mx.operator.CustomOp:
        seen.extend(dtypes)
        return mx.operator.CustomOp()

    define("different", create_operator=create)
    nd.Custom(nd.ones(2, dtype="int32"), op_type="different")
    assert seen == [np.int32]


@difference("nd.Custom takes inputs by name, too")
def _() -> None:
    define(
        "different", lambda self, in_data, out_data, **_: self.assign(*out_data, "add", *in_data)
    )
    assert nd.Custom(data=nd.ones(2), op_type="different").asnumpy().tolist() == [1, 1]


@difference("Fewer operators ask for resources, x + 1 not")
def _() -> None:
    assert not spec("_plus_scalar").workspace
    assert spec("Convolution").workspace


@difference("DeleteVariable lies where the memory was given back")
def _() -> None:
    def program() -> None:
        x = nd.ones((2,))
        x.wait_to_read()
        default_engine().observe()
        del x

    trace = recorded(program)
    events, tracks = trace.frame(), trace.frame("tracks")
    deleted = events[events.name == "DeleteVariable"].track
    assert set(tracks.role[deleted]) <= {"host", "worker"}
    assert len(deleted)


@difference("nd.array asks for shape and type once each")
def _() -> None:
    names = recorded(lambda: nd.array([1, 2])).frame().name.astype(str).tolist()
    assert names.count("MXNDArrayGetShapeEx") == 1
    assert names.count("MXNDArrayGetDType") == 1


@difference("MXNet API Calls and Concurrency count from the start of the profile")
def _() -> None:
    for _ in range(2):
        counters = recorded(lambda: nd.ones((2,)).shape).frame("counters")
        calls = counters[counters.name == "MXNet C API Calls"].value
        assert calls.tolist()[0] == 1


@difference("Times are kept in nanoseconds")
def _() -> None:
    events = recorded(lambda: [nd.ones((2,)) for _ in range(50)]).frame()
    assert (events.start_ns % 1000 != 0).any()


@pytest.fixture(autouse=True)
def profiler_of_its_own(fresh_profiler, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def profiled(program: Callable[[], Any], **options: Any) -> None:
    mx.profiler.set_config(aggregate_stats=True, **options)
    mx.profiler.set_state("run")
    program()
    mx.profiler.set_state("stop")


def written() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(Path("profile.json").read_text())
    return content


@difference("Operators queued before a stop or pause belong to the profile")
def _() -> None:
    gate = threading.Event()
    profiled(lambda: engine.push(lambda: gate.wait(60), name="late"))
    gate.set()
    assert "\nlate " in mx.profiler.dumps()


@difference("A file is valid and whole after every dump")
def _() -> None:
    for finished in (False, True, True):
        profiled(lambda: nd.exp(nd.ones((2,))).wait_to_read())
        mx.profiler.dump(finished)
        assert "exp" in {event["name"] for event in written()["traceEvents"]}


def dumped(program: Callable[[], Any]) -> list[dict[str, Any]]:
    """Return the records of the file of a program, times in whole ns."""
    profiled(program)
    mx.profiler.dump()
    text = Path("profile.json").read_text()
    content = json.loads(text, parse_float=lambda number: int(number.replace(".", "")))
    records: list[dict[str, Any]] = content["traceEvents"]
    return records


@difference("Files tell more: args, names of threads, a key mxprof")
def _() -> None:
    records = dumped(lambda: nd.exp(nd.ones((2,))).wait_to_read())
    (begin,) = [e for e in records if e["name"] == "exp" and e["ph"] == "B"]
    assert begin["args"]["dtype"] == "float32"
    assert {"thread_name", "mxprof"} <= {e["name"] for e in records if e["ph"] == "M"}
    assert "mxprof" in written()


@difference("Numbers of processes and threads in files are small")
def _() -> None:
    records = dumped(lambda: nd.exp(nd.ones((2,))).wait_to_read())
    assert max(max(e["pid"], e.get("tid", 0)) for e in records) < 1000


@difference("Begins and ends of a thread nest in files")
def _() -> None:
    def program() -> None:
        first, second = (mx.profiler.Domain("d").new_task(name) for name in ("first", "second"))
        first.start()
        second.start()
        first.stop()
        second.stop()

    tasks = [e for e in dumped(program) if e.get("cat") == "d" and e["ph"] in "be"]
    assert len({e["tid"] for e in tasks}) == 2
    assert all(e["id"] == e["tid"] for e in tasks)


@difference("Both records of an operator have the same times")
def _() -> None:
    records = dumped(lambda: nd.exp(nd.ones((2,))).wait_to_read())
    times = {e["ph"]: e["ts"] for e in records if e["name"] == "exp"}
    assert times["B"] == times["b"]
    assert times["E"] == times["e"]


@difference("Frames are b/e in files and markers have an id")
def _() -> None:
    def program() -> None:
        with mx.profiler.Domain("d").new_frame("frame"):
            mx.profiler.Domain("d").new_marker("marker").mark()

    records = dumped(program)
    assert [e["ph"] for e in records if e["name"] == "frame"] == ["b", "e"]
    (marker,) = [e for e in records if e["name"] == "marker"]
    assert "id" in marker


@difference("Batches of a DataLoader, and waits for them, have rows, but none in dumps()")
def _() -> None:
    def program() -> None:
        def slow(sample: int) -> int:
            time.sleep(0.01)
            return sample

        samples = gluon.data.SimpleDataset(range(3)).transform(slow)
        list(gluon.data.DataLoader(samples, 1, num_workers=1))

    names = {event["name"] for event in dumped(program)}
    assert {"batch", "WaitForBatch"} <= names
    assert not {"batch", "WaitForBatch"} & {*mx.profiler.dumps().split()}


@difference("WaitForAll and WaitForRoom stand in files under engine")
def _() -> None:
    def program() -> None:
        engine.push(lambda: time.sleep(0.05))
        mx.waitall()

    records = dumped(program)
    process = {e["pid"]: e["args"]["name"] for e in records if e["name"] == "process_name"}
    assert "engine" in {process[e["pid"]] for e in records if e["name"] == "WaitForAll"}


@difference("Counters fall below 0 and have fractions")
def _() -> None:
    def program() -> None:
        counter = mx.profiler.Domain("d").new_counter("c", 1)
        counter -= 2
        counter.set_value(0.5)

    profiled(program)
    mx.profiler.dump()
    samples = [e["args"]["c"] for e in written()["traceEvents"] if e["name"] == "c"]
    assert samples == [1, -1, 0.5]


@difference("A configuration applies whole or not at all")
def _() -> None:
    mx.profiler.set_config(filename="kept.json")
    with pytest.raises(mx.MXNetError):
        mx.profiler.set_config(filename="other.json", dump_period=-1)
    profiled_before = Path("kept.json")
    mx.profiler.set_state("run")
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    assert profiled_before.exists()


@difference("dump() again does nothing")
def _() -> None:
    profiled(lambda: nd.ones((2,)).wait_to_read())
    mx.profiler.dump()
    before = Path("profile.json").read_bytes()
    mx.profiler.dump()
    assert Path("profile.json").read_bytes() == before


@difference("Averages of counters are averages")
def _() -> None:
    def program() -> None:
        counter = mx.profiler.Domain("mine").new_counter("c", 0)
        counter.set_value(10_000)
        counter.set_value(20_000)

    profiled(program)
    rows = json.loads(mx.profiler.dumps(format="json"))["Time"]["mine"]["c"]
    assert rows["Avg"] == pytest.approx((rows["Min"] + 10 + rows["Max"]) / 3, rel=0.01)


@difference("Figures keep every digit")
def _() -> None:
    profiled(lambda: mx.profiler.Domain("d").new_counter("c", 16_777_217_001))
    assert "16777217.0010" in mx.profiler.dumps()
    assert json.loads(mx.profiler.dumps(format="json"))["Time"]["d"]["c"]["Max"] == 16777217.001


@difference("Names are whole and escaped in tables, JSON and files")
def _() -> None:
    name = 'a "quoted" name' + "." * 200

    def program() -> None:
        with mx.profiler.Domain("d").new_task(name):
            pass

    profiled(program)
    assert name in json.loads(mx.profiler.dumps(format="json"))["Time"]["d"]


@difference("Stopping what was not started is an error")
def _() -> None:
    with pytest.raises(mx.MXNetError):
        mx.profiler.Domain("d").new_task("t").stop()


@difference("Domain('') is an error")
def _() -> None:
    with pytest.raises(mx.MXNetError):
        mx.profiler.Domain("")


@difference("MXNET_PROFILER_MODE unset records everything")
def _() -> None:
    mx.profiler.set_config(filename="profile.json")
    mx.profiler.set_state("run")
    nd.exp(nd.ones((2,))).wait_to_read()
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    assert "exp" in {event["name"] for event in written()["traceEvents"]}


@difference("profiler.scope, annotate and set_config(profile_pool=True) exist")
def _() -> None:
    mx.profiler.set_config(aggregate_stats=True, profile_pool=True)
    mx.profiler.set_state("run")
    with mx.profiler.scope("layer"):
        nd.ones((2,)).wait_to_read()
    told = json.loads(mx.profiler.dumps(format="json"))["Memory"]
    assert "Memory: cpu/0 layer:" in told["Device Storage"]
    assert told.keys() == {"Device Storage", "Pool Memory"}
    mx.profiler.annotate()
    mx.profiler.set_config()

"""Blocks: what of the program they are, where errors point, what waits for the first data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, DeferredInitializationError, ShapeError
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.trace import Meta

nd, autograd = mx.nd, mx.autograd
# What is refused here is of wrong types on purpose.
gluon: Any = mx.gluon
nn: Any = mx.gluon.nn


def initialized(net: Any, init: Any = "ones") -> Any:
    net.initialize(init)
    return net


def test_a_shape_that_does_not_fit_names_layer_parameter_and_both_shapes():
    net = initialized(nn.Dense(10, in_units=5, prefix="head_"))
    with pytest.raises(ShapeError) as caught:
        net(nd.ones((2, 7)))
    told = str(caught.value)
    assert told.startswith("head: Dense with head_weight (10, 5), head_bias (10,)")
    assert "does not fit data (2, 7)" in told
    assert "weight must have shape (10, 7)" in told


def test_an_error_within_a_network_names_the_layer():
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Dense(4), nn.Dense(2, in_units=5))
    initialized(net)
    with pytest.raises(ShapeError, match=r"^hybridsequential\d+_dense1: .*does not fit data"):
        net(nd.ones((2, 7)))


def test_an_error_of_an_operator_between_layers_names_the_block_and_its_line():
    class Net(mx.gluon.Block):
        def __init__(self) -> None:
            super().__init__(prefix="mine_")
            self.pool = nn.MaxPool2D(prefix="pool_")

        def forward(self, x: Any, y: Any) -> Any:
            return self.pool(x + y)

    with pytest.raises(
        ShapeError, match=r"^mine: Net does not fit data \(2, 3\), \(4,\)"
    ) as caught:
        Net()(nd.ones((2, 3)), nd.ones((4,)))
    assert caught.value.layer == "mine"
    assert "return self.pool(x + y)" in [str(each.statement).strip() for each in caught.traceback]
    with pytest.raises(ShapeError, match=r"^pool: MaxPool2D does not fit data \(4,\)"):
        Net()(nd.ones((4,)), nd.ones((4,)))


def test_data_that_fit_no_layer_leave_it_waiting():
    net = initialized(nn.Conv2D(2, 3, prefix="c_"))
    for shape in ((2, 3), (1, 3, 2, 2)):  # too few axes; smaller than the window
        with pytest.raises(ShapeError, match=r"^c: Conv2D"):
            net(nd.ones(shape))
        assert net.weight.shape == (2, 0, 3, 3)
        with pytest.raises(DeferredInitializationError):
            net.weight.data()
    assert net(nd.ones((1, 4, 3, 3))).shape == (1, 2, 1, 1)
    assert net.weight.shape == (2, 4, 3, 3)


class Scaled(mx.gluon.HybridBlock):
    """A block whose parameter no layer of `mx.nd` tells the shape of."""

    def __init__(self) -> None:
        super().__init__(prefix="s_")
        self.scale = self.params.get("scale", shape=(0,), allow_deferred_init=True)

    def hybrid_forward(self, F: Any, x: Any, scale: Any = None) -> Any:
        return F.broadcast_mul(x, scale)


def test_a_shape_that_no_layer_tells_is_asked_for():
    net = initialized(Scaled())
    with pytest.raises(ShapeError, match=r"'s_scale'.*does not follow.*Give all of its shape"):
        net(nd.ones((2, 3)))


def test_a_shape_that_is_told_meanwhile_is_taken():
    net = initialized(Scaled())
    net.scale.set_data(nd.array([1, 2, 3]))
    assert net(nd.ones((2, 3))).tolist() == [[1, 2, 3]] * 2
    net = initialized(Scaled())
    net.scale.shape = (3,)
    assert net(nd.ones((2, 3))).tolist() == [[1, 1, 1]] * 2


def test_a_block_may_tell_the_shapes_itself():
    class Telling(Scaled):
        def infer_shape(self, x: Any) -> None:
            self.scale.shape = (x.shape[1],)

    net = initialized(Telling())
    assert net(nd.ones((2, 3))).shape == (2, 3)
    assert net.scale.shape == (3,)


def test_parameters_are_made_while_recording_without_being_recorded():
    net = nn.Dense(2)
    net.initialize()
    with autograd.record():
        y = net(nd.ones((1, 3)))
        assert autograd.is_recording()
    y.backward()
    assert net.weight.grad().tolist() == [[1, 1, 1]] * 2


class Named(mx.gluon.HybridBlock):
    """A block that names its operators as one for symbols does."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        self.seen.append(F)
        return F.relu(F.concat(x, -x, dim=1, name="both"), name="positive")


def test_names_of_operators_are_taken_and_the_namespace_is_nd_without():
    net = Named()
    for _ in range(2):
        assert net(nd.array([[1, -2]])).tolist() == [[1, 0, 0, 2]]
    assert net.seen[0] is nd
    assert nn.HybridLambda(lambda F, x: (F, x))(nd.ones((1,)))[0] is nd


def test_a_wrong_name_of_an_argument_stays_a_type_error():
    net = nn.HybridLambda(lambda F, x: F.relu(x, nam="x"))
    with pytest.raises(TypeError, match="unexpected keyword argument 'nam'"):
        net(nd.ones((1,)))


def test_a_block_of_the_program_that_takes_no_name_says_so():
    def twice(x: Any) -> Any:
        return x * 2

    calls: Any = twice
    net = nn.HybridLambda(lambda F, x: calls(x, name="x"))
    with pytest.raises(TypeError, match="unexpected keyword argument 'name'"):
        net(nd.ones((1,)))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (5, "5"),
        (np.zeros((2, 3)), r"a NumPy array \(2, 3\)"),
        ([[1.0, 2.0]] * 5, r"\[\[1\.0, 2\.0\], .*, \.\.\.\]"),
    ],
)
def test_what_is_called_without_an_array_is_told_what_it_got(given, told):
    with pytest.raises(ArgumentError, match=f"there is none in {told}\\. Make one"):
        nn.Dense(2)(given)


def test_an_array_within_a_list_tells_the_device():
    class Total(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.add_n(*x) + F.ones((2,))

    made = Total()([nd.ones((2,), ctx=mx.cpu(1)), nd.ones((2,), ctx=mx.cpu(1))])
    assert made.context == mx.cpu(1)
    assert made.tolist() == [3, 3]


def test_blocks_in_a_list_are_missed_with_a_warning():
    class Net(mx.gluon.Block):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [nn.Dense(2)]
            self.by_name = {"head": (nn.Dense(3),)}

    with pytest.warns(UserWarning, match="no children of it") as caught:
        assert list(Net().collect_params()) == []
    told = [str(each.message) for each in caught]
    assert len(told) == 2
    assert told[0].startswith("Net.layers holds blocks that are no children")


def test_blocks_in_a_list_that_are_children_too_are_found():
    class Net(mx.gluon.Block):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [nn.Dense(2)]
            for each in self.layers:
                self.register_child(each)

    assert len(Net().collect_params()) == 2


def test_an_attribute_keeps_its_kind():
    net = nn.Dense(2, activation="relu")
    with pytest.raises(TypeError, match=r"Dense\.act is a Activation and cannot become a int"):
        net.act = 5
    net.act = nn.Activation("tanh")
    with pytest.raises(ArgumentError, match=r"Dense\.weight is a parameter already"):
        net.weight = gluon.Parameter("w")


def test_hybrid_blocks_take_only_hybrid_ones():
    with pytest.raises(ArgumentError, match="HybridSequential is a HybridBlock"):
        nn.HybridSequential().add(nn.Sequential())
    nn.Sequential().add(nn.Dense(2), nn.Lambda("relu"))


def test_what_is_no_block_is_refused_where_it_is_added():
    with pytest.raises(ArgumentError, match=r"Sequential: function .* is no block.*nn\.Lambda"):
        nn.Sequential().add(lambda x: x)


def test_a_forgotten_call_of_the_parent_is_told():
    class Net(mx.gluon.Block):
        def __init__(self) -> None:
            self.layer = nn.Dense(2)

    with pytest.raises(ArgumentError, match=r"Net\.layer is set before super\(\).__init__\(\)"):
        Net()


def test_one_hook_twice_is_called_twice_and_each_is_taken_away_alone():
    net, seen = nn.Activation("relu"), []

    def hook(block: Any, args: Any, made: Any) -> None:
        seen.append(block)

    first, second = net.register_forward_hook(hook), net.register_forward_hook(hook)
    net(nd.ones((1,)))
    first.detach()
    first.detach()
    net(nd.ones((1,)))
    second.detach()
    net(nd.ones((1,)))
    assert seen == [net, net, net]


def test_a_hook_may_take_itself_away():
    net, seen = nn.Activation("relu"), []

    def hook(block: Any, args: Any) -> None:
        seen.append(1)
        handle.detach()

    handle = net.register_forward_pre_hook(hook)
    net(nd.ones((1,)))
    net(nd.ones((1,)))
    assert seen == [1]


def test_a_failing_summary_leaves_no_hooks(capsys):
    net = initialized(nn.Dense(2, in_units=3))
    with pytest.raises(ShapeError):
        net.summary(nd.ones((1, 4)))
    assert not net._forward_hooks
    net.hybridize()
    with pytest.raises(ArgumentError, match=r"is hybridized.*hybridize\(False\)"):
        net.summary(nd.ones((1, 3)))
    assert capsys.readouterr().out == ""


def test_summary_on_several_devices_counts_each_parameter_once(capsys):
    net = nn.Dense(2, in_units=3)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    net.summary(nd.ones((1, 3), ctx=mx.cpu(1)))
    assert "   Total params: 8\n" in capsys.readouterr().out


def test_a_sequence_of_hybrid_blocks_advises_the_hybrid_sequence():
    net = nn.Sequential()
    net.hybridize()
    net.add(nn.Dense(2))
    with pytest.warns(UserWarning, match="HybridSequential"):
        net.hybridize()


def test_a_sequence_is_read_as_a_list():
    net = nn.HybridSequential()
    net.add(nn.Dense(2), nn.Flatten(), nn.Dense(3))
    assert len(net) == 3
    assert [type(each).__name__ for each in net] == ["Dense", "Flatten", "Dense"]
    assert net[-1] is list(net)[2]
    assert len(net[:2]) == 2
    with pytest.raises(IndexError):
        net[3]


def test_settings_reach_all_parameters():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=3), nn.Dense(2, in_units=2))
    initialized(net)
    net.setattr("grad_req", "add")
    net.collect_params(".*weight").setattr("lr_mult", 0)
    assert {each.grad_req for each in net.collect_params().values()} == {"add"}
    assert [each.lr_mult for each in net.collect_params().values()] == [0, 1, 0, 1]
    for _ in range(2):
        with autograd.record():
            y = net(nd.ones((1, 3)))
        y.backward()
    assert net[1].bias.grad().tolist() == [2, 2]
    net.zero_grad()
    assert net[1].bias.grad().tolist() == [0, 0]


def test_batch_norm_moves_its_averages_while_training_only():
    net = initialized(nn.BatchNorm(in_channels=1, momentum=0.5), mx.init.Uniform())
    x = nd.array([[1], [3]])
    net(x)
    assert net.running_mean.data().asscalar() == 0
    with autograd.record():
        y = net(x)
    y.backward()
    assert net.running_mean.data().asscalar() == pytest.approx(1.0)
    with pytest.raises(mx.MXNetError, match="grad_req is 'null'"):
        net.running_mean.grad()


def test_batch_norm_keeps_its_parameters_single():
    net = initialized(nn.BatchNorm(in_channels=2))
    net.cast("float16")
    assert net.gamma.data().dtype == np.float32
    net.cast("float64")
    assert net.gamma.data().dtype == np.float64


def test_dropout_drops_while_training_only():
    net, x = nn.Dropout(0.5), nd.ones((1000,))
    assert net(x).asnumpy().all()
    with autograd.record():
        y = net(x).asnumpy()
    assert 300 < (y == 0).sum() < 700
    assert set(y) == {0, 2}


def test_layers_that_there_are_not_say_so():
    with pytest.raises(AttributeError, match=r"mx\.gluon\.nn\.Conv3D: MXNet 1\.9\.1 has it"):
        _ = nn.Conv3D
    with pytest.raises(AttributeError, match="Did you mean 'Dense'"):
        _ = nn.Dens
    with pytest.raises(AttributeError, match=r"mx\.gluon\.loss\.CTCLoss"):
        _ = gluon.loss.CTCLoss
    with pytest.raises(AttributeError, match=r"mx\.gluon\.rnn: MXNet"):
        _ = gluon.rnn


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: nn.Conv2D(2, (3, 3, 3)), r"kernel_size=\(3, 3, 3\) must be a number, or 2"),
        (lambda: nn.Conv2D(2, 3, layout="NHWC"), "only 'NCHW' is known"),
        (lambda: nn.MaxPool1D(layout="NWC"), "only 'NCW' is known"),
        (lambda: nn.LeakyReLU(-1), "alpha=-1 must be a number, 0 or more"),
        (lambda: nn.Lambda("no_such"), "no function 'no_such'"),
        (lambda: nn.HybridLambda(5), "not int"),
        (lambda: nn.ReflectionPad2D((1, 2)), "must be one number, or 8"),
        (lambda: gluon.loss.LogisticLoss(label_format="x"), "neither 'signed' nor 'binary'"),
        (lambda: gluon.loss.L2Loss(weight="x"), "weight='x' must be a number"),
        (lambda: gluon.utils.split_data(nd.ones((5,)), 0), "must be 1 or more"),
        (lambda: gluon.utils.split_data(nd.ones((5,)), 2), "no multiple of 2"),
        (lambda: gluon.utils.split_and_load(nd.ones((5,)), []), "names no device"),
        (lambda: gluon.utils.clip_global_norm([], 1), "no arrays"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(make, told):
    with pytest.raises(ArgumentError, match=told):
        make()


def test_a_norm_that_is_no_number_is_warned_of():
    array = nd.array([float("nan")])
    with pytest.warns(UserWarning, match="holds NaN"):
        gluon.utils.clip_global_norm([array], 1)
    assert isinstance(gluon.utils.clip_global_norm([nd.ones((2,))], 1, False), nd.NDArray)


def test_a_program_of_mxnets_next_generation_runs():
    model = nn.HybridSequential(prefix="net_")
    with model.name_scope():
        model.add(nn.Dense(128, activation="tanh"), nn.Dropout(0.5))
        model.add(nn.Dense(64, activation="tanh"), nn.Dense(32, in_units=64))
        model.add(nn.Activation("relu"))
    model.initialize(device=mx.cpu())
    model.hybridize()
    with autograd.record():
        out = model(nd.zeros((16, 10), device=mx.cpu()))
    out.backward()
    assert out.device == mx.cpu()
    assert list(model.collect_params())[:2] == ["net_dense0_weight", "net_dense0_bias"]


def sites_of(program: Any) -> dict[Any, Any]:
    """Return for each operator the line of the program that called it."""
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    trace = freeze(recording, Meta())
    events, sites = trace.frame("events"), trace.frame("sites")
    rows = events[(events.domain == "operator") & events.site.notna()]
    return dict(zip(rows.name, sites.text[rows.site], strict=True))


def test_operators_of_layers_are_blamed_on_the_line_that_called_the_network():
    net = nn.HybridSequential()
    net.add(nn.Dense(2, activation="relu"), nn.Dropout(0.0), nn.Dense(1))
    net.initialize()
    x = nd.ones((2, 3))
    net(x)

    def program() -> None:
        net(x)  # here

    sites = sites_of(program)
    assert {"FullyConnected", "Activation", "_copy"} <= sites.keys()
    assert set(sites.values()) == {"net(x)  # here"}


def test_operators_of_the_programs_own_block_are_blamed_on_its_lines():
    class Own(mx.gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:
            return F.tanh(x)  # in the block

    net, x = Own(), nd.ones((2,))
    assert sites_of(lambda: net(x))["tanh"] == "return F.tanh(x)  # in the block"

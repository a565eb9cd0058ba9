"""Parameters of networks: values on devices, shapes that wait, errors, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import (
    ArgumentError,
    DeferredInitializationError,
    EngineError,
    ParameterError,
    ParameterFileError,
    ShapeError,
)

nd, autograd = mx.nd, mx.autograd
# What is refused here is of wrong types on purpose.
gluon: Any = mx.gluon
nn, Parameter, ParameterDict = gluon.nn, gluon.Parameter, gluon.ParameterDict


def ready(**options: Any) -> Any:
    """A layer with weights of 1 and a bias of 0."""
    net = nn.Dense(2, in_units=3, **options)
    net.initialize(mx.init.One())
    return net


def values(net: Any) -> list[Any]:
    return [each.data().tolist() for each in net.collect_params().values()]


def test_a_parameter_that_was_not_initialized_says_how_to_do_it():
    with pytest.raises(ParameterError, match=r"'w' has not been initialized.*net\.initialize\(\)"):
        Parameter("w", shape=(2,)).data()


def test_a_parameter_that_waits_for_its_shape_says_what_is_known():
    net = nn.Dense(2, prefix="first_")
    net.initialize()
    for ask in (net.weight.data, net.weight.list_data, net.weight.grad, net.weight.list_grad):
        with pytest.raises(DeferredInitializationError, match=r"first_weight.*\(2, 0\)"):
            ask()
    assert net.weight.list_ctx() == [mx.cpu()]
    assert isinstance(DeferredInitializationError("x"), mx.MXNetError)


def test_the_value_set_while_the_shape_waits_is_the_first_one():
    weight = Parameter("w", shape=(0, 2), allow_deferred_init=True)
    weight.initialize()
    weight.set_data(nd.array([[1, 2]]))
    assert weight.shape == (1, 2)
    weight._finish_deferred_init()
    assert weight.data().tolist() == [[1, 2]]


def test_a_device_that_has_no_value_is_named_with_those_that_have():
    net = ready()
    with pytest.raises(ParameterError, match=r"_weight.*on cpu\(3\), only on cpu\(0\)"):
        net(nd.ones((1, 3), ctx=mx.cpu(3)))


def test_of_several_devices_the_current_one_counts():
    weight = Parameter("w", shape=(1,))
    weight.initialize("ones", ctx=[mx.cpu(0), mx.cpu(1)])
    assert weight.data().context == mx.cpu(0)
    with mx.cpu(1):
        assert weight.data().context == weight.grad().context == mx.cpu(1)
    with mx.cpu(2), pytest.raises(ParameterError, match="not initialized on cpu"):
        weight.data()


@pytest.mark.parametrize("argument", ["ctx", "device"])
def test_devices_go_by_either_name(argument):
    there = mx.cpu(1)
    net = nn.Dense(1, in_units=1)
    net.initialize(**{argument: there})
    assert net.weight.data(**{argument: there}).context == there
    assert net.weight.grad(**{argument: there}).context == there
    net.reset_ctx(**{argument: [mx.cpu(2)]})
    assert net.weight.list_ctx() == net.weight.list_device() == [mx.cpu(2)]


@pytest.mark.parametrize("given", ["cpu(0)", 0, ["cpu(0)"], [None]])
def test_what_is_no_device_is_refused(given):
    with pytest.raises(TypeError, match=r"is no Context.*mx\.cpu\(0\)"):
        nn.Dense(1, in_units=1).initialize(ctx=given)


def test_no_device_and_one_twice_are_refused():
    for given in ([], [mx.cpu(0), mx.cpu(0)]):
        with pytest.raises(ArgumentError, match="at least one device, and each one once"):
            nn.Dense(1, in_units=1).initialize(ctx=given)


def test_gpu_says_why_there_is_none():
    assert mx.num_gpus() == mx.context.num_gpus() == 0
    with pytest.raises(EngineError, match=r"computes with NumPy.*num_gpus\(\), which is 0"):
        nn.Dense(1).initialize(ctx=mx.gpu())


def test_initializing_again_does_nothing_and_says_so():
    net = ready()
    with pytest.warns(UserWarning, match="is initialized already.*force_reinit"):
        net.weight.initialize("zeros")
    assert net.weight.data().asnumpy().all()
    net.weight.initialize("zeros", force_reinit=True)
    assert not net.weight.data().asnumpy().any()


def test_a_failing_initializer_leaves_the_value_before():
    net = ready()
    with pytest.raises(ShapeError, match="needs two axes"):
        net.bias.initialize("xavier", force_reinit=True)
    assert net.bias.data().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"shape": (2, -3)}, "negative extent"),
        ({"grad_req": "ad"}, "is not one of 'write', 'add', 'null'"),
        ({"stype": "csr"}, "no sparse ones"),
        ({"grad_stype": "row_sparse"}, "no sparse ones"),
    ],
)
def test_options_that_cannot_be_are_refused(options, told):
    with pytest.raises(ArgumentError, match=f"'w'.*{told}"):
        Parameter("w", **options)


def test_a_type_that_arrays_cannot_have_is_refused():
    with pytest.raises(TypeError, match="must be one of float16"):
        Parameter("w", dtype="complex64")


def test_unknown_extents_are_0_or_as_in_the_next_generation_minus_1():
    assert Parameter("w", shape=(2, -1)).shape == Parameter("w", shape=(2, 0)).shape == (2, 0)
    assert Parameter("w", shape=5).shape == (5,)
    assert Parameter("w").shape is None


def test_a_shape_that_does_not_fit_names_both():
    with pytest.raises(ShapeError, match=r"'w' has shape \(2, 0\).*does not fit shape \(3, 4\)"):
        Parameter("w", shape=(2, 0)).shape = (3, 4)
    with pytest.raises(ShapeError, match=r"\(2, 3\).*\(3,\)"):
        ready().weight.set_data(nd.ones((3,)))


def test_values_that_are_set_are_copied_to_all_devices():
    weight = Parameter("w", shape=(2,))
    weight.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    weight.set_data(nd.array([3, 4]))
    assert [each.tolist() for each in weight.list_data()] == [[3, 4], [3, 4]]


def test_without_a_gradient_none_is_asked_for():
    weight = Parameter("w", shape=(2,), grad_req="null")
    weight.initialize()
    for ask in (weight.grad, weight.list_grad):
        with pytest.raises(ParameterError, match="grad_req is 'null'"):
            ask()
    weight.grad_req = "write"
    assert weight.grad().tolist() == [0, 0]


def test_a_parameter_that_cannot_be_differentiated_stays_so():
    weight = Parameter("w", shape=(2,), differentiable=False)
    weight.grad_req = "add"
    assert weight.grad_req == "null"


def test_a_constant_has_its_value_and_no_gradient():
    constant = gluon.Constant("c", [[1, 2], [3, 4]])
    constant.initialize()
    assert constant.data().tolist() == [[1, 2], [3, 4]]
    assert repr(constant) == "Constant c (shape=(2, 2), dtype=<class 'numpy.float32'>)"
    with pytest.warns(UserWarning, match="Constant 'c' has no gradient"):
        constant.grad_req = "write"
    assert constant.grad_req == "null"


def test_casting_keeps_value_gradient_and_learning():
    net = ready()
    net.cast("float64")
    assert net.weight.data().dtype == net.weight.grad().dtype == np.float64
    net.weight.dtype = "float32"
    net.bias.dtype = "float32"
    with autograd.record():
        y = net(nd.ones((1, 3)))
    y.backward()
    assert net.weight.grad().tolist() == [[1, 1, 1]] * 2


def test_a_dictionary_makes_a_parameter_once():
    params = ParameterDict("net_")
    made = params.get("w", shape=(2, 0))
    assert params.get("w", shape=(0, 3)) is made
    assert made.shape == (2, 3)
    assert params.get("w", dtype="float32", lr_mult=1.0) is made
    assert (list(params), len(params), "net_w" in params) == (["net_w"], 1, True)
    with pytest.raises(ArgumentError, match=r"'net_w' exists with shape=\(2, 3\).*\(2, 4\)"):
        params.get("w", shape=(2, 4))
    with pytest.raises(ArgumentError, match=r"lr_mult=1\.0.*lr_mult=2"):
        params.get("w", init="ones", lr_mult=2)
    assert made.init is None, "nothing is half agreed"
    params.get("w", init="ones")
    assert made.init == "ones"


def test_a_dictionary_finds_what_is_shared():
    theirs = ParameterDict("a_")
    made = theirs.get("w", shape=(1,))
    assert ParameterDict("a_", shared=theirs).get("w") is made


def test_constants_are_had_by_name():
    params = ParameterDict("net_")
    with pytest.raises(KeyError, match="no constant 'net_c'"):
        params.get_constant("c")
    made = params.get_constant("c", [1, 2])
    assert params.get_constant("c") is params.get_constant("c", nd.array([1, 2])) is made
    params.get("w")
    with pytest.raises(ArgumentError, match="'net_w' is no constant"):
        params.get_constant("w")


def test_two_parameters_of_one_name_are_refused_whole():
    params, others = ParameterDict(), ParameterDict()
    params.get("w")
    others.get("a")
    others.get("w")
    with pytest.raises(ArgumentError, match="two parameters 'w'"):
        params.update(others)
    assert list(params) == ["w"]


# Files


def saved(folder: Path, **arrays: Any) -> str:
    name = str(folder / "net.params")
    nd.save(name, {key.replace("_", "."): value for key, value in arrays.items()})
    return name


def one_layer() -> Any:
    net = nn.HybridSequential()
    net.add(ready())
    return net


ONES, TWO = nd.full((2, 3), 5), nd.full((2,), 5)

MISFITS = {
    "missing": ({"0_weight": ONES}, r"'0\.bias' is missing.*which holds '0\.weight'"),
    "misspelt": ({"0_weight": ONES, "0_bia": TWO}, r"missing.*Did you mean '0\.bia'"),
    "too many": (
        {"0_weight": ONES, "0_bias": TWO, "1_bias": TWO},
        r"holds '1\.bias', and no parameter has that name",
    ),
    "shape": ({"0_weight": ONES, "0_bias": ONES}, r"_bias' has shape \(2,\).*is \(2, 3\)"),
    "type": (
        {"0_weight": ONES, "0_bias": TWO.astype("float64")},
        "type float32.*type is float64.*cast_dtype",
    ),
}


@pytest.mark.parametrize("told", MISFITS)
def test_a_file_that_does_not_fit_changes_nothing(told, tmp_path):
    arrays, message = MISFITS[told]
    net = one_layer()
    before = values(net)
    file = saved(tmp_path, **arrays)
    with pytest.raises(ParameterFileError, match=message) as caught:
        net.load_parameters(file)
    assert "net.params" in str(caught.value)
    assert values(net) == before


def test_a_file_for_another_device_changes_nothing(tmp_path):
    net = one_layer()
    file = saved(tmp_path, **{"0_weight": ONES, "0_bias": TWO})
    with pytest.raises(ParameterFileError, match=r"is on cpu\(0\).*on cpu\(1\).*reset_ctx"):
        net.load_parameters(file, device=mx.cpu(1))
    assert values(net)[1] == [0, 0]


def test_a_file_without_names_is_refused(tmp_path):
    name = str(tmp_path / "list.params")
    nd.save(name, [ONES])
    with pytest.raises(ParameterFileError, match="1 arrays without names"):
        one_layer().load_parameters(name)


def test_a_file_that_is_cut_short_changes_nothing(tmp_path):
    net = one_layer()
    file = Path(saved(tmp_path, **{"0_weight": ONES, "0_bias": TWO}))
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(EngineError, match=r"net\.params: it is cut short"):
        net.load_parameters(file)
    assert values(net)[1] == [0, 0]


def test_a_long_list_of_names_is_told_in_short(tmp_path):
    file = saved(tmp_path, **{f"{number}_weight": ONES for number in range(9)})
    with pytest.raises(ParameterFileError, match="and 3 more"):
        one_layer().load_parameters(file)


def test_a_loaded_network_learns(tmp_path):
    file = str(tmp_path / "net.params")
    one_layer().save_parameters(file)
    net = nn.HybridSequential()
    net.add(nn.Dense(2))
    net.load_parameters(file)
    with autograd.record():
        y = net(nd.ones((1, 3)))
    y.backward()
    assert y.tolist() == [[3, 3]]
    assert net[0].weight.grad().tolist() == [[1, 1, 1]] * 2


def test_a_shared_parameter_is_written_once_or_under_each_of_its_names(tmp_path):
    net = nn.HybridSequential()
    net.add(ready())
    net.add(nn.Dense(2, in_units=3, params=net[0].params))
    whole, once = str(tmp_path / "whole"), str(tmp_path / "once")
    net.save_parameters(whole)
    net.save_parameters(once, deduplicate=True)
    assert list(nd.load(whole)) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert list(nd.load(once)) == ["1.weight", "1.bias"]
    net.load_parameters(once)


def test_saving_what_has_no_value_writes_no_file(tmp_path):
    file = tmp_path / "net.params"
    with pytest.raises(ParameterError, match="has not been initialized"):
        nn.Dense(2, in_units=3).save_parameters(file)
    assert not file.exists()


def test_a_prefix_that_names_lack_cannot_be_stripped(tmp_path):
    with pytest.raises(ArgumentError, match="does not begin with 'other_'"):
        ready().collect_params().save(tmp_path / "x", strip_prefix="other_")
    with pytest.raises(ParameterError, match="restore_prefix is 'other_'"):
        ready().collect_params().load_dict({}, restore_prefix="other_")


def test_an_unknown_source_of_types_is_refused():
    with pytest.raises(ArgumentError, match="neither 'current' nor 'saved'"):
        ready().collect_params().load_dict({}, dtype_source="file")


def test_the_old_names_still_work_and_say_so(tmp_path):
    net, file = ready(), str(tmp_path / "old.params")
    with pytest.warns(DeprecationWarning, match="use save_parameters"):
        net.save_params(file)
    net.initialize("zeros", force_reinit=True)
    with pytest.warns(DeprecationWarning, match="use load_parameters"):
        net.load_params(file)
    assert net.weight.data().asnumpy().all()


def test_a_name_that_no_parameter_has_is_told_with_the_closest_one():
    params = nn.Dense(2, prefix="last_").collect_params()
    with pytest.raises(KeyError, match=r"no parameter 'last_wieght'\. Did you mean 'last_weight'"):
        params["last_wieght"]
    assert "last_wieght" not in params

"""Each layer: how it is shown, what it makes of its data's shape, what parameters it has then.

Values and gradients are compared with MXNet's in tests/reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError

nd = mx.nd
nn: Any = mx.gluon.nn

#: How it is made and shown; shapes of data, result, and parameters.
LAYERS: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...], dict[str, tuple[int, ...]]]] = {
    "Dense(None -> 4, Activation(relu))": (
        lambda: nn.Dense(4, "relu"),
        (3, 2, 5),
        (3, 4),
        {"weight": (4, 10), "bias": (4,)},
    ),
    "Dense(5 -> 4, linear)": (
        lambda: nn.Dense(4, use_bias=False, flatten=False, in_units=5),
        (3, 2, 5),
        (3, 2, 4),
        {"weight": (4, 5)},
    ),
    "Dropout(p = 0.5, axes=(1,))": (lambda: nn.Dropout(0.5, (1,)), (2, 3), (2, 3), {}),
    "Embedding(7 -> 4, float32)": (
        lambda: nn.Embedding(7, 4),
        (2, 3),
        (2, 3, 4),
        {"weight": (7, 4)},
    ),
    "Flatten": (nn.Flatten, (2, 3, 4), (2, 12), {}),
    "Lambda(tanh)": (lambda: nn.Lambda("tanh"), (2,), (2,), {}),
    "HybridLambda(exp)": (lambda: nn.HybridLambda("exp"), (2,), (2,), {}),
    "HybridLambda(<lambda>)": (
        lambda: nn.HybridLambda(lambda F, x: F.sum(x, axis=1)),
        (2, 3),
        (2,),
        {},
    ),
    "Conv1D(None -> 4, kernel_size=(3,), stride=(2,), padding=(1,))": (
        lambda: nn.Conv1D(4, 3, 2, 1),
        (2, 3, 8),
        (2, 4, 4),
        {"weight": (4, 3, 3), "bias": (4,)},
    ),
    "Conv2D(2 -> 4, kernel_size=(3, 3), stride=(1, 1), dilation=(2, 2), groups=2, bias=False, "
    "Activation(tanh))": (
        lambda: nn.Conv2D(
            4,
            np.int64(3),
            dilation=2,
            groups=2,
            use_bias=False,
            in_channels=4,
            activation="tanh",
        ),
        (2, 4, 6, 7),
        (2, 4, 2, 3),
        {"weight": (4, 2, 3, 3)},
    ),
    "Conv1DTranspose(4 -> 0, kernel_size=(2,), stride=(2,))": (
        lambda: nn.Conv1DTranspose(4, 2, 2),
        (2, 3, 5),
        (2, 4, 10),
        {"weight": (3, 4, 2), "bias": (4,)},
    ),
    "Conv2DTranspose(4 -> 0, kernel_size=(2, 2), stride=(2, 2))": (
        lambda: nn.Conv2DTranspose(4, 2, 2, output_padding=1),
        (2, 3, 4, 5),
        (2, 4, 9, 11),
        {"weight": (3, 4, 2, 2), "bias": (4,)},
    ),
    "MaxPool1D(size=(2,), stride=(2,), padding=(0,), ceil_mode=False, global_pool=False, "
    "pool_type=max, layout=NCW)": (nn.MaxPool1D, (2, 3, 8), (2, 3, 4), {}),
    "MaxPool2D(size=(3, 3), stride=(2, 2), padding=(0, 0), ceil_mode=True, global_pool=False, "
    "pool_type=max, layout=NCHW)": (
        lambda: nn.MaxPool2D(3, 2, ceil_mode=True),
        (2, 3, 6, 6),
        (2, 3, 3, 3),
        {},
    ),
    "AvgPool1D(size=(2,), stride=(1,), padding=(1,), ceil_mode=False, global_pool=False, "
    "pool_type=avg, layout=NCW)": (lambda: nn.AvgPool1D(2, 1, 1), (2, 3, 8), (2, 3, 9), {}),
    "AvgPool2D(size=(2, 2), stride=(2, 2), padding=(0, 0), ceil_mode=False, global_pool=False, "
    "pool_type=avg, layout=NCHW)": (nn.AvgPool2D, (2, 3, 6, 7), (2, 3, 3, 3), {}),
    "GlobalMaxPool1D(size=(1,), stride=(1,), padding=(0,), ceil_mode=True, global_pool=True, "
    "pool_type=max, layout=NCW)": (nn.GlobalMaxPool1D, (2, 3, 8), (2, 3, 1), {}),
    "GlobalMaxPool2D(size=(1, 1), stride=(1, 1), padding=(0, 0), ceil_mode=True, "
    "global_pool=True, pool_type=max, layout=NCHW)": (
        nn.GlobalMaxPool2D,
        (2, 3, 6, 7),
        (2, 3, 1, 1),
        {},
    ),
    "GlobalAvgPool1D(size=(1,), stride=(1,), padding=(0,), ceil_mode=True, global_pool=True, "
    "pool_type=avg, layout=NCW)": (nn.GlobalAvgPool1D, (2, 3, 8), (2, 3, 1), {}),
    "GlobalAvgPool2D(size=(1, 1), stride=(1, 1), padding=(0, 0), ceil_mode=True, "
    "global_pool=True, pool_type=avg, layout=NCHW)": (
        nn.GlobalAvgPool2D,
        (2, 3, 6, 7),
        (2, 3, 1, 1),
        {},
    ),
    "BatchNorm(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, "
    "in_channels=None)": (
        nn.BatchNorm,
        (2, 3, 4),
        (2, 3, 4),
        dict.fromkeys(("gamma", "beta", "running_mean", "running_var"), (3,)),
    ),
    "LayerNorm(eps=1e-05, axis=-1, center=True, scale=True, in_channels=0)": (
        nn.LayerNorm,
        (2, 3, 4),
        (2, 3, 4),
        {"gamma": (4,), "beta": (4,)},
    ),
    "InstanceNorm(eps=1e-05, axis=2, center=True, scale=False, in_channels=0)": (
        lambda: nn.InstanceNorm(2),
        (2, 3, 4),
        (2, 3, 4),
        {"gamma": (4,), "beta": (4,)},
    ),
    "GroupNorm(eps=1e-05, num_groups=2, center=True, scale=True)": (
        lambda: nn.GroupNorm(2),
        (2, 4, 5),
        (2, 4, 5),
        {"gamma": (2,), "beta": (2,)},
    ),
    "Activation(softsign)": (lambda: nn.Activation("softsign"), (2,), (2,), {}),
    "LeakyReLU(0.1)": (lambda: nn.LeakyReLU(0.1), (2,), (2,), {}),
    "PReLU(\n\n)": (nn.PReLU, (2, 3), (2, 3), {"alpha": (1,)}),
    "ELU(\n\n)": (nn.ELU, (2,), (2,), {}),
    "SELU(\n\n)": (nn.SELU, (2,), (2,), {}),
    "GELU(\n\n)": (nn.GELU, (2,), (2,), {}),
    "Swish(\n\n)": (nn.Swish, (2,), (2,), {}),
    "ReflectionPad2D(\n\n)": (lambda: nn.ReflectionPad2D(1), (2, 3, 4, 5), (2, 3, 6, 7), {}),
}


@pytest.mark.parametrize("told", LAYERS)
def test_a_layer_is_shown_and_learns_its_shapes_from_the_first_data(told):
    make, shape, result, params = LAYERS[told]
    net: Any = make()
    assert repr(net) == told
    net.initialize()
    made = net(nd.ones(shape))
    assert made.shape == result
    assert np.isfinite(made.asnumpy()).all()
    found = {name[len(net.prefix) :]: each.shape for name, each in net.collect_params().items()}
    assert found == params


def test_a_network_is_shown_as_a_tree():
    net = nn.HybridSequential()
    inner = nn.Sequential()
    inner.add(nn.Dense(2), nn.Flatten())
    outer = nn.Sequential()
    net.add(nn.Dense(1))
    outer.add(net, inner)
    assert repr(outer) == (
        "Sequential(\n"
        "  (0): HybridSequential(\n"
        "    (0): Dense(None -> 1, linear)\n"
        "  )\n"
        "  (1): Sequential(\n"
        "    (0): Dense(None -> 2, linear)\n"
        "    (1): Flatten\n"
        "  )\n"
        ")"
    )


@pytest.mark.parametrize(
    ("make", "function"),
    [
        (lambda: nn.LeakyReLU(0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
        (lambda: nn.PReLU(), lambda x: np.where(x > 0, x, 0.25 * x)),
        (lambda: nn.PReLU("ones"), lambda x: x),
        (lambda: nn.ELU(2.0), lambda x: np.where(x > 0, x, 2 * (np.exp(x) - 1))),
        (
            lambda: nn.SELU(),
            lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)),
        ),
        (lambda: nn.Swish(2.0), lambda x: x / (1 + np.exp(-2 * x))),
        (lambda: nn.Activation("softsign"), lambda x: x / (1 + abs(x))),
    ],
)
def test_functions_of_each_element_are_what_they_are_called(make, function):
    net = make()
    net.initialize()
    x = np.linspace(-3, 3, 13).reshape(1, 13)
    np.testing.assert_allclose(net(nd.array(x)).asnumpy(), function(x), rtol=1e-5, atol=1e-6)


def test_batches_are_cut_for_devices():
    x = nd.array(np.arange(10).reshape(5, 2))
    parts = mx.gluon.utils.split_data(x, 2, even_split=False)
    assert [part.tolist() for part in parts] == [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9]]]
    across = mx.gluon.utils.split_data(x, 2, batch_axis=1)
    assert [part.shape for part in across] == [(5, 1), (5, 1)]
    loaded = mx.gluon.utils.split_and_load(np.ones((4, 2)), [mx.cpu(0), mx.cpu(1)])
    assert [(part.context, part.shape) for part in loaded] == [
        (mx.cpu(0), (2, 2)),
        (mx.cpu(1), (2, 2)),
    ]
    (whole,) = mx.gluon.utils.split_and_load(x, [mx.cpu(0)])
    assert whole is x


def test_gradients_are_scaled_together_if_they_are_too_long():
    arrays = [nd.array([3, 0]), nd.array([4])]
    assert mx.gluon.utils.clip_global_norm(arrays, 10) == pytest.approx(5)
    assert arrays[0].tolist() == [3, 0]
    assert mx.gluon.utils.clip_global_norm(arrays, 1) == pytest.approx(5)
    assert arrays[1].asscalar() == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: nn.Dense(0), "units=0 must be a whole number, 1 or more"),
        (lambda: nn.Dense("3"), "units='3' must be"),
        (lambda: nn.Dense(3, in_units=-2), "in_units=-2 must be a whole number, 0 or more"),
        (lambda: nn.Embedding(0, 3), "input_dim=0 must be"),
        (lambda: nn.Embedding(3, 2.5), r"output_dim=2\.5 must be"),
        (lambda: nn.Dropout(-0.1), r"rate=-0\.1 must be a number, 0 to 1"),
        (lambda: nn.Dropout("half"), "rate='half' must be a number, 0 to 1"),
        (lambda: nn.Conv2D(-1, 3), "channels=-1 must be"),
        (lambda: nn.Conv2D(4, 3, groups=0), "groups=0 must be"),
        (lambda: nn.Conv2D(4, 3, in_channels=-3), "in_channels=-3 must be"),
        (lambda: nn.Conv2D(4, (3, 0)), r"kernel_size\[1\]=0 must be"),
        (lambda: nn.Conv2D(4, 3, strides=0), "strides=0 must be"),
        (lambda: nn.Conv2D(4, 3, padding=-1), "padding=-1 must be a whole number, 0 or more"),
        (lambda: nn.MaxPool2D(2.5), r"pool_size=2\.5 must be"),
        (lambda: nn.AvgPool1D(2, strides=0), "strides=0 must be"),
    ],
)
def test_a_size_that_is_no_size_is_refused_where_the_layer_is_made(make, told):
    with pytest.raises(ArgumentError, match=told):
        make()


def test_sizes_may_be_whole_numbers_of_numpy():
    net = nn.Conv2D(np.int64(2), np.int32(3), padding=(np.int8(1), 1))
    net.initialize()
    assert net(nd.ones((1, 3, 4, 4))).shape == (1, 2, 4, 4)

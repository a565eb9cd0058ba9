"""Networks of any layers compute the same one by one and by a graph, in whatever way it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import mxprof_nb.runtime as mx

nd, autograd, nn = mx.nd, mx.autograd, mx.gluon.nn

Make = Callable[[], Any]

FLAT: list[Make] = [
    lambda: nn.Dense(3),
    lambda: nn.Dense(2, activation="sigmoid", use_bias=False),
    nn.BatchNorm,
    nn.LayerNorm,
    lambda: nn.Activation("tanh"),
    lambda: nn.LeakyReLU(0.3),
    nn.PReLU,
    nn.ELU,
    nn.SELU,
    nn.GELU,
    nn.Swish,
    lambda: nn.Dropout(0.5),
    lambda: nn.HybridLambda(lambda F, x: F.square(x) + x / 2),
    lambda: nn.HybridLambda(lambda F, x: F.concat(x, F.exp(-x), dim=1)),
    lambda: nn.HybridLambda("softmax"),
]
IMAGES: list[Make] = [
    lambda: nn.Conv2D(3, 3, padding=1),
    lambda: nn.Conv2D(2, (1, 3), padding=1, use_bias=False, activation="relu"),
    lambda: nn.Conv2DTranspose(2, 2, strides=2),
    lambda: nn.MaxPool2D(2, strides=1),
    lambda: nn.AvgPool2D(3, strides=2, padding=1),
    lambda: nn.InstanceNorm(scale=True),
    lambda: nn.GroupNorm(1),
    lambda: nn.ReflectionPad2D(1),
    *FLAT[2:6],
]

flags = st.one_of(
    st.fixed_dictionaries({"static_alloc": st.booleans()}),
    st.just({"static_alloc": True, "static_shape": True}),
    st.fixed_dictionaries(
        {"forward_bulk_size": st.integers(0, 5), "backward_bulk_size": st.integers(0, 5)}
    ),
)


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[Make], tuple[int, ...]]:
    """Return layers, and the shape of data."""
    images = draw(st.lists(st.sampled_from(IMAGES), max_size=3))
    behind = draw(st.lists(st.sampled_from(FLAT), min_size=0 if images else 1, max_size=4))
    shape = (2, draw(st.integers(1, 3)), 5, 6) if images else (3, draw(st.integers(1, 4)))
    layers = [*images, nn.Flatten, *behind] if images and behind else [*images, *behind]
    return layers, shape


def built(layers: list[Make], x: Any) -> Any:
    net = nn.HybridSequential()
    net.add(*(make() for make in layers))
    net.initialize()
    net(x)
    draw = np.random.default_rng(0)
    for param in net.collect_params().values():
        param.set_data(nd.array(draw.uniform(0.2, 1, param.shape)))
    return net


def steps(net: Any, shape: tuple[int, ...], train: bool, again: bool) -> list[Any]:
    """Return all that two steps compute."""
    found: list[Any] = []
    for seed in range(2):
        mx.random.seed(seed)
        x = nd.array(np.random.default_rng(seed).uniform(-1, 1, shape))
        x.attach_grad()
        with autograd.record(train_mode=train):
            made = net(x)
            total = (made * made).sum()
        total.backward(retain_graph=again)
        if again:
            total.backward()
        found += [made, x.grad.copy()]
        for param in net.collect_params().values():
            found.append((param.data() if param.grad_req == "null" else param.grad()).copy())
    found.append(net(x))
    return [each.asnumpy() for each in found]


@given(networks(), flags, st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_graph_computes_what_single_calls_do(made, options, train, again):
    layers, shape = made
    x = nd.ones(shape)
    plain, graph = built(layers, x), built(layers, x)
    graph.hybridize(**options)
    for one, two in zip(
        steps(graph, shape, train, again), steps(plain, shape, train, again), strict=True
    ):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


@given(made=networks(), batch=st.integers(1, 4), options=flags)
@settings(max_examples=20, deadline=None)
def test_what_is_exported_computes_the_same(tmp_path_factory, made, batch, options):
    layers, shape = made
    net = built(layers, nd.ones(shape))
    net.hybridize(**options)
    x = nd.array(np.random.default_rng(1).uniform(-1, 1, (batch, *shape[1:])))
    expected = net(x).asnumpy()
    graph, values = net.export(tmp_path_factory.mktemp("net") / "net")
    again = mx.gluon.SymbolBlock.imports(graph, "data", values)
    np.testing.assert_allclose(again(x).asnumpy(), expected, rtol=1e-6)

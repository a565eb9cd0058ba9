"""The operators that update weights: what they write, what they leave, what they refuse."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, GradientError, ShapeError
from mxprof_nb.runtime.ops.optimizer.updates import BLOCK, MULTI, UPDATES

nd = mx.nd

#: How many states each has.
STATES = {name: len(op.mutates) for name, op in {**UPDATES, **MULTI}.items()}


def inputs(name: str, shape: tuple[int, ...] = (4, 3)) -> list[Any]:
    """A weight, its gradient and states, all of ones."""
    return [nd.ones(shape) for _ in range(2 + STATES[name])]


def numbers(name: str) -> dict[str, Any]:
    return {"lrs": (0.5,), "wds": (0.0,)} if name in MULTI else {"lr": 0.5}


@pytest.mark.parametrize("name", STATES)
def test_the_weight_is_written_where_it_lies(name):
    arrays = inputs(name)
    weight = arrays[0]
    nd.waitall()
    memory = weight.chunk.data
    made = getattr(nd, name)(*arrays, out=weight, **numbers(name))
    assert made is weight
    assert not np.array_equal(weight.asnumpy(), np.ones((4, 3)))
    assert weight.chunk.data is memory


@pytest.mark.parametrize("name", STATES)
def test_without_a_place_for_the_result_the_weight_stays(name):
    arrays = inputs(name)
    made = getattr(nd, name)(*arrays, **numbers(name))
    assert not np.array_equal(made.asnumpy(), np.ones((4, 3)))
    np.testing.assert_array_equal(arrays[0].asnumpy(), np.ones((4, 3)))
    np.testing.assert_array_equal(arrays[1].asnumpy(), np.ones((4, 3)))


@pytest.mark.parametrize("name", STATES)
def test_all_that_is_read_has_the_shape_of_the_weight(name):
    for place in range(1, 2 + STATES[name]):
        arrays = inputs(name)
        arrays[place] = nd.ones((3, 4))
        with pytest.raises(ShapeError, match=rf"{name} got .*\[3, 4\].* shape \(4, 3\)"):
            getattr(nd, name)(*arrays, out=arrays[0], **numbers(name))


@pytest.mark.parametrize("name", UPDATES)
def test_what_is_no_number_is_refused_by_name(name):
    arrays = inputs(name)
    update = getattr(nd, name)
    with pytest.raises(ArgumentError, match=f"{name}: the required parameter lr is missing"):
        update(*arrays)
    for parameter in inspect.signature(update).parameters.values():
        if isinstance(parameter.default, float):
            with pytest.raises(ArgumentError, match=f"{name}: {parameter.name}='x' is no number"):
                update(*arrays, **{"lr": 0.1, parameter.name: "x"})


def test_whole_numbers_and_mixed_types_are_no_weights():
    whole = nd.ones(2, dtype="int32")
    with pytest.raises(ShapeError, match="floating point numbers are needed"):
        nd.sgd_update(whole, whole, lr=0.1)
    with pytest.raises(ShapeError, match="the types differ"):
        nd.sgd_update(nd.ones(2), nd.ones(2, dtype="float64"), lr=0.1)
    with pytest.raises(ShapeError, match="the weights have different types"):
        nd.multi_sgd_update(
            nd.ones(2), nd.ones(2), *[nd.ones(2, dtype="float64")] * 2,
            lrs=(1, 1), wds=(0, 0), num_weights=2,
        )  # fmt: skip


def test_several_weights_need_as_many_rates_and_arrays():
    arrays = [nd.ones(2) for _ in range(4)]
    with pytest.raises(ArgumentError, match=r"lrs has 1 numbers, num_weights is 2"):
        nd.multi_sgd_update(*arrays, lrs=(0.1,), wds=(0, 0), num_weights=2)
    with pytest.raises(ArgumentError, match=r"wds has 3 numbers"):
        nd.multi_sgd_update(*arrays, lrs=(0.1, 0.1), wds=(0, 0, 0), num_weights=2)
    with pytest.raises(ArgumentError, match="lrs is missing"):
        nd.multi_sgd_update(*arrays, wds=(0, 0), num_weights=2)
    with pytest.raises(ShapeError, match="num_weights=1 needs 2 arrays for each weight, not 4"):
        nd.multi_sgd_update(*arrays, lrs=(0.1,), wds=(0,))


def test_several_weights_are_updated_by_one_operator():
    weights, grads = [nd.ones(3), nd.ones((2, 2))], [nd.ones(3), nd.ones((2, 2))]
    made = nd.multi_sgd_update(
        weights[0], grads[0], weights[1], grads[1], lrs=(0.5, 0.25), wds=(0, 1), num_weights=2,
        out=weights,
    )  # fmt: skip
    assert made[0] is weights[0]
    np.testing.assert_array_equal(weights[0].asnumpy(), [0.5] * 3)
    np.testing.assert_array_equal(weights[1].asnumpy(), [[0.5] * 2] * 2)


def test_a_weight_of_many_blocks_is_updated_whole():
    size = 2 * BLOCK // 4 + 7
    values, slopes = np.linspace(-1, 1, size, dtype="f4"), np.linspace(2, -3, size, dtype="f4")
    weight, mom = nd.array(values), nd.zeros(size)
    for _ in range(2):
        nd.sgd_mom_update(
            weight,
            nd.array(slopes),
            mom,
            lr=0.1,
            momentum=0.5,
            wd=0.01,
            clip_gradient=1,
            out=weight,
        )
    speed = np.zeros(size, "f8")
    expected = values.astype("f8")
    for _ in range(2):
        speed = 0.5 * speed - 0.1 * (np.clip(slopes, -1, 1) + 0.01 * expected)
        expected = expected + speed
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mom.asnumpy(), speed, rtol=1e-5, atol=1e-6)


def test_a_row_of_an_array_can_be_a_weight():
    x = nd.ones((3, 2))
    nd.sgd_update(x[1], nd.ones(2), lr=0.5, out=x[1])
    np.testing.assert_array_equal(x.asnumpy(), [[1, 1], [0.5, 0.5], [1, 1]])
    nd.multi_sgd_update(
        x[0], nd.ones(2), x[2], nd.ones(2), lrs=(0.5, 0.25), wds=(0, 0), num_weights=2,
        out=[x[0], x[2]],
    )  # fmt: skip
    np.testing.assert_array_equal(x.asnumpy(), [[0.5, 0.5], [0.5, 0.5], [0.75, 0.75]])


def test_a_gradient_that_shares_memory_with_the_weight_is_read_before():
    x = nd.array([1.0, 2.0, 4.0, 8.0])
    nd.sgd_update(x[1:4], x[0:3], lr=1, out=x[1:4])
    np.testing.assert_array_equal(x.asnumpy(), [1, 1, 2, 4])


def test_half_precision_is_rounded_once():
    weight = nd.array([1.0], dtype="float16")
    made = nd.sgd_update(weight, nd.array([2.0], dtype="float16"), lr=1e-4, rescale_grad=3e-3)
    assert made.asnumpy()[0] == np.float16(1 - 1e-4 * 3e-3 * 2)
    wide = nd.ones(1)
    for _ in range(4):
        nd.mp_sgd_update(weight, nd.ones(1, dtype="float16"), wide, lr=1e-4, out=weight)
    np.testing.assert_allclose(wide.asnumpy(), [1 - 4e-4], rtol=1e-6)
    assert weight.asnumpy()[0] == np.float16(1 - 4e-4)


def test_a_weight_of_a_recorded_computation_is_not_written_within_it():
    weight = nd.ones(2)
    weight.attach_grad()
    with mx.autograd.record():
        loss = (weight * 2).sum()
        with pytest.raises(GradientError, match="sgd_update would write"):
            nd.sgd_update(weight, nd.ones(2), lr=1, out=weight)
    loss.backward()
    np.testing.assert_array_equal(weight.asnumpy(), [1, 1])

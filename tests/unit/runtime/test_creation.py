"""Arrays from nothing and from the host: types, devices, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import OperatorError, ShapeError

nd: Any = mx.nd

MAKERS: dict[str, Any] = {
    "array": lambda **where: nd.array([1], **where),
    "empty": lambda **where: nd.empty((1,), **where),
    "zeros": lambda **where: nd.zeros((1,), **where),
    "ones": lambda **where: nd.ones((1,), **where),
    "full": lambda **where: nd.full((1,), 2, **where),
    "arange": lambda **where: nd.arange(1, **where),
    "linspace": lambda **where: nd.linspace(0, 1, 1, **where),
    "eye": lambda **where: nd.eye(1, **where),
}


@pytest.mark.parametrize("name", MAKERS)
def test_type_and_device_are_those_asked_for(name):
    make = MAKERS[name]
    assert make().dtype is np.float32
    assert make().context is mx.cpu(0)
    assert make(dtype="int8").dtype is np.int8
    assert make(dtype=np.float64).asnumpy().dtype == np.float64
    assert make(ctx=mx.cpu(1)).context is make(device=mx.cpu(1)).context is mx.cpu(1)


@pytest.mark.parametrize("dtype", ["complex64", "int16", "no type", object])
def test_a_type_that_arrays_cannot_have_is_refused(dtype):
    for make in MAKERS.values():
        with pytest.raises(TypeError, match="must be one of float16"):
            make(dtype=dtype)
    with pytest.raises(TypeError, match="must be one of float16"):
        nd.ones(1).astype(dtype)


@pytest.mark.parametrize("shape", [(), (2, -1), (2.5,), "ab"])
def test_an_impossible_shape_is_refused(shape):
    with pytest.raises(ShapeError, match="shape"):
        nd.zeros(shape)


@pytest.mark.parametrize("source", [["a"], [[1, 2], [3]], None, {"a": 1}, 1j])
def test_what_holds_no_numbers_becomes_no_array(source):
    with pytest.raises(TypeError, match="no array of numbers"):
        nd.array(source)


def test_a_single_number_becomes_an_array_of_one():
    assert nd.array(5).shape == nd.array(np.float64(5)).shape == (1,)


def test_a_list_of_arrays_is_read_as_rows():
    assert nd.array([nd.ones(2), nd.zeros(2)]).tolist() == [[1, 1], [0, 0]]


def test_constants_can_be_written_to_an_array_or_a_part():
    x = nd.zeros((2, 2))
    assert nd.ones((2, 2), out=x) is x
    nd.zeros((2,), out=x[1])
    nd.full((2,), 3, out=x[0])
    assert x.tolist() == [[3, 3], [0, 0]]


def test_a_constant_may_be_an_array_that_is_broadcast():
    assert nd.full((2, 2), nd.array([1, 2])).tolist() == [[1, 2], [1, 2]]


def test_ranges_without_a_step_or_without_repetition_are_refused():
    for how in ({"step": 0}, {"repeat": 0}):
        with pytest.raises(ShapeError, match="arange"):
            nd.arange(0, 3, **how)
    assert nd.arange(3, 0).shape == (0,)


def test_linear_algebra_that_has_no_answer_fails_where_it_is_read():
    for function, matrix in (
        (nd.linalg.potrf, [[1, 2], [2, 1]]),
        (nd.linalg.inverse, [[1, 1], [1, 1]]),
    ):
        pending = function(nd.array(matrix))
        with pytest.raises(OperatorError, match="LinAlgError"):
            pending.wait_to_read()


def test_positions_beyond_the_ends_fail_where_they_are_read():
    x = nd.arange(3)
    for pending in (nd.take(x, nd.array([3]), mode="raise"), x[[5]]):
        with pytest.raises(OperatorError, match="IndexError"):
            pending.wait_to_read()


def test_a_view_written_by_an_operator_changes_nothing_beside_it():
    x = nd.zeros((3, 2))
    x[1][0] = 5
    nd.stack(nd.ones(1), nd.ones(1) * 2, out=x[1:2].reshape((2, 1)))
    x[2][[1, 0]] = [7, 8]
    assert x.tolist() == [[0, 0], [1, 2], [8, 7]]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nd.concat(nd.ones((2, 3)), nd.ones((3, 3)), dim=1), r"Concat got .*axis 1 only"),
        (lambda: nd.stack(nd.ones(2), nd.ones(3)), "stack got .*shapes differ"),
        (lambda: nd.split(nd.ones((2, 3)), 2), "SliceChannel got .*into 2 equal parts"),
        (lambda: nd.dot(nd.ones((2, 3)), nd.ones((2, 3))), "dot got .*must agree"),
        (lambda: nd.pick(nd.ones((2, 3)), nd.ones(3)), "pick got .*index must have shape"),
        (lambda: nd.moveaxis(nd.ones((2, 3)), 0, 2), "moveaxis: source 0"),
        (lambda: nd.broadcast_to(nd.ones((2, 3)), (2, 4)), "broadcast_to got .*be broadcast to"),
        (lambda: nd.linalg.potrf(nd.ones((2, 3))), "_linalg_potrf got .*square"),
        (lambda: nd.linalg.gemm2(nd.ones(2), nd.ones(2)), "_linalg_gemm2 got .*matrices"),
        (lambda: nd.Embedding(nd.ones(1), nd.ones((3, 2)), 4, 2), "Embedding got .*weight"),
        (lambda: nd.ones((2, 3)).squeeze(1), "squeeze got .*more than one element"),
        (lambda: nd.concat(), "concat needs one array"),
    ],
)
def test_what_does_not_fit_is_refused_with_operator_shapes_and_reason(call, told):
    with pytest.raises(ShapeError, match=told):
        call()

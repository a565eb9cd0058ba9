"""Every operator against NumPy, by formulas of the tests' own, and MXNet's peculiarities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import OperatorError, ShapeError, UnknownOperatorError
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import operator_names, spec

nd = mx.nd

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int32", "int64")
TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}

X = [[0.5, 1.0, 2.0], [-1.5, 3.0, -0.25]]


def check(result: NDArray, expected: Any, dtype: str) -> None:
    """Compare values, shape and type; what was promised must be what came."""
    expected = np.asarray(expected)
    value = result.asnumpy()
    assert result.shape == value.shape == expected.shape
    assert np.dtype(result.dtype).name == value.dtype.name == dtype
    tolerance = TOLERANCE.get(dtype, 0)
    np.testing.assert_allclose(
        value.astype("f8"), expected.astype("f8"), rtol=tolerance, atol=tolerance
    )


def each(function: Any, values: Any) -> Any:
    return np.vectorize(function, otypes=["f8"])(np.asarray(values, "f8"))


def single(values: list[Any]) -> Any:
    return np.array(values, dtype="float32")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax_and_its_logarithm_sum_to_one(axis, dtype):
    values = np.array([[0.5, 1, 2], [-1.5, 3, -0.25]])
    expected = np.empty_like(values)
    lines = values if axis in (-1, 1) else values.T
    answer = expected if axis in (-1, 1) else expected.T
    for line, row in zip(lines, answer, strict=True):
        row[:] = [math.exp(v) / math.fsum(math.exp(w) for w in line) for v in line]
    x = nd.array(values, dtype=dtype)
    check(nd.softmax(x, axis=axis), expected, dtype)
    check(nd.log_softmax(x, axis=axis), np.log(expected), dtype)


def test_softmax_survives_large_numbers():
    check(
        nd.softmax(nd.array([1e4, 1e4 - 1])), [1 / (1 + math.exp(-1)), 1 / (1 + math.e)], "float32"
    )
    check(nd.log_softmax(nd.array([1e4, 0])), [0, -1e4], "float32")


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_needs_floating_point_numbers_and_an_axis_that_exists(name):
    with pytest.raises(ShapeError, match=rf"{name} got int32\[2\]: floating point"):
        getattr(nd, name)(nd.array([1, 2], dtype="int32"))
    with pytest.raises(ShapeError, match=r"axis 2 is not in \[-2, 2\)"):
        getattr(nd, name)(nd.ones((2, 2)), axis=2)


# Products, diagonals, order of axes


def product(a: Any, b: Any) -> Any:
    """Sum over the last axis of the left and the first of the right, one element at a time."""
    shape = a.shape[:-1] + b.shape[1:]
    result = np.zeros(shape)
    for left in np.ndindex(a.shape[:-1]):
        for right in np.ndindex(b.shape[1:]):
            result[left + right] = sum(a[(*left, k)] * b[(k, *right)] for k in range(a.shape[-1]))
    return result.reshape(shape or (1,))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((2, 2, 3), (3, 2)),
        ((2, 3), (3, 2, 2)),
        ((1, 1), (1, 1)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_dot_sums_over_the_last_axis_and_the_first(left, right, dtype):
    a = np.arange(np.prod(left)).reshape(left) - 2
    b = np.arange(np.prod(right)).reshape(right) + 1
    check(nd.dot(nd.array(a, dtype=dtype), nd.array(b, dtype=dtype)), product(a, b), dtype)


@pytest.mark.parametrize("rank", [2, 3])
def test_dot_can_sum_over_the_other_end_of_either(rank):
    a, b = np.arange(24.0).reshape(2, 3, 4)[:, :, 0], np.arange(24.0).reshape(4, 3, 2)
    a = {2: a, 3: np.arange(24.0).reshape(2, 3, 4)}[rank]
    b = {2: b[0], 3: b}[rank]
    # MXNet moves one axis and keeps the order of the others.
    first = np.stack([a[k] for k in range(2)], axis=-1)
    last = np.stack([b[..., k] for k in range(2)], axis=0)
    x, y = nd.array(a), nd.array(b)
    check(nd.dot(x, y, transpose_a=True, transpose_b=True), product(first, last), "float32")
    check(nd.dot(nd.array(first), y, transpose_b=True), product(first, last), "float32")
    check(nd.dot(x, nd.array(last), transpose_a=True), product(first, last), "float32")


def test_dot_refuses_what_does_not_fit_when_it_is_called():
    with pytest.raises(ShapeError, match=r"last axis of the left \(3\).*right \(2\).*transpose"):
        nd.dot(nd.ones((2, 3)), nd.ones((2, 3)))
    with pytest.raises(ShapeError, match="vectors cannot be transposed"):
        nd.dot(nd.ones(2), nd.ones(2), transpose_a=True)
    with pytest.raises(ShapeError, match="types differ"):
        nd.dot(nd.ones(2), nd.ones(2, dtype="float64"))
    with pytest.raises(ShapeError, match="at least one axis"):
        nd.dot(nd.zeros(()), nd.ones(1))


@pytest.mark.parametrize("k", [-1, 0, 1, 2])
def test_diag_takes_a_diagonal_out_or_puts_one_in(k):
    values = np.arange(6).reshape(2, 3) + 1
    expected = [values[row, row + k] for row in range(2) if 0 <= row + k < 3]
    check(nd.diag(nd.array(values), k=k), expected, "float32")
    full = np.zeros((2 + abs(k), 2 + abs(k)))
    for place, value in enumerate([8, 9]):
        full[place - min(k, 0), place + max(k, 0)] = value
    check(nd.diag(nd.array([8, 9]), k=k), full, "float32")


@pytest.mark.parametrize(("shape", "k"), [((2, 3), 4), ((2, 3), -3), ((2, 2, 2), 3)])
def test_diag_refuses_a_diagonal_that_does_not_exist(shape, k):
    with pytest.raises(ShapeError, match="diag got"):
        nd.diag(nd.ones(shape), k=k)


@pytest.mark.parametrize("axes", [(), (0, 1, 2), (2, 0, 1), (1, 0, 2)])
def test_transpose_puts_axes_in_another_order(axes):
    values = np.arange(24).reshape(2, 3, 4)
    order = [*axes] or [2, 1, 0]
    expected = np.empty([values.shape[axis] for axis in order])
    for index in np.ndindex(values.shape):
        expected[tuple(index[axis] for axis in order)] = values[index]
    check(nd.transpose(nd.array(values), axes), expected, "float32")
    check(nd.array(values).transpose(axes), expected, "float32")
    if not axes:
        check(nd.array(values).T, expected, "float32")


@pytest.mark.parametrize("axes", [(0, 0, 1), (0, 1), (0, 1, 3)])
def test_transpose_must_name_each_axis_once(axes):
    with pytest.raises(ShapeError, match="name each axis once"):
        nd.ones((2, 3, 4)).transpose(axes)


# Creation


def test_arrays_are_single_precision_unless_somebody_says_otherwise():
    for made in (
        nd.array(np.arange(3)),
        nd.array([1, 2, 3]),
        nd.array(np.arange(3.0)),
        nd.zeros(3),
        nd.ones(3),
        nd.full(3, 1),
        nd.empty(3),
        nd.arange(3),
        nd.random.uniform(shape=3),
        nd.random.normal(shape=3),
    ):
        assert made.dtype is np.float32
    assert nd.array(nd.ones(3, dtype="int8")).dtype is np.int8
    assert nd.array(nd.ones(3, dtype="int8"), dtype="float64").dtype is np.float64


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("shape", [3, (3,), (2, 3), (1, 1, 1), (0, 3)])
def test_constants_fill_any_shape(shape, dtype):
    size = shape if isinstance(shape, tuple) else (shape,)
    check(nd.zeros(shape, dtype=dtype), np.zeros(size), dtype)
    check(nd.ones(shape, dtype=dtype), np.ones(size), dtype)
    check(nd.full(shape, 7, dtype=dtype), np.full(size, 7), dtype)
    assert nd.empty(shape, dtype=dtype).shape == size


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((4,), [0, 1, 2, 3]),
        ((1, 4), [1, 2, 3]),
        ((0, 1, 0.25), [0, 0.25, 0.5, 0.75]),
        ((5, 0, -2), [5, 3, 1]),
        ((0, 2, 1, 3), [0, 0, 0, 1, 1, 1]),
        ((5, 0), []),
    ],
)
def test_arange_counts_from_start_to_before_stop(arguments, expected):
    check(nd.arange(*arguments), expected, "float32")


def test_shapes_and_steps_that_make_no_sense_are_refused_when_called():
    for refused in (
        lambda: nd.zeros((2, -1)),
        lambda: nd.empty((-2,)),
        lambda: nd.random.uniform(shape=(-1,)),
        lambda: nd.ones(("a",)),  # type: ignore[arg-type]
        lambda: nd.arange(0, 1, 0),
    ):
        with pytest.raises(ShapeError):
            refused()


def test_random_numbers_lie_where_they_should():
    mx.random.seed(7)
    numbers = nd.random.uniform(-2, 3, shape=(4_000,)).asnumpy()
    assert ((numbers >= -2) & (numbers < 3)).all()
    assert abs(numbers.mean() - 0.5) < 0.1
    numbers = nd.random.normal(5, 2, shape=(4_000,), dtype="float64").asnumpy()
    assert abs(numbers.mean() - 5) < 0.2
    assert abs(numbers.std() - 2) < 0.2
    assert nd.random_uniform(shape=2).shape == nd.random_normal(shape=2).shape == (2,)


@pytest.mark.parametrize("number", [0, 42, -1, 2**40, 2**70])
def test_a_seed_starts_the_same_sequence_again(number):
    def draw() -> list[float]:
        mx.random.seed(number)
        return [*nd.random.uniform(shape=3).asnumpy(), *nd.random.normal(shape=3).asnumpy()]

    first = draw()
    assert draw() == first
    assert [*nd.random.uniform(shape=3).asnumpy()] != first[:3]


def test_another_seed_starts_another_sequence():
    mx.random.seed(1)
    first = nd.random.uniform(shape=3).asnumpy().tolist()
    mx.random.seed(2)
    assert nd.random.uniform(shape=3).asnumpy().tolist() != first


def test_a_seed_is_for_all_devices_unless_one_is_named():
    def draw() -> list[list[float]]:
        return [nd.random.uniform(shape=2, ctx=mx.cpu(n)).asnumpy().tolist() for n in (0, 1)]

    mx.random.seed(9)
    first = draw()
    assert first[0] != first[1]
    mx.random.seed(9)
    assert draw() == first
    mx.random.seed(9, mx.cpu(1))
    assert draw()[1] == first[1]


def test_a_scale_that_is_not_positive_fails_where_the_value_is_read():
    x = nd.random.normal(scale=-1, shape=2)
    with pytest.raises(OperatorError, match=r"_random_normal.*scale=-1"):
        x.wait_to_read()


# The registry


def test_an_operator_is_found_by_its_name_and_a_wrong_name_gets_a_suggestion():
    assert spec("dot").name == "dot"
    with pytest.raises(UnknownOperatorError, match=r"'dott'.*Did you mean 'dot'"):
        spec("dott")


def test_every_operator_says_in_one_sentence_what_it_does():
    for name, operator in operator_names().items():
        assert operator.name == name
        assert operator.doc.endswith(".")


def test_positions_on_several_axes_become_one_number_and_back():
    rows = nd.array([[0, 1, 2], [3, 0, 1]], dtype="int32")
    check(nd.ravel_multi_index(rows, shape=(3, 4)), [3, 4, 9], "int32")
    check(nd.unravel_index(nd.array([3, 4, 9]), shape=(3, 4)), rows.asnumpy(), "float32")
    for refused in (
        lambda: nd.ravel_multi_index(rows, shape=(3, 4, 5)),
        lambda: nd.unravel_index(rows, shape=(3, 4)),
        lambda: nd.unravel_index(rows[0], shape=(3, 0)),
    ):
        with pytest.raises(ShapeError, match="ravel"):
            refused()

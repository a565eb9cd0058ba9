"""Every operator against NumPy, by formulas of the tests' own, and MXNet's peculiarities."""

from __future__ import annotations

import math
from collections.abc import Callable
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


# One array, element by element

UNARY: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "square": lambda x: x * x,
    "abs": lambda x: x if x > 0 else -x,
    "tanh": lambda x: (math.exp(2 * x) - 1) / (math.exp(2 * x) + 1),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "relu": lambda x: x if x > 0 else 0.0,
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_array_is_applied_to_each_element(name, dtype):
    x = nd.array(X, dtype=dtype)
    check(getattr(nd, name)(x), each(UNARY[name], X), dtype)
    if hasattr(NDArray, name):
        check(getattr(x, name)(), each(UNARY[name], X), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("name", "function"), [("log", math.log), ("sqrt", lambda x: x**0.5)])
def test_logarithm_and_root_are_applied_to_each_element(name, function, dtype):
    positive = [[0.5, 1.0], [2.0, 9.0]]
    x = nd.array(positive, dtype=dtype)
    check(getattr(nd, name)(x), each(function, positive), dtype)
    check(getattr(x, name)(), each(function, positive), dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "square", "abs", "tanh", "relu"])
def test_functions_of_whole_numbers_answer_in_whole_numbers(name, dtype):
    values = [1, 2, 3, 4]
    expected = each({"log": math.log, "sqrt": math.sqrt, **UNARY}[name], values).astype(int)
    check(getattr(nd, name)(nd.array(values, dtype=dtype)), expected, dtype)


def test_what_is_not_defined_is_nan_or_infinite_and_no_warning():
    x = nd.array([-1, 0, 1])
    np.testing.assert_equal(nd.log(x).asnumpy(), single([np.nan, -np.inf, 0]))
    np.testing.assert_equal(nd.sqrt(x).asnumpy(), single([np.nan, 0, 1]))
    np.testing.assert_equal((x / 0).asnumpy(), single([-np.inf, np.nan, np.inf]))
    np.testing.assert_equal((1 / x).asnumpy(), single([-1, np.inf, 1]))
    np.testing.assert_equal((x / nd.zeros(3)).asnumpy(), single([-np.inf, np.nan, np.inf]))
    np.testing.assert_equal(nd.exp(nd.array([1e4])).asnumpy(), single([np.inf]))
    np.testing.assert_equal((nd.full((1,), 3e38) * 2).asnumpy(), single([np.inf]))
    np.testing.assert_equal(nd.sum(nd.full((2,), 3e38)).asnumpy(), single([np.inf]))
    np.testing.assert_equal(nd.dot(nd.full((1,), np.inf), nd.zeros(1)).asnumpy(), single([np.nan]))


def test_sigmoid_saturates_at_both_ends():
    np.testing.assert_array_equal(
        nd.sigmoid(nd.array([-1e4, -100, 100, 1e4])).asnumpy(),
        single([0, math.exp(-100), 1, 1]),
    )


# Two arrays, or an array and a number

ARITHMETIC = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "%": lambda x, y: x - y * math.floor(x / y),
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
}


def apply(symbol: str, x: Any, y: Any) -> Any:
    return eval(f"x {symbol} y", {"x": x, "y": y})


def pairwise(function: Any, x: Any, y: Any) -> Any:
    return np.vectorize(function, otypes=["f8"])(np.asarray(x, "f8"), np.asarray(y, "f8"))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("symbol", ARITHMETIC)
def test_arithmetic_and_comparison_keep_the_type_and_broadcast(symbol, dtype):
    y = [[2.0], [-1.5]]
    result = apply(symbol, nd.array(X, dtype=dtype), nd.array(y, dtype=dtype))
    check(result, pairwise(ARITHMETIC[symbol], X, y), dtype)
    result = apply(symbol, nd.array(y, dtype=dtype), nd.array(X, dtype=dtype))
    check(result, pairwise(ARITHMETIC[symbol], y, X), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("symbol", ARITHMETIC)
def test_a_number_may_stand_on_either_side(symbol, dtype):
    x = nd.array(X, dtype=dtype)
    check(apply(symbol, x, 0.5), pairwise(ARITHMETIC[symbol], X, 0.5), dtype)
    check(apply(symbol, 0.5, x), pairwise(ARITHMETIC[symbol], 0.5, X), dtype)
    check(apply(symbol, x, np.float64(0.5)), pairwise(ARITHMETIC[symbol], X, 0.5), dtype)
    check(apply(symbol, np.float64(0.5), x), pairwise(ARITHMETIC[symbol], 0.5, X), dtype)
    check(apply(symbol, x, True), pairwise(ARITHMETIC[symbol], X, 1), dtype)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("symbol", ARITHMETIC)
def test_whole_numbers_stay_whole_and_divide_towards_zero(symbol, dtype):
    x, y = [7, -7, 7, -7, 2], [2, 2, -3, -3, 2]
    expected = pairwise(ARITHMETIC[symbol], x, y)
    if symbol == "/":
        expected = np.trunc(expected)
    check(apply(symbol, nd.array(x, dtype=dtype), nd.array(y, dtype=dtype)), expected, dtype)
    expected = pairwise(ARITHMETIC[symbol], x, 2)
    if symbol == "/":
        expected = np.trunc(expected)
    check(apply(symbol, nd.array(x, dtype=dtype), 2), expected, dtype)


def test_powers_are_taken_on_either_side():
    x = nd.array([1, 2, 3])
    check(x**2, [1, 4, 9], "float32")
    check(2**x, [2, 4, 8], "float32")
    check(x**x, [1, 4, 27], "float32")
    check(nd.array([4, 9]) ** 0.5, [2, 3], "float32")
    check(nd.array([2, 3], dtype="int32") ** 2, [4, 9], "int32")


# As real MXNet 1.9.1 answers


def test_a_remainder_of_zero_is_zero():
    check(nd.array([5, -5]) % 0, [0, 0], "float32")
    check(nd.array([5, -5]) % nd.array([0, 3]), [0, 1], "float32")


def test_negative_powers_of_whole_numbers_are_rounded_towards_zero():
    check(nd.array([2, 1, -1], dtype="int32") ** -1, [0, 1, -1], "int32")
    check(nd.array([2, 3], dtype="int32") ** nd.array([-1, 2], dtype="int32"), [0, 9], "int32")


def test_a_number_is_cut_to_the_type_of_the_array():
    x = nd.array([7, -7], dtype="int32")
    check(x + 2.5, [9, -5], "int32")
    check(x * 2.5, [14, -14], "int32")
    check(7 / nd.array([2, -2], dtype="int32"), [3, -3], "int32")
    check(nd.array([2, 3], dtype="int32") > 2.5, [0, 1], "int32")


def test_what_does_not_fit_an_integer_type_wraps():
    x = nd.array([1, 2], dtype="uint8")
    check(-x, [255, 254], "uint8")
    check(x - 3, [254, 255], "uint8")
    check(x + 300, [45, 46], "uint8")
    check(1 - x, [0, 255], "uint8")
    check(nd.full((2,), -3, dtype="uint8"), [253, 253], "uint8")
    x[0:1] = -1
    check(x, [255, 2], "uint8")
    check(nd.array([100, 100], dtype="int8").sum(), [-56], "int8")


def test_arrays_of_different_types_do_not_mix():
    with pytest.raises(ShapeError, match=r"broadcast_add got int32\[1\] and float32\[1\].*astype"):
        nd.array([1], dtype="int32") + nd.array([1])


def test_numpy_arrays_do_not_mix_with_arrays_of_the_runtime():
    for mixed in (lambda: nd.ones(2) + np.ones(2), lambda: np.ones(2) + nd.ones(2)):
        with pytest.raises(TypeError, match="do not mix"):
            mixed()


@pytest.mark.parametrize("other", ["a", [1, 2], None, object()])
def test_what_is_no_number_cannot_be_added(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        nd.ones(2) + other


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/"])
def test_in_place_arithmetic_writes_to_the_same_memory(symbol):
    x = nd.array(X)
    alias, before = x.reshape(-1), single(X)
    names = {"x": x}
    exec(f"x {symbol}= 4", names)
    assert names["x"] is x
    expected = pairwise(ARITHMETIC[symbol], before, 4)
    check(x, expected, "float32")
    check(alias, expected.reshape(-1), "float32")


def test_in_place_arithmetic_must_keep_the_shape():
    x = nd.ones(1)
    with pytest.raises(ShapeError, match=r"broadcast_add makes float32\[2\].*out=float32\[1\]"):
        x += nd.ones(2)
    check(x, [1], "float32")


def test_named_functions_do_what_their_symbols_do():
    x, y = nd.array([1, 5, 3]), nd.array([4, 2, 3])
    for function, symbol in (
        (nd.add, "+"),
        (nd.subtract, "-"),
        (nd.multiply, "*"),
        (nd.divide, "/"),
        (nd.equal, "=="),
    ):
        check(function(x, y), pairwise(ARITHMETIC[symbol], [1, 5, 3], [4, 2, 3]), "float32")
        check(function(x, 3), pairwise(ARITHMETIC[symbol], [1, 5, 3], 3), "float32")
    check(nd.maximum(x, y), [4, 5, 3], "float32")
    check(nd.minimum(x, y), [1, 2, 3], "float32")
    check(nd.maximum(2, x), [2, 5, 3], "float32")
    check(nd.minimum(x, 2), [1, 2, 2], "float32")
    check(nd.add(3, x), [4, 8, 6], "float32")
    with pytest.raises(TypeError, match="add needs an NDArray, not int and int"):
        nd.add(1, 2)


# Reductions

REDUCTIONS: dict[str, Callable[[list[float]], float]] = {
    "sum": math.fsum,
    "mean": lambda values: math.fsum(values) / len(values),
    "max": max,
    "min": min,
    "prod": math.prod,
}
CUBE = (np.arange(24).reshape(2, 3, 4) * 7 % 11 - 5) / 4


def reduced(function: Any, values: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Reduce the slow way: pick the elements that share what is left of their index."""
    kept = [axis for axis in range(values.ndim) if axis not in axes]
    groups: dict[tuple[int, ...], list[float]] = {}
    for index in np.ndindex(values.shape):
        groups.setdefault(tuple(index[axis] for axis in kept), []).append(float(values[index]))
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(values.shape))
    if not keepdims:
        shape = tuple(values.shape[axis] for axis in kept) or (1,)
    return np.array([function(groups[key]) for key in sorted(groups)]).reshape(shape)


@pytest.mark.parametrize("axis", [None, (), 0, 1, -1, (0, 2), (1, -1), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_goes_over_its_axes(name, axis, keepdims):
    given = (axis,) if isinstance(axis, int) else axis or (0, 1, 2)
    axes = tuple(one % 3 for one in given)
    expected = reduced(REDUCTIONS[name], CUBE, axes, keepdims)
    x = nd.array(CUBE, dtype="float64")
    check(getattr(nd, name)(x, axis=axis, keepdims=keepdims), expected, "float64")
    if hasattr(NDArray, name):
        check(getattr(x, name)(axis=axis, keepdims=keepdims), expected, "float64")


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reducing_everything_leaves_one_element_of_the_same_type(name, dtype):
    values = [1.0, 2.0, 4.0]
    expected = REDUCTIONS[name](values)
    expected = math.trunc(expected) if dtype in INTEGERS else expected
    check(getattr(nd, name)(nd.array(values, dtype=dtype)), [expected], dtype)


@pytest.mark.parametrize(
    ("axis", "text"), [(3, "axis 3 does not"), (-4, "axis -4"), ((0, 0), "twice")]
)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes_must_exist_and_be_named_once(name, axis, text):
    with pytest.raises(ShapeError, match=text):
        getattr(nd, name)(nd.ones((2, 3, 4)), axis=axis)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize(("name", "best"), [("argmax", max), ("argmin", min)])
def test_positions_are_answered_in_the_type_of_the_array(name, best, dtype):
    values = [[1, 5, 2], [7, 0, 7]]
    x = nd.array(values, dtype=dtype)
    rows = [row.index(best(row)) for row in values]
    columns = [list(column).index(best(column)) for column in zip(*values, strict=True)]
    everything = [*values[0], *values[1]]
    flat = [everything.index(best(everything))]
    for call in (lambda **how: getattr(nd, name)(x, **how), getattr(x, name)):
        check(call(axis=1), rows, dtype)
        check(call(axis=0), columns, dtype)
        check(call(), flat, dtype)
        check(call(axis=-1, keepdims=True), [[row] for row in rows], dtype)


def test_a_position_is_looked_for_along_one_axis():
    with pytest.raises(ShapeError, match="one number or None"):
        nd.argmax(nd.ones((2, 2)), axis=(0, 1))  # type: ignore[arg-type]


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
    with pytest.raises(ShapeError, match="axis 2 does not exist"):
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


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_dot_can_sum_over_the_other_end_of_either(rank):
    a, b = np.arange(24.0).reshape(2, 3, 4)[:, :, 0], np.arange(24.0).reshape(4, 3, 2)
    a = {1: a[:, 0], 2: a, 3: np.arange(24.0).reshape(2, 3, 4)}[rank]
    b = {1: b[0, 0], 2: b[0], 3: b}[rank]
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


@pytest.mark.parametrize(("shape", "k"), [((2, 3), 3), ((2, 3), -2), ((2, 2, 2), 0)])
def test_diag_refuses_a_diagonal_that_does_not_exist(shape, k):
    with pytest.raises(ShapeError, match="diag got"):
        nd.diag(nd.ones(shape), k=k)


@pytest.mark.parametrize("axes", [(), (0, 1, 2), (2, 0, 1), (1, 0, 2), (-1, 0, 1)])
def test_transpose_puts_axes_in_another_order(axes):
    values = np.arange(24).reshape(2, 3, 4)
    order = [axis % 3 for axis in axes] or [2, 1, 0]
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

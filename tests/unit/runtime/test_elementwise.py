"""Element-wise operators against Python's own arithmetic, and MXNet's peculiarities."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import spec
from mxprof_nb.runtime.ops.elementwise import BINARY, ELEMWISE, SCALAR, UNARY
from tests.gradients import check_gradient, gradients
from tests.values import FLOATS, INTEGERS, check, each, pairwise, single

nd = mx.nd

X = [[0.5, 1.0, 2.0], [-1.5, 3.0, -0.25]]

# One array, element by element

EVERYWHERE: dict[str, Callable[[float], float]] = {
    "abs": lambda x: x if x > 0 else -x,
    "arcsinh": math.asinh,
    "arctan": math.atan,
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "ceil": math.ceil,
    "cos": math.cos,
    "cosh": math.cosh,
    "degrees": math.degrees,
    "erf": math.erf,
    "exp": math.exp,
    "expm1": math.expm1,
    "fix": math.trunc,
    "floor": math.floor,
    "gamma": math.gamma,
    "gammaln": math.lgamma,
    "hard_sigmoid": lambda x: min(max(0.2 * x + 0.5, 0), 1),
    "logical_not": lambda x: x == 0,
    "negative": lambda x: -x,
    "radians": math.radians,
    "rcbrt": lambda x: 1 / math.copysign(abs(x) ** (1 / 3), x),
    "reciprocal": lambda x: 1 / x,
    "relu": lambda x: x if x > 0 else 0.0,
    "rint": lambda x: math.ceil(x - 0.5),
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "sign": lambda x: (x > 0) - (x < 0),
    "sin": math.sin,
    "sinh": math.sinh,
    "softsign": lambda x: x / (1 + abs(x)),
    "square": lambda x: x * x,
    "tan": math.tan,
    "tanh": lambda x: (math.exp(2 * x) - 1) / (math.exp(2 * x) + 1),
    "trunc": math.trunc,
}
POSITIVE: dict[str, Callable[[float], float]] = {
    "arccosh": lambda x: math.acosh(x + 1),
    "log": math.log,
    "log10": math.log10,
    "log1p": math.log1p,
    "log2": math.log2,
    "rsqrt": lambda x: x**-0.5,
    "sqrt": lambda x: x**0.5,
}
UNIT: dict[str, Callable[[float], float]] = {
    "arccos": math.acos,
    "arcsin": math.asin,
    "arctanh": math.atanh,
    "erfinv": lambda x: NormalDist().inv_cdf((x + 1) / 2) / 2**0.5,
}


def test_every_function_of_one_array_is_tested():
    assert {*EVERYWHERE, *POSITIVE, *UNIT} == {*UNARY, "hard_sigmoid"}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [*EVERYWHERE, *POSITIVE, *UNIT])
def test_a_function_of_one_array_is_applied_to_each_element(name, dtype):
    function = {**EVERYWHERE, **POSITIVE, **UNIT}[name]
    values = X if name in EVERYWHERE else [[0.5, 1.0], [2.0, 9.0]]
    if name in UNIT:
        values = [[-0.75, 0.25], [0.5, -0.0625]]
    x = nd.array(values, dtype=dtype)
    if name == "arccosh":
        x += 1
    expected = each(function, values)
    check(getattr(nd, name)(x), expected, dtype)
    out = nd.zeros_like(x)
    assert getattr(nd, name)(x, out=out) is out
    check(out, expected, dtype)
    if hasattr(NDArray, name):
        check(getattr(x, name)(), expected, dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", [*(EVERYWHERE.keys() - {"hard_sigmoid"}), "log", "sqrt", "rsqrt"])
def test_functions_of_whole_numbers_answer_in_whole_numbers(name, dtype):
    values = [1, 2, 3, 4]
    expected = each({**EVERYWHERE, **POSITIVE}[name], values).astype(int)
    if dtype == "uint8":
        expected %= 256
    if name == "degrees" and dtype == "int8":
        expected = (expected + 128) % 256 - 128
    check(getattr(nd, name)(nd.array(values, dtype=dtype)), expected, dtype)


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_numbers_refuse_truth_values(name):
    with pytest.raises(ShapeError, match=rf"{name} got bool\[2\]: numbers are needed.*astype"):
        getattr(nd, name)(nd.ones(2, dtype="bool"))


def test_hard_sigmoid_has_a_line_of_ones_own_and_needs_floating_point_numbers():
    check(nd.hard_sigmoid(nd.array([-9, 1, 9]), alpha=0.1, beta=0.3), [0, 0.4, 1], "float32")
    with pytest.raises(ShapeError, match="floating point"):
        nd.hard_sigmoid(nd.ones(2, dtype="int32"))


def test_halves_are_rounded_as_in_mxnet():
    x = nd.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 8388609])
    check(nd.rint(x), [-3, -2, -1, 0, 1, 2, 8388609], "float32")
    check(nd.round(x), [-3, -2, -1, 1, 2, 3, 8388609], "float32")
    check(nd.fix(x), [-2, -1, 0, 0, 1, 2, 8388609], "float32")


def test_special_functions_are_right_to_the_last_digits():
    x = np.linspace(-6.05, 6, 121)
    given = nd.array(x, dtype="float64")
    np.testing.assert_allclose(nd.erf(given).asnumpy(), each(math.erf, x), rtol=1e-14)
    np.testing.assert_allclose(nd.gamma(given).asnumpy(), each(math.gamma, x), rtol=1e-12)
    np.testing.assert_allclose(
        nd.gammaln(given).asnumpy(), each(math.lgamma, x), rtol=1e-12, atol=1e-13
    )
    y = np.concatenate([np.linspace(-0.999999, 0.999999, 100), [1e-12, 1 - 1e-12]])
    found = nd.erfinv(nd.array(y, dtype="float64")).asnumpy()
    np.testing.assert_allclose(each(math.erf, found), y, rtol=1e-14)


def test_special_functions_have_their_limits():
    limits = nd.array([-1, 0, np.inf, np.nan])
    np.testing.assert_equal(nd.gamma(limits).asnumpy(), single([np.nan, np.inf, np.inf, np.nan]))
    np.testing.assert_equal(nd.gammaln(limits).asnumpy(), single([np.inf, np.inf, np.inf, np.nan]))
    ends = nd.array([-2, -1, 1, np.nan])
    np.testing.assert_equal(nd.erfinv(ends).asnumpy(), single([np.nan, -np.inf, np.inf, np.nan]))
    np.testing.assert_equal(nd.erf(limits).asnumpy()[2:], single([1, np.nan]))
    high = nd.gamma(nd.array([171, 200], dtype="float64")).asnumpy()
    np.testing.assert_allclose(high, [math.gamma(171), np.inf], rtol=1e-12)


def test_settings_for_warnings_in_the_program_do_not_reach_the_workers():
    for _ in range(20):
        with np.errstate():  # NumPy 1 forgets the settings of other threads over these
            pass
        with np.errstate(all="raise"):
            assert np.isnan(nd.sqrt(nd.array([-1])).asnumpy()).all()


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
        single([0, 0, 1, 1]),
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
IN_PLACE = {**{sign: ARITHMETIC[sign] for sign in "+-*/%"}, "**": lambda x, y: x**y}


def apply(symbol: str, x: Any, y: Any) -> Any:
    return eval(f"x {symbol} y", {"x": x, "y": y})


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


@pytest.mark.parametrize("other", ["a", b"a", [1, 2], (1, 2)])
@pytest.mark.parametrize("x", [nd.array([3], dtype="int32"), nd.ones(2)], ids=["one", "two"])
def test_a_product_with_a_list_does_not_repeat_the_list(x: nd.NDArray, other: Any):
    for multiply in (lambda: x * other, lambda: other * x):
        with pytest.raises(TypeError, match=rf"for \*: 'NDArray' and '{type(other).__name__}'"):
            multiply()


@pytest.mark.parametrize("other", ["a", [1, 2], None, object()])
def test_what_is_no_number_cannot_be_compared(other):
    for compare in (operator.eq, operator.ne):
        with pytest.raises(TypeError, match=f"not {type(other).__name__}.*`is`"):
            compare(nd.ones(2), other)
    with pytest.raises(TypeError, match=r"not supported between"):
        nd.ones(2) < other  # noqa: B015


@pytest.mark.parametrize("symbol", IN_PLACE)
def test_in_place_arithmetic_writes_to_the_same_memory(symbol):
    x = nd.array(X)
    alias, before = x.reshape(-1), single(X)
    names = {"x": x}
    exec(f"x {symbol}= 4", names)
    assert names["x"] is x
    expected = pairwise(IN_PLACE[symbol], before, 4)
    check(x, expected, "float32")
    check(alias, expected.reshape(-1), "float32")


def test_in_place_arithmetic_must_keep_the_shape():
    x = nd.ones(1)
    with pytest.raises(ShapeError, match=r"broadcast_add makes float32\[2\].*out=float32\[1\]"):
        x += nd.ones(2)
    check(x, [1], "float32")


NAMED = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "true_divide": "/",
    "modulo": "%",
    "equal": "==",
    "not_equal": "!=",
    "greater": ">",
    "greater_equal": ">=",
    "lesser": "<",
    "lesser_equal": "<=",
}
CALLED: dict[str, Callable[[Any, Any], Any]] = {
    "power": lambda x, y: x**y,
    "maximum": max,
    "minimum": min,
    "hypot": math.hypot,
    "logical_and": lambda x, y: bool(x and y),
    "logical_or": lambda x, y: bool(x or y),
    "logical_xor": lambda x, y: bool(x) != bool(y),
}


@pytest.mark.parametrize("name", [*NAMED, *CALLED])
def test_named_functions_take_arrays_and_numbers_on_either_side(name):
    function = getattr(nd, name)
    plain = ARITHMETIC[NAMED[name]] if name in NAMED else CALLED[name]
    x, y = [1, 0, 3, 2], [4, 2, -3, 2]
    check(function(nd.array(x), nd.array(y)), pairwise(plain, x, y), "float32")
    check(function(nd.array(x), 3), pairwise(plain, x, 3), "float32")
    check(function(3, nd.array(y)), pairwise(plain, 3, y), "float32")
    check(
        function(nd.array([[1], [3]]), nd.array([4, 3])),
        pairwise(plain, [[1], [3]], [4, 3]),
        "float32",
    )
    assert function(7, 2) == plain(7, 2)
    assert type(function(7, 2)) in (int, float)
    for wrong in ((None, nd.ones(1)), (nd.ones(1), "a"), ("a", 1)):
        with pytest.raises(TypeError, match="needs an NDArray or a number"):
            function(*wrong)


@pytest.mark.parametrize("name", BINARY)
def test_every_operation_has_its_operator_by_name(name):
    x, y = nd.array([[1, 2, 3]], dtype="float64"), nd.array([[2], [0.5]], dtype="float64")
    function = getattr(nd, f"broadcast_{name}")
    expected = getattr(np, NUMPY_NAMES.get(name, name))(x.asnumpy(), y.asnumpy())
    check(function(x, y), expected, "float64")
    out = nd.zeros((2, 3), dtype="float64")
    assert function(x, y, out=out) is out
    check(out, expected, "float64")
    if name in ("add", "sub", "mul", "div"):
        same = getattr(nd, f"elemwise_{name}")
        check(
            same(x, x),
            getattr(np, NUMPY_NAMES.get(name, name))(x.asnumpy(), x.asnumpy()),
            "float64",
        )
        with pytest.raises(
            ShapeError, match=rf"elemwise_{name} got .*the shapes differ.*broadcast_{name}"
        ):
            same(x, y)


NUMPY_NAMES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "lesser": "less",
    "lesser_equal": "less_equal",
}


def test_large_whole_numbers_are_divided_exactly():
    x = nd.array([2**60 + 1, -(2**60) - 1, 7, -7], dtype="int64")
    check(x / 2, [2**59, -(2**59), 3, -3], "int64")
    assert (x / 1).asnumpy().tolist() == x.asnumpy().tolist()


def test_truth_values_and_numbers_make_whole_numbers():
    x = nd.array([1, 0], dtype="bool")
    check(x + 1, [2, 1], "int64")
    check(x == 1, [1, 0], "int64")
    with pytest.raises(ShapeError, match="numbers are needed"):
        x + x


def test_not_a_number_spreads_and_differs_from_itself():
    x = nd.array([np.nan, 1])
    np.testing.assert_equal(nd.maximum(x, 2).asnumpy(), single([np.nan, 2]))
    np.testing.assert_equal(nd.minimum(2, x).asnumpy(), single([np.nan, 1]))
    check(x != x, [1, 0], "float32")
    check(nd.relu(nd.array([-1.0, 2])), [0, 2], "float32")


# More than one formula


def test_where_chooses_by_element_or_by_row():
    x, y = nd.array([[1, 2], [3, 4]]), nd.array([[5, 6], [7, 8]])
    check(nd.where(nd.array([[1, 0], [0, -2]]), x, y), [[1, 6], [7, 4]], "float32")
    check(nd.where(nd.array([0, 1], dtype="int32"), x, y), [[5, 6], [3, 4]], "float32")
    check(nd.where(nd.array([[1, 0], [0, 1]], dtype="bool"), x, y), [[1, 6], [7, 4]], "float32")
    check(nd.where(nd.array([[np.nan, 0], [0, 0]]), x, y), [[1, 6], [7, 8]], "float32")
    with pytest.raises(ShapeError, match="x and y must agree"):
        nd.where(x, x, y.astype("int32"))
    with pytest.raises(ShapeError, match="the condition must have"):
        nd.where(nd.ones(3), x, y)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_clip_cuts_to_an_interval(dtype):
    x = nd.array([1, 3, 5], dtype=dtype)
    check(nd.clip(x, 2, 4), [2, 3, 4], dtype)
    check(x.clip(a_min=-1000, a_max=1000), [1, 3, 5], dtype)
    check(nd.clip(x, 2.5, 3.5), [2, 3, 3] if dtype in INTEGERS else [2.5, 3, 3.5], dtype)


def test_cast_changes_the_type_and_copies():
    x = nd.array([1.5, -1.5, 0])
    check(nd.cast(x, "int32"), [1, -1, 0], "int32")
    check(nd.Cast(x, dtype=np.float16), [1.5, -1.5, 0], "float16")
    check(nd.cast(x, "bool"), [1, 1, 0], "bool")
    for copy in (
        nd.cast(x, "float32"),
        nd.identity(x),
        nd.BlockGrad(x),
        nd.make_loss(x),
        nd.add_n(x),
    ):
        copy += 1
        check(copy, [2.5, -0.5, 1], "float32")
    check(x, [1.5, -1.5, 0], "float32")


def test_arrays_are_added_up():
    x = nd.array([[1, 2]])
    check(nd.add_n(x, x, x), [[3, 6]], "float32")
    check(nd.ElementWiseSum(x, x * 2), [[3, 6]], "float32")
    check(nd.add_n(*[nd.array([100], dtype="uint8")] * 3), [44], "uint8")
    check(x, [[1, 2]], "float32")
    with pytest.raises(ShapeError, match=r"add_n.*must agree"):
        nd.add_n(x, nd.ones(2))
    with pytest.raises(ArgumentError, match="nothing to add"):
        nd.add_n()


def test_constants_take_shape_and_type_from_an_array():
    x = nd.array([[1, 2]], dtype="int8")
    check(nd.zeros_like(x), [[0, 0]], "int8")
    check(x.ones_like(), [[1, 1]], "int8")


def test_smooth_l1_is_a_parabola_and_then_a_line():
    check(nd.smooth_l1(nd.array([-3, -0.5, 0, 1, 2])), [2.5, 0.125, 0, 0.5, 1.5], "float32")
    check(nd.smooth_l1(nd.array([1, 0.1]), scalar=2), [0.875, 0.02], "float32")
    check(nd.smooth_l1(nd.array([1, 3], dtype="int32"), scalar=2), [0, 2], "int32")


def test_a_loss_is_a_copy_with_a_gradient_of_its_own():
    x, head = single([1, 2, 3]), single([5, 5, 5])
    loss = spec("MakeLoss")
    check(nd.MakeLoss(nd.array(x)), x, "float32")
    for normalization, expected in (("null", 3), ("batch", 1), ("valid", 1.5)):
        found = gradients(loss, [x], [head], {"normalization": normalization}, (3.0, 1.5))
        np.testing.assert_array_equal(found[0], [expected] * 3)
    np.testing.assert_array_equal(gradients(spec("make_loss"), [x], [head])[0], [1, 1, 1])
    with pytest.raises(ArgumentError, match="normalization='some'"):
        nd.MakeLoss(nd.array(x), normalization="some")
    with pytest.raises(ShapeError, match="floating point"):
        nd.MakeLoss(nd.ones(2, dtype="int32"))


# Gradients

#: Nowhere near a kink of any operator.
UNEVEN = np.array([[0.3137, 0.7219, 0.4513], [0.1291, 0.8317, 0.6173]])


@pytest.mark.parametrize("name", [name for name, op in UNARY.items() if op.gradient])
def test_the_gradient_of_a_function_is_its_slope(name):
    values = UNEVEN + 1 if name == "arccosh" else UNEVEN
    check_gradient(UNARY[name], [values])
    if name in EVERYWHERE:
        check_gradient(UNARY[name], [-values - 0.03])


@pytest.mark.parametrize("name", [name for name, op in BINARY.items() if op.gradient])
@pytest.mark.parametrize(
    "shapes", [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (2, 3)), ((1,), (2, 3))]
)
def test_the_gradient_of_an_operation_is_summed_where_it_was_broadcast(name, shapes):
    left, right = UNEVEN.ravel()[::-1] * 2.2361 + 0.9, UNEVEN.ravel()
    operands = [
        values[: math.prod(shape)].reshape(shape).copy()
        for values, shape in zip((left, right), shapes, strict=True)
    ]
    check_gradient(BINARY[name], operands)
    check_gradient(BINARY[name], operands[::-1])
    if name in ELEMWISE and operands[0].shape == operands[1].shape:
        check_gradient(ELEMWISE[name], operands)


@pytest.mark.parametrize("name", [name for name, op in SCALAR.items() if op.gradient])
@pytest.mark.parametrize("number", [0.37, 2, 3.0])
def test_the_gradient_beside_a_number_is_the_slope(name, number):
    check_gradient(SCALAR[name], [UNEVEN], dynamic=(number,))


def test_gradients_of_the_others_are_their_slopes():
    mask = np.array([[1.0, 0, 1], [0, 0, 1]])
    check_gradient(spec("clip"), [UNEVEN], dynamic=(0.2, 0.65))
    check_gradient(spec("smooth_l1"), [UNEVEN * 4 - 2], dynamic=(1.3,))
    check_gradient(spec("hard_sigmoid"), [UNEVEN * 9 - 4], dynamic=(0.3, 0.4))
    check_gradient(spec("add_n"), [UNEVEN, UNEVEN * 2, UNEVEN - 1])
    check_gradient(spec("_copy"), [UNEVEN])
    check_gradient(spec("Cast"), [UNEVEN], {"dtype": "float64"})
    for condition in (mask, mask[:, 0].copy()):
        check_gradient(spec("where"), [condition, UNEVEN, UNEVEN * 2])


@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
@pytest.mark.parametrize(
    "name", [name for name, op in {**UNARY, **BINARY, **SCALAR}.items() if op.gradient]
)
def test_gradients_keep_the_type(name, dtype):
    x = np.array([[1, 2, 3]], dtype=dtype)
    for table, given, dynamic in ((UNARY, [x], ()), (BINARY, [x, x], ()), (SCALAR, [x], (2,))):
        if name in table:
            gradients(table[name], given, [np.ones_like(x)], dynamic=dynamic)


def test_gradients_at_kinks_are_those_of_mxnet():
    def slope(
        name: str, *inputs: list[float], dynamic: tuple[float, ...] = ()
    ) -> list[list[float]]:
        given = [single(values) for values in inputs]
        found = gradients(spec(name), given, [np.ones_like(given[0])], dynamic=dynamic)
        return [found[place].tolist() for place in sorted(found)]

    assert slope("relu", [0, 1, -1]) == [[0, 1, 0]]
    assert slope("abs", [0, -1]) == [[0, -1]]
    assert slope("sign", [0, -1]) == [[0, 0]]
    assert slope("broadcast_maximum", [1, 2], [1, 1]) == [[1, 1], [0, 0]]
    assert slope("broadcast_minimum", [1, 2], [1, 1]) == [[1, 0], [0, 1]]
    assert slope("_maximum_scalar", [1, 2, 0], dynamic=(1,)) == [[1, 1, 0]]
    assert slope("_minimum_scalar", [1, 2, 0], dynamic=(1,)) == [[1, 0, 1]]
    assert slope("clip", [-1, 0, 1, 2], dynamic=(0, 1)) == [[0, 1, 1, 0]]
    assert slope("smooth_l1", [-3, -0.25, 0, 0.25], dynamic=(2,)) == [[-1, -1, 0, 1]]
    assert slope("broadcast_mod", [5, -5], [3, 3]) == [[1, 1], [-1, 2]]
    assert slope("sqrt", [0]) == [[np.inf]]

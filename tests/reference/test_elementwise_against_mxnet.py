"""Element-wise operators on real MXNet 1.9.1 and on our runtime: values, types, errors, slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mxprof_nb.runtime.ops import spec
from mxprof_nb.runtime.ops.elementwise import BINARY, ELEMWISE, UNARY
from tests.gradients import gradients
from tests.reference.agreement import Call, check_agreement, check_gradients
from tests.reference.conftest import Runtimes

pytestmark = pytest.mark.reference

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int32", "int64")
floats, types = st.sampled_from(FLOATS), st.sampled_from([*FLOATS, *INTEGERS])
shapes = hnp.array_shapes(max_dims=3, max_side=4)
seeds = st.integers(0, 2**32 - 1)

#: Functions that are defined between some numbers only.
DOMAINS = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "gamma"), (0.1, 5.0)),
    **dict.fromkeys(("arcsin", "arccos", "arctanh", "erfinv"), (-0.95, 0.95)),
    "arccosh": (1.05, 5.0),
    "log1p": (-0.9, 5.0),
    "tan": (-1.4, 1.4),
}

#: Where MXNet's answer for whole numbers depends on how a float that does not fit is cut.
FLOATS_ONLY = {"arccosh", "arcsin", "arccos", "arctanh", "erfinv", "tan", "hard_sigmoid"}


def values(seed: int, shape: tuple[int, ...], dtype: str, low: float = -3, high: float = 3) -> Any:
    """Numbers in an interval; for whole numbers the small ones from 1."""
    generator = np.random.default_rng(seed)
    if dtype in INTEGERS:
        return generator.integers(1, 5, shape).astype(dtype)
    return generator.uniform(low, high, shape).astype(dtype)


@given(seed=seeds, shape=shapes, dtype=types)
@settings(max_examples=40)
def test_functions_of_one_array(runtimes: Runtimes, seed: int, shape: Any, dtype: str):
    calls: list[Call] = [
        (f"nd.{name}", [values(seed, shape, dtype, *DOMAINS.get(name, (-3, 3)))], {})
        for name in (*UNARY, "hard_sigmoid", "identity", "BlockGrad", "make_loss", "MakeLoss")
        if dtype in FLOATS or name not in FLOATS_ONLY
    ]
    check_agreement(runtimes, calls)


def test_functions_at_their_limits(runtimes: Runtimes):
    x = np.array([-2.5, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2.5, np.inf, -np.inf], dtype="float32")
    skipped = {"gamma", "gammaln", "erfinv", "softsign"}  # MXNet's: see below
    check_agreement(runtimes, [(f"nd.{name}", [x], {}) for name in UNARY if name not in skipped])
    finite = x[:9]
    check_agreement(runtimes, [(f"nd.{name}", [finite], {}) for name in skipped - {"gamma"}])
    check_agreement(runtimes, [("nd.gamma", [finite[finite != 0]], {})])


def test_functions_of_truth_values_and_other_wrong_types_are_refused(runtimes: Runtimes):
    truth, whole = np.array([True, False]), np.array([1, 2], dtype="int32")
    calls: list[Call] = [
        (f"nd.{name}", [truth], {}) for name in (*UNARY, "hard_sigmoid", "MakeLoss")
    ]
    calls += [("nd.hard_sigmoid", [whole], {}), ("nd.MakeLoss", [whole], {})]
    calls += [(f"nd.broadcast_{name}", [truth, truth], {}) for name in BINARY]
    calls += [("nd.broadcast_add", [whole, whole.astype("float32")], {})]
    calls += [(f"nd.{name}", [truth], {}) for name in ("identity", "zeros_like", "ones_like")]
    check_agreement(runtimes, calls)


@given(
    seed=seeds,
    fitting=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3),
    dtype=types,
)
@settings(max_examples=40)
def test_operations_on_two_arrays(runtimes: Runtimes, seed: int, fitting: Any, dtype: str):
    left, right = (shape or (1,) for shape in fitting.input_shapes)
    x, y = values(seed, left, dtype), values(seed + 1, right, dtype)
    power = (values(seed, left, dtype, 0.5, 3), y) if dtype in FLOATS else (x, y % 3)
    calls: list[Call] = [
        (f"nd.broadcast_{name}", power if name == "power" else (x, y), {}) for name in BINARY
    ]
    again = values(seed + 1, left, dtype)
    calls += [(f"nd.elemwise_{name}", [x, again], {}) for name in ("add", "sub", "mul", "div")]
    calls += [("nd.add", [x, y], {}), ("nd.logical_xor", [x, y], {})]
    check_agreement(runtimes, calls)


@given(left=shapes, right=shapes)
@settings(max_examples=40)
def test_shapes_that_do_not_fit(runtimes: Runtimes, left: Any, right: Any):
    x, y = np.ones(left, "float32"), np.ones(right, "float32")
    check_agreement(
        runtimes,
        [
            *((f"nd.{name}", [x, y], {}) for name in ("broadcast_sub", "elemwise_mul", "add_n")),
            ("nd.where", [x, y, y], {}),
            ("nd.where", [x, x, y], {}),
        ],
    )


SIDES = ("add", "subtract", "multiply", "divide", "modulo", "maximum", "minimum", "power")
STEPS = ("equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal")
LOGIC = ("logical_and", "logical_or", "logical_xor")


@given(
    seed=seeds,
    shape=shapes,
    dtype=types,
    number=st.sampled_from([1, 2, 3, 1.5, 2.75, True, np.float32(2.5), np.float64(1.25)]),
)
@settings(max_examples=40)
def test_operations_with_a_number_on_either_side(
    runtimes: Runtimes, seed: int, shape: Any, dtype: str, number: float
):
    x = values(seed, shape, dtype, 0.5, 3)
    calls: list[Call] = []
    for name in (*SIDES, *STEPS, *LOGIC):
        calls += [(f"nd.{name}", [x, number], {}), (f"nd.{name}", [number, x], {})]
        calls += [(f"nd.{name}", [3, number], {})]
    check_agreement(runtimes, calls)


@given(
    dtype=st.sampled_from(["int8", "uint8", "int32", "int64", "bool"]),
    number=st.integers(-300, 300),
)
@settings(max_examples=30)
def test_numbers_that_do_not_fit_a_type_wrap(runtimes: Runtimes, dtype: str, number: int):
    x = np.array([0, 1, 3, 100]).astype(dtype)
    names = ("add", "subtract", "multiply", "maximum", "greater")
    check_agreement(runtimes, [(f"nd.{name}", [x, number], {}) for name in names])


@given(seed=seeds, shape=shapes, dtype=types, other=types)
@settings(max_examples=40)
def test_the_others(runtimes: Runtimes, seed: int, shape: Any, dtype: str, other: str):
    x, y = values(seed, shape, dtype), values(seed + 1, shape, dtype)
    condition = np.random.default_rng(seed).integers(-1, 2, shape).astype("int32")
    rows = condition.reshape(shape[0], -1)[:, 0].astype("float32")
    positive = np.abs(x) if other == "uint8" else x  # what does not fit is cut as C pleases
    calls: list[Call] = [
        ("nd.clip", [x], {"a_min": -1.5, "a_max": 2.5}),
        ("nd.clip", [x, 1, 3], {}),
        ("nd.cast", [positive], {"dtype": other}),
        ("nd.Cast", [positive], {"dtype": "float16"}),
        ("nd.smooth_l1", [x], {"scalar": 1.5}),
        ("nd.smooth_l1", [x], {}),
        ("nd.add_n", [x, y, x], {}),
        ("nd.ElementWiseSum", [x], {}),
        ("nd.where", [condition, x, y], {}),
        ("nd.where", [rows, x, y], {}),
        ("nd.zeros_like", [x], {}),
        ("nd.ones_like", [x], {}),
        ("nd.stop_gradient", [x], {}),
    ]
    if dtype in FLOATS:
        calls += [("nd.hard_sigmoid", [x], {"alpha": 0.3, "beta": 0.4})]
    check_agreement(runtimes, calls)


WRONG: tuple[Call, ...] = (
    ("nd.add_n", [], {}),
    ("nd.add", [np.ones(2), None], {}),
    ("nd.add", [np.ones(2), "a"], {}),
    ("nd.NDArray.__eq__", [np.ones(2), None], {}),
    ("nd.NDArray.__ne__", [np.ones(2), "a"], {}),
    ("nd.MakeLoss", [np.ones(2)], {"normalization": "some"}),
)


def test_wrong_arguments(runtimes: Runtimes):
    check_agreement(runtimes, WRONG)


@given(seed=seeds, shape=shapes)
@settings(max_examples=10)
def test_slopes_of_functions(runtimes: Runtimes, seed: int, shape: Any):
    head = values(seed + 1, shape, "float64")
    for name, op in UNARY.items():
        if op.gradient:
            x = values(seed, shape, "float64", *DOMAINS.get(name, (-3, 3)))
            found = gradients(op, [x], [head])
            check_gradients(runtimes, (name, [x], {}), [0], head, found)
    x = values(seed, shape, "float64")
    for name, dynamic in (
        ("clip", {"a_min": -1.0, "a_max": 2.0}),
        ("smooth_l1", {"scalar": 1.5}),
        ("hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    ):
        found = gradients(spec(name), [x], [head], dynamic=tuple(dynamic.values()))
        check_gradients(runtimes, (name, [x], dynamic), [0], head, found)


@given(seed=seeds, fitting=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
@settings(max_examples=15)
def test_slopes_of_operations(runtimes: Runtimes, seed: int, fitting: Any):
    left, right = (shape or (1,) for shape in fitting.input_shapes)
    x, y = values(seed, left, "float64", 0.3, 3), values(seed + 1, right, "float64", 0.3, 3)
    head = values(seed + 2, fitting.result_shape or (1,), "float64")
    for name, op in BINARY.items():
        if op.gradient:
            found = gradients(op, [x, y], [head])
            check_gradients(runtimes, (f"broadcast_{name}", [x, y], {}), [0, 1], head, found)
    z, head = values(seed + 1, left, "float64", 0.3, 3), values(seed + 2, left, "float64")
    for name in ("add", "sub", "mul", "div"):  # MXNet has no function for the others
        op = ELEMWISE[name]
        found = gradients(op, [x, z], [head])
        check_gradients(runtimes, (f"elemwise_{name}", [x, z], {}), [0, 1], head, found)
    condition = (x > 1.5).astype("float64")
    found = gradients(spec("where"), [condition, x, z], [head])
    check_gradients(runtimes, ("where", [condition, x, z], {}), [1, 2], head, found)


@pytest.mark.parametrize("number", [2.0, 0.7])
@pytest.mark.parametrize("operation", SIDES)
def test_slopes_beside_a_number(runtimes: Runtimes, operation: str, number: float):
    internal = {
        "add": "plus",
        "subtract": "minus",
        "multiply": "mul",
        "divide": "div",
        "modulo": "mod",
    }
    x, head = values(1, (3, 4), "float64", 0.3, 3), values(2, (3, 4), "float64")
    short = internal.get(operation, operation)
    found = gradients(spec(f"_{short}_scalar"), [x], [head], dynamic=(number,))
    check_gradients(runtimes, (operation, [x, number], {}), [0], head, found)
    if operation in ("subtract", "divide", "modulo", "power"):
        found = gradients(spec(f"_r{short}_scalar"), [x], [head], dynamic=(number,))
        check_gradients(runtimes, (operation, [number, x], {}), [1], head, {1: found[0]})

"""Products, diagonals and linear algebra on real MXNet 1.9.1 and on our runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mxprof_nb.runtime.ops import spec
from tests.gradients import gradients, outputs_of
from tests.reference.agreement import Call, check_agreement, check_gradients
from tests.reference.conftest import Runtimes

pytestmark = pytest.mark.reference

floats = st.sampled_from(["float32", "float64"])
types = st.sampled_from(["float16", "float32", "float64", "int8", "uint8", "int32", "int64"])
seeds = st.integers(0, 2**32 - 1)
flags = st.booleans()


def values(seed: int, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    """Quarters: their products and sums are exact in every order."""
    return (np.random.default_rng(seed).integers(-8, 9, shape) / 4).astype(dtype)


# MXNet multiplies float16 and whole numbers on GPUs only; here they are multiplied as by NumPy.


@given(
    data=st.data(),
    seed=seeds,
    left=hnp.array_shapes(max_dims=3, max_side=4),
    right=hnp.array_shapes(max_dims=3, max_side=4),
    dtype=floats,
    turn_a=flags,
    turn_b=flags,
)
@settings(max_examples=80)
def test_dot(
    runtimes: Runtimes,
    data: Any,
    seed: int,
    left: Any,
    right: Any,
    dtype: str,
    turn_a: bool,
    turn_b: bool,
):
    a = values(seed, left, dtype)
    fitting = list(right)
    fitting[-1 if turn_b else 0] = left[0 if turn_a else -1]
    how = {"transpose_a": turn_a, "transpose_b": turn_b}
    calls: list[Call] = [
        ("nd.dot", [a, values(seed + 1, tuple(fitting), dtype)], how),
        ("nd.dot", [a, values(seed + 1, tuple(fitting), "float16")], how),
    ]
    if len(left) < 3 and len(right) < 3:  # of more axes MXNet looks at the sizes only
        calls.append(("nd.dot", [a, values(seed + 1, right, dtype)], how))
    check_agreement(runtimes, calls)


@given(
    seed=seeds,
    sides=st.tuples(*[st.integers(1, 4)] * 4),
    batch=hnp.array_shapes(max_dims=2, max_side=3),
    dtype=floats,
    turn_a=flags,
    turn_b=flags,
)
@settings(max_examples=40)
def test_batches(
    runtimes: Runtimes, seed: int, sides: Any, batch: Any, dtype: str, turn_a: bool, turn_b: bool
):
    m, k, n, other = sides
    a = values(seed, (*batch, *((k, m) if turn_a else (m, k))), dtype)
    b = values(seed + 1, (*batch, *((n, k) if turn_b else (k, n))), dtype)
    c = values(seed + 2, (*batch, m, n), dtype)
    wrong = values(seed, (*batch, other, other), dtype)
    how = {"transpose_a": turn_a, "transpose_b": turn_b}
    calls: list[Call] = [
        ("nd.batch_dot", [a, b], how),
        ("nd.batch_dot", [a, wrong], how),
        ("nd.batch_dot", [a, b[:1] if batch[0] > 1 else b[0]], how),
        ("nd.linalg.gemm2", [a, b], {**how, "alpha": 0.5}),
        ("nd.linalg.gemm2", [a, wrong], how),
        ("nd.linalg.gemm", [a, b, c], {**how, "alpha": 2.0, "beta": 0.5}),
        ("nd.linalg.gemm", [a, b, wrong], how),
        ("nd.linalg.syrk", [a], {"transpose": turn_a, "alpha": 2.0}),
    ]
    check_agreement(runtimes, calls)


@given(data=st.data(), seed=seeds, shape=hnp.array_shapes(max_dims=4, max_side=4), dtype=types)
@settings(max_examples=50)
def test_diagonals(runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str):
    rank = len(shape)
    x = values(seed, shape, dtype)
    axes = {"axis1": 0, "axis2": 1}
    if rank > 1:
        one, other = data.draw(st.permutations(range(-rank, 0)))[:2]
        axes = {"axis1": one, "axis2": other}
    # What has no element has no known shape in MXNet.
    limit = min(shape[axes["axis1"]], shape[axes["axis2"]]) - 1 if rank > 1 else 2
    k = data.draw(st.integers(-limit, limit))
    check_agreement(
        runtimes,
        [
            ("nd.diag", [x], {"k": k, **axes}),
            ("nd.diag", [x], {"k": 9}),
            ("nd.NDArray.diag", [x], {"k": 0}),
            *([("nd.diag", [x], {"axis1": 0, "axis2": -rank})] if rank > 1 else []),
        ],
    )


@st.composite
def matrices(draw: Any) -> Any:
    """Well-conditioned square matrices, and a generator for more."""
    generator = np.random.default_rng(draw(seeds))
    shape = (*draw(hnp.array_shapes(max_dims=2, max_side=2)), *[draw(st.integers(1, 4))] * 2)
    return generator.uniform(-1, 1, shape) + 3 * np.eye(shape[-1]), generator


@given(drawn=matrices(), turn=flags, rightside=flags, lower=flags, dtype=floats)
@settings(max_examples=40)
def test_linear_algebra(
    runtimes: Runtimes, drawn: Any, turn: bool, rightside: bool, lower: bool, dtype: str
):
    a, generator = drawn[0].astype(dtype), drawn[1]
    extent = a.shape[-1]
    other = (*a.shape[:-2], 3, extent) if rightside else (*a.shape[:-2], extent, 3)
    b = generator.uniform(-1, 1, other).astype(dtype)
    positive = np.matmul(a, a.swapaxes(-1, -2))
    how = {"transpose": turn, "rightside": rightside, "lower": lower, "alpha": 2.0}
    calls: list[Call] = [
        ("nd.linalg.trmm", [a, b], how),
        ("nd.linalg.trsm", [a, b], how),
        ("nd.linalg.potrf", [positive], {}),
        ("nd.linalg.potri", [np.linalg.cholesky(positive)], {}),
        ("nd.linalg.inverse", [a], {}),
        ("nd.linalg.det", [a], {}),
        ("nd.linalg.slogdet", [a], {}),
        ("nd.linalg.sumlogdiag", [a], {}),
        ("nd.linalg.extractdiag", [a], {"offset": extent // 2}),
        ("nd.linalg.makediag", [b], {"offset": -1}),
    ]
    if extent != 3:  # else these fit
        calls += [
            ("nd.linalg.trsm", [a, b], {**how, "rightside": not rightside}),
            ("nd.linalg.potrf", [b], {}),
        ]
    check_agreement(runtimes, calls)


def test_a_matrix_that_is_not_positive_definite_fails_where_it_is_read(runtimes: Runtimes):
    program = "\n".join(
        [
            "y = mx.nd.linalg.potrf(mx.nd.array([[1, 2], [2, 1]]))",
            "show('queued')",
            "y.wait_to_read()",
        ]
    )
    for process in (runtimes.real(), runtimes.ours()):
        outcome = process.run(program)
        assert outcome.values == ["queued"]
        assert "MXNetError" in outcome.error


@given(drawn=matrices(), turn=flags, rightside=flags, lower=flags)
@settings(max_examples=20)
def test_slopes(runtimes: Runtimes, drawn: Any, turn: bool, rightside: bool, lower: bool):
    a, generator = drawn
    extent = a.shape[-1]
    b = generator.uniform(-1, 1, a.shape)
    c = generator.uniform(-1, 1, a.shape)
    triangle = {"transpose": turn, "rightside": rightside, "lower": lower, "alpha": 2.0}
    turned = {"transpose_a": turn, "transpose_b": rightside}
    factor = np.linalg.cholesky(np.matmul(a, a.swapaxes(-1, -2)))
    flat = a.reshape(-1, extent)
    calls: list[tuple[str, list[Any], dict[str, Any]]] = [
        (
            "dot",
            [flat.T.copy() if turn else flat, a[0, 0] if a.ndim == 4 else a[0]],
            {**turned, "transpose_b": rightside},
        ),
        ("batch_dot", [a, b], turned),
        ("diag", [a], {"axis1": -2, "axis2": -1, "k": 0}),
        ("_linalg_gemm2", [a, b], {**turned, "alpha": 0.5}),
        ("_linalg_gemm", [a, b, c], {**turned, "alpha": 2.0, "beta": 0.5}),
        ("_linalg_syrk", [a], {"transpose": turn, "alpha": 2.0}),
        ("_linalg_trmm", [a, b], triangle),
        ("_linalg_trsm", [a, b], triangle),
        ("_linalg_potrf", [np.matmul(a, a.swapaxes(-1, -2))], {}),
        ("_linalg_potri", [factor], {}),
        ("_linalg_inverse", [a], {}),
        ("_linalg_det", [a], {}),
        ("_linalg_slogdet", [a], {}),
        ("_linalg_sumlogdiag", [a], {}),
        ("_linalg_extractdiag", [a], {"offset": 0}),
        ("_linalg_makediag", [a], {"offset": 1}),
    ]
    for name, inputs, how in calls:
        made = outputs_of(spec(name), inputs, how)
        head = generator.uniform(-1, 1, made[-1].shape)
        heads = [np.zeros_like(each) for each in made[:-1]] + [head]
        found = gradients(spec(name), inputs, heads, how)
        function = name.replace("_linalg_", "linalg.")
        wrt = range(len(inputs))
        check_gradients(runtimes, (function, inputs, how), wrt, head, found, len(made) - 1)

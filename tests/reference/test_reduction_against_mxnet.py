"""Reductions and order on real MXNet 1.9.1 and on our runtime: values, types, errors, slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mxprof_nb.runtime.ops import spec
from mxprof_nb.runtime.ops.reduction import REDUCE
from tests.gradients import gradients
from tests.reference.agreement import Call, check_agreement, check_gradients
from tests.reference.conftest import Runtimes

pytestmark = pytest.mark.reference

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int32", "int64")
types = st.sampled_from([*FLOATS, *INTEGERS])
#: MXNet does not sort half precision.
sorted_types = st.sampled_from(["float32", "float64", *INTEGERS])
#: Small, so that no sum and no position overflows a type of eight bits.
shapes = hnp.array_shapes(max_dims=3, max_side=3)
seeds = st.integers(0, 2**32 - 1)
flags = st.booleans()


def values(seed: int, shape: tuple[int, ...], dtype: str) -> Any:
    """Small numbers, many of them equal."""
    generator = np.random.default_rng(seed)
    if dtype in INTEGERS:
        return generator.integers(0, 3, shape).astype(dtype)
    return (generator.integers(-4, 5, shape) / 4).astype(dtype)


def distinct(seed: int, shape: tuple[int, ...]) -> Any:
    """Numbers of which no two are equal and none is 0."""
    size = int(np.prod(shape))
    return np.random.default_rng(seed).permutation(size).reshape(shape) / 7.0 - size / 15.01


@st.composite
def axes(draw: Any, rank: int) -> Any:
    """Return what may stand for axes: None, a number, a tuple; some of it wrong."""
    one = st.integers(-rank, rank - 1)
    return draw(
        st.one_of(
            st.none(),
            one,
            st.lists(one, max_size=rank, unique_by=lambda axis: axis % rank).map(tuple),
            st.sampled_from([rank, -rank - 1, (0, 0), (0, -rank)]),
        )
    )


@given(data=st.data(), seed=seeds, shape=shapes, dtype=types, keepdims=flags, exclude=flags)
@settings(max_examples=60)
def test_reductions(
    runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str, keepdims: bool, exclude: bool
):
    x, axis = values(seed, shape, dtype), data.draw(axes(len(shape)))
    how = {"axis": axis, "keepdims": keepdims}
    calls: list[Call] = [(f"nd.{name}", [x], {**how, "exclude": exclude}) for name in REDUCE]
    calls += [(f"nd.{name}_axis", [x], how) for name in ("sum", "max", "min")]
    calls += [("nd.norm", [x], {**how, "ord": 1})]
    if dtype in FLOATS:  # MXNet rounds whole numbers to the root at every step
        calls += [("nd.norm", [x], {**how, "ord": 2})]
    if not isinstance(axis, tuple):
        calls += [("nd.argmax", [x], how), ("nd.argmin", [x], how)]
    check_agreement(runtimes, calls)


@given(seed=seeds, shape=shapes)
@settings(max_examples=15)
def test_not_a_number(runtimes: Runtimes, seed: int, shape: Any):
    x = values(seed, shape, "float32")
    x.flat[:: 1 + seed % 3] = np.nan
    check_agreement(
        runtimes,
        [(f"nd.{name}", [x], {"axis": -1}) for name in (*REDUCE, "norm", "argmax", "argmin")],
    )


@given(seed=seeds, shape=shapes, dtype=st.sampled_from(FLOATS), eps=st.sampled_from([1e-10, 0.5]))
@settings(max_examples=20)
def test_normalization(runtimes: Runtimes, seed: int, shape: Any, dtype: str, eps: float):
    x = values(seed, shape, dtype) + np.asarray(0.05, dtype=dtype)
    modes = ["instance", "channel", "spatial", "some"] if len(shape) != 1 else ["some"]
    check_agreement(runtimes, [("nd.L2Normalization", [x], {"eps": eps, "mode": m}) for m in modes])


@given(data=st.data(), seed=seeds, shape=shapes, dtype=sorted_types, is_ascend=flags)
@settings(max_examples=60)
def test_order(runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str, is_ascend: bool):
    x, rank = values(seed, shape, dtype), len(shape)
    axis = data.draw(st.one_of(st.none(), st.integers(-rank, rank - 1), st.just(rank)))
    k = data.draw(st.integers(0, 5))
    how = {"axis": axis, "is_ascend": is_ascend}
    # MXNet keeps the order of equal elements in short rows only.
    y = distinct(seed, shape).astype("float64" if dtype in INTEGERS else dtype)
    calls: list[Call] = [
        ("nd.sort", [x], how),
        ("nd.argsort", [y], how),
        ("nd.argsort", [y], {**how, "dtype": "int32"}),
        ("nd.topk", [y], {"k": 1}),
        ("nd.topk", [x], {**how, "k": 0, "ret_typ": "value"}),
        *(("nd.topk", [y], {**how, "k": k, "ret_typ": kind}) for kind in ("value", "indices")),
        *(("nd.topk", [y], {**how, "k": k, "ret_typ": kind}) for kind in ("mask", "both", "some")),
        ("nd.topk", [y], {**how, "k": k, "dtype": "uint8", "ret_typ": "both"}),
        ("nd.topk", [x], {**how, "dtype": "int8"}),
        ("nd.argmax_channel", [x if rank == 2 else np.ones((2, 3), dtype)], {}),
    ]
    check_agreement(runtimes, calls)


@given(data=st.data(), seed=seeds, shape=shapes, dtype=types)
@settings(max_examples=30)
def test_running_sums(runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str):
    x = values(seed, shape, dtype)
    axis = data.draw(st.one_of(st.none(), st.integers(0, len(shape))))  # MXNet counts from 0 only
    calls: list[Call] = [("nd.cumsum", [x], {"axis": axis})]
    calls += [("nd.cumsum", [x], {"axis": axis, "dtype": "float64"})]
    check_agreement(runtimes, calls)


def test_truth_values(runtimes: Runtimes):
    x = np.array([[True, False], [True, True]])
    names = ("argmax", "argmin", "argsort", "sort", "topk", "argmax_channel", "L2Normalization")
    calls: list[Call] = [(f"nd.{name}", [x], {}) for name in names]
    calls += [(f"nd.{name}", [x], {"axis": 1}) for name in ("sum", "max", "min", "prod", "cumsum")]
    check_agreement(runtimes, calls)


def test_wrong_arguments(runtimes: Runtimes):
    x = np.ones((2, 3), "float32")
    check_agreement(
        runtimes,
        [
            ("nd.norm", [x], {"ord": 3}),
            ("nd.topk", [x], {"k": 4}),
            ("nd.cumsum", [x], {"axis": 2}),
            ("nd.L2Normalization", [x], {"mode": "channel"}),
            ("nd.L2Normalization", [x.astype("int32")], {}),
        ],
    )


@given(data=st.data(), seed=seeds, shape=shapes, keepdims=flags)
@settings(max_examples=25)
def test_slopes(runtimes: Runtimes, data: Any, seed: int, shape: Any, keepdims: bool):
    x, rank = distinct(seed, shape), len(shape)
    axis = data.draw(st.lists(st.integers(0, rank - 1), unique=True, max_size=rank).map(tuple))
    how = {"axis": axis, "keepdims": keepdims}
    reduced = np.sum(x, axis=axis or None, keepdims=keepdims)
    head = np.atleast_1d(values(seed, np.shape(reduced), "float64"))
    for name, op in REDUCE.items():
        found = gradients(op, [x], [head], how)
        check_gradients(runtimes, (name, [x], how), [0], head, found)
    for ord in (1, 2):
        found = gradients(spec("norm"), [x], [head], {**how, "ord": ord})
        check_gradients(runtimes, ("norm", [x], {**how, "ord": ord}), [0], head, found)
    place = data.draw(st.integers(0, rank - 1))
    for name, chosen in (
        ("cumsum", {"axis": place}),
        ("topk", {"axis": place, "k": 1, "ret_typ": "value"}),
        ("topk", {"axis": place, "k": shape[place], "ret_typ": "value", "is_ascend": True}),
        ("L2Normalization", {"eps": 0.25, "mode": "instance"}),
        ("L2Normalization", {"eps": 0.25, "mode": "channel"}),
        ("L2Normalization", {"eps": 0.25, "mode": "spatial"}),
    ):
        if name == "L2Normalization" and rank < (2 if chosen["mode"] == "instance" else 3):
            continue
        op = spec("_np_cumsum" if name == "cumsum" else name)
        extent = 1 if chosen.get("k") == 1 else shape[place]
        head = values(seed + 1, (*shape[:place], extent, *shape[place + 1 :]), "float64")
        found = gradients(op, [x], [head], chosen)
        check_gradients(runtimes, (name, [x], chosen), [0], head, found)

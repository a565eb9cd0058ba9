"""Shapes, joining, splitting and repeating on real MXNet 1.9.1 and on our runtime."""

from __future__ import annotations

from collections.abc import Sequence
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

FLOATS = ("float32", "float64")
types = st.sampled_from(["float16", *FLOATS, "int8", "uint8", "int32", "int64"])
shapes = hnp.array_shapes(max_dims=4, max_side=4)
seeds = st.integers(0, 2**32 - 1)


def values(seed: int, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    return np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)


def integers(low: int, high: int, longest: int = 4) -> Any:
    return st.lists(st.integers(low, high), max_size=longest).map(tuple)


# Reshaping

REQUESTS = [0, -1, -2, -3, -4, 1, 2, 3, 4, 6]


def is_read_by_mxnet(wanted: Sequence[int]) -> bool:
    """Whether MXNet reads a request as it says it does.

    It takes the two numbers behind a -4 wherever they are, also behind the end of the request; if
    they are -1 and 0 it divides by 0, which ends the process. It counts the place of -1 in the
    request, not in the shape, and so puts what is left elsewhere if there is a -2 before.
    """
    if -1 in wanted and -2 in wanted[: len(wanted) - 1 - wanted[::-1].index(-1)]:
        return False
    halves = [{*wanted[k + 1 : k + 3]} for k, extent in enumerate(wanted[:-2]) if extent == -4]
    return -4 not in wanted[-2:] and {0, -1} not in halves


@given(seed=seeds, shape=shapes, wanted=st.lists(st.sampled_from(REQUESTS), max_size=5))
@settings(max_examples=200)
def test_requests_for_shapes(runtimes: Runtimes, seed: int, shape: Any, wanted: list[int]):
    x = values(seed, shape)
    for reverse in (False, True):
        if not is_read_by_mxnet(wanted[::-1] if reverse else wanted):
            continue
        how = {"shape": tuple(wanted), "reverse": reverse}
        real, ours = (
            process.call("nd.NDArray.reshape", [x], **how)
            for process in (runtimes.real(), runtimes.ours())
        )
        told = f"{shape} {how} {real.message[-200:]} {ours.message}"
        assert bool(real.error) == bool(ours.error), told
        if real.error:
            assert {"ShapeError", "ValueError", "MXNetError"} <= {*ours.error}, told
        else:
            np.testing.assert_array_equal(ours.values[0], real.values[0], told)
            assert ours.values[0].shape == real.values[0].shape, told


@given(data=st.data(), seed=seeds, shape=shapes, dtype=types)
@settings(max_examples=30)
def test_shapes(runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str):
    x, rank = values(seed, shape, dtype), len(shape)
    axis = data.draw(st.integers(-rank - 2, rank + 1))
    other = data.draw(st.integers(-rank, rank))
    order = data.draw(st.permutations(range(rank)).map(tuple))
    narrow = tuple(axis for axis, extent in enumerate(shape) if extent == 1)
    axes = data.draw(st.lists(st.integers(0, rank), unique=True, min_size=1).map(tuple))
    calls: list[Call] = [
        ("nd.flatten", [x], {}),
        ("nd.expand_dims", [x], {"axis": axis}),
        ("nd.squeeze", [x], {}),
        ("nd.squeeze", [x], {"axis": narrow}),
        ("nd.squeeze", [x], {"axis": axis}),
        ("nd.transpose", [x], {}),
        ("nd.transpose", [x], {"axes": order}),
        ("nd.transpose", [x], {"axes": (*order, rank)}),
        ("nd.swapaxes", [x], {"dim1": other, "dim2": order[0]}),
        ("nd.flip", [x], {"axis": axes}),
        ("nd.shape_array", [x], {}),
        ("nd.size_array", [x], {}),
        ("nd.reshape_like", [x, values(seed, order, "int32")], {}),
        ("nd.reshape_like", [x, np.zeros(x.size, dtype)], {}),
        ("nd.moveaxis", [x], {"source": order[0], "destination": order[-1]}),
        ("nd.moveaxis", [x], {"source": order, "destination": tuple(range(rank))}),
        ("nd.NDArray.transpose", [x], {"axes": order}),
        ("nd.NDArray.flatten", [x], {}),
        ("nd.NDArray.expand_dims", [x], {"axis": 0}),
    ]
    check_agreement(runtimes, calls)


@given(seed=seeds, sides=st.tuples(*[st.integers(1, 4)] * 4), block=st.integers(1, 2), dtype=types)
@settings(max_examples=30)
def test_blocks(runtimes: Runtimes, seed: int, sides: Any, block: int, dtype: str):
    n, c, h, w = sides
    deep = values(seed, (n, c * block**2, h, w), dtype)
    wide = values(seed, (n, c, h * block, w * block), dtype)
    check_agreement(
        runtimes,
        [
            (f"nd.{name}", [x], {"block_size": block})
            for name in ("depth_to_space", "space_to_depth")
            for x in (deep, wide, deep[0])
        ],
    )


# Repeating


@given(data=st.data(), seed=seeds, shape=shapes, dtype=types)
@settings(max_examples=40)
def test_repetition(runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str):
    rank = len(shape)
    narrow = tuple(1 if data.draw(st.booleans()) else extent for extent in shape)
    x, thin = values(seed, shape, dtype), values(seed, narrow, dtype)
    ones = tuple(axis for axis, extent in enumerate(narrow) if extent == 1)
    axis = data.draw(st.one_of(st.none(), st.integers(-rank, rank)))
    axis = None if axis == rank and rank == 1 else axis
    # MXNet tiles few axes only, and has no arrays without elements.
    calls: list[Call] = [
        ("nd.broadcast_to", [thin], {"shape": shape}),
        ("nd.broadcast_to", [x], {"shape": (*shape[:-1], 5)}),
        ("nd.broadcast_to", [x], {"shape": (2, *shape)}),
        ("nd.NDArray.broadcast_to", [thin], {"shape": (2, *shape)}),
        ("nd.broadcast_like", [thin, x], {}),
        ("nd.broadcast_like", [thin, x], {"lhs_axes": (-1,), "rhs_axes": (rank - 1,)}),
        ("nd.broadcast_like", [x, values(seed, (*shape[:-1], 5))], {}),
        ("nd.broadcast_axis", [thin], {"axis": ones, "size": tuple(shape[k] for k in ones)}),
        ("nd.broadcast_axes", [thin], {"axis": 0, "size": 3}),
        ("nd.tile", [x], {"reps": data.draw(integers(1, 3, longest=2))}),
        ("nd.repeat", [x], {"repeats": data.draw(st.sampled_from([-1, 1, 2, 3])), "axis": axis}),
    ]
    check_agreement(runtimes, calls)


@given(
    data=st.data(),
    seed=seeds,
    shape=hnp.array_shapes(min_dims=3, max_dims=5, min_side=2, max_side=3),
    dtype=st.sampled_from([*FLOATS, "int32"]),
)
@settings(max_examples=40)
def test_borders(runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str):
    inner = data.draw(st.lists(st.integers(0, 2), min_size=2 * len(shape) - 4))
    width = (0, 0, data.draw(st.sampled_from([0, 0, 0, 1])), 0, *inner[: 2 * len(shape) - 4])
    # MXNet reflects numbers from beside an array of five axes if it is too small.
    fits = len(shape) != 5 or max(width) < min(shape)
    check_agreement(
        runtimes,
        [
            (f"nd.{name}", [values(seed, shape, dtype)], {"mode": mode, "pad_width": width, **more})
            for name in ("pad", "Pad")
            for mode, more in (
                ("constant", {"constant_value": 1.5}),
                ("constant", {}),
                ("edge", {}),
                ("some", {}),
                *[("reflect", {})] * fits,
            )
        ],
    )


# Joining and splitting


@given(data=st.data(), seed=seeds, shape=shapes, dtype=types)
@settings(max_examples=60)
def test_joining(runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str):
    rank = len(shape)
    dim = data.draw(st.integers(-rank - 1, rank))
    extents = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    place = dim % rank
    parts = [values(seed, (*shape[:place], k, *shape[place + 1 :]), dtype) for k in extents]
    alike = [values(seed + k, shape, dtype) for k in range(len(extents))]
    calls: list[Call] = [
        ("nd.concat", parts, {"dim": dim}),
        ("nd.Concat", alike, {}),
        ("nd.concat", [*parts, parts[0].astype("float64")], {"dim": dim}),
        ("nd.concat", [*parts, parts[0][None]], {"dim": dim}),
        ("nd.stack", alike, {"axis": dim}),
        ("nd.stack", [alike[0], alike[0].astype("float64")], {}),
        ("nd.stack", alike, {}),
    ]
    calls = [call for call in calls if len({x.dtype for x in call[1]}) == 1 or dtype != "float64"]
    check_agreement(runtimes, calls)


@given(data=st.data(), seed=seeds, shape=shapes, dtype=types)
@settings(max_examples=60)
def test_splitting(runtimes: Runtimes, data: Any, seed: int, shape: Any, dtype: str):
    rank = len(shape)
    axis = data.draw(st.integers(-rank, rank))
    extent = shape[axis] if axis < rank else 1
    cuts = tuple(sorted(data.draw(st.sets(st.integers(1, 4)))))
    cuts = tuple(cut for cut in cuts if cut < extent)
    x = values(seed, shape, dtype)
    calls: list[Call] = [
        ("nd.split", [x], {"num_outputs": count, "axis": axis, "squeeze_axis": squeeze})
        for count in (1, 2, 3, extent)
        for squeeze in (False, True)
        if not (squeeze and rank == 1)
    ]
    if axis < rank and cuts:
        calls += [("nd.split_v2", [x], {"indices_or_sections": cuts, "axis": axis})]
        calls += [("nd.split_v2", [x], {"indices_or_sections": extent, "axis": axis})]
    check_agreement(runtimes, calls)


# Gradients


@given(data=st.data(), seed=seeds, shape=hnp.array_shapes(min_dims=2, max_dims=4, max_side=3))
@settings(max_examples=25)
def test_slopes(runtimes: Runtimes, data: Any, seed: int, shape: Any):
    x, rank = values(seed, shape, "float64"), len(shape)
    narrow = tuple(1 if data.draw(st.booleans()) else extent for extent in shape)
    order = data.draw(st.permutations(range(rank)).map(tuple))
    pad_width = (0, 0, 0, 0, *[1] * (2 * (rank - 2)))
    calls: list[tuple[str, str, list[Any], dict[str, Any]]] = [
        ("Reshape", "reshape", [x], {"shape": (-3, -2)}),
        ("Flatten", "flatten", [x], {}),
        ("expand_dims", "expand_dims", [x], {"axis": 1}),
        ("squeeze", "squeeze", [values(seed, narrow, "float64")], {}),
        ("transpose", "transpose", [x], {"axes": order}),
        ("SwapAxis", "swapaxes", [x], {"dim1": order[0], "dim2": order[1]}),
        ("reverse", "flip", [x], {"axis": order[:1]}),
        ("broadcast_to", "broadcast_to", [values(seed, narrow, "float64")], {"shape": shape}),
        ("tile", "tile", [x], {"reps": (2, 1, 3)}),
        ("repeat", "repeat", [x], {"repeats": 3, "axis": order[0]}),
        ("repeat", "repeat", [x], {"repeats": 2}),
        ("Concat", "concat", [x, x + 1], {"dim": order[0]}),
        ("stack", "stack", [x, x + 1], {"axis": order[0]}),
        *(
            ("Pad", "pad", [x], {"mode": mode, "pad_width": pad_width})
            for mode in ("constant", "edge", "reflect")
            if rank == 4 and min(shape[2:]) > 1
        ),
    ]
    for name, function, inputs, how in calls:
        (made,) = outputs_of(spec(name), inputs, how)
        head = values(seed + 1, made.shape, "float64")
        found = gradients(spec(name), inputs, [head], how)
        wrt = list(range(len(inputs)))
        check_gradients(runtimes, (function, inputs, how), wrt, head, found)

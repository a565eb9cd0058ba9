"""Indexing and reshaping against NumPy, for any key that Hypothesis can think of."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mxprof_nb.runtime as mx

nd = mx.nd
shapes = hnp.array_shapes(min_dims=1, max_dims=4, max_side=3)


@st.composite
def advanced_keys(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A key with arrays of positions among numbers, slices, None and an ellipsis."""
    axes = draw(st.integers(1, len(shape)))
    arrays = draw(st.sets(st.integers(0, axes - 1), min_size=1))
    found = draw(hnp.mutually_broadcastable_shapes(num_shapes=len(arrays), max_dims=2, max_side=3))
    wanted = dict(zip(sorted(arrays), found.input_shapes, strict=True))
    key: list[Any] = []
    for axis, extent in enumerate(shape[:axes]):
        if draw(st.integers(0, 5)) == 0:
            key.append(None)
        if axis in wanted:
            elements = st.integers(-extent, extent - 1)
            key.append(draw(hnp.arrays("int64", wanted[axis] or (1,), elements=elements)))
        else:
            key.append(draw(st.one_of(st.integers(-extent, extent - 1), st.slices(extent))))
    if draw(st.booleans()):
        key.append(Ellipsis)
    return tuple(key)


def given_as(part: Any, how: str) -> Any:
    if not isinstance(part, np.ndarray) or how == "numpy":
        return part
    return part.tolist() if how == "list" else nd.array(part, dtype="int32")


@given(data=st.data(), shape=shapes, how=st.sampled_from(["numpy", "list", "NDArray"]))
@settings(max_examples=150)
def test_arrays_of_positions_choose_and_set_what_they_do_in_numpy(data: Any, shape: Any, how: str):
    values = np.arange(int(np.prod(shape)), dtype="f4").reshape(shape)
    key = data.draw(advanced_keys(shape))
    ours = tuple(given_as(part, how) for part in key)
    x = nd.array(values)
    chosen = values[key]
    np.testing.assert_array_equal(x[ours].asnumpy(), chosen)
    x[ours] = -1
    values[key] = -1
    np.testing.assert_array_equal(x.asnumpy(), values)
    x[ours] = nd.zeros(chosen.shape[-1:]) if chosen.size else 0
    values[key] = 0
    np.testing.assert_array_equal(x.asnumpy(), values)


@given(data=st.data(), shape=shapes)
def test_a_mask_chooses_and_sets_what_it_does_in_numpy(data: Any, shape: Any):
    values = np.arange(int(np.prod(shape)), dtype="f4").reshape(shape)
    covered = data.draw(st.integers(1, len(shape)))
    mask = data.draw(hnp.arrays("bool", shape[:covered]))
    for ours in (mask, mask.tolist(), nd.array(mask, dtype="bool")):
        x = nd.array(values)
        np.testing.assert_array_equal(x[ours].asnumpy(), values[mask])
        x[ours] = -1
        expected = values.copy()
        expected[mask] = -1
        np.testing.assert_array_equal(x.asnumpy(), expected)


@given(data=st.data(), shape=shapes)
@settings(max_examples=150)
def test_what_lies_side_by_side_is_a_view_and_nothing_else(data: Any, shape: Any):
    values = np.arange(int(np.prod(shape))).reshape(shape)
    key = data.draw(hnp.basic_indices(shape, allow_newaxis=True))
    chosen = np.asarray(values[key]).ravel()
    x = nd.array(values)
    beside = bool((np.diff(chosen) == 1).all())
    part = x[key]
    if chosen.size:
        assert (part.chunk is x.chunk) == beside
    part[:] = -1
    written = values.copy()
    if beside:
        written[key] = -1
    np.testing.assert_array_equal(x.asnumpy(), written)


@given(shape=shapes, seed=st.integers(0, 2**32 - 1))
@example(shape=(2, 3), seed=0)
def test_writes_through_views_of_views_reach_the_array(shape: Any, seed: int):
    draw = np.random.default_rng(seed)
    values = np.zeros(shape, "f4")
    x, view, expected = nd.array(values), nd.array(values), values
    view = x
    for extent in shape[:-1]:
        position = int(draw.integers(extent))
        view, expected = view[position], expected[position]
    view += 1
    expected += 1
    view[:1] = 5
    expected[:1] = 5
    nd.exp(view, out=view)
    np.exp(expected, out=expected)
    np.testing.assert_allclose(x.asnumpy(), values, rtol=1e-6)

"""Calls of the operators on pictures, for laws that hold for every operator."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import mxprof_nb.runtime as mx
from mxprof_nb.runtime.nd import NDArray

__all__ = ["CALLS"]

Call = tuple[list[NDArray], dict[str, Any], tuple[Any, ...]]

extents = st.integers(1, 4)
#: MXNet takes no other numbers of channels.
channels = st.sampled_from([1, 3])
numbers = st.sampled_from([-1.0, 0.25, 0.5, 2.0])


def picture(shape: Any, dtype: str) -> NDArray:
    values = np.arange(int(np.prod(shape))) * 37 % 256
    return mx.nd.array(values.reshape(shape), dtype=dtype)


@st.composite
def to_tensor(draw: Any) -> Call:
    several = draw(st.sampled_from([(), (2,)]))
    shape = (*several, draw(extents), draw(extents), draw(channels))
    return [picture(shape, draw(st.sampled_from(["uint8", "int32", "float32"])))], {}, ()


@st.composite
def normalize(draw: Any) -> Call:
    several, count = draw(st.sampled_from([(), (2,)])), draw(channels)
    shape = (*several, count, draw(extents), draw(extents))
    attrs = {
        name: tuple(draw(numbers) for _ in range(draw(st.sampled_from([1, count]))))
        for name in ("mean", "std")
    }
    return [picture(shape, draw(st.sampled_from(["float32", "float64"])))], attrs, ()


CALLS: dict[str, Any] = {
    "_image_to_tensor": to_tensor(),
    "_image_normalize": normalize(),
}

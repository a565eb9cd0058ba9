"""Calls that may not fit: small changes to calls of operators that do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["Misuse", "misuses"]

#: Types to try instead of one.
OTHER_TYPES = {
    "float16": ("float32", "uint8"),
    "float32": ("float64", "int32", "float16"),
    "float64": ("float32", "int64"),
    "int8": ("int32", "float32"),
    "uint8": ("int8", "float32"),
    "int32": ("int64", "float32"),
    "int64": ("int32", "float32"),
}

#: Attributes that a function of `mx.nd` works out itself, or that MXNet is told in another form.
NOT_GIVEN = {
    "_contrib_boolean_mask": ("rows",),
    "squeeze": ("axis",),
    "argmax": ("axis",),
    "argmin": ("axis",),
}

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Misuse:
    """A call of an operator, and in words what was changed about it."""

    change: str
    inputs: Sequence[Array]
    attrs: Mapping[str, Any]
    numbers: Sequence[float]


def misuses(name: str, call: Misuse) -> Iterator[Misuse]:
    """Yield a call as it is, then with one thing changed each time."""
    yield call
    yield from _shapes_and_types(call)
    if call.inputs:
        yield replace(call, change="an input less", inputs=call.inputs[:-1])
        yield replace(call, change="an input more", inputs=[*call.inputs, call.inputs[-1]])
    for key, value in call.attrs.items():
        if key == "train" or key in NOT_GIVEN.get(name, ()):
            continue
        for new in _instead_of(value):
            attrs = {**call.attrs, key: new}
            yield replace(call, change=f"{key}={new!r}, not {value!r}", attrs=attrs)
    for place, number in enumerate(call.numbers):
        if isinstance(number, tuple):
            continue  # one for each of several arrays: the function of `mx.nd` checks them
        for other in (-1, 0, 2):
            if other != number:
                numbers = [*call.numbers[:place], other, *call.numbers[place + 1 :]]
                yield replace(call, change=f"number {place} is {other}", numbers=numbers)


def _shapes_and_types(call: Misuse) -> Iterator[Misuse]:
    for place, x in enumerate(call.inputs):
        shapes: dict[str, tuple[int, ...]] = {
            f"axis {axis} is longer": (*x.shape[:axis], x.shape[axis] + 1, *x.shape[axis + 1 :])
            for axis in range(x.ndim)
        }
        shapes |= {"an axis more at the end": (*x.shape, 2), "one in front": (1, *x.shape)}
        if x.ndim > 1:
            shapes |= {"without the first axis": x.shape[1:], "the last": x.shape[:-1]}
        others = {change: _filled(shape, x.dtype) for change, shape in shapes.items()}
        for dtype in OTHER_TYPES[x.dtype.name]:
            others[dtype] = (np.abs(x) if dtype == "uint8" else x).astype(dtype)
        for change, other in others.items():
            inputs = [*call.inputs[:place], other, *call.inputs[place + 1 :]]
            yield replace(call, change=f"input {place}: {change}", inputs=inputs)


def _filled(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    values = (np.arange(int(np.prod(shape))) % 5 - 1).reshape(shape)
    return (np.abs(values) if dtype == np.uint8 else values).astype(dtype)


def _instead_of(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from {-9, -1, 0, 9, value + 1} - {value}
    elif isinstance(value, float):
        yield from {-1.0, 0.0, 2.0} - {value}
    elif isinstance(value, str):
        yield "nonsense"
    elif isinstance(value, tuple):
        yield from ((*value, 1), (*value, 0), (*value, 9))
        if value:
            yield value[:-1]
            yield from ((first, *value[1:]) for first in (-9, -1, 0) if first != value[0])
            if None not in value:
                yield from ((*value[:-1], value[-1] + 1), (*value, value[0]))

"""Arguments as users write them, as attributes of operators."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.context import Context, current_context
from mxprof_nb.runtime.invoke import Attrs

__all__ = [
    "Axis",
    "axes_of",
    "bounds",
    "device_of",
    "integers",
    "ordering",
    "position",
    "reduction",
    "required",
]

Axis = int | Sequence[int] | None
Given = TypeVar("Given")


def axes_of(axis: Axis) -> tuple[int, ...]:
    """Return axes as a tuple; None and () both mean all, as in MXNet."""
    if axis is None:
        return ()
    if isinstance(axis, (int, np.integer)):
        return (int(axis),)
    return tuple(map(_whole, axis if _has_parts(axis) else (axis,)))


def _has_parts(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str)


def _whole(axis: Any) -> Any:
    """Return an axis; what is no whole number as text, for the operator to refuse by name."""
    try:
        return operator.index(axis)
    except TypeError:
        return repr(axis)


def reduction(axis: Axis, keepdims: bool, exclude: bool = False) -> Attrs:
    """Return which axes to reduce; with ``exclude`` all but those named."""
    attrs: Attrs = (("axis", axes_of(axis)), ("keepdims", bool(keepdims)))
    return (*attrs, ("exclude", True)) if exclude else attrs


def position(axis: int | None, keepdims: bool) -> Attrs:
    """Return along which axis a position is asked for."""
    return reduction(axis, keepdims)


def ordering(axis: int | None, is_ascend: bool, dtype: Any = None) -> Attrs:
    """Return along which axis to sort, which way, and the type of the positions."""
    place = None if axis is None else _whole(axis)
    attrs: Attrs = (("axis", place), ("is_ascend", bool(is_ascend)))
    return attrs if dtype is None else (*attrs, ("dtype", np.dtype(dtype).name))


def integers(values: int | Sequence[int]) -> tuple[int, ...]:
    """Return one whole number or several as a tuple."""
    if isinstance(values, (int, np.integer)):
        return (int(values),)
    return tuple(operator.index(one) for one in values)


def bounds(values: int | Sequence[int | None] | None) -> tuple[int | None, ...]:
    """Return one bound or several as a tuple; None leaves one open."""
    if values is None or isinstance(values, (int, np.integer)):
        values = (values,)
    return tuple(None if one is None else operator.index(one) for one in values)


def device_of(ctx: Context | None, device: Context | None = None) -> Context:
    """Return the device named by one of two parameters, the current one by default.

    Raises
    ------
    TypeError
        What names it is no Context.
    """
    named = ctx or device or current_context()
    if not isinstance(named, Context):
        raise TypeError(
            f"ctx={named!r} is {type(named).__name__}, no Context. Name devices by mx.cpu(0), "
            "mx.cpu(1), ..."
        )
    return named


def required(name: str, parameter: str, meaning: str, given: Given | None) -> Given:
    """Return a parameter that has no default.

    Parameters
    ----------
    name, parameter : str
        Of the operator, of the parameter.
    meaning : str
        What the parameter says, for whoever left it out.
    given : object or None
        None if it was left out.

    Raises
    ------
    ArgumentError
        It was left out.
    """
    if given is None:
        raise ArgumentError(
            f"{name}: the required parameter {parameter} is missing: {meaning}. "
            f"Call it with {parameter}=..."
        )
    return given

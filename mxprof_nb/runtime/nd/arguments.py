"""Arguments as users write them, as attributes of operators."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.context import Context, current_context
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arithmetic import NUMBERS
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.ops import OpSpec
from mxprof_nb.runtime.ops.misfit import Misfit

__all__ = [
    "Axis",
    "axes_of",
    "bounds",
    "clipping",
    "device_of",
    "flag",
    "integers",
    "must_be_array",
    "must_be_arrays",
    "number",
    "ordering",
    "position",
    "real",
    "reduction",
    "required",
    "whole",
]

Axis = int | Sequence[int] | None
Given = TypeVar("Given")


def whole(given: Any) -> Any:
    """Return a whole number; anything else as a `Misfit`, for the operator to refuse by name."""
    try:
        return operator.index(given)
    except (TypeError, ValueError):
        return Misfit(given, "whole number")


def real(given: Any) -> Any:
    """Return a number as float; anything else as a `Misfit`."""
    try:
        return float(given)
    except (TypeError, ValueError):
        return Misfit(given, "number")


def flag(given: Any) -> Any:
    """Return a truth value; anything else as a `Misfit`, as ``"False"`` would be true."""
    if isinstance(given, (int, np.integer, np.bool_)):
        return bool(given)
    return Misfit(given, "truth value")


def number(name: str, parameter: str, given: Any) -> Any:
    """Return a number that a kernel is told at each call, as it was given.

    Raises
    ------
    ArgumentError
        It is none.
    """
    if not isinstance(given, NUMBERS):
        misfit = given if isinstance(given, Misfit) else Misfit(given, "number")
        raise ArgumentError(f"{name}: {parameter}={misfit} is no {misfit.wanted}.")
    return given


def clipping(a_min: Any, a_max: Any) -> tuple[float, float]:
    """Return the bounds of ``clip``, which its kernel is told at each call."""
    return float(number("clip", "a_min", a_min)), float(number("clip", "a_max", a_max))


def axes_of(axis: Axis) -> tuple[int, ...]:
    """Return axes as a tuple; None and () both mean all, as in MXNet."""
    return () if axis is None else integers(axis)


def _parts(given: Any) -> Any:
    """Return the parts of what has some, else the thing itself as the only part."""
    return (
        given if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else (given,)
    )


def reduction(axis: Axis, keepdims: bool, exclude: bool = False) -> Attrs:
    """Return which axes to reduce; with ``exclude`` all but those named."""
    attrs: Attrs = (("axis", axes_of(axis)), ("keepdims", flag(keepdims)))
    return attrs if exclude is False else (*attrs, ("exclude", flag(exclude)))


def position(axis: int | None, keepdims: bool) -> Attrs:
    """Return along which axis a position is asked for."""
    return reduction(axis, keepdims)


def ordering(axis: int | None, is_ascend: bool, dtype: Any = None) -> Attrs:
    """Return along which axis to sort, which way, and the type of the positions."""
    place = None if axis is None else whole(axis)
    attrs: Attrs = (("axis", place), ("is_ascend", flag(is_ascend)))
    return attrs if dtype is None else (*attrs, ("dtype", dtype_name(dtype)))


def integers(values: int | Sequence[int]) -> tuple[int, ...]:
    """Return one whole number or several as a tuple."""
    if isinstance(values, int):  # the rule, and quicker
        return (int(values),)
    return tuple(map(whole, _parts(values)))


def bounds(values: int | Sequence[int | None] | None) -> tuple[int | None, ...]:
    """Return one bound or several as a tuple; None leaves one open."""
    return tuple(None if one is None else whole(one) for one in _parts(values))


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


def must_be_arrays(op: OpSpec, out: Any) -> None:
    """Refuse targets that are no list of arrays; None is none at all."""
    if not isinstance(out, (list, tuple, NoneType)):
        raise TypeError(f"{op.name}: out must be a list of NDArrays, one for each result.")
    for each in out or ():
        must_be_array(op, each)


def must_be_array(op: OpSpec, out: object) -> None:
    """Refuse a target that is no array."""
    if not isinstance(out, Handle):
        raise TypeError(
            f"{op.name}: out must be an NDArray to write to, not {type(out).__name__}. "
            "Make one with nd.empty(...)."
        )

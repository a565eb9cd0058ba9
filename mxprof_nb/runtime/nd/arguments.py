"""Arguments as users write them, as attributes of operators."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.runtime.invoke import Attrs

__all__ = ["Axis", "axes_of", "bounds", "integers", "ordering", "position", "reduction"]

Axis = int | Sequence[int] | None


def axes_of(axis: Axis) -> tuple[int, ...]:
    """Return axes as a tuple; None and () both mean all, as in MXNet."""
    if axis is None:
        return ()
    if isinstance(axis, (int, np.integer)):
        return (int(axis),)
    return tuple(operator.index(one) for one in axis)


def reduction(axis: Axis, keepdims: bool, exclude: bool = False) -> Attrs:
    """Return which axes to reduce; with ``exclude`` all but those named."""
    attrs: Attrs = (("axis", axes_of(axis)), ("keepdims", bool(keepdims)))
    return (*attrs, ("exclude", True)) if exclude else attrs


def position(axis: int | None, keepdims: bool) -> Attrs:
    """Return along which axis a position is asked for."""
    return reduction(axis, keepdims)


def ordering(axis: int | None, is_ascend: bool, dtype: Any = None) -> Attrs:
    """Return along which axis to sort, which way, and the type of the positions."""
    place = None if axis is None else operator.index(axis)
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

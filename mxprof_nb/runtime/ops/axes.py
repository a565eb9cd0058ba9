"""Axes and types of inputs, as most operators check them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mxprof_nb.runtime.ops.registry import refuse
from mxprof_nb.runtime.ops.shapes import Aval

__all__ = ["axis_of", "distinct_axes", "of_one_type", "without"]


def axis_of(
    operator: str, operand: Aval, axis: int, *, more: int = 0, from_end: bool = True
) -> int:
    """Return an axis counted from 0.

    Parameters
    ----------
    operator : str
    operand : Aval
    axis : int
    more : int
        How many axes more than the operand has are allowed.
    from_end : bool
        Whether negative numbers count from the end, which some operators of MXNet refuse.

    Raises
    ------
    ShapeError
        There is no such axis.
    """
    rank = len(operand.shape) + more
    least = -rank if from_end else 0
    if not isinstance(axis, (int, np.integer)):
        raise refuse(operator, f"axis {axis} is no whole number", operand)
    if not least <= axis < rank:
        raise refuse(operator, f"axis {axis} is not in [{least}, {rank})", operand)
    return axis % rank


def distinct_axes(operator: str, operand: Aval, axes: Sequence[int]) -> tuple[int, ...]:
    """Return axes counted from 0, each named once."""
    found = tuple(axis_of(operator, operand, axis) for axis in axes)
    if len(set(found)) < len(found):
        raise refuse(operator, f"axes {tuple(axes)} name one axis twice", operand)
    return found


def of_one_type(operator: str, *operands: Aval) -> None:
    """Refuse operands of different types."""
    first = operands[0].dtype
    for other in operands[1:]:
        if other.dtype != first:
            raise refuse(
                operator,
                "the types differ",
                operands[0],
                other,
                remedy="Convert one with .astype(...).",
            )


def without(shape: tuple[int, ...], *axes: int) -> tuple[int, ...]:
    """Return a shape less some axes."""
    return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)

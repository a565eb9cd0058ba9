"""Sizes of windows, as layers take them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

from mxprof_nb.errors import ArgumentError

__all__ = ["Sizes", "must_be_layout", "sizes"]

Sizes = int | Sequence[int]

#: The order of axes, by number of axes of space: sample, channel, and those of space.
LAYOUTS = {1: "NCW", 2: "NCHW"}


def sizes(name: str, given: Sizes, axes: int) -> tuple[int, ...]:
    """Return one number for each axis of space.

    Raises
    ------
    ArgumentError
        There is another number of them.
    """
    found = (int(given),) * axes if isinstance(given, (int, Integral)) else tuple(given)
    if len(found) != axes:
        raise ArgumentError(f"{name}={given!r} must be a number, or {axes} of them.")
    return found


def must_be_layout(layout: str, axes: int) -> None:
    """Refuse an order of axes that operators on the processor do not take, as in MXNet."""
    if layout != LAYOUTS[axes]:
        raise ArgumentError(
            f"layout={layout!r}: only {LAYOUTS[axes]!r} is known here; move the channels there "
            "with transpose."
        )

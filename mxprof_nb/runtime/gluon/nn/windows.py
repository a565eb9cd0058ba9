"""Sizes, as layers take them: how many neurons or filters, and extents of windows."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any

from mxprof_nb.errors import ArgumentError

__all__ = ["Sizes", "count", "must_be_layout", "must_be_number", "sizes"]

Sizes = int | Sequence[int]

#: The order of axes, by number of axes of space: sample, channel, and those of space.
LAYOUTS = {1: "NCW", 2: "NCHW"}


def count(name: str, given: int, least: int = 1) -> int:
    """Return a number of neurons, filters or alike, at least so many.

    Raises
    ------
    ArgumentError
        It is less, or no whole number.
    """
    try:
        found = operator.index(given)
    except TypeError:
        found = -1
    if found < least:
        raise ArgumentError(f"{name}={given!r:.60} must be a whole number, {least} or more.")
    return found


def sizes(name: str, given: Sizes, axes: int, least: int = 1) -> tuple[int, ...]:
    """Return one number for each axis of space, each of them at least so many.

    Raises
    ------
    ArgumentError
        There is another number of them, one is less, or one is no whole number.
    """
    if not isinstance(given, (tuple, list)):
        return (count(name, given, least),) * axes  # type: ignore[arg-type]
    if len(given) != axes:
        raise ArgumentError(f"{name}={given!r:.60} must be a number, or {axes} of them.")
    return tuple(count(f"{name}[{place}]", each, least) for place, each in enumerate(given))


def must_be_number(name: str, given: Any, most: float | None = None) -> None:
    """Refuse what is no number from 0 up, or is larger than ``most``."""
    fits = isinstance(given, Real)
    if not fits or given < 0 or (most is not None and given > most):
        allowed = "0 or more" if most is None else f"0 to {most}"
        raise ArgumentError(f"{name}={given!r:.60} must be a number, {allowed}.")


def must_be_layout(layout: str, axes: int) -> None:
    """Refuse an order of axes that operators on the processor do not take, as in MXNet."""
    if layout != LAYOUTS[axes]:
        raise ArgumentError(
            f"layout={layout!r}: only {LAYOUTS[axes]!r} is known here; move the channels there "
            "with transpose."
        )

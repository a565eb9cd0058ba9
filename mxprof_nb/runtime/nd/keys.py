"""What users write between brackets, read without looking at a value."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np

from mxprof_nb.runtime.handle import Handle

__all__ = ["Advanced", "Basic", "advanced", "basic", "expanded", "is_advanced", "row"]

Shape = tuple[int, ...]
_WHOLE = slice(None)


def row(position: int, rows: int, axis: int = 0) -> int:
    """Return the number of a row, counted from 0."""
    if not -rows <= position < rows:
        raise IndexError(f"index {position} is out of bounds for axis {axis} with size {rows}")
    return position % rows


def expanded(key: Any, shape: Shape) -> tuple[Any, ...]:
    """Return an entry for each axis: a number, a slice or an array; None stands for a new axis.

    Raises
    ------
    IndexError
        The key has more entries than the array has axes, or entries that choose nothing.
    """
    parts: list[Any] = []
    for part in key if isinstance(key, tuple) else (key,):
        parts.extend(_entries(part, shape, _axes(parts)))
    dots = [place for place, part in enumerate(parts) if part is Ellipsis]
    missing = len(shape) - _axes(parts)
    if missing < 0 or len(dots) > 1:
        raise IndexError(
            f"{_axes(parts)} indices and {len(dots)} ellipses for an array of {len(shape)} axes"
        )
    place = dots[0] if dots else len(parts)
    parts[place : place + 1] = [_WHOLE] * missing
    return tuple(parts)


def _axes(parts: list[Any]) -> int:
    return sum(part is not None and part is not Ellipsis for part in parts)


def _entries(part: Any, shape: Shape, axis: int) -> tuple[Any, ...]:
    """Return what one part of a key says: one entry, or one per axis of a mask."""
    if part is None or part is Ellipsis:
        return (part,)
    if isinstance(part, slice):
        bounds = (part.start, part.stop, part.step)
        return (slice(*(None if bound is None else operator.index(bound) for bound in bounds)),)
    if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
        return (int(part),)
    if isinstance(part, Handle) and part.aval.dtype.kind != "b":
        return (part,)
    if not isinstance(part, (Handle, np.ndarray, list, tuple, range)):
        raise IndexError(
            "An NDArray is indexed by numbers, slices, ..., None and arrays of numbers; "
            f"{part!r} is {type(part).__name__}."
        )
    positions = np.asarray(part)
    if positions.dtype.kind == "b":
        covered = shape[axis : axis + positions.ndim]
        if positions.shape != covered or not positions.ndim:
            raise IndexError(f"a mask of shape {positions.shape} chooses among axes {covered}")
        return positions.nonzero()
    if positions.dtype.kind not in "iuf":
        raise IndexError(f"positions are numbers, not {positions.dtype}: {part!r}")
    return (positions.astype(np.int64) if positions.ndim else int(positions),)


def is_advanced(parts: tuple[Any, ...]) -> bool:
    """Return whether arrays choose the elements."""
    return any(isinstance(part, (Handle, np.ndarray)) for part in parts)


class Basic(NamedTuple):
    """A choice by numbers and slices.

    Attributes
    ----------
    bounds : tuple of (name, tuple)
        Begin, end and step on each axis, as `slice` takes them.
    chosen : tuple of int
        Shape of the part, a number counting as a slice of one.
    shape : tuple of int
        Shape that the user sees.
    size : int
        Number of its elements.
    first : int
        Position of the first of them.
    contiguous : bool
        Whether its elements lie side by side in memory, in order.
    """

    bounds: tuple[tuple[str, tuple[int | None, ...]], ...]
    chosen: Shape
    shape: Shape
    size: int
    first: int
    contiguous: bool


def basic(parts: tuple[Any, ...], shape: Shape) -> Basic:
    """Return what numbers, slices and None choose."""
    seen: list[int] = []
    slices: list[slice] = []
    for part in parts:
        if part is None:
            seen.append(1)
            continue
        axis = len(slices)
        if isinstance(part, int):
            position = row(part, shape[axis], axis)
            slices.append(slice(position, position + 1))
        else:
            if part.step == 0:
                raise ValueError("slice step cannot be zero")
            slices.append(part)
            seen.append(len(range(*part.indices(shape[axis]))))
    ranges = [range(*part.indices(extent)) for part, extent in zip(slices, shape, strict=True)]
    chosen = tuple(map(len, ranges))
    size, first = math.prod(chosen), 0
    for one, extent in zip(ranges, shape, strict=True):
        first = first * extent + (one.start if one else 0)
    return Basic(
        (
            ("begin", tuple(part.start for part in slices)),
            ("end", tuple(part.stop for part in slices)),
            ("step", tuple(part.step for part in slices)),
        ),
        chosen,
        tuple(seen) or (1,),
        size,
        first if size else 0,
        _contiguous(ranges, shape),
    )


def _contiguous(ranges: list[range], shape: Shape) -> bool:
    """Return whether chosen elements lie side by side: whole axes follow the first broken one."""
    if math.prod(map(len, ranges)) <= 1:
        return True
    broken = False
    for one, extent in zip(reversed(ranges), reversed(shape), strict=True):
        if len(one) > 1 and (broken or one.step != 1):
            return False
        broken = broken or len(one) < extent
    return True


class Advanced(NamedTuple):
    """A choice by arrays of positions.

    Attributes
    ----------
    indices : tuple of (array, tuple of int)
        Positions on each of the first axes, and the shape in which they broadcast to ``block``.
    block : tuple of int
        Shape of all choices.
    chosen : tuple of int
        Shape of the chosen elements: ``block`` and the axes left whole.
    shape : tuple of int
        Shape that the user sees.
    """

    indices: tuple[tuple[Any, Shape], ...]
    block: Shape
    chosen: Shape
    shape: Shape


def advanced(parts: tuple[Any, ...], shape: Shape) -> Advanced:
    """Return what arrays choose, beside numbers, slices and None, by NumPy's rules."""
    places = [place for place, part in enumerate(parts) if not isinstance(part, slice | None)]
    together = places == list(range(places[0], places[-1] + 1))
    try:
        core = np.broadcast_shapes(*(_shape_of(parts[place]) for place in places))
    except ValueError:
        shapes = ", ".join(str(_shape_of(parts[place])) for place in places)
        raise IndexError(f"positions of shapes {shapes} cannot be broadcast together") from None
    at = sum(isinstance(part, slice) for part in parts[: places[0]]) if together else 0
    entries = [part for part in parts if part is not None]
    while isinstance(entries[-1], slice) and entries[-1] == _WHOLE:
        entries.pop()  # axes left whole need no positions
    lengths = [
        len(range(*part.indices(shape[axis])))
        for axis, part in enumerate(entries)
        if isinstance(part, slice)
    ]
    block = (*lengths[:at], *core, *lengths[at:])
    indices: list[tuple[Any, Shape]] = []
    sliced = 0
    for axis, part in enumerate(entries):
        if isinstance(part, slice):
            place = sliced if sliced < at else sliced + len(core)
            positions = np.arange(*part.indices(shape[axis]), dtype=np.int64)
            aligned: Shape = (len(positions), *(1,) * (len(block) - place - 1))
            sliced += 1
        else:
            positions = np.full(1, part, np.int64) if isinstance(part, int) else part
            aligned = (*_shape_of(part), *(1,) * (len(lengths) - at))
        indices.append((positions, (*(1,) * (len(block) - len(aligned)), *aligned)))
    rest = shape[len(entries) :]
    return Advanced(
        tuple(indices),
        block,
        (*block, *rest),
        _seen(parts, shape, core, places[0] if together else 0),
    )


def _shape_of(part: Any) -> Shape:
    if isinstance(part, int):
        return ()
    found: Shape = part.aval.shape if isinstance(part, Handle) else part.shape
    return found


def _seen(parts: tuple[Any, ...], shape: Shape, core: Shape, before: int) -> Shape:
    """Return the result's shape: that of the positions stands where part ``before`` stood."""
    seen: list[int] = []
    start = axis = 0
    for place, part in enumerate(parts):
        if place == before:
            start = len(seen)
        if part is None:
            seen.append(1)
            continue
        if isinstance(part, slice):
            seen.append(len(range(*part.indices(shape[axis]))))
        axis += 1
    seen[start:start] = core
    return tuple(seen) or (1,)

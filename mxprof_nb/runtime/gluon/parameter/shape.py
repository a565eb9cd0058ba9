"""Shapes of parameters, of which a part may not be known; 0 stands for such an extent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mxprof_nb.errors import ShapeError

__all__ = ["Shape", "fits", "is_known", "shape_of"]

Shape = tuple[int, ...]


def shape_of(name: str, shape: int | Sequence[int] | None) -> Shape | None:
    """Return a shape as programs write it; -1, of MXNet's next generation, as 0.

    Raises
    ------
    ShapeError
        An extent is negative.
    """
    if shape is None:
        return None
    found = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(each < -1 for each in found):
        raise ShapeError(f"Parameter {name!r}: shape {found} has a negative extent.")
    return tuple(max(int(each), 0) for each in found)


def is_known(shape: Shape | None) -> bool:
    """Whether all of a shape is known."""
    return bool(shape) and 0 not in (shape or ())


def fits(known: Shape | None, wanted: Shape) -> bool:
    """Whether a shape is one that what is known may become."""
    return known is None or (
        len(known) == len(wanted)
        and all(mine in (0, other) for mine, other in zip(known, wanted, strict=True))
    )

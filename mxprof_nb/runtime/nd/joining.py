"""Functions that join arrays along an axis, and split one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import flag, integers, whole
from mxprof_nb.runtime.nd.array import NDArray, apply, apply_several
from mxprof_nb.runtime.ops.joining import CONCAT, SLICE_CHANNEL, SPLIT_V2, STACK

__all__ = [
    "Concat",
    "SliceChannel",
    "concat",
    "concatenate",
    "split",
    "split_v2",
    "stack",
]


def concat(*data: NDArray, dim: int = 1, out: NDArray | None = None) -> NDArray:
    """Return arrays joined along an axis they have."""
    return _joined("concat", data, dim, out)


Concat = concat


def _joined(name: str, data: Sequence[NDArray], axis: int, out: NDArray | None) -> NDArray:
    if not data:
        raise ShapeError(f"{name} needs one array or more.")
    return apply(CONCAT, data, (("dim", whole(axis)),), out=out)


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Return a sequence of arrays joined along an axis they have, the first by default.

    Without ``always_copy`` a single array comes back as it is.
    """
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return _joined("concatenate", tuple(arrays), axis, None)


def stack(*data: NDArray, axis: int = 0, out: NDArray | None = None) -> NDArray:
    """Return arrays joined along a new axis."""
    if not data:
        raise ShapeError("stack needs one array or more.")
    return apply(STACK, data, (("axis", whole(axis)),), out=out)


def split(
    data: NDArray,
    num_outputs: int,
    axis: int = 1,
    squeeze_axis: bool = False,
    out: Sequence[NDArray] | None = None,
) -> list[NDArray] | NDArray:
    """Return equal parts along an axis; one part comes alone, not in a list.

    Parameters
    ----------
    data : NDArray
    num_outputs : int
        How many parts.
    axis : int
    squeeze_axis : bool
        Whether to drop the axis, which must then have one element in each part.
    out : sequence of NDArray, optional
    """
    attrs: Attrs = (
        ("axis", whole(axis)),
        ("num_outputs", whole(num_outputs)),
        ("squeeze_axis", flag(squeeze_axis)),
    )
    parts = apply_several(SLICE_CHANNEL, (data,), attrs, out=out)
    return parts if len(parts) > 1 else parts[0]


SliceChannel = split


def split_v2(
    ary: NDArray,
    indices_or_sections: int | Sequence[int],
    axis: int = 0,
    squeeze_axis: bool = False,
) -> list[NDArray] | NDArray:
    """Return parts along an axis, cut before given positions, or so many equal ones.

    Raises
    ------
    ValueError
        The axis cannot be cut into so many equal parts.
    """
    if isinstance(indices_or_sections, (int, np.integer)):
        parts, rank = int(indices_or_sections), len(ary.aval.shape)
        extent = ary.aval.shape[axis] if axis in range(-rank, rank) else 0
        if parts < 1 or extent % parts:
            raise ValueError(
                f"split_v2: axis {axis} of {ary.aval} cannot be cut into {parts} equal parts."
            )
        cuts = tuple(range(extent // parts, extent, extent // parts)) if extent else ()
    else:
        cuts = integers(indices_or_sections)
    attrs: Attrs = (
        ("axis", whole(axis)),
        ("indices", cuts),
        ("squeeze_axis", flag(squeeze_axis)),
    )
    made = apply_several(SPLIT_V2, (ary,), attrs)
    return made if len(made) > 1 else made[0]

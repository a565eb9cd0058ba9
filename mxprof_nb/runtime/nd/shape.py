"""Functions that change the shape or the order of axes; each copies, unlike `NDArray.reshape`."""

from __future__ import annotations

from collections.abc import Sequence

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import Axis, flag, integers, real, whole
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.ops import expansion
from mxprof_nb.runtime.ops import shape as changes

__all__ = [
    "Flatten",
    "Pad",
    "Reshape",
    "SwapAxis",
    "broadcast_axes",
    "broadcast_axis",
    "broadcast_like",
    "broadcast_to",
    "depth_to_space",
    "expand_dims",
    "flatten",
    "flip",
    "moveaxis",
    "pad",
    "repeat",
    "reshape",
    "reshape_like",
    "reverse",
    "shape_array",
    "size_array",
    "space_to_depth",
    "squeeze",
    "swapaxes",
    "tile",
    "transpose",
]

Integers = int | Sequence[int]


def reshape(
    data: NDArray, shape: Integers, reverse: bool = False, out: NDArray | None = None
) -> NDArray:
    """Return a copy in another shape.

    Parameters
    ----------
    data : NDArray
    shape : int or sequence of int
        0 copies an axis, -1 (once) is what is left, -2 copies all remaining axes, -3 merges two
        axes, -4 splits one axis into the two extents that follow.
    reverse : bool
        Whether to read both shapes from the right.
    out : NDArray, optional
    """
    attrs: Attrs = (("reverse", flag(reverse)), ("shape", integers(shape)))
    return apply(changes.RESHAPE, (data,), attrs, out=out)


Reshape = reshape


def flatten(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return a copy with all axes but the first made one."""
    return apply(changes.FLATTEN, (data,), out=out)


Flatten = flatten


def expand_dims(data: NDArray, axis: int, out: NDArray | None = None) -> NDArray:
    """Return a copy with an axis of one element more."""
    return apply(changes.EXPAND_DIMS, (data,), (("axis", whole(axis)),), out=out)


def squeeze(data: NDArray, axis: Axis = None, out: NDArray | None = None) -> NDArray:
    """Return a copy without axes of one element: those named, all by default."""
    attrs: Attrs = () if axis is None else (("axis", integers(axis)),)
    return apply(changes.SQUEEZE, (data,), attrs, out=out)


def reshape_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return a copy of ``lhs`` with some axes shaped like some of ``rhs``, all by default."""
    attrs: Attrs = (
        ("lhs_begin", lhs_begin),
        ("lhs_end", lhs_end),
        ("rhs_begin", rhs_begin),
        ("rhs_end", rhs_end),
    )
    return apply(changes.RESHAPE_LIKE, (lhs, rhs), attrs, out=out)


def transpose(data: NDArray, axes: Sequence[int] = (), out: NDArray | None = None) -> NDArray:
    """Return a copy with the axes in another order, reversed by default."""
    return apply(changes.TRANSPOSE, (data,), (("axes", integers(axes or ())),), out=out)


def swapaxes(data: NDArray, dim1: int = 0, dim2: int = 0, out: NDArray | None = None) -> NDArray:
    """Return a copy with two axes exchanged."""
    attrs: Attrs = (("dim1", whole(dim1)), ("dim2", whole(dim2)))
    return apply(changes.SWAP_AXIS, (data,), attrs, out=out)


SwapAxis = swapaxes


def moveaxis(tensor: NDArray, source: Integers, destination: Integers) -> NDArray:
    """Return a copy with axes moved to other places; the others keep their order."""
    rank = len(tensor.aval.shape)
    start, end = (
        [axis + rank if axis in range(-rank, 0) else axis for axis in integers(axes)]
        for axes in (source, destination)
    )
    named = (start, end)
    if len(start) != len(end) or any(
        len(set(axes)) < len(axes) or not set(axes) <= set(range(rank)) for axes in named
    ):
        raise ShapeError(
            f"moveaxis: source {source} and destination {destination} must name as many axes of "
            f"{tensor.aval}, each once."
        )
    order = [axis for axis in range(rank) if axis not in start]
    for place, axis in sorted(zip(end, start, strict=True)):
        order.insert(place, axis)
    return transpose(tensor, order)


def flip(data: NDArray, axis: Integers, out: NDArray | None = None) -> NDArray:
    """Return a copy with the elements in reverse order along axes."""
    return apply(changes.REVERSE, (data,), (("axis", integers(axis)),), out=out)


reverse = flip


def depth_to_space(data: NDArray, block_size: int, out: NDArray | None = None) -> NDArray:
    """Return images with channels laid out as blocks of ``block_size`` squared."""
    attrs: Attrs = (("block_size", whole(block_size)),)
    return apply(changes.DEPTH_TO_SPACE, (data,), attrs, out=out)


def space_to_depth(data: NDArray, block_size: int, out: NDArray | None = None) -> NDArray:
    """Return images with blocks of ``block_size`` squared laid out as channels."""
    attrs: Attrs = (("block_size", whole(block_size)),)
    return apply(changes.SPACE_TO_DEPTH, (data,), attrs, out=out)


def shape_array(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the shape as an int64 array."""
    return apply(changes.SHAPE_ARRAY, (data,), out=out)


def size_array(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the number of elements as an int64 array."""
    return apply(changes.SIZE_ARRAY, (data,), out=out)


# Results larger than their input


def broadcast_to(data: NDArray, shape: Integers, out: NDArray | None = None) -> NDArray:
    """Return a copy with axes of one element repeated to fill a shape; 0 keeps an axis."""
    return apply(expansion.BROADCAST_TO, (data,), (("shape", integers(shape)),), out=out)


def broadcast_axis(
    data: NDArray, axis: Integers = (), size: Integers = (), out: NDArray | None = None
) -> NDArray:
    """Return a copy with axes of one element repeated to sizes."""
    attrs: Attrs = (("axis", integers(axis)), ("size", integers(size)))
    return apply(expansion.BROADCAST_AXIS, (data,), attrs, out=out)


broadcast_axes = broadcast_axis


def broadcast_like(
    lhs: NDArray,
    rhs: NDArray,
    lhs_axes: Axis = None,
    rhs_axes: Axis = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return a copy of ``lhs`` with axes of one element repeated as often as ``rhs`` has them."""
    attrs: Attrs = ()
    if lhs_axes is not None and rhs_axes is not None:
        attrs = (("lhs_axes", integers(lhs_axes)), ("rhs_axes", integers(rhs_axes)))
    return apply(expansion.BROADCAST_LIKE, (lhs, rhs), attrs, out=out)


def tile(data: NDArray, reps: Integers, out: NDArray | None = None) -> NDArray:
    """Return copies of the whole array beside each other along axes."""
    return apply(expansion.TILE, (data,), (("reps", integers(reps)),), out=out)


def repeat(
    data: NDArray, repeats: int, axis: int | None = None, out: NDArray | None = None
) -> NDArray:
    """Return each element several times along an axis, or of all elements in a row."""
    attrs: Attrs = (
        ("axis", None if axis is None else whole(axis)),
        ("repeats", whole(repeats)),
    )
    return apply(expansion.REPEAT, (data,), attrs, out=out)


def pad(
    data: NDArray,
    mode: str,
    pad_width: Sequence[int],
    constant_value: float = 0.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return an array with a border.

    Parameters
    ----------
    data : NDArray
        Four or five axes.
    mode : {'constant', 'edge', 'reflect'}
    pad_width : sequence of int
        Elements before and after on each axis; 0 for the first two axes.
    constant_value : float
    out : NDArray, optional
    """
    attrs: Attrs = (
        ("constant_value", real(constant_value)),
        ("mode", str(mode)),
        ("pad_width", integers(pad_width)),
    )
    return apply(expansion.PAD, (data,), attrs, out=out)


Pad = pad

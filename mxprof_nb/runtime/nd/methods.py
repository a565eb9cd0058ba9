"""`Methods`: functions of `mx.nd` that change shapes and choose parts, as methods of an array.

Each is the function of the same name with the array as its first argument, and explained there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

# The package, whose functions are looked up when a method is called: their modules import
# NDArray, which inherits from here.
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.nd.arguments import bounds
from mxprof_nb.runtime.ops.slicing import SLICE_ASSIGN, SLICE_ASSIGN_SCALAR

if TYPE_CHECKING:
    from mxprof_nb.runtime.nd.array import NDArray

__all__ = ["Methods"]

Integers = int | Sequence[int]
Bounds = int | Sequence[int | None] | None


class Methods:
    """The methods, for arrays to inherit."""

    __slots__ = ()

    # Another shape, another order of axes

    @property
    def T(self: Any) -> NDArray:
        """A copy with the axes reversed."""
        return nd.transpose(self)

    def transpose(self: Any, axes: Integers = (), *more: int) -> NDArray:
        """Return a copy with the axes in another order, reversed by default."""
        return nd.transpose(self, (axes, *more) if isinstance(axes, int) else axes)

    def swapaxes(self: Any, dim1: int = 0, dim2: int = 0) -> NDArray:
        """Return a copy with two axes exchanged."""
        return nd.swapaxes(self, dim1, dim2)

    def flatten(self: Any) -> NDArray:
        """Return a copy with all axes but the first made one."""
        return nd.flatten(self)

    def expand_dims(self: Any, axis: int) -> NDArray:
        """Return a copy with an axis of one element more."""
        return nd.expand_dims(self, axis)

    def squeeze(self: Any, axis: int | Sequence[int] | None = None) -> NDArray:
        """Return a copy without axes of one element."""
        return nd.squeeze(self, axis)

    def reshape_like(self: Any, rhs: NDArray, **axes: Any) -> NDArray:
        """Return a copy in the shape of another array."""
        return nd.reshape_like(self, rhs, **axes)

    def flip(self: Any, axis: Integers) -> NDArray:
        """Return a copy with the elements in reverse order along axes."""
        return nd.flip(self, axis)

    def depth_to_space(self: Any, block_size: int) -> NDArray:
        """Return images with channels laid out as blocks."""
        return nd.depth_to_space(self, block_size)

    def space_to_depth(self: Any, block_size: int) -> NDArray:
        """Return images with blocks laid out as channels."""
        return nd.space_to_depth(self, block_size)

    def shape_array(self: Any) -> NDArray:
        """Return the shape as an int64 array."""
        return nd.shape_array(self)

    def size_array(self: Any) -> NDArray:
        """Return the number of elements as an int64 array."""
        return nd.size_array(self)

    def diag(self: Any, k: int = 0, axis1: int = 0, axis2: int = 1) -> NDArray:
        """Return the diagonals, or the matrix with this diagonal."""
        return nd.diag(self, k, axis1, axis2)

    # Repetition

    def broadcast_to(self: Any, shape: Integers) -> NDArray:
        """Return a copy with axes of one element repeated; new axes come first."""
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        missing = len(wanted) - len(self.aval.shape)
        aligned = self._viewed((*(1,) * missing, *self.aval.shape)) if missing > 0 else self
        return nd.broadcast_to(aligned, wanted)

    def broadcast_axes(self: Any, axis: Integers = (), size: Integers = ()) -> NDArray:
        """Return a copy with axes of one element repeated to sizes."""
        return nd.broadcast_axes(self, axis, size)

    def broadcast_like(
        self: Any, rhs: NDArray, lhs_axes: Any = None, rhs_axes: Any = None
    ) -> NDArray:
        """Return a copy with axes of one element repeated as often as another array has them."""
        return nd.broadcast_like(self, rhs, lhs_axes, rhs_axes)

    def tile(self: Any, reps: Integers) -> NDArray:
        """Return copies beside each other along axes."""
        return nd.tile(self, reps)

    def repeat(self: Any, repeats: int, axis: int | None = None) -> NDArray:
        """Return each element several times."""
        return nd.repeat(self, repeats, axis)

    def pad(self: Any, mode: str, pad_width: Sequence[int], constant_value: float = 0.0) -> NDArray:
        """Return an array with a border."""
        return nd.pad(self, mode, pad_width, constant_value)

    # Parts

    def slice(self: Any, begin: Bounds, end: Bounds, step: Bounds = ()) -> NDArray:
        """Return a copy of the part between bounds."""
        return nd.slice(self, begin, end, step)

    def slice_axis(self: Any, axis: int, begin: int, end: int | None) -> NDArray:
        """Return a copy of a part of one axis."""
        return nd.slice_axis(self, axis, begin, end)

    def slice_assign(self: Any, rhs: NDArray, begin: Bounds, end: Bounds, step: Bounds) -> NDArray:
        """Replace the part between bounds by another array; return the array itself."""
        attrs = (("begin", bounds(begin)), ("end", bounds(end)), ("step", bounds(step)))
        self._apply(SLICE_ASSIGN, (self, rhs), attrs, out=self)
        return cast("NDArray", self)

    def slice_assign_scalar(
        self: Any, scalar: float, begin: Bounds, end: Bounds, step: Bounds
    ) -> NDArray:
        """Replace the part between bounds by a number; return the array itself."""
        attrs = (("begin", bounds(begin)), ("end", bounds(end)), ("step", bounds(step)))
        self._apply(SLICE_ASSIGN_SCALAR, (self,), attrs, (scalar,), out=self)
        return cast("NDArray", self)

    def slice_like(self: Any, shape_like: NDArray, axes: Integers = ()) -> NDArray:
        """Return a copy of as much as another array has."""
        return nd.slice_like(self, shape_like, axes)

    def split(
        self: Any, num_outputs: int, axis: int = 1, squeeze_axis: bool = False
    ) -> list[NDArray] | NDArray:
        """Return equal parts along an axis."""
        return nd.split(self, num_outputs, axis, squeeze_axis)

    def split_v2(
        self: Any, indices_or_sections: Integers, axis: int = 0, squeeze_axis: bool = False
    ) -> list[NDArray] | NDArray:
        """Return parts along an axis, cut before given positions, or so many equal ones."""
        return nd.split_v2(self, indices_or_sections, axis, squeeze_axis)

    def take(self: Any, indices: NDArray, axis: int = 0, mode: str = "clip") -> NDArray:
        """Return elements along an axis, by position."""
        return nd.take(self, indices, axis, mode)

    def pick(
        self: Any, index: NDArray, axis: int = -1, keepdims: bool = False, mode: str = "clip"
    ) -> NDArray:
        """Return one element of each row along an axis, by position."""
        return nd.pick(self, index, axis, keepdims, mode)

    def one_hot(
        self: Any, depth: int, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = None
    ) -> NDArray:
        """Return vectors with one element set, by position."""
        return nd.one_hot(self, depth, on_value, off_value, dtype)

    # Shares along an axis

    def softmax(
        self: Any, axis: int = -1, temperature: float | None = None, dtype: Any = None
    ) -> NDArray:
        """Return exponentials along an axis, summing to 1."""
        return nd.softmax(self, axis=axis, temperature=temperature, dtype=dtype)

    def log_softmax(
        self: Any, axis: int = -1, temperature: float | None = None, dtype: Any = None
    ) -> NDArray:
        """Return the logarithm of softmax."""
        return nd.log_softmax(self, axis=axis, temperature=temperature, dtype=dtype)

    def softmin(
        self: Any, axis: int = -1, temperature: float | None = None, dtype: Any = None
    ) -> NDArray:
        """Return softmax of the negated array."""
        return nd.softmin(self, axis=axis, temperature=temperature, dtype=dtype)

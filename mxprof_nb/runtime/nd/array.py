"""`NDArray`: MXNet's array. Operators return at once; reading a value waits for it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime import api
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.finaliser import finalise_with
from mxprof_nb.runtime.handle import Handle, View
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.indexing import filled_in, hashable, row
from mxprof_nb.runtime.ops import Aval, OpSpec
from mxprof_nb.runtime.ops.creation import FULL, SLICE_ASSIGN, SLICE_ASSIGN_SCALAR
from mxprof_nb.runtime.ops.elementwise import BINARY, SCALAR, UNARY
from mxprof_nb.runtime.ops.matrix import COPY, SLICE, TRANSPOSE
from mxprof_nb.runtime.ops.reduction import ARGMAX, ARGMIN, REDUCE
from mxprof_nb.runtime.storage import Chunk

__all__ = ["NDArray", "apply", "apply_several", "axes_of"]

Axis = int | Sequence[int] | None
Number = int | float | bool | np.number[Any]
_NUMBERS = (int, float, np.number, np.bool_)


def apply(
    op: OpSpec,
    inputs: Sequence[NDArray],
    attrs: Attrs = (),
    dynamic: tuple[Any, ...] = (),
    out: NDArray | None = None,
    context: Context | None = None,
) -> NDArray:
    """Queue an operator of one result and return that, promised."""
    if out is not None:
        api.invoke(op, inputs, attrs, dynamic, (out,), context)
        return out
    call = api.invoke(op, inputs, attrs, dynamic, None, context)
    return NDArray._of(call.outputs[0], call.signature.results[0])


def apply_several(
    op: OpSpec,
    inputs: Sequence[NDArray],
    attrs: Attrs = (),
    dynamic: tuple[Any, ...] = (),
    out: Sequence[NDArray] | None = None,
    context: Context | None = None,
) -> list[NDArray]:
    """Queue an operator of several results and return them, promised."""
    call = api.invoke(op, inputs, attrs, dynamic, out, context)
    if out is not None:
        return list(out)
    return [
        NDArray._of(chunk, result)
        for chunk, result in zip(call.outputs, call.signature.results, strict=True)
    ]


def axes_of(axis: Axis) -> tuple[int, ...]:
    """Return axes as a tuple; None and () both mean all, as in MXNet."""
    if axis is None:
        return ()
    if isinstance(axis, (int, np.integer)):
        return (int(axis),)
    return tuple(operator.index(one) for one in axis)


class NDArray(Handle):
    """An array whose value may still be on its way.

    Arithmetic, comparison and the methods named like functions queue an operator and return at
    once. `asnumpy`, `asscalar`, `wait_to_read`, ``print`` and conversions to Python numbers wait.
    ``x[0]``, ``x[0:2]`` and `reshape` share memory with ``x``; other indexing copies.

    Made by functions such as `mxprof_nb.runtime.nd.array`, not by calling the class.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == answers element by element
    __array_priority__ = 1000.0  # NumPy leaves ``ndarray + NDArray`` to us

    @classmethod
    def _of(cls, chunk: Chunk, aval: Aval, view: View = None) -> NDArray:
        made = cls.__new__(cls)
        made.chunk = chunk
        made.aval = aval
        made.view = view
        return made

    # What is known without waiting

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return api.get_shape(self)

    @property
    def dtype(self) -> type[np.generic]:
        """Type of the elements, as MXNet gives it: a NumPy scalar type."""
        return api.get_dtype(self).type

    @property
    def size(self) -> int:
        """Number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def context(self) -> Context:
        """Device the array lives on."""
        return api.get_context(self)

    ctx = context

    def __len__(self) -> int:
        return self.shape[0]

    # Waiting

    def wait_to_read(self) -> None:
        """Wait for the value; raises `OperatorError` if it could not be computed."""
        api.wait_to_read(self)

    def asnumpy(self) -> NumpyArray[Any]:
        """Wait for the value and return a copy of it, in this array's shape and type."""
        target = np.empty(self.shape, dtype=self.dtype)
        api.copy_to_cpu(self, target)
        return target

    def asscalar(self) -> Any:
        """Wait for the value and return its only element.

        Raises
        ------
        ValueError
            There is more than one element.
        """
        if self.size != 1:
            raise ValueError(
                f"The current array is not a scalar: its shape is {self.aval.shape}. "
                "Choose one element first, or use .asnumpy()."
            )
        return self.asnumpy().reshape(())[()]

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.aval.shape))
        return f"\n{self.asnumpy()!s}\n<NDArray {shape} @{self.chunk.context}>"

    def __bool__(self) -> bool:
        if self.aval.size > 1:
            raise ValueError(
                "The truth value of an NDArray with multiple elements is ambiguous. "
                "Compare and reduce first, e.g. (x > 0).sum().asscalar() > 0."
            )
        return bool(self.aval.size and self.asscalar())

    def __float__(self) -> float:
        return float(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __index__(self) -> int:
        value = self.asscalar()
        if not isinstance(value, np.integer):
            raise TypeError(f"Only integer arrays can be an index; this one is {self.aval.dtype}.")
        return int(value)

    def __reduce__(self) -> Any:
        # By value: a copy of the promise would wait for an operator that nobody runs for it.
        return _restored, (self.asnumpy(), self.chunk.context)

    def __copy__(self) -> NDArray:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> NDArray:
        return self.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumpyArray[Any]:
        if copy is False:
            raise ValueError("An NDArray's value can only be copied out; leave copy=False out.")
        value = self.asnumpy()
        return value if dtype is None else value.astype(dtype)

    # Arithmetic and comparison

    def _combine(self, name: str, other: Any, out: NDArray | None = None) -> NDArray:
        if isinstance(other, NDArray):
            return apply(BINARY[name], (self, other), out=out)
        if isinstance(other, _NUMBERS):
            return apply(SCALAR[name], (self,), dynamic=(other,), out=out)
        if isinstance(other, np.ndarray):
            # MXNet refuses: where the data comes from and which copy is made stays visible.
            raise TypeError(
                f"{name}: an NDArray and a NumPy array do not mix. "
                "Convert one: nd.array(...) or .asnumpy()."
            )
        return NotImplemented  # type: ignore[no-any-return]

    def __add__(self, other: Any) -> NDArray:
        return self._combine("add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> NDArray:
        return self._combine("sub", other)

    def __rsub__(self, other: Any) -> NDArray:
        return self._combine("rsub", other)

    def __mul__(self, other: Any) -> NDArray:
        return self._combine("mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> NDArray:
        return self._combine("div", other)

    def __rtruediv__(self, other: Any) -> NDArray:
        return self._combine("rdiv", other)

    def __mod__(self, other: Any) -> NDArray:
        return self._combine("mod", other)

    def __rmod__(self, other: Any) -> NDArray:
        return self._combine("rmod", other)

    def __pow__(self, other: Any) -> NDArray:
        return self._combine("power", other)

    def __rpow__(self, other: Any) -> NDArray:
        return self._combine("rpower", other)

    def __neg__(self) -> NDArray:
        return self._combine("mul", -1.0)

    def __abs__(self) -> NDArray:
        return apply(UNARY["abs"], (self,))

    def __iadd__(self, other: Any) -> NDArray:
        return self._combine("add", other, out=self)

    def __isub__(self, other: Any) -> NDArray:
        return self._combine("sub", other, out=self)

    def __imul__(self, other: Any) -> NDArray:
        return self._combine("mul", other, out=self)

    def __itruediv__(self, other: Any) -> NDArray:
        return self._combine("div", other, out=self)

    def __eq__(self, other: object) -> NDArray:  # type: ignore[override]
        return self._combine("equal", other)

    def __ne__(self, other: object) -> NDArray:  # type: ignore[override]
        return self._combine("not_equal", other)

    def __gt__(self, other: Any) -> NDArray:
        return self._combine("greater", other)

    def __ge__(self, other: Any) -> NDArray:
        return self._combine("greater_equal", other)

    def __lt__(self, other: Any) -> NDArray:
        return self._combine("lesser", other)

    def __le__(self, other: Any) -> NDArray:
        return self._combine("lesser_equal", other)

    # Functions of one array, as methods

    def _reduce(self, op: OpSpec, axis: Axis, keepdims: bool) -> NDArray:
        return apply(op, (self,), (("axis", axes_of(axis)), ("keepdims", keepdims)))

    def sum(self, axis: Axis = None, keepdims: bool = False) -> NDArray:
        """Sum over axes, all by default."""
        return self._reduce(REDUCE["sum"], axis, keepdims)

    def mean(self, axis: Axis = None, keepdims: bool = False) -> NDArray:
        """Mean over axes, all by default."""
        return self._reduce(REDUCE["mean"], axis, keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False) -> NDArray:
        """Largest element over axes, all by default."""
        return self._reduce(REDUCE["max"], axis, keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False) -> NDArray:
        """Smallest element over axes, all by default."""
        return self._reduce(REDUCE["min"], axis, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> NDArray:
        """Position of the largest element along an axis, in the type of the array."""
        return self._reduce(ARGMAX, axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> NDArray:
        """Position of the smallest element along an axis, in the type of the array."""
        return self._reduce(ARGMIN, axis, keepdims)

    def exp(self) -> NDArray:
        """Element-wise e to the power of x."""
        return apply(UNARY["exp"], (self,))

    def log(self) -> NDArray:
        """Element-wise natural logarithm."""
        return apply(UNARY["log"], (self,))

    def sqrt(self) -> NDArray:
        """Element-wise square root."""
        return apply(UNARY["sqrt"], (self,))

    def square(self) -> NDArray:
        """Element-wise square."""
        return apply(UNARY["square"], (self,))

    def relu(self) -> NDArray:
        """Element-wise maximum of x and 0."""
        return apply(UNARY["relu"], (self,))

    def abs(self) -> NDArray:
        """Element-wise absolute value."""
        return apply(UNARY["abs"], (self,))

    # Shape, type and place

    def reshape(self, *shape: Any) -> NDArray:
        """Return the array in another shape, sharing memory; -1 stands for what is left."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        target = filled_in(self.aval, tuple(map(operator.index, wanted)))
        part, first = api.reshape(self, target)
        return NDArray._of(self.chunk, part, (first, part.shape))

    def transpose(self, axes: Sequence[int] = ()) -> NDArray:
        """Return a copy with the axes in another order, reversed by default."""
        return apply(TRANSPOSE, (self,), (("axes", tuple(axes)),) if axes else ())

    @property
    def T(self) -> NDArray:
        """The array with its axes reversed."""
        return self.transpose()

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """Return the array in another type; without ``copy`` the same array if it has it."""
        wanted = np.dtype(dtype)
        if not copy and wanted == self.aval.dtype:
            return self
        return apply(COPY, (self,), (("dtype", wanted.name),))

    def copy(self) -> NDArray:
        """Return a copy."""
        return apply(COPY, (self,))

    def copyto(self, other: NDArray | Context) -> NDArray:
        """Copy into another array, or to a device; return the target."""
        if isinstance(other, Context):
            return apply(COPY, (self,), context=other)
        if other.aval.dtype != self.aval.dtype:
            return apply(COPY, (self,), (("dtype", other.aval.dtype.name),), out=other)
        return apply(COPY, (self,), out=other)

    def as_in_context(self, context: Context) -> NDArray:
        """Return the array on a device; the same array if it is there already."""
        return self if context == self.chunk.context else self.copyto(context)

    # Indexing

    def __getitem__(self, key: Any) -> NDArray:
        shape = self.aval.shape
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            position = row(int(key), shape[0])
            part, first = api.at(self, position)
            return NDArray._of(self.chunk, part, (first, part.shape))
        if isinstance(key, slice) and key.step in (None, 1):
            begin, end, _ = key.indices(shape[0])
            part, first = api.slice_rows(self, begin, max(begin, end))
            return NDArray._of(self.chunk, part, (first, part.shape))
        return apply(SLICE, (self,), (("key", hashable(key)),))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice) and key == slice(None):
            self._set_all(value)
            return
        attrs = (("key", hashable(key)),)
        if isinstance(value, _NUMBERS):
            apply(SLICE_ASSIGN_SCALAR, (self,), attrs, dynamic=(value,), out=self)
            return
        part = value if isinstance(value, NDArray) else _from_host(value, self)
        if part.aval.dtype != self.aval.dtype:
            part = part.astype(self.aval.dtype)
        apply(SLICE_ASSIGN, (self, part), attrs, out=self)

    def _set_all(self, value: Any) -> None:
        if isinstance(value, _NUMBERS):
            attrs = (("shape", self.shape), ("dtype", np.dtype(self.dtype).name))
            apply(FULL, (), attrs, dynamic=(value,), out=self, context=self.context)
        elif isinstance(value, NDArray):
            if value.aval.shape != self.aval.shape:
                self[...] = value  # broadcast
            elif value is not self:
                value.copyto(self)
        else:
            self._sync_copyfrom(value)

    def _sync_copyfrom(self, source: Any) -> None:
        """Copy NumPy data in; as MXNet, ask for shape and type before."""
        data = np.asarray(source)
        shape, dtype = self.shape, self.dtype
        try:
            data = np.broadcast_to(data, shape).astype(dtype, copy=False)
        except ValueError:
            raise ShapeError(
                f"Data of shape {data.shape} does not fit an array of shape {shape}."
            ) from None
        api.copy_from_cpu(self, data)

    def __iter__(self) -> Iterator[NDArray]:
        for position in range(self.shape[0]):
            yield self[position]


def _restored(data: NumpyArray[Any], context: Context) -> NDArray:
    """Return a pickled array."""
    made = NDArray._of(*api.create(data.shape, data.dtype, context))
    made._sync_copyfrom(data)
    return made


def _from_host(value: Any, like: NDArray) -> NDArray:
    """Return host data as an array of the type and on the device of another."""
    data = np.asarray(value, dtype=like.aval.dtype)
    made = NDArray._of(*api.create(data.shape or (1,), like.aval.dtype, like.chunk.context))
    made._sync_copyfrom(data)
    return made


finalise_with(NDArray, api.free)

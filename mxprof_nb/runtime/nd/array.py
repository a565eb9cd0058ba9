"""`NDArray`: MXNet's array. Operators return at once; reading a value waits for it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime import api, tape
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.finaliser import finalise_with
from mxprof_nb.runtime.handle import Handle, View
from mxprof_nb.runtime.invoke import Attrs, Invocation
from mxprof_nb.runtime.mode import RECORDERS, is_recording, noting
from mxprof_nb.runtime.nd import keys
from mxprof_nb.runtime.nd.arguments import must_be_array, must_be_arrays
from mxprof_nb.runtime.nd.arithmetic import NUMBERS, Arithmetic
from mxprof_nb.runtime.nd.differentiable import Differentiable
from mxprof_nb.runtime.nd.dtypes import dtype_name, host_data
from mxprof_nb.runtime.nd.fluent import Fluent
from mxprof_nb.runtime.nd.methods import Methods
from mxprof_nb.runtime.ops import Aval, OpSpec
from mxprof_nb.runtime.ops.creation import FULL
from mxprof_nb.runtime.ops.expansion import BROADCAST_TO
from mxprof_nb.runtime.ops.indexing import GATHER_ND, SCATTER_SET_ND
from mxprof_nb.runtime.ops.joining import STACK
from mxprof_nb.runtime.ops.matrix import COPY
from mxprof_nb.runtime.ops.shape import reshaped
from mxprof_nb.runtime.ops.slicing import SLICE, SLICE_ASSIGN, SLICE_ASSIGN_SCALAR
from mxprof_nb.runtime.storage import Chunk

__all__ = ["NDArray", "apply", "apply_several"]

_new = object.__new__

Shape = tuple[int, ...]


def apply(
    op: OpSpec,
    inputs: Sequence[NDArray],
    attrs: Attrs = (),
    dynamic: tuple[Any, ...] = (),
    out: NDArray | None = None,
    context: Context | None = None,
) -> NDArray:
    """Queue an operator of one result and return that, promised."""
    if RECORDERS and is_recording():
        return _recorded(op, inputs, attrs, dynamic, None if out is None else (out,), context)[0]
    if out is not None:
        must_be_array(op, out)
        api.invoke(op, inputs, attrs, dynamic, (out,), context)
        return out
    call = api.invoke(op, inputs, attrs, dynamic, None, context)
    made = _new(NDArray)
    made.chunk = call.outputs[0]
    made.aval = call.signature.results[0]
    made.view = None
    return made


def apply_several(
    op: OpSpec,
    inputs: Sequence[NDArray],
    attrs: Attrs = (),
    dynamic: tuple[Any, ...] = (),
    out: Sequence[NDArray] | None = None,
    context: Context | None = None,
) -> list[NDArray]:
    """Queue an operator of several results and return them, promised."""
    if RECORDERS and is_recording():
        return _recorded(op, inputs, attrs, dynamic, out, context)
    must_be_arrays(op, out)
    return _outputs(api.invoke(op, inputs, attrs, dynamic, out, context), out)


def _recorded(
    op: OpSpec,
    inputs: Sequence[NDArray],
    attrs: Attrs,
    dynamic: tuple[Any, ...],
    out: Sequence[NDArray] | None,
    context: Context | None,
) -> list[NDArray]:
    """Queue an operator and put it on the tape, or tell who notes it for a graph."""
    if (note := noting()) is not None:
        return note(op, inputs, attrs, dynamic, out, context)
    must_be_arrays(op, out)
    tape.must_be_free(op, inputs, out or ())
    call = api.invoke(op, inputs, attrs, dynamic, out, context)
    made = _outputs(call, out)
    tape.record(op, inputs, attrs, dynamic, made)
    return made


def _outputs(call: Invocation, out: Sequence[NDArray] | None) -> list[NDArray]:
    if out is not None:
        return list(out)
    return [
        NDArray._of(chunk, result)
        for chunk, result in zip(call.outputs, call.signature.results, strict=True)
    ]


class NDArray(Arithmetic, Differentiable, Fluent, Methods, Handle):
    """An array whose value may still be on its way.

    Arithmetic, comparison and the methods named like functions queue an operator and return at
    once. `asnumpy`, `asscalar`, `wait_to_read`, ``print`` and conversions to Python numbers wait.
    `reshape` and what basic indexing chooses side by side, such as ``x[0]``, ``x[0:2]`` and
    ``x[1, 2:]``, share memory with ``x``; other indexing copies.

    Made by functions such as `mxprof_nb.runtime.nd.array`, not by calling the class.
    """

    __slots__ = ()
    _apply = staticmethod(apply)
    _apply_several = staticmethod(apply_several)

    @classmethod
    def _of(cls, chunk: Chunk, aval: Aval, view: View = None) -> NDArray:
        made = cls.__new__(cls)
        made.chunk = chunk
        made.aval = aval
        made.view = view
        return made

    @classmethod
    def _from_numpy(cls, data: NumpyArray[Any], dtype: Any, context: Context) -> NDArray:
        """Return host data as an array; a single number gets one axis."""
        made = cls._of(*api.create(data.shape or (1,), np.dtype(dtype), context))
        made._sync_copyfrom(data)
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

    ctx = device = context

    @property
    def stype(self) -> str:
        """How it is stored: always ``"default"``, side by side."""
        return "default"

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

    def item(self) -> Any:
        """Wait for the value and return its only element as a number of Python."""
        return self.asscalar().item()

    def tolist(self) -> list[Any]:
        """Wait for the value and return it as nested lists of numbers of Python."""
        found: list[Any] = self.asnumpy().tolist()
        return found

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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumpyArray[Any]:
        if copy is False:
            raise ValueError("An NDArray's value can only be copied out; leave copy=False out.")
        value = self.asnumpy()
        return value if dtype is None else value.astype(dtype)

    def __reduce__(self) -> Any:
        # By value: a copy of the promise would wait for an operator that nobody runs for it.
        return _restored, (self.asnumpy(), self.chunk.context)

    # Copies

    def __copy__(self) -> NDArray:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> NDArray:
        return self.copy()

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """Return the array in another type; without ``copy`` the same array if it has it."""
        wanted = dtype_name(dtype)
        kept = not copy and wanted == self.aval.dtype.name
        return self if kept else apply(COPY, (self,), (("dtype", wanted),))

    def copy(self) -> NDArray:
        """Return a copy."""
        return apply(COPY, (self,))

    def copyto(self, other: NDArray | Context) -> NDArray:
        """Copy into another array, or to a device; return the target.

        Raises
        ------
        TypeError
            The target is neither.
        """
        if isinstance(other, Context):
            return apply(COPY, (self,), context=other)
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto: {type(other).__name__} is neither an NDArray nor a Context.")
        if other.aval.dtype != self.aval.dtype:
            return apply(COPY, (self,), (("dtype", other.aval.dtype.name),), out=other)
        return apply(COPY, (self,), out=other)

    def as_in_context(self, context: Context) -> NDArray:
        """Return the array on a device; the same array if it is there already."""
        return self if context == self.chunk.context else self.copyto(context)

    as_in_ctx = as_in_device = to_device = as_in_context

    # Views

    def reshape(self, *shape: Any, **named: Any) -> NDArray:
        """Return the array in another shape, sharing memory.

        Parameters
        ----------
        *shape : int, or one tuple of int
            0 copies an axis, -1 (once) is what is left, -2 copies all remaining axes, -3 merges
            two axes, -4 splits one axis into the two extents that follow.
        reverse : bool
            Whether to read both shapes from the right; by keyword, as ``shape`` may be.

        Raises
        ------
        ShapeError
            The shape does not hold as many elements.
        """
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        reverse = bool(named.pop("reverse", False))
        wanted = named.pop("shape", wanted) if not shape else wanted
        if named:
            raise TypeError(f"reshape takes a shape, shape= and reverse=, not {', '.join(named)}.")
        if isinstance(wanted, (int, np.integer)):
            wanted = (wanted,)
        return self._viewed(reshaped(self.aval, tuple(map(operator.index, wanted)), reverse))

    def _viewed(self, shape: Shape) -> NDArray:
        part, first = api.reshape(self, shape)
        made = NDArray._of(self.chunk, part, (first, part.shape))
        if RECORDERS and is_recording():
            tape.record_reshape(self, made)
        return made

    def _rows(self, begin: int, end: int) -> NDArray:
        part, first = api.slice_rows(self, begin, end)
        made = NDArray._of(self.chunk, part, (first, part.shape))
        if RECORDERS and is_recording():
            tape.record_rows(self, begin, end, made)
        return made

    # Indexing

    def __getitem__(self, key: Any) -> NDArray:
        shape = self.aval.shape
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            position = keys.row(int(key), shape[0])
            row, first = api.at(self, position)
            made = NDArray._of(self.chunk, row, (first, row.shape))
            if RECORDERS and is_recording():
                tape.record_row(self, position, made)
            return made
        if isinstance(key, slice) and key.step in (None, 1):
            if key.start is key.stop is None:
                return self
            begin, end, _ = key.indices(shape[0])
            return self._rows(begin, max(begin, end))
        parts = keys.expanded(key, shape)
        if keys.is_advanced(parts):
            choice = keys.advanced(parts, shape)
            found = apply(GATHER_ND, (self, self._positions(choice)))
            return found._viewed(choice.shape)
        part = keys.basic(parts, shape)
        if part.contiguous:
            flat = self._viewed((self.aval.size,))._rows(part.first, part.first + part.size)
            return flat._viewed(part.shape)
        return apply(SLICE, (self,), part.bounds)._viewed(part.shape)

    def __setitem__(self, key: Any, value: Any) -> None:
        shape = self.aval.shape
        if not self.aval.size:
            return
        parts = keys.expanded(key, shape)
        if keys.is_advanced(parts):
            choice = keys.advanced(parts, shape)
            new = self._value(value, choice.shape)._viewed(choice.chosen)
            apply(SCATTER_SET_ND, (self, new, self._positions(choice)), out=self)
            return
        part = keys.basic(parts, shape)
        if part.contiguous and part.chosen == shape:
            self._set_all(value, part.shape)
        elif isinstance(value, NUMBERS):
            apply(SLICE_ASSIGN_SCALAR, (self,), part.bounds, (value,), self)
        elif part.size:
            new = self._value(value, part.shape)._viewed(part.chosen)
            apply(SLICE_ASSIGN, (self, new), part.bounds, out=self)

    def _set_all(self, value: Any, shape: Shape) -> None:
        """Replace all elements; ``shape`` is what the key made of the array's shape."""
        if isinstance(value, NUMBERS):
            attrs = (("shape", self.shape), ("dtype", np.dtype(self.dtype).name))
            apply(FULL, (), attrs, (value,), self, self.chunk.context)
        elif isinstance(value, NDArray):
            if value is not self:
                self._value(value, shape)._viewed(self.aval.shape).copyto(self)
        else:
            self._sync_copyfrom(value, shape)

    def _value(self, value: Any, shape: Shape) -> NDArray:
        """Return what is assigned as an array of this type, broadcast to a shape."""
        if isinstance(value, NUMBERS):
            attrs = (("shape", shape), ("dtype", self.aval.dtype.name))
            return apply(FULL, (), attrs, (value,), context=self.chunk.context)
        if not isinstance(value, NDArray):
            value = NDArray._from_numpy(host_data(value), self.aval.dtype, self.chunk.context)
        given: NDArray = value
        made = given.as_in_context(self.chunk.context).astype(self.aval.dtype, copy=False)
        if made.aval.shape == shape:
            return made
        try:
            return made._spread(shape)
        except ShapeError:
            raise ShapeError(
                f"{given.aval} cannot be assigned to a part of {self.aval} whose shape is {shape}."
            ) from None

    def _spread(self, shape: Shape) -> NDArray:
        """Return the array broadcast to a shape of as many axes, or more, or less if they are 1."""
        if 0 in shape:  # nothing to copy, and 0 would mean to keep an axis
            return NDArray._of(*api.create(shape, self.aval.dtype, self.chunk.context))
        extents = list(self.aval.shape)
        while len(extents) > len(shape) and extents[0] == 1:
            extents.pop(0)
        aligned = (*(1,) * (len(shape) - len(extents)), *extents)
        found = self if aligned == self.aval.shape else self._viewed(aligned)
        return found if aligned == shape else apply(BROADCAST_TO, (found,), (("shape", shape),))

    def _positions(self, choice: keys.Advanced) -> NDArray:
        """Return positions as operators take them: one row for each axis."""
        context = self.chunk.context
        rows = []
        for given, aligned in choice.indices:
            if isinstance(given, NDArray):
                positions = given.as_in_context(context).astype(np.int64, copy=False)
            else:
                positions = NDArray._from_numpy(given, np.int64, context)
            rows.append(positions._viewed(aligned)._spread(choice.block))
        return rows[0]._viewed((1, *choice.block)) if len(rows) == 1 else apply(STACK, rows)

    def _sync_copyfrom(self, source: Any, shape: Shape | None = None) -> None:
        """Copy NumPy data in; as MXNet, ask for shape and type before."""
        data = host_data(source)
        own, _ = self.shape, self.dtype  # copying converts the type
        try:
            data = np.broadcast_to(data, shape or own).reshape(own)
        except ValueError:
            raise ShapeError(
                f"Data of shape {data.shape} does not fit an array of shape {shape or own}."
            ) from None
        api.copy_from_cpu(self, data)

    def __iter__(self) -> Iterator[NDArray]:
        for position in range(self.shape[0]):
            yield self[position]


def _restored(data: NumpyArray[Any], context: Context) -> NDArray:
    """Return a pickled array."""
    return NDArray._from_numpy(data, data.dtype, context)


finalise_with(NDArray, api.free)

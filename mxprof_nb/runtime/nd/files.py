"""Arrays in files, in MXNet's own format: what either saves, the other loads.

A file is, little endian throughout::

    u64 0x112, u64 0
    u64 number of arrays, then each:
        u32 0xF993FAC9, i32 storage (0: dense), i32 number of axes, i64 each extent
        i32 kind of device, i32 its number, i32 type, the elements in C order
    u64 number of names (0 for a list), then each: u64 length, UTF-8

Of older files, whose arrays begin with 0xF993FAC8 or with the number of axes, those with dense
arrays are read too.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import EngineError
from mxprof_nb.runtime.context import current_context
from mxprof_nb.runtime.nd.array import NDArray

__all__ = ["load", "load_frombuffer", "save"]

_FILE = 0x112
_NO_STORAGE, _DENSE, _NUMPY_SHAPES = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_TYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")
_CPU = 1


def save(fname: str | os.PathLike[str], data: Any) -> None:
    """Wait for arrays and write them to a file.

    Parameters
    ----------
    fname : str or path
    data : NDArray, sequence of NDArray, or mapping of str to NDArray

    Raises
    ------
    TypeError
        Something in ``data`` is no array, or a name is no string.
    OSError
        The file cannot be written.
    """
    place = _named("save", fname)
    content = packed(data)
    with open(place, "wb") as file:  # all values are here: a failed operator leaves no file
        file.write(content)


def packed(data: Any) -> bytes:
    """Wait for arrays and return what `save` writes of them."""
    names: list[str] = []
    if isinstance(data, NDArray):
        arrays = [data]
    elif isinstance(data, Mapping):
        names, arrays = list(data), list(data.values())
    elif isinstance(data, Sequence):
        arrays = list(data)
    else:
        raise TypeError(f"save: data must be an NDArray, or a list or dict of them, not {data!r}.")
    for each in arrays:
        if not isinstance(each, NDArray):
            raise TypeError(f"save: {type(each).__name__} is no NDArray; make one with nd.array.")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"save: the name {name!r} must be a string.")
    parts = [struct.pack("<QQQ", _FILE, 0, len(arrays))]
    for each in arrays:
        parts += _written(each)
    parts.append(struct.pack("<Q", len(names)))
    for name in names:
        text = name.encode()
        parts += [struct.pack("<Q", len(text)), text]
    return b"".join(parts)


def _named(function: str, fname: Any) -> str:
    """Return the name of a file; a number would be taken for an open one, such as the output."""
    if not isinstance(fname, (str, os.PathLike)):
        raise TypeError(f"{function}: fname must be a string or a path, not {fname!r:.60}.")
    return os.fspath(fname)


def _written(array: NDArray) -> Iterator[bytes]:
    value = array.asnumpy()
    yield struct.pack(f"<Iii{value.ndim}q", _DENSE, 0, value.ndim, *value.shape)
    yield struct.pack("<iii", _CPU, array.context.device_id, _TYPES.index(value.dtype.name))
    yield value.astype(value.dtype.newbyteorder("<"), copy=False).tobytes()


def load(fname: str | os.PathLike[str]) -> list[NDArray] | dict[str, NDArray]:
    """Return the arrays in a file: a dict if they have names, else a list.

    Raises
    ------
    EngineError
        The file is no such file, is cut short, or holds sparse arrays.
    """
    place = _named("load", fname)
    with open(place, "rb") as file:
        return unpacked(file.read(), place)


def load_frombuffer(buf: bytes) -> list[NDArray] | dict[str, NDArray]:
    """Return the arrays in what `save` has written, given as bytes; see `load`."""
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError(f"load_frombuffer: bytes are needed, not {type(buf).__name__}.")
    return unpacked(bytes(buf), "the buffer")


def unpacked(content: bytes, where: str) -> list[NDArray] | dict[str, NDArray]:
    """Return the arrays in some bytes; ``where`` names what holds them, for errors."""
    reader = _Reader(content, where)
    if content[:8] != struct.pack("<Q", _FILE):
        raise reader.error("it is no file of arrays: it does not begin as nd.save begins one")
    _, _, count = reader.numbers("QQQ")
    values = [reader.array() for _ in range(reader.count(count))]
    named = reader.count(reader.numbers("Q")[0])
    if named not in (0, len(values)):
        raise reader.error(f"{named} names for {len(values)} arrays")
    names = [reader.name() for _ in range(named)]
    # As in MXNet: where they were saved may not exist where they are loaded.
    arrays = [NDArray._from_numpy(value, value.dtype, current_context()) for value in values]
    return dict(zip(names, arrays, strict=True)) if named else arrays


class _Reader:
    """Takes one thing after the other from the content of a file."""

    def __init__(self, content: bytes, where: str) -> None:
        self.content = content
        self.where = where
        self.place = 0

    def error(self, problem: str) -> EngineError:
        return EngineError(
            f"Cannot load arrays from {self.where}: {problem} (at byte {self.place:,} of "
            f"{len(self.content):,})."
        )

    def count(self, number: int) -> int:
        """Refuse a number of things that cannot all be in the content."""
        if number > len(self.content):
            raise self.error(f"it names {number:,} parts, more than it has bytes")
        return number

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self.content) - self.place:
            raise self.error("it is cut short")
        self.place += size
        return self.content[self.place - size : self.place]

    def numbers(self, form: str) -> tuple[int, ...]:
        form = f"<{form}"
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def name(self) -> str:
        try:
            return self.take(self.numbers("Q")[0]).decode()
        except UnicodeDecodeError:
            raise self.error("a name is no UTF-8") from None

    def array(self) -> NumpyArray[Any]:
        (kind,) = self.numbers("I")
        if kind in (_DENSE, _NUMPY_SHAPES) and self.numbers("i")[0] not in (0, -1):
            raise self.error("it holds a sparse array, which cannot be read here")
        old = kind not in (_NO_STORAGE, _DENSE, _NUMPY_SHAPES)
        axes = kind if old else self.numbers("i")[0]
        if not 0 < axes <= 32:
            raise self.error(f"an array has {axes} axes")
        shape = self.numbers(f"{axes}{'I' if old else 'q'}")
        *_, number = self.numbers("iii")
        if not 0 <= number < len(_TYPES) or min(shape) < 0:
            raise self.error("an array has an unknown type or a negative extent")
        dtype = np.dtype(_TYPES[number]).newbyteorder("<")
        size = dtype.itemsize
        for extent in shape:
            size *= extent
        value = np.frombuffer(self.take(size), dtype).reshape(shape)
        return value.astype(_TYPES[number], copy=False)

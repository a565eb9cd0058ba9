"""`packed`: columns of numbers and what they mean, as bytes that a page without a kernel unpacks.

Neighbours in a column are alike, so are the upper bytes of its numbers: columns are written as
differences where that helps, byte by byte of all numbers in turn, and deflated.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["packed"]

LEVEL = 6


def packed(head: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a head and columns of numbers for ``static/report_columns.js`` to unpack.

    Parameters
    ----------
    head : Mapping
        Whatever JSON can hold.
    columns : Mapping of str to ndarray, each of shape (n,)
        Integers, or floats of 64 bits. Integers beyond 2**53 lose digits in the page.

    Returns
    -------
    bytes
        Deflated: length of the head (uint32, little endian), the head (JSON) with the entry
        ``columns``, a list of [name, length, coding, planes], the planes of one column after
        another. A plane has one byte of each number, the lowest first. Codings: "plain"
        (unsigned), "signed" (zigzag), "steps" (zigzag of differences), "float" (bits of float64).
    """
    planes, told = [], []
    for name, values in columns.items():
        coding, content = _coded(values)
        told.append([name, len(values), coding, len(content)])
        planes += content
    text = json.dumps({**head, "columns": told}, ensure_ascii=False, separators=(",", ":")).encode()
    return zlib.compress(b"".join((struct.pack("<I", len(text)), text, *planes)), LEVEL)


def _coded(values: NDArray[Any]) -> tuple[str, list[bytes]]:
    """Return the coding of a column that takes fewest bytes by a rough measure, and its planes."""
    if values.dtype.kind == "f":
        whole = values.astype(np.int64) if np.abs(values).max(initial=0) < 2**53 else None
        if whole is None or not np.array_equal(whole, values):
            return "float", _planes(values.view(np.uint64))
        values = whole
    values = values.astype(np.int64)
    ways = {"signed": _zigzag(values), "steps": _zigzag(np.diff(values, prepend=0))}
    if values.min(initial=0) >= 0:
        ways["plain"] = values.astype(np.uint64)
    sizes = {
        way: len(zlib.compress(b"".join(_planes(_sample(coded))), 1)) for way, coded in ways.items()
    }
    best = min(sizes, key=sizes.__getitem__)
    return best, _planes(ways[best])


def _sample(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return stretches of a long column, which tell how well all of it packs."""
    if len(values) <= 1 << 15:
        return values
    places = np.linspace(0, len(values) - 4096, 8).astype(np.int64)
    return np.concatenate([values[place : place + 4096] for place in places.tolist()])


def _zigzag(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return numbers without a sign: 0, -1, 1, -2, ... become 0, 1, 2, 3, ..."""
    return ((values << 1) ^ (values >> 63)).view(np.uint64)


def _planes(values: NDArray[np.uint64]) -> list[bytes]:
    """Return the lowest bytes of all numbers, then the next ones, up to the last that is needed."""
    if not len(values):
        return []
    needed = (int(values.max()).bit_length() + 7) // 8
    table = np.ascontiguousarray(values).astype("<u8").view(np.uint8).reshape(-1, 8)
    return [table[:, plane].tobytes() for plane in range(needed)]

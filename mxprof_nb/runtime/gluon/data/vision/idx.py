"""The IDX format of MNIST's files: a magic number, the length of each axis, bytes.

Big-endian throughout. The magic number is two zero bytes, the type of the elements (8: unsigned
bytes, the only one here), and the number of axes.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import DatasetError

__all__ = ["pack", "read"]

_GZIP = b"\x1f\x8b"
_BYTES = 8


def pack(values: NDArray[np.uint8]) -> bytes:
    """Return an array of bytes, shape (n, ...), as the content of a file."""
    head = struct.pack(f">HBB{values.ndim}I", 0, _BYTES, values.ndim, *values.shape)
    return head + values.astype(np.uint8).tobytes()


def read(path: StrPath, axes: int) -> NDArray[np.uint8]:
    """Return the content of a file, gzipped or not.

    Parameters
    ----------
    path : path
    axes : int
        How many it must have: 3 for pictures, 1 for labels.

    Returns
    -------
    ndarray of uint8

    Raises
    ------
    DatasetError
        It is no such file, or a damaged one; the message says which and what is wrong.
    OSError
        It cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read()
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, zlib.error) as cause:
            raise _damaged(path, f"it cannot be unpacked ({cause})") from cause
    head = 4 + 4 * axes
    if content[:4] != bytes((0, 0, _BYTES, axes)):
        raise _damaged(
            path,
            f"it begins with {content[:4].hex() or 'nothing'}, and an IDX file of bytes with "
            f"{axes} {'axis' if axes == 1 else 'axes'} with 0000{_BYTES:02x}{axes:02x}",
        )
    if len(content) < head:
        raise _damaged(path, "it ends before the lengths of its axes are told")
    shape = struct.unpack(f">{axes}I", content[4:head])
    promised, there = math.prod(shape), len(content) - head
    if promised != there:
        raise _damaged(
            path, f"it promises {promised:,} bytes in shape {shape}, and {there:,} follow"
        )
    return np.frombuffer(content, np.uint8, offset=head).reshape(shape)


def _damaged(path: StrPath, problem: str) -> DatasetError:
    return DatasetError(f"{path}: {problem}. Get the file again, or remove it.")

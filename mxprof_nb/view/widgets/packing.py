"""A figure as bytes: arrays as columns of numbers, the rest as JSON, all of it deflated."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np

__all__ = ["pack"]

#: Types that the page knows, in NumPy's names.
TYPES = {"float64": "f8", "float32": "f4", "int32": "i4", "uint8": "u1"}
#: The quickest level already halves the columns and packs hover texts to a sixth.
LEVEL = 1


def pack(figure: dict[str, Any]) -> bytes:
    """Return a figure of dicts, lists and arrays for the page to unpack.

    Parameters
    ----------
    figure : dict
        Arrays of other types than `TYPES` become float64.

    Returns
    -------
    bytes
        Deflated: offset of the head (uint32, little endian), 4 bytes of nothing, columns at
        multiples of 8 bytes, head (JSON, arrays as ``{"$": [type, offset, length]}``).
    """
    columns = bytearray(8)

    def place(part: Any) -> Any:
        """Put the arrays of a part into ``columns`` and references in their place."""
        if isinstance(part, dict):
            return {key: place(inner) for key, inner in part.items()}
        if isinstance(part, np.ndarray):
            array = part if part.dtype.name in TYPES else part.astype(np.float64)
            offset = len(columns)
            columns.extend(array.tobytes())
            columns.extend(bytes(-len(columns) % 8))
            return {"$": [TYPES[array.dtype.name], offset, len(array)]}
        if isinstance(part, list) and part and isinstance(part[0], (dict, np.ndarray)):
            return [place(inner) for inner in part]
        return part

    head = json.dumps(place(figure), ensure_ascii=False, separators=(",", ":")).encode()
    struct.pack_into("<I", columns, 0, len(columns))
    return zlib.compress(bytes(columns) + head, LEVEL)

"""Types of elements, and the data of the host that arrays are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

__all__ = ["dtype_name", "host_data"]

_NAMES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")


def dtype_name(dtype: Any, default: str = "float32") -> str:
    """Return the name of a type of elements; ``default`` for None.

    Raises
    ------
    TypeError
        Arrays cannot have it.
    """
    if dtype is None:
        return default
    # Of a text with more than letters and digits NumPy would read a whole structure.
    odd = isinstance(dtype, str) and not dtype.lstrip("<>=|").isalnum()
    try:
        name: str = "" if odd else np.dtype(dtype).name
    except (TypeError, ValueError):
        name = ""
    if name not in _NAMES:
        raise TypeError(f"dtype {dtype!r:.60} must be one of {', '.join(_NAMES)}.")
    return name


def host_data(source: Any) -> NumpyArray[Any]:
    """Return anything NumPy reads as numbers.

    Raises
    ------
    TypeError
        It holds something else.
    """
    try:
        data = np.asarray(source)
    except ValueError:  # rows of different lengths
        data = np.empty((), object)
    if data.dtype.kind not in "biuf":
        raise TypeError(
            f"{type(source).__name__} {source!r:.60} is no array of numbers. "
            "Give numbers, rows of equal length, or a NumPy array."
        )
    return data

"""What tests of operators compare: an array's values, shape and type with plain Python's."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxprof_nb.runtime.nd import NDArray

__all__ = ["FLOATS", "INTEGERS", "TOLERANCE", "check", "each", "pairwise", "single"]

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int32", "int64")
TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-13}


def check(result: NDArray, expected: Any, dtype: str) -> None:
    """Compare values, shape and type; what was promised must be what came."""
    expected = np.asarray(expected)
    value = result.asnumpy()
    assert result.shape == value.shape == expected.shape
    assert np.dtype(result.dtype).name == value.dtype.name == dtype
    tolerance = TOLERANCE.get(dtype, 0)
    np.testing.assert_allclose(
        value.astype("f8"), expected.astype("f8"), rtol=tolerance, atol=tolerance
    )


def each(function: Any, values: Any) -> Any:
    """Apply a function of one number to each."""
    return np.vectorize(function, otypes=["f8"])(np.asarray(values, "f8"))


def pairwise(function: Any, x: Any, y: Any) -> Any:
    """Apply a function of two numbers to each pair, broadcasting."""
    return np.vectorize(function, otypes=["f8"])(np.asarray(x, "f8"), np.asarray(y, "f8"))


def single(values: list[Any]) -> Any:
    """Return numbers in single precision."""
    return np.array(values, dtype="float32")

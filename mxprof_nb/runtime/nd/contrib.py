"""`mx.nd.contrib`: functions that MXNet keeps apart."""

from __future__ import annotations

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.ops.indexing import BOOLEAN_MASK

__all__ = ["boolean_mask"]


def boolean_mask(
    data: NDArray, index: NDArray, axis: int = 0, out: NDArray | None = None
) -> NDArray:
    """Return the rows of ``data`` where ``index`` is not 0.

    Waits for ``index``: the shape of the result depends on its value.
    """
    if axis != 0:
        raise ShapeError(f"boolean_mask: axis {axis} must be 0; move it there with moveaxis.")
    rows = int(np.count_nonzero(index.asnumpy()))
    return apply(BOOLEAN_MASK, (data, index), (("rows", rows),), out=out)

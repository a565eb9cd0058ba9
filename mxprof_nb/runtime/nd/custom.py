"""`nd.Custom`: calls an operator that the program brought along."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime.nd.array import NDArray, apply_several
from mxprof_nb.runtime.ops.custom import custom

__all__ = ["Custom"]


def Custom(*data: NDArray, op_type: str, **attributes: Any) -> Any:
    """Return what the operator registered as ``op_type`` makes of arrays.

    Parameters
    ----------
    *data : NDArray
    op_type : str
    **attributes
        Handed on to it as words, as MXNet does.

    Returns
    -------
    NDArray or list of NDArray
        A list for an operator of several results.
    """
    words = tuple(sorted((name, str(value)) for name, value in attributes.items()))
    results = apply_several(custom(op_type, words), data)
    return results[0] if len(results) == 1 else results

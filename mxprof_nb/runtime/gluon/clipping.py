"""Gradients made smaller together."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.nd import NDArray

__all__ = ["clip_global_norm"]


def clip_global_norm(
    arrays: Sequence[NDArray], max_norm: float, check_isfinite: bool = True
) -> Any:
    """Scale arrays in place so that the norm of all their elements is at most ``max_norm``.

    Parameters
    ----------
    arrays : sequence of NDArray
    max_norm : float
    check_isfinite : bool
        Whether to wait for the norm, and to warn if it is no finite number.

    Returns
    -------
    float or NDArray
        The norm before; an array of one element if it is not checked.
    """
    if not arrays:
        raise ArgumentError("clip_global_norm: there are no arrays.")
    context = arrays[0].context
    squares = []
    for each in arrays:
        flat = each.reshape((-1,))
        squares.append(nd.dot(flat, flat).as_in_context(context))
    norm = nd.sqrt(nd.add_n(*squares))
    if check_isfinite and not math.isfinite(norm.asscalar()):
        warnings.warn(
            "clip_global_norm: a gradient holds NaN or infinity, and so will the clipped ones.",
            stacklevel=2,
        )
    scale = nd.min(nd.concat(max_norm / (norm + 1e-8), nd.ones(1, ctx=context), dim=0))
    for each in arrays:
        each *= scale.as_in_context(each.context)
    return norm.asscalar() if check_isfinite else norm

"""`mx.nd.random`: random arrays, reproducible after `seed` whatever worker makes them."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime import api
from mxprof_nb.runtime.context import Context, current_context
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.nd.functions import Shape, _shape, _type
from mxprof_nb.runtime.ops import OpSpec, creation

__all__ = ["normal", "seed", "uniform"]


def _draw(
    op: OpSpec, first: float, second: float, shape: Shape, dtype: Any, ctx: Context | None
) -> NDArray:
    attrs = (("shape", _shape(shape)), ("dtype", _type(dtype)))
    return apply(op, (), attrs, dynamic=(first, second), context=ctx or current_context())


def uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: Shape = (1,),
    dtype: Any = None,
    ctx: Context | None = None,
) -> NDArray:
    """Return numbers drawn evenly from ``[low, high)``."""
    return _draw(creation.RANDOM_UNIFORM, low, high, shape, dtype, ctx)


def normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: Shape = (1,),
    dtype: Any = None,
    ctx: Context | None = None,
) -> NDArray:
    """Return normally distributed numbers; a scale of 0 or less fails where the value is read."""
    return _draw(creation.RANDOM_NORMAL, loc, scale, shape, dtype, ctx)


def seed(seed_state: int, ctx: Context | None = None) -> None:
    """Start a sequence of random numbers anew, on all devices unless one is named.

    What is queued already keeps the old sequence.
    """
    api.random_seed(int(seed_state), ctx)

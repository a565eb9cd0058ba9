"""Operators with results that only their gradients need, and that programs do not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.array import NDArray, apply_several
from mxprof_nb.runtime.ops import OpSpec
from mxprof_nb.runtime.storage import Chunk

__all__ = ["apply_hiding"]


def apply_hiding(
    op: OpSpec,
    inputs: Sequence[NDArray],
    attrs: Attrs,
    visible: int = 1,
    out: NDArray | Sequence[NDArray] | None = None,
) -> list[NDArray]:
    """Queue an operator and return the first ``visible`` of its results."""
    if out is None:
        return apply_several(op, inputs, attrs)[:visible]
    targets: list[Any] = list(out) if isinstance(out, (list, tuple)) else [out]
    hidden = op.infer(*(one.aval for one in inputs), **dict(attrs))[len(targets) :]
    device = inputs[0].chunk.context
    made = [NDArray._of(Chunk(one.nbytes, device), one) for one in hidden]
    return apply_several(op, inputs, attrs, out=[*targets, *made])[: len(targets)]

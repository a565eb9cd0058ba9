"""Products and diagonals of matrices."""

from __future__ import annotations

from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import flag, whole
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.ops.matrix import BATCH_DOT, DIAG, DOT

__all__ = ["batch_dot", "diag", "dot"]


def _turned(transpose_a: bool, transpose_b: bool) -> Attrs:
    return (("transpose_a", flag(transpose_a)), ("transpose_b", flag(transpose_b)))


def dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return the product over the last axis of ``lhs`` and the first of ``rhs``.

    Parameters
    ----------
    lhs, rhs : NDArray
    transpose_a : bool
        Whether to sum over the first axis of ``lhs`` instead.
    transpose_b : bool
        Whether to sum over the last axis of ``rhs`` instead.
    forward_stype : str, optional
        Without effect: arrays are stored in one way only.
    out : NDArray, optional
    """
    return apply(DOT, (lhs, rhs), _turned(transpose_a, transpose_b), out=out)


def batch_dot(
    lhs: NDArray,
    rhs: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return the products of the matrices on the last two axes, one for each of a batch."""
    return apply(BATCH_DOT, (lhs, rhs), _turned(transpose_a, transpose_b), out=out)


def diag(
    data: NDArray, k: int = 0, axis1: int = 0, axis2: int = 1, out: NDArray | None = None
) -> NDArray:
    """Return the diagonals of matrices on two axes, or the matrix with the given diagonal."""
    attrs: Attrs = (("k", whole(k)),)
    if len(data.aval.shape) > 1:
        attrs += (("axis1", whole(axis1)), ("axis2", whole(axis2)))
    return apply(DIAG, (data,), attrs, out=out)

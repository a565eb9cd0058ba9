"""`mx.nd.linalg`: linear algebra of matrices and batches of them."""

from __future__ import annotations

from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import flag, real, whole
from mxprof_nb.runtime.nd.array import NDArray, apply, apply_several
from mxprof_nb.runtime.ops.linalg import LINALG

__all__ = [
    "det",
    "extractdiag",
    "gemm",
    "gemm2",
    "inverse",
    "makediag",
    "potrf",
    "potri",
    "slogdet",
    "sumlogdiag",
    "syrk",
    "trmm",
    "trsm",
]


def gemm(
    A: NDArray,
    B: NDArray,
    C: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
    out: NDArray | None = None,
) -> NDArray:
    """Return ``alpha A B + beta C``; ``axis`` is that of the rows."""
    attrs = (*_product(transpose_a, transpose_b, alpha, axis), ("beta", real(beta)))
    return apply(LINALG["gemm"], (A, B, C), attrs, out=out)


def gemm2(
    A: NDArray,
    B: NDArray,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
    out: NDArray | None = None,
) -> NDArray:
    """Return ``alpha A B``; ``axis`` is that of the rows."""
    attrs = _product(transpose_a, transpose_b, alpha, axis)
    return apply(LINALG["gemm2"], (A, B), attrs, out=out)


def _product(transpose_a: bool, transpose_b: bool, alpha: float, axis: int) -> Attrs:
    return (
        ("transpose_a", flag(transpose_a)),
        ("transpose_b", flag(transpose_b)),
        ("alpha", real(alpha)),
        ("axis", whole(axis)),
    )


def syrk(
    A: NDArray, transpose: bool = False, alpha: float = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return ``alpha A A^T``, or ``alpha A^T A``."""
    attrs: Attrs = (("alpha", real(alpha)), ("transpose", flag(transpose)))
    return apply(LINALG["syrk"], (A,), attrs, out=out)


def trmm(
    A: NDArray,
    B: NDArray,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return ``alpha A B``, or ``alpha B A`` for ``rightside``; of A only one triangle counts."""
    return apply(LINALG["trmm"], (A, B), _triangle(transpose, rightside, lower, alpha), out=out)


def trsm(
    A: NDArray,
    B: NDArray,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return the X of ``A X = alpha B``, or of ``X A = alpha B``; one triangle of A counts."""
    return apply(LINALG["trsm"], (A, B), _triangle(transpose, rightside, lower, alpha), out=out)


def _triangle(transpose: bool, rightside: bool, lower: bool, alpha: float) -> Attrs:
    return (
        ("alpha", real(alpha)),
        ("lower", flag(lower)),
        ("rightside", flag(rightside)),
        ("transpose", flag(transpose)),
    )


def potrf(A: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the lower triangular L with ``A = L L^T``.

    Reading the result raises `OperatorError` if A is not positive definite.
    """
    return apply(LINALG["potrf"], (A,), out=out)


def potri(A: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse of ``A A^T``, of whose A the lower triangle counts; see `potrf`."""
    return apply(LINALG["potri"], (A,), out=out)


def inverse(A: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the inverse; reading it raises `OperatorError` if there is none."""
    return apply(LINALG["inverse"], (A,), out=out)


def det(A: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the determinant."""
    return apply(LINALG["det"], (A,), out=out)


def slogdet(A: NDArray) -> list[NDArray]:
    """Return the sign of the determinant and the logarithm of its absolute value."""
    return apply_several(LINALG["slogdet"], (A,))


def sumlogdiag(A: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the sum of the logarithms of the diagonal."""
    return apply(LINALG["sumlogdiag"], (A,), out=out)


def extractdiag(A: NDArray, offset: int = 0, out: NDArray | None = None) -> NDArray:
    """Return a diagonal of each matrix."""
    return apply(LINALG["extractdiag"], (A,), (("offset", whole(offset)),), out=out)


def makediag(A: NDArray, offset: int = 0, out: NDArray | None = None) -> NDArray:
    """Return matrices that are 0 but for a diagonal, ``A``'s last axis."""
    return apply(LINALG["makediag"], (A,), (("offset", whole(offset)),), out=out)

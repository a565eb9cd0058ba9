"""What the operators of linear algebra share: checks, costs and names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import of_one_type
from mxprof_nb.runtime.ops.cost import Rule, nothing
from mxprof_nb.runtime.ops.registry import Aval, Gradient, OpSpec, aval, refuse, register

__all__ = [
    "LINALG",
    "check_matrices",
    "check_square",
    "cubic",
    "per_matrix",
    "register_linalg",
    "turned",
]

Array = NumpyArray[Any]

#: Name without ``_linalg_`` to operator.
LINALG: dict[str, OpSpec] = {}


def turned(matrix: Array, turn: bool = True) -> Array:
    """Return a view of matrices with rows and columns exchanged, if asked to."""
    return matrix.swapaxes(-1, -2) if turn else matrix


def check_matrices(name: str, *operands: Aval) -> None:
    """Refuse what are no matrices of one floating point type."""
    of_one_type(name, *operands)
    if operands[0].dtype.kind != "f" or operands[0].dtype.itemsize < 4:
        raise refuse(name, "it needs float32 or float64", *operands)
    for operand in operands:
        if len(operand.shape) < 2:
            raise refuse(name, "it needs matrices", *operands)


def check_square(name: str, operand: Aval) -> Aval:
    """Return the operand, which must hold square matrices."""
    check_matrices(name, operand)
    if operand.shape[-1] != operand.shape[-2]:
        raise refuse(name, "the matrices must be square", operand)
    return operand


def per_matrix(name: str) -> Callable[[Aval], Aval]:
    """Return the rule for one number for each square matrix."""
    return lambda a: aval(check_square(name, a).shape[:-2] or (1,), a.dtype)


def cubic(factor: float) -> Callable[..., int]:
    """Return a rule that counts a multiple of the third power of the extent for each matrix."""

    def count(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
        largest = max(inputs, key=lambda operand: operand.size)
        return int(factor * largest.size * largest.shape[-1])

    return count


def register_linalg(
    name: str,
    infer: Callable[..., Any],
    doc: str,
    kernel: Callable[..., Any],
    back: Callable[..., Any],
    *,
    inputs: tuple[int, ...] = (),
    outputs: tuple[int, ...] = (),
    heads: tuple[int, ...] | None = (0,),
    flops: Rule = nothing,
    blas: bool = True,
) -> OpSpec:
    """Register ``_linalg_<name>`` with its gradient and return it."""
    full = f"_linalg_{name}"
    gradient = Gradient(
        f"_backward{full}", back, inputs, outputs, heads=heads, flops=flops, blas=blas
    )
    made = register(full, infer, doc, gradient=gradient, flops=flops, blas=blas)(kernel)
    LINALG[name] = made
    return made

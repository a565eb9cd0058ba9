"""Linear algebra of matrices and batches of them, as LAPACK has it."""

from mxprof_nb.runtime.ops.linalg import diagonals, factors, products, triangles
from mxprof_nb.runtime.ops.linalg.matrices import LINALG

__all__ = ["LINALG", "diagonals", "factors", "products", "triangles"]

"""The operators: one record each, in one registry."""

from mxprof_nb.runtime.ops import creation, elementwise, matrix, reduction
from mxprof_nb.runtime.ops.registry import Aval, OpSpec, aval, operator_names, spec

__all__ = [
    "Aval",
    "OpSpec",
    "aval",
    "creation",
    "elementwise",
    "matrix",
    "operator_names",
    "reduction",
    "spec",
]

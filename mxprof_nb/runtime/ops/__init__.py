"""The operators: one record each, in one registry."""

from mxprof_nb.runtime.ops import creation, elementwise, matrix, reduction
from mxprof_nb.runtime.ops.registry import Gradient, OpSpec, operator_names, spec
from mxprof_nb.runtime.ops.shapes import Aval, aval

__all__ = [
    "Aval",
    "Gradient",
    "OpSpec",
    "aval",
    "creation",
    "elementwise",
    "matrix",
    "operator_names",
    "reduction",
    "spec",
]

"""The operators: one record each, in one registry."""

from mxprof_nb.runtime.ops import (
    creation,
    draws,
    elementwise,
    expansion,
    image,
    indexing,
    joining,
    linalg,
    matrix,
    nn,
    norm,
    optimizer,
    ordering,
    positions,
    reduction,
    shape,
    slicing,
)
from mxprof_nb.runtime.ops.registry import Gradient, OpSpec, operator_names, spec
from mxprof_nb.runtime.ops.shapes import Aval, aval

__all__ = [
    "Aval",
    "Gradient",
    "OpSpec",
    "aval",
    "creation",
    "draws",
    "elementwise",
    "expansion",
    "image",
    "indexing",
    "joining",
    "linalg",
    "matrix",
    "nn",
    "norm",
    "operator_names",
    "optimizer",
    "ordering",
    "positions",
    "reduction",
    "shape",
    "slicing",
    "spec",
]

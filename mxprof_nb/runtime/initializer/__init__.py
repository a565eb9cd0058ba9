"""`mx.init`, `mx.initializer`: what the parameters of a network are before it learns."""

from mxprof_nb.runtime.initializer.base import InitDesc, Initializer
from mxprof_nb.runtime.initializer.fixed import Bilinear, Constant, LSTMBias, One, Zero
from mxprof_nb.runtime.initializer.mixed import Load, Mixed
from mxprof_nb.runtime.initializer.random import MSRAPrelu, Normal, Orthogonal, Uniform, Xavier
from mxprof_nb.runtime.initializer.registry import alias, create, register

__all__ = [
    "Bilinear",
    "Constant",
    "InitDesc",
    "Initializer",
    "LSTMBias",
    "Load",
    "MSRAPrelu",
    "Mixed",
    "Normal",
    "One",
    "Orthogonal",
    "Uniform",
    "Xavier",
    "Zero",
    "alias",
    "create",
    "register",
]

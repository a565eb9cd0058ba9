"""`mx.gluon.parameter`: the parameters of networks, one and many."""

from mxprof_nb.errors import DeferredInitializationError
from mxprof_nb.runtime.gluon.parameter.constant import Constant
from mxprof_nb.runtime.gluon.parameter.dictionary import ParameterDict
from mxprof_nb.runtime.gluon.parameter.single import Parameter

__all__ = ["Constant", "DeferredInitializationError", "Parameter", "ParameterDict"]

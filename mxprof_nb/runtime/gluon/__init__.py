"""`mx.gluon`: networks of layers, their parameters and losses, and data to train them with."""

from typing import NoReturn

from mxprof_nb.errors import DeferredInitializationError
from mxprof_nb.runtime.gluon import absent, block, data, loss, nn, parameter, trainer, utils
from mxprof_nb.runtime.gluon.block import Block, HybridBlock, SymbolBlock
from mxprof_nb.runtime.gluon.parameter import Constant, Parameter, ParameterDict
from mxprof_nb.runtime.gluon.trainer import Trainer

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "block",
    "data",
    "loss",
    "nn",
    "parameter",
    "trainer",
    "utils",
]


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name("gluon", name, __all__)

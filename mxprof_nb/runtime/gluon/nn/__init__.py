"""`mx.gluon.nn`: the layers of networks."""

from typing import NoReturn

from mxprof_nb.runtime.gluon import absent
from mxprof_nb.runtime.gluon.block import Block, HybridBlock, SymbolBlock
from mxprof_nb.runtime.gluon.nn.activations import (
    ELU,
    GELU,
    SELU,
    Activation,
    LeakyReLU,
    PReLU,
    Swish,
)
from mxprof_nb.runtime.gluon.nn.basic import (
    Dense,
    Dropout,
    Embedding,
    Flatten,
    HybridLambda,
    Lambda,
)
from mxprof_nb.runtime.gluon.nn.containers import HybridSequential, Sequential
from mxprof_nb.runtime.gluon.nn.convolution import (
    Conv1D,
    Conv1DTranspose,
    Conv2D,
    Conv2DTranspose,
)
from mxprof_nb.runtime.gluon.nn.norm import BatchNorm, GroupNorm, InstanceNorm, LayerNorm
from mxprof_nb.runtime.gluon.nn.pooling import (
    AvgPool1D,
    AvgPool2D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    MaxPool1D,
    MaxPool2D,
    ReflectionPad2D,
)

__all__ = [
    "ELU",
    "GELU",
    "SELU",
    "Activation",
    "AvgPool1D",
    "AvgPool2D",
    "BatchNorm",
    "Block",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GroupNorm",
    "HybridBlock",
    "HybridLambda",
    "HybridSequential",
    "InstanceNorm",
    "Lambda",
    "LayerNorm",
    "LeakyReLU",
    "MaxPool1D",
    "MaxPool2D",
    "PReLU",
    "ReflectionPad2D",
    "Sequential",
    "Swish",
    "SymbolBlock",
]


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name("gluon.nn", name, __all__)

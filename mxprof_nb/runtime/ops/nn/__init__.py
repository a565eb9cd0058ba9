"""The operators of neural networks, by family."""

from mxprof_nb.runtime.ops.nn import (
    activation,
    batch_norm,
    convolution,
    dropout,
    linear,
    local_response,
    loss,
    normalization,
    pooling,
    softmax,
    upsampling,
)

__all__ = [
    "activation",
    "batch_norm",
    "convolution",
    "dropout",
    "linear",
    "local_response",
    "loss",
    "normalization",
    "pooling",
    "softmax",
    "upsampling",
]

"""The layers of neural networks as functions of `mx.nd`; the names and defaults are MXNet's.

Arguments that only choose a GPU kernel in MXNet (``cudnn_off``) are accepted and change nothing;
layers that move a window over an image are in `windows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxprof_nb.runtime.mode import is_training
from mxprof_nb.runtime.nd.arguments import flag, integers, real, required, whole
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.nd.hidden import apply_hiding
from mxprof_nb.runtime.ops.nn import local_response
from mxprof_nb.runtime.ops.nn.activation import ACTIVATION, LEAKY_RELU
from mxprof_nb.runtime.ops.nn.batch_norm import BATCH_NORM
from mxprof_nb.runtime.ops.nn.dropout import DROPOUT
from mxprof_nb.runtime.ops.nn.linear import FULLY_CONNECTED
from mxprof_nb.runtime.ops.nn.normalization import (
    GROUP_NORM,
    INSTANCE_NORM,
    LAYER_NORM,
)

__all__ = [
    "LRN",
    "Activation",
    "BatchNorm",
    "Dropout",
    "FullyConnected",
    "GroupNorm",
    "InstanceNorm",
    "LayerNorm",
    "LeakyReLU",
]

Sizes = int | Sequence[int]


def _one_or_all(results: list[NDArray]) -> Any:
    return results[0] if len(results) == 1 else results


def FullyConnected(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    num_hidden: int | None = None,
    no_bias: bool = False,
    flatten: bool = True,
    out: NDArray | None = None,
) -> NDArray:
    """Return the product of the data with a matrix of weights, plus a bias.

    Parameters
    ----------
    data : NDArray
        Shape (sample, ...); the rest counts as one vector. Without ``flatten`` (..., feature).
    weight : NDArray
        Shape (num_hidden, feature).
    bias : NDArray, optional
        Shape (num_hidden,); left out together with ``no_bias=True``.
    num_hidden : int
        Length of the vectors to return.
    no_bias, flatten : bool
    out : NDArray, optional
    """
    length = required("FullyConnected", "num_hidden", "length of the vectors to return", num_hidden)
    attrs = (
        ("num_hidden", whole(length)),
        ("no_bias", flag(no_bias)),
        ("flatten", flag(flatten)),
    )
    inputs = (data, weight) if bias is None else (data, weight, bias)
    return apply(FULLY_CONNECTED, inputs, attrs, out=out)


def BatchNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    moving_mean: NDArray,
    moving_var: NDArray,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    out: NDArray | Sequence[NDArray] | None = None,
) -> Any:
    """Return the data with mean 0 and deviation 1 in each channel, scaled and shifted.

    Parameters
    ----------
    data : NDArray
    gamma, beta : NDArray
        Scale and shift of each channel; with ``fix_gamma`` the scale is 1.
    moving_mean, moving_var : NDArray
        Used for prediction, or always with ``use_global_stats``. While training the gradient
        moves them towards those of the batch, by 1 - ``momentum``.
    eps : float
        Added to the variance.
    output_mean_var : bool
        Whether to return the mean and 1 / the deviation too.
    axis : int
        Axis of the channels.
    out : NDArray or sequence of NDArray, optional
    """
    attrs = (
        ("eps", real(eps)),
        ("momentum", real(momentum)),
        ("fix_gamma", flag(fix_gamma)),
        ("use_global_stats", flag(use_global_stats)),
        ("axis", whole(axis)),
        ("train", is_training()),
    )
    inputs = (data, gamma, beta, moving_mean, moving_var)
    return _one_or_all(apply_hiding(BATCH_NORM, inputs, attrs, 3 if output_mean_var else 1, out))


def LayerNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    axis: int = -1,
    eps: float = 1e-5,
    output_mean_var: bool = False,
    out: NDArray | Sequence[NDArray] | None = None,
) -> Any:
    """Return the data with mean 0 and deviation 1 along an axis, scaled and shifted along it."""
    attrs = (("axis", whole(axis)), ("eps", real(eps)))
    visible = 3 if output_mean_var else 1
    return _one_or_all(apply_hiding(LAYER_NORM, (data, gamma, beta), attrs, visible, out))


def GroupNorm(
    data: NDArray,
    gamma: NDArray,
    beta: NDArray,
    num_groups: int = 1,
    eps: float = 1e-5,
    output_mean_var: bool = False,
    out: NDArray | Sequence[NDArray] | None = None,
) -> Any:
    """Return the data with mean 0 and deviation 1 in each group of channels, scaled and shifted.

    ``gamma`` and ``beta`` hold one number for each group.
    """
    attrs = (("num_groups", whole(num_groups)), ("eps", real(eps)))
    visible = 3 if output_mean_var else 1
    return _one_or_all(apply_hiding(GROUP_NORM, (data, gamma, beta), attrs, visible, out))


def InstanceNorm(
    data: NDArray, gamma: NDArray, beta: NDArray, eps: float = 1e-3, out: NDArray | None = None
) -> NDArray:
    """Return the data with mean 0 and deviation 1 in each channel of each sample."""
    return apply_hiding(INSTANCE_NORM, (data, gamma, beta), (("eps", real(eps)),), 1, out)[0]


def LRN(
    data: NDArray,
    alpha: float = 1e-4,
    beta: float = 0.75,
    knorm: float = 2.0,
    nsize: int | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return each element over ``(knorm + alpha * mean) ** beta``.

    The mean is that of the squares in ``nsize`` channels around the element; those that lie
    outside count as 0. ``data`` has shape (sample, channel, row, column).
    """
    channels = whole(required("LRN", "nsize", "how many channels count, an odd number", nsize))
    attrs = (
        ("nsize", channels),
        ("alpha", real(alpha)),
        ("beta", real(beta)),
        ("knorm", real(knorm)),
    )
    return apply_hiding(local_response.LRN, (data,), attrs, 1, out)[0]


def Dropout(
    data: NDArray,
    p: float = 0.5,
    mode: str = "training",
    axes: Sizes = (),
    cudnn_off: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return the data with a share ``p`` set to 0 and the rest divided by 1 - p, while training.

    Parameters
    ----------
    data : NDArray
    p : float
    mode : str
        ``"training"``, or ``"always"`` to do so for prediction too.
    axes : tuple of int
        Axes along which all elements are dropped together.
    out : NDArray, optional
    """
    attrs = (("p", real(p)), ("mode", mode), ("axes", integers(axes)), ("train", is_training()))
    return apply_hiding(DROPOUT, (data,), attrs, 1, out)[0]


def Activation(data: NDArray, act_type: str | None = None, out: NDArray | None = None) -> NDArray:
    """Return relu, sigmoid, tanh, softrelu or softsign of the data, element by element."""
    wanted = required("Activation", "act_type", "the function, e.g. 'relu'", act_type)
    return apply(ACTIVATION, (data,), (("act_type", wanted),), out=out)


def LeakyReLU(
    data: NDArray,
    gamma: NDArray | None = None,
    act_type: str = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    out: NDArray | None = None,
) -> NDArray:
    """Return the data above 0, and below it what ``act_type`` says.

    Parameters
    ----------
    data : NDArray
    gamma : NDArray, optional
        Slope for ``"prelu"``: one number, or one for each channel.
    act_type : str
        ``"leaky"`` (slope * x), ``"prelu"``, ``"elu"`` (slope * (exp(x) - 1)), ``"selu"``,
        ``"gelu"``, or ``"rrelu"`` (while training, slopes drawn between both bounds; for prediction
        their mean).
    slope, lower_bound, upper_bound : float
    out : NDArray, optional
    """
    attrs = (
        ("act_type", act_type),
        ("slope", real(slope)),
        ("lower_bound", real(lower_bound)),
        ("upper_bound", real(upper_bound)),
        ("train", act_type == "rrelu" and is_training()),
    )
    return apply(LEAKY_RELU, (data,) if gamma is None else (data, gamma), attrs, out=out)

"""Shapes of parameters and labels that follow from the data of a layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from mxprof_nb.runtime.nd.arguments import integers
from mxprof_nb.runtime.ops.elementwise import ELEMWISE, SCALAR, UNARY

__all__ = ["ALIKE", "LABELS", "RULES"]

Shape = tuple[int, ...]
Given = Mapping[str, Any]
Shapes = dict[str, Shape]


def _fully_connected(given: Given) -> Shapes:
    units, shape = given["num_hidden"], given["data"].shape
    features = math.prod(shape[1:]) if given["flatten"] else shape[-1]
    return {"weight": (units, features), "bias": (units,)}


def _convolution(given: Given) -> Shapes:
    filters, channels = given["num_filter"], given["data"].shape[1]
    window = _kernel(given)
    return {"weight": (filters, channels // given["num_group"], *window), "bias": (filters,)}


def _deconvolution(given: Given) -> Shapes:
    filters, channels = given["num_filter"], given["data"].shape[1]
    window = _kernel(given)
    return {"weight": (channels, filters // given["num_group"], *window), "bias": (filters,)}


def _kernel(given: Given) -> Shape:
    return integers(given["kernel"])


def _along(name_of_axis: str | int, *names: str) -> Callable[[Given], Shapes]:
    """Return the rule of parameters with one number for each place on an axis."""

    def rule(given: Given) -> Shapes:
        axis = given[name_of_axis] if isinstance(name_of_axis, str) else name_of_axis
        return dict.fromkeys(names, (given["data"].shape[axis],))

    return rule


def _groups(given: Given) -> Shapes:
    return dict.fromkeys(("gamma", "beta"), (given["num_groups"],))


def _embedding(given: Given) -> Shapes:
    return {"weight": (given["input_dim"], given["output_dim"])}


#: For each layer of `mx.nd` that has parameters, what their shapes are.
RULES: dict[str, Callable[[Given], Shapes]] = {
    "FullyConnected": _fully_connected,
    "Convolution": _convolution,
    "Deconvolution": _deconvolution,
    "BatchNorm": _along("axis", "gamma", "beta", "moving_mean", "moving_var"),
    "LayerNorm": _along("axis", "gamma", "beta"),
    "InstanceNorm": _along(1, "gamma", "beta"),
    "GroupNorm": _groups,
    "Embedding": _embedding,
    "LeakyReLU": _along(1, "gamma"),
}


def _softmax_label(given: Given) -> Shapes:
    shape = given["data"].shape
    if given["multi_output"]:
        return {"label": (shape[0], *shape[2:])}
    return {"label": shape[:-1] if given["preserve_shape"] else shape[:1]}


def _regression_label(given: Given) -> Shapes:
    shape = given["data"].shape
    return {"label": shape[:1] if len(shape) == 2 and shape[1] == 1 else shape}


#: The same for what symbols take besides: labels.
LABELS: dict[str, Callable[[Given], Shapes]] = {
    "SoftmaxOutput": _softmax_label,
    "LinearRegressionOutput": _regression_label,
    "LogisticRegressionOutput": _regression_label,
    "MAERegressionOutput": _regression_label,
    "softmax_cross_entropy": lambda given: {"label": given["data"].shape[:1]},
}

#: Operators whose inputs and results all have one shape, so that each tells the others.
ALIKE = frozenset(
    [
        *(op.name for op in (*UNARY.values(), *ELEMWISE.values(), *SCALAR.values())),
        *("Activation", "BlockGrad", "Cast", "Dropout", "L2Normalization", "LRN", "MakeLoss"),
        *("_copy", "add_n", "clip", "hard_sigmoid", "log_softmax", "make_loss", "ones_like"),
        *("reverse", "smooth_l1", "softmin", "zeros_like", "SoftmaxActivation", "_shuffle"),
    ]
)

"""Losses: output layers that bring their own gradient, and softmax with cross-entropy."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.cost import nothing, times
from mxprof_nb.runtime.ops.nn.checks import choice, floating, in_single
from mxprof_nb.runtime.ops.nn.softmax import shifted_softmax
from mxprof_nb.runtime.ops.registry import Aval, Gradient, OpSpec, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["REGRESSION", "SOFTMAX_CROSS_ENTROPY", "SOFTMAX_OUTPUT"]

Array = NumpyArray[Any]


def _classes_in_the_middle(shape: tuple[int, ...], multi_output: bool, preserve_shape: bool) -> Any:
    """Return a shape as (samples, classes, places)."""
    if multi_output:
        return shape[0], shape[1], prod(shape[2:])
    if preserve_shape:
        return prod(shape[:-1]), shape[-1], 1
    return shape[0], prod(shape[1:]), 1


def _infer_softmax_output(
    data: Aval,
    label: Aval,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: str = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
) -> Aval:
    name = "SoftmaxOutput"
    choice(name, "normalization", normalization, ("batch", "null", "valid"))
    floating(name, data, label)
    shape = data.shape
    if len(shape) < 2:
        raise refuse(name, "data needs an axis of samples and one of classes", data, label)
    samples, _, places = _classes_in_the_middle(shape, multi_output, preserve_shape)
    if multi_output:
        fitting = [(samples, *shape[2:]), (samples, places)]
    else:
        fitting = [shape[:-1] if preserve_shape else (samples,)]
    if label.shape not in (*fitting, shape):
        raise refuse(
            name,
            f"label must have shape {fitting[0]}, or that of the data if it holds probabilities",
            data,
            label,
            remedy="multi_output=True has classes on the second axis, preserve_shape=True on the "
            "last.",
        )
    return data


@in_single
def _softmax_output(
    data: Array,
    label: Array,
    multi_output: bool = False,
    preserve_shape: bool = False,
    **_: Any,
) -> Array:
    result = empty(data.shape, data.dtype)
    folded = _classes_in_the_middle(data.shape, multi_output, preserve_shape)
    result[...] = shifted_softmax(data.reshape(folded), 1).reshape(data.shape)
    return result


@in_single
def _softmax_output_backward(
    head: Array,
    label: Array,
    result: Array,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: str = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
) -> Array:
    slope = empty(result.shape, result.dtype)
    if label.shape == result.shape and label.ndim > 1:  # probabilities
        np.subtract(result, label, out=slope)
        slope *= grad_scale
    else:
        slope[...] = result
        folded = slope.reshape(_classes_in_the_middle(result.shape, multi_output, preserve_shape))
        samples, _, places = folded.shape
        # MXNet does not smooth with multi_output.
        smoothed = 0.0 if multi_output else smooth_alpha
        _subtract_labels(folded, label.reshape(samples, places), smoothed)
        if use_ignore:
            ignored = label.reshape(samples, 1, places) == int(ignore_label)
            np.copyto(folded, 0, where=ignored)
        counted = 1
        if normalization == "batch":
            counted = len(label) if multi_output else samples
        elif normalization == "valid":
            counted = max(1, int((label.astype(int) != int(ignore_label)).sum()))
        # MXNet also takes the mean over places, unless it counts the valid ones.
        spread = places if multi_output and normalization != "valid" else 1
        slope *= grad_scale / counted / spread
    if out_grad:
        slope *= head
    return slope


def _subtract_labels(slope: Array, label: Array, smooth_alpha: float) -> None:
    """Subtract the distribution that the labels stand for; one out of range stands for none."""
    classes = slope.shape[1]
    if smooth_alpha:
        slope -= smooth_alpha / (classes - 1)
    chosen = label.astype(int)
    sample, place = np.nonzero((chosen >= 0) & (chosen < classes))
    amount = 1 - smooth_alpha - (smooth_alpha / (classes - 1) if smooth_alpha else 0)
    slope[sample, chosen[sample, place], place] -= amount


SOFTMAX_OUTPUT = register(
    "SoftmaxOutput",
    _infer_softmax_output,
    "Softmax whose gradient is that of the cross-entropy with the labels.",
    gradient=Gradient(
        "_backward_SoftmaxOutput",
        _softmax_output_backward,
        inputs=(1,),
        outputs=(0,),
        wrt=(0,),
        flops=times(2),
    ),
    flops=times(4),
)(_softmax_output)


def _infer_cross_entropy(data: Aval, label: Aval) -> Aval:
    floating("softmax_cross_entropy", data, label)
    if len(data.shape) != 2 or label.shape != data.shape[:1]:
        raise refuse(
            "softmax_cross_entropy",
            "it takes (samples, classes) and one label for each sample",
            data,
            label,
        )
    return aval((1,), data.dtype)


@in_single
def _cross_entropy(data: Array, label: Array) -> Array:
    shares = shifted_softmax(data, 1)
    chosen = label.astype(int)
    outside = np.flatnonzero((chosen < 0) | (chosen >= data.shape[1]))
    if outside.size:
        raise IndexError(
            f"label {label[outside[0]]:g} of sample {outside[0]} is none of {data.shape[1]} classes"
        )
    found = np.maximum(shares[np.arange(len(chosen)), chosen], 1e-8)  # as MXNet: stays finite
    loss: Array = -np.log(found).sum(keepdims=True)
    return loss


@in_single
def _cross_entropy_backward(head: Array, data: Array, label: Array) -> Array:
    slope = shifted_softmax(data, 1)
    _subtract_labels(slope[:, :, None], label[:, None], 0.0)
    slope *= head
    return slope


SOFTMAX_CROSS_ENTROPY = register(
    "softmax_cross_entropy",
    _infer_cross_entropy,
    "Sum over samples of the cross-entropy between softmax and label.",
    gradient=Gradient(
        "_backward_softmax_cross_entropy",
        _cross_entropy_backward,
        inputs=(0, 1),
        wrt=(0,),
        flops=times(5),
    ),
    flops=lambda inputs, results, attrs: 4 * inputs[0].size,
    workspace=True,
)(_cross_entropy)


def _infer_regression(name: str) -> Callable[..., Aval]:
    def infer(data: Aval, label: Aval, grad_scale: float = 1.0) -> Aval:
        floating(name, data, label)
        if data.shape[:1] != label.shape[:1] or data.size != label.size:
            raise refuse(
                name, "the label must have as many samples and elements as the data", data, label
            )
        return data

    return infer


def _itself(data: Array) -> Array:
    result = empty(data.shape, data.dtype)
    result[...] = data
    return result


def _logistic(data: Array) -> Array:
    result = np.negative(data, out=empty(data.shape, data.dtype))
    np.exp(result, out=result)
    result += 1
    return np.reciprocal(result, out=result)


def _difference(result: Array, label: Array) -> Array:
    slope = empty(result.shape, result.dtype)
    np.subtract(result, label.reshape(result.shape), out=slope)
    return slope


def _sign_of_difference(result: Array, label: Array) -> Array:
    above = result > label.reshape(result.shape)
    slope = empty(result.shape, result.dtype)
    slope.fill(-1)  # also where both are equal, as in MXNet
    slope[above] = 1
    return slope


def _regression(
    name: str, backward: str, doc: str, link: Callable[[Array], Array], slope: Callable[..., Array]
) -> OpSpec:
    def forward(data: Array, label: Array, grad_scale: float = 1.0) -> Array:
        return link(data)

    @in_single
    def gradient(head: Array, label: Array, result: Array, grad_scale: float = 1.0) -> Array:
        made = slope(result, label)
        made *= grad_scale / max(1, prod(result.shape[1:]))  # the mean over outputs, as in MXNet
        return made

    rule = Gradient(backward, gradient, inputs=(1,), outputs=(0,), wrt=(0,), flops=times(2))
    flops = nothing if link is _itself else times(3)
    return register(name, _infer_regression(name), doc, gradient=rule, flops=flops)(
        in_single(forward)
    )


#: Name to operator: output layers whose gradient is that of a loss against the label.
REGRESSION = {
    name: _regression(name, backward, doc, link, slope)
    for name, backward, doc, link, slope in (
        (
            "LinearRegressionOutput",
            "_backward_linear_reg_out",
            "The data; its gradient is that of half the squared error.",
            _itself,
            _difference,
        ),
        (
            "LogisticRegressionOutput",
            "_backward_logistic_reg_out",
            "Logistic function; its gradient is that of the cross-entropy.",
            _logistic,
            _difference,
        ),
        (
            "MAERegressionOutput",
            "_backward_mae_reg_out",
            "The data; its gradient is that of the absolute error.",
            _itself,
            _sign_of_difference,
        ),
    )
}

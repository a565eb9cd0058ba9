"""The softmax family and the losses as functions of `mx.nd`."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import flag, real, whole
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.ops.nn.loss import REGRESSION, SOFTMAX_CROSS_ENTROPY, SOFTMAX_OUTPUT
from mxprof_nb.runtime.ops.nn.softmax import LOG_SOFTMAX, SOFTMAX, SOFTMAX_ACTIVATION, SOFTMIN

__all__ = [
    "LinearRegressionOutput",
    "LogisticRegressionOutput",
    "MAERegressionOutput",
    "SoftmaxActivation",
    "SoftmaxOutput",
    "log_softmax",
    "softmax",
    "softmax_cross_entropy",
    "softmin",
]


def _along(axis: int, temperature: float | None, dtype: Any) -> Attrs:
    attrs: Attrs = (("axis", whole(axis)),)
    if temperature is not None:
        attrs += (("temperature", real(temperature)),)
    if dtype is not None:
        attrs += (("dtype", dtype_name(dtype)),)
    return attrs


def softmax(
    data: NDArray,
    length: NDArray | None = None,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    use_length: bool = False,
    out: NDArray | None = None,
) -> NDArray:
    """Return exponentials along an axis, summing to 1.

    Parameters
    ----------
    data : NDArray
    length : NDArray of int, optional
        With ``use_length``: how many elements count, for each position on the other axes. The
        others get 0.
    axis : int
    temperature : float, optional
        Divides the data first.
    dtype : optional
        Type of the result; that of the data by default.
    use_length : bool
    out : NDArray, optional
    """
    attrs = _along(axis, temperature, dtype)
    if use_length:
        attrs += (("use_length", True),)
    return apply(SOFTMAX, (data,) if length is None else (data, length), attrs, out=out)


def log_softmax(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return the logarithm of `softmax`."""
    return apply(LOG_SOFTMAX, (data,), _along(axis, temperature, dtype), out=out)


def softmin(
    data: NDArray,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return `softmax` of the negated data."""
    return apply(SOFTMIN, (data,), _along(axis, temperature, dtype), out=out)


def SoftmaxActivation(data: NDArray, mode: str = "instance", out: NDArray | None = None) -> NDArray:
    """Return softmax over all of each sample, or with mode="channel" over the second axis."""
    return apply(SOFTMAX_ACTIVATION, (data,), (("mode", mode),), out=out)


def SoftmaxOutput(
    data: NDArray,
    label: NDArray,
    grad_scale: float = 1.0,
    ignore_label: float = -1.0,
    multi_output: bool = False,
    use_ignore: bool = False,
    preserve_shape: bool = False,
    normalization: str = "null",
    out_grad: bool = False,
    smooth_alpha: float = 0.0,
    out: NDArray | None = None,
) -> NDArray:
    """Return softmax; its gradient is that of the cross-entropy with the labels.

    Parameters
    ----------
    data : NDArray
        Classes lie on the last axes, on the second with ``multi_output``, on the last alone with
        ``preserve_shape``.
    label : NDArray
        Numbers of classes, in the shape of the data without those axes; or probabilities, in the
        shape of the data.
    grad_scale : float
        Factor of the gradient.
    ignore_label : float
        With ``use_ignore``, label of the samples that have no gradient.
    normalization : str
        What divides the gradient: nothing (``"null"``), the number of samples (``"batch"``), or
        of labels other than ``ignore_label`` (``"valid"``).
    out_grad : bool
        Whether to multiply by the gradient of the result, which is ignored otherwise.
    smooth_alpha : float
        Share of each label that the other classes get.
    out : NDArray, optional
    """
    attrs = (
        ("grad_scale", real(grad_scale)),
        ("ignore_label", real(ignore_label)),
        ("multi_output", flag(multi_output)),
        ("use_ignore", flag(use_ignore)),
        ("preserve_shape", flag(preserve_shape)),
        ("normalization", normalization),
        ("out_grad", flag(out_grad)),
        ("smooth_alpha", real(smooth_alpha)),
    )
    return apply(SOFTMAX_OUTPUT, (data, label), attrs, out=out)


def softmax_cross_entropy(data: NDArray, label: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the sum over samples of the cross-entropy between softmax and label."""
    return apply(SOFTMAX_CROSS_ENTROPY, (data, label), out=out)


def _regression(
    name: str, data: NDArray, label: NDArray, grad_scale: float, out: NDArray | None
) -> NDArray:
    return apply(REGRESSION[name], (data, label), (("grad_scale", real(grad_scale)),), out=out)


def LinearRegressionOutput(
    data: NDArray, label: NDArray, grad_scale: float = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return the data; its gradient is that of half the squared error against the label."""
    return _regression("LinearRegressionOutput", data, label, grad_scale, out)


def LogisticRegressionOutput(
    data: NDArray, label: NDArray, grad_scale: float = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return the logistic function; its gradient is that of the cross-entropy with the label."""
    return _regression("LogisticRegressionOutput", data, label, grad_scale, out)


def MAERegressionOutput(
    data: NDArray, label: NDArray, grad_scale: float = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return the data; its gradient is that of the absolute error against the label."""
    return _regression("MAERegressionOutput", data, label, grad_scale, out)

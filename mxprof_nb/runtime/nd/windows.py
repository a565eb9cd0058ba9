"""Layers that move a window over an image, and enlarge one; the names and defaults are MXNet's.

Arguments that only choose a GPU kernel in MXNet (``workspace``, ``cudnn_tune``, ``cudnn_off``)
are accepted and change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import flag, integers, required, whole
from mxprof_nb.runtime.nd.array import NDArray, apply
from mxprof_nb.runtime.ops.nn.convolution import CONVOLUTION, DECONVOLUTION
from mxprof_nb.runtime.ops.nn.pooling import POOLING
from mxprof_nb.runtime.ops.nn.upsampling import UP_SAMPLING

__all__ = ["Convolution", "Deconvolution", "Pooling", "UpSampling"]

Sizes = int | Sequence[int]


def _window(name: str, kernel: Sizes | None) -> tuple[int, ...]:
    meaning = "extent of the window, one number for each axis of space"
    return required(name, "kernel", meaning, None if kernel is None else integers(kernel))


def _filters(name: str, num_filter: int | None) -> Any:
    meaning = "how many filters there are, so how many channels the result has"
    return whole(required(name, "num_filter", meaning, num_filter))


def _remembered(make: Callable[..., Attrs]) -> Callable[..., Attrs]:
    """Return a function that makes attributes once for the same arguments.

    A network calls its layers with the same ones again and again, and to look them up costs a
    fraction of making them.
    """
    known = lru_cache(maxsize=1000)(make)

    def attrs(*arguments: Any) -> Attrs:
        try:
            return known(*arguments)
        except TypeError:  # lists cannot be looked up
            return make(*arguments)

    return attrs


@_remembered
def _convolution_attrs(
    kernel: Sizes | None,
    num_filter: int | None,
    stride: Sizes,
    dilate: Sizes,
    pad: Sizes,
    num_group: int,
    no_bias: bool,
    layout: str | None,
) -> Attrs:
    return (
        ("kernel", _window("Convolution", kernel)),
        ("num_filter", _filters("Convolution", num_filter)),
        ("stride", integers(stride)),
        ("dilate", integers(dilate)),
        ("pad", integers(pad)),
        ("num_group", whole(num_group)),
        ("no_bias", flag(no_bias)),
        ("layout", layout),
    )


@_remembered
def _pooling_attrs(
    kernel: Sizes,
    pool_type: str,
    global_pool: bool,
    pooling_convention: str,
    stride: Sizes,
    pad: Sizes,
    count_include_pad: bool | None,
    layout: str | None,
) -> Attrs:
    return (
        ("kernel", integers(kernel)),
        ("pool_type", pool_type),
        ("global_pool", flag(global_pool)),
        ("pooling_convention", pooling_convention),
        ("stride", integers(stride)),
        ("pad", integers(pad)),
        ("count_include_pad", count_include_pad is None or flag(count_include_pad)),
        ("layout", layout),
    )


def Convolution(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    kernel: Sizes | None = None,
    stride: Sizes = (),
    dilate: Sizes = (),
    pad: Sizes = (),
    num_filter: int | None = None,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    cudnn_tune: str | None = None,
    cudnn_off: bool = False,
    layout: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return what each filter sees in a window that moves over the data.

    Parameters
    ----------
    data : NDArray
        Shape (sample, channel, row, column), or (sample, channel, column).
    weight : NDArray
        Shape (num_filter, channel of a group, *kernel).
    bias : NDArray, optional
        Shape (num_filter,); left out together with ``no_bias=True``.
    kernel, stride, dilate, pad : tuple of int
        One number for each axis of space; stride and dilate are 1 by default, pad 0.
    num_filter, num_group : int
    no_bias : bool
    layout : str, optional
        ``"NCHW"`` or ``"NCW"``.
    out : NDArray, optional
    """
    attrs = _convolution_attrs(kernel, num_filter, stride, dilate, pad, num_group, no_bias, layout)
    inputs = (data, weight) if bias is None else (data, weight, bias)
    return apply(CONVOLUTION, inputs, attrs, out=out)


def Deconvolution(
    data: NDArray,
    weight: NDArray,
    bias: NDArray | None = None,
    kernel: Sizes | None = None,
    stride: Sizes = (),
    dilate: Sizes = (),
    pad: Sizes = (),
    adj: Sizes = (),
    target_shape: Sizes = (),
    num_filter: int | None = None,
    num_group: int = 1,
    workspace: int = 512,
    no_bias: bool = True,
    cudnn_tune: str | None = None,
    cudnn_off: bool = False,
    layout: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return a convolution backwards: each element adds a window, scaled by it, to the result.

    Parameters are those of `Convolution`, but for the weight, of shape (channel, filters of a
    group, *kernel), and these.

    Parameters
    ----------
    adj : tuple of int
        Rows and columns to add at the end, fewer than the stride.
    target_shape : tuple of int
        Extent of the result; chooses ``pad`` and ``adj``.
    """
    attrs = (
        ("kernel", _window("Deconvolution", kernel)),
        ("num_filter", _filters("Deconvolution", num_filter)),
        ("stride", integers(stride)),
        ("dilate", integers(dilate)),
        ("pad", integers(pad)),
        ("adj", integers(adj)),
        ("target_shape", integers(target_shape)),
        ("num_group", whole(num_group)),
        ("no_bias", flag(no_bias)),
        ("layout", layout),
    )
    inputs = (data, weight) if bias is None else (data, weight, bias)
    return apply(DECONVOLUTION, inputs, attrs, out=out)


def Pooling(
    data: NDArray,
    kernel: Sizes = (),
    pool_type: str = "max",
    global_pool: bool = False,
    cudnn_off: bool = False,
    pooling_convention: str = "valid",
    stride: Sizes = (),
    pad: Sizes = (),
    p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: str | None = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return the largest element, the mean or the sum of a window that moves over the data.

    Parameters
    ----------
    data : NDArray
        Shape (sample, channel, row, column), or (sample, channel, column).
    kernel, stride, pad : tuple of int
        One number for each axis of space; stride is 1 by default, pad 0.
    pool_type : str
        ``"max"``, ``"avg"`` or ``"sum"``.
    global_pool : bool
        Whether one window covers everything.
    pooling_convention : str
        ``"valid"`` leaves out a last window that does not fit, ``"full"`` keeps it, ``"same"``
        gives as many windows as fit with ``stride`` alone.
    count_include_pad : bool, optional
        Whether a mean counts the padding; it does by default.
    layout : str, optional
        ``"NCHW"`` or ``"NCW"``.
    out : NDArray, optional
    """
    attrs = _pooling_attrs(
        kernel, pool_type, global_pool, pooling_convention, stride, pad, count_include_pad, layout
    )
    return apply(POOLING, (data,), attrs, out=out)


def UpSampling(
    *data: NDArray,
    scale: int | None = None,
    sample_type: str = "nearest",
    num_args: int = 1,
    out: NDArray | None = None,
) -> NDArray:
    """Return an image with each element repeated ``scale`` times along rows and columns."""
    if len(data) != 1 or sample_type != "nearest":
        raise ShapeError(
            f"UpSampling of {len(data)} arrays with sample_type={sample_type!r}: one array and "
            "'nearest' are known here. See Deconvolution for others."
        )
    times = whole(required("UpSampling", "scale", "how often to repeat each element", scale))
    return apply(UP_SAMPLING, data, (("scale", times),), out=out)

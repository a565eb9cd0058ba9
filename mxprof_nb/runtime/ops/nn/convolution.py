"""`Convolution` and `Deconvolution` over one or two axes of space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.nn.checks import floating, in_single, matching, with_bias
from mxprof_nb.runtime.ops.nn.unfolding import Geometry, Pair, correlate, spread, weigh
from mxprof_nb.runtime.ops.registry import Aval, Gradient, aval, refuse, register
from mxprof_nb.runtime.pool import empty

__all__ = ["CONVOLUTION", "DECONVOLUTION", "as_pair"]

Array = NumpyArray[Any]
Shape = tuple[int, ...]


def as_pair(values: Shape, rank: int, default: int) -> Pair:
    """Return one number for rows and one for columns; an image of one axis is one row."""
    given = values or (default,) * rank
    return (default, given[0]) if rank == 1 else (given[0], given[1])


def _image(array: Array) -> Array:
    """Return an array of one spatial axis as one of two, sharing memory."""
    return array[:, :, None] if array.ndim == 3 else array


def _check(name: str, data: Aval, kernel: Shape, limits: Mapping[str, tuple[Shape, int]]) -> None:
    rank = len(kernel)
    if len(data.shape) == 5:
        raise refuse(name, "three axes of space are not supported here, only one or two", data)
    if rank not in (1, 2) or len(data.shape) != rank + 2:
        raise refuse(
            name,
            f"kernel={kernel} needs data of shape (sample, channel, ...) with as many axes of "
            "space, one or two",
            data,
        )
    for argument, (values, least) in limits.items():
        if values and (len(values) != rank or min(values) < least):
            raise refuse(name, f"{argument}={values} needs {rank} numbers from {least} up", data)


def _check_layout(name: str, layout: str | None, data: Aval) -> None:
    if layout not in (None, "NCW", "NCHW"):
        raise refuse(name, f"layout={layout!r}: only NCW and NCHW are known")


def _geometry(image: Shape, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape) -> Geometry:
    rank = len(kernel)
    return Geometry(
        as_pair(image, rank, 1),
        as_pair(kernel, rank, 1),
        as_pair(stride, rank, 1),
        as_pair(dilate, rank, 1),
        as_pair(pad, rank, 0),
    )


def _infer(
    data: Aval,
    weight: Aval,
    *bias: Aval,
    kernel: Shape,
    num_filter: int,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    num_group: int = 1,
    no_bias: bool = False,
    layout: str | None = None,
) -> Aval:
    name = "Convolution"
    floating(name, data, weight, *bias)
    limits = {"kernel": (kernel, 1), "stride": (stride, 1), "dilate": (dilate, 1), "pad": (pad, 0)}
    _check(name, data, kernel, limits)
    _check_layout(name, layout, data)
    with_bias(name, no_bias, data, weight, *bias)
    channels = data.shape[1]
    if num_group < 1 or channels % num_group or num_filter % num_group:
        raise refuse(
            name,
            f"num_group={num_group} must divide {channels} channels and {num_filter} filters",
            data,
        )
    wanted = (num_filter, channels // num_group, *kernel)
    matching(name, "weight", weight, wanted, "(num_filter, channels of a group, *kernel)")
    if bias:
        matching(name, "bias", bias[0], (num_filter,), "(num_filter,)")
    places = _geometry(data.shape[2:], kernel, stride, dilate, pad).places
    if min(places) < 1:
        raise refuse(name, f"the kernel {kernel} is larger than the padded image", data)
    return aval((data.shape[0], num_filter, *places[2 - len(kernel) :]), data.dtype)


def _flops(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
    weight = inputs[1]
    return (2 * (weight.size // weight.shape[0]) + (len(inputs) > 2)) * results[0].size


def _flops_backward(
    inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]
) -> int:
    head, _, weight = inputs[:3]
    products: int = sum(position < 2 for position in attrs["wanted"])
    each = 2 * (weight.size // weight.shape[0])
    return (each * products + len(results) - products) * head.size


def _add_bias(result: Array, bias: tuple[Array, ...]) -> None:
    if bias:
        result += bias[0].reshape(-1, *(1,) * (result.ndim - 2))


def _of_bias(slopes: Array) -> Array:
    """Sum over samples and places; products with ones are faster than sums over two axes."""
    samples, filters = slopes.shape[:2]
    flat = slopes.reshape(samples * filters, -1)
    sums: Array = np.matmul(flat, np.ones(flat.shape[1], flat.dtype))
    total: Array = sums.reshape(samples, filters).sum(axis=0)
    return total


@in_single
def _forward(
    data: Array,
    weight: Array,
    *bias: Array,
    kernel: Shape,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    num_group: int = 1,
    **_: Any,
) -> Array:
    geometry = _geometry(data.shape[2:], kernel, stride, dilate, pad)
    places = geometry.places[2 - len(kernel) :]
    result = empty((len(data), len(weight), *places), data.dtype)
    correlate(_image(data), _image(weight), _image(result), geometry, num_group)
    _add_bias(result, bias)
    return result


@in_single
def _backward(
    head: Array,
    data: Array,
    weight: Array,
    kernel: Shape,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    num_group: int = 1,
    wanted: tuple[int, ...] = (0, 1, 2),
    **_: Any,
) -> tuple[Array | None, ...]:
    geometry = _geometry(data.shape[2:], kernel, stride, dilate, pad)
    slopes = _image(head)
    of_data = of_weight = of_bias = None
    if 0 in wanted:
        of_data = empty(data.shape, data.dtype)
        spread(slopes, _image(weight), _image(of_data), geometry, num_group)
    if 1 in wanted:
        of_weight = empty(weight.shape, weight.dtype)
        weigh(_image(data), slopes, _image(of_weight), geometry, num_group)
    if 2 in wanted:
        of_bias = _of_bias(slopes)
    return of_data, of_weight, of_bias


CONVOLUTION = register(
    "Convolution",
    _infer,
    "Sums of products of a moving window and filters, plus a bias.",
    gradient=Gradient(
        "_backward_Convolution", _backward, inputs=(0, 1), flops=_flops_backward, blas=True
    ),
    flops=_flops,
    workspace=True,
    blas=True,
)(_forward)


# Deconvolution runs a convolution backwards: its data are what a convolution would give.


def _deconvolved(
    data: Shape,
    kernel: Shape,
    stride: Shape,
    dilate: Shape,
    pad: Shape,
    adj: Shape,
    target_shape: Shape,
) -> tuple[Shape, Shape]:
    """Return extent of the result and padding along each axis of space."""
    ones, zeros = (1,) * len(kernel), (0,) * len(kernel)
    extents, pads = [], []
    for axis, extent in enumerate(data):
        reach = (dilate or ones)[axis] * (kernel[axis] - 1) + 1
        whole = (stride or ones)[axis] * (extent - 1) + reach
        if any(target_shape):
            pads.append((whole - target_shape[axis] + 1) // 2)
            extents.append(target_shape[axis])
        else:
            pads.append((pad or zeros)[axis])
            extents.append(whole - 2 * pads[-1] + (adj or zeros)[axis])
    return tuple(extents), tuple(pads)


def _infer_deconvolution(
    data: Aval,
    weight: Aval,
    *bias: Aval,
    kernel: Shape,
    num_filter: int,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    adj: Shape = (),
    target_shape: Shape = (),
    num_group: int = 1,
    no_bias: bool = True,
    layout: str | None = None,
) -> Aval:
    name = "Deconvolution"
    floating(name, data, weight, *bias)
    limits = {
        "kernel": (kernel, 1),
        "stride": (stride, 1),
        "dilate": (dilate, 1),
        "pad": (pad, 0),
        "adj": (adj, 0),
        "target_shape": (target_shape, 0),
    }
    _check(name, data, kernel, limits)
    _check_layout(name, layout, data)
    with_bias(name, no_bias, data, weight, *bias)
    if any(a >= s for a, s in zip(adj, stride or (1,) * len(kernel), strict=False)):
        raise refuse(name, f"adj={adj} must be smaller than the stride", data)
    channels = data.shape[1]
    if num_group < 1 or channels % num_group or num_filter % num_group:
        raise refuse(
            name,
            f"num_group={num_group} must divide {channels} channels and {num_filter} filters",
            data,
        )
    wanted = (channels, num_filter // num_group, *kernel)
    matching(name, "weight", weight, wanted, "(channels, filters of a group, *kernel)")
    if bias:
        matching(name, "bias", bias[0], (num_filter,), "(num_filter,)")
    image, pads = _deconvolved(data.shape[2:], kernel, stride, dilate, pad, adj, target_shape)
    if min(image) < 1 or min(pads) < 0:
        raise refuse(name, f"its result would have the shape {image}", data)
    return aval((data.shape[0], num_filter, *image), data.dtype)


def _backwards(
    data: Array,
    kernel: Shape,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    adj: Shape = (),
    target_shape: Shape = (),
    **_: Any,
) -> Geometry:
    image, pads = _deconvolved(data.shape[2:], kernel, stride, dilate, pad, adj, target_shape)
    return _geometry(image, kernel, stride, dilate, pads)


@in_single
def _deconvolution(
    data: Array, weight: Array, *bias: Array, kernel: Shape, num_group: int = 1, **attrs: Any
) -> Array:
    geometry = _backwards(data, kernel, **attrs)
    image = geometry.image[2 - len(kernel) :]
    result = empty((len(data), weight.shape[1] * num_group, *image), data.dtype)
    spread(_image(data), _image(weight), _image(result), geometry, num_group)
    _add_bias(result, bias)
    return result


@in_single
def _deconvolution_backward(
    head: Array,
    data: Array,
    weight: Array,
    kernel: Shape,
    num_group: int = 1,
    wanted: tuple[int, ...] = (0, 1, 2),
    **attrs: Any,
) -> tuple[Array | None, ...]:
    geometry = _backwards(data, kernel, **attrs)
    slopes = _image(head)
    of_data = of_weight = of_bias = None
    if 0 in wanted:
        of_data = empty(data.shape, data.dtype)
        correlate(slopes, _image(weight), _image(of_data), geometry, num_group)
    if 1 in wanted:
        of_weight = empty(weight.shape, weight.dtype)
        weigh(slopes, _image(data), _image(of_weight), geometry, num_group)
    if 2 in wanted:
        of_bias = _of_bias(slopes)
    return of_data, of_weight, of_bias


def _flops_deconvolution(
    inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]
) -> int:
    data, weight = inputs[:2]
    bias = results[0].size if len(inputs) > 2 else 0
    return 2 * (weight.size // weight.shape[0]) * data.size + bias


def _flops_deconvolution_backward(
    inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]
) -> int:
    head, data, weight = inputs[:3]
    products: int = sum(position < 2 for position in attrs["wanted"])
    each = 2 * (weight.size // weight.shape[0]) * data.size
    return each * products + (len(results) - products) * head.size


DECONVOLUTION = register(
    "Deconvolution",
    _infer_deconvolution,
    "A convolution backwards: each element becomes a window of the result.",
    gradient=Gradient(
        "_backward_Deconvolution",
        _deconvolution_backward,
        inputs=(0, 1),
        flops=_flops_deconvolution_backward,
        blas=True,
    ),
    flops=_flops_deconvolution,
    workspace=True,
    blas=True,
)(_deconvolution)

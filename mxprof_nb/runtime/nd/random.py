"""`mx.nd.random`: random arrays, reproducible after `seed` whatever worker makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mxprof_nb.runtime import api
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.nd.arguments import device_of, flag, integers, number, whole
from mxprof_nb.runtime.nd.array import NDArray, apply, apply_several
from mxprof_nb.runtime.nd.creation import shape_of
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.ops.draws import MULTINOMIAL, RANDOM, RANDOM_LIKE, SAMPLE, SHUFFLE

__all__ = [
    "exponential",
    "exponential_like",
    "gamma",
    "gamma_like",
    "multinomial",
    "negative_binomial",
    "negative_binomial_like",
    "normal",
    "normal_like",
    "poisson",
    "poisson_like",
    "randint",
    "randn",
    "seed",
    "shuffle",
    "uniform",
    "uniform_like",
]

Shape = int | Sequence[int] | None
#: A parameter: a number, or an array with one for each group of results.
Parameter = float | NDArray

_PARAMETERS = {
    "exponential": ("lam",),
    "gamma": ("alpha", "beta"),
    "negative_binomial": ("k", "p"),
    "normal": ("loc", "scale"),
    "poisson": ("lam",),
    "randint": ("low", "high"),
    "uniform": ("low", "high"),
}


def _numbers(name: str, parameters: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the parameters of a distribution, each of them a number."""
    return tuple(
        number(name, parameter, given)
        for parameter, given in zip(_PARAMETERS[name], parameters, strict=True)
    )


def drawn(
    name: str,
    parameters: tuple[Any, ...],
    shape: Shape,
    dtype: Any,
    ctx: Context | None,
    out: NDArray | None,
) -> NDArray:
    """Queue a distribution, given by numbers or by arrays of parameters."""
    arrays = [each for each in parameters if isinstance(each, NDArray)]
    if arrays:
        if len(arrays) < len(parameters):
            raise TypeError(f"{name}: parameters must be all numbers or all NDArrays.")
        wanted = () if shape is None else shape_of(shape)
        attrs: Attrs = (
            ("dtype", dtype_name(dtype)),
            ("shape", wanted),
        )
        return apply(SAMPLE[name], arrays, attrs, out=out)
    if isinstance(out, NDArray):
        shape = out.aval.shape if shape is None else shape
        dtype = out.aval.dtype if dtype is None else dtype
    attrs = (("dtype", dtype_name(dtype)), ("shape", shape_of((1,) if shape is None else shape)))
    return apply(RANDOM[name], (), attrs, _numbers(name, parameters), out, device_of(ctx))


def uniform(
    low: Parameter = 0.0,
    high: Parameter = 1.0,
    shape: Shape = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return numbers drawn evenly from ``[low, high)``.

    Parameters
    ----------
    low, high : float or NDArray
        With arrays, ``shape`` numbers are drawn for each of their elements.
    shape : int or sequence of int, optional
        One number by default.
    dtype : optional
        A type of floating point numbers, float32 by default.
    ctx, device : Context, optional
        Where they are drawn.
    out : NDArray, optional
    """
    return drawn("uniform", (low, high), shape, dtype, ctx or device, out)


def normal(
    loc: Parameter = 0.0,
    scale: Parameter = 1.0,
    shape: Shape = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return normally distributed numbers; a scale of 0 or less fails where the value is read."""
    return drawn("normal", (loc, scale), shape, dtype, ctx or device, out)


def randn(
    *shape: int,
    loc: Parameter = 0.0,
    scale: Parameter = 1.0,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return normally distributed numbers; the shape comes as single numbers."""
    return drawn("normal", (loc, scale), shape or None, dtype, ctx or device, out)


def exponential(
    scale: Parameter = 1.0,
    shape: Shape = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return exponentially distributed numbers of mean ``scale``."""
    if isinstance(scale, NDArray):
        rate: Any = 1.0 / scale
    else:
        rate = 1.0 / scale if number("exponential", "scale", scale) else float("inf")
    return drawn("exponential", (rate,), shape, dtype, ctx or device, out)


def gamma(
    alpha: Parameter = 1.0,
    beta: Parameter = 1.0,
    shape: Shape = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return gamma distributed numbers of shape ``alpha`` and scale ``beta``."""
    return drawn("gamma", (alpha, beta), shape, dtype, ctx or device, out)


def poisson(
    lam: Parameter = 1.0,
    shape: Shape = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return Poisson distributed numbers of mean ``lam``, as floating point numbers."""
    return drawn("poisson", (lam,), shape, dtype, ctx or device, out)


def negative_binomial(
    k: int | NDArray = 1,
    p: Parameter = 1,
    shape: Shape = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return numbers of failures before ``k`` successes of probability ``p``."""
    limit = k if isinstance(k, NDArray) else whole(k)
    return drawn("negative_binomial", (limit, p), shape, dtype, ctx or device, out)


def randint(
    low: int,
    high: int,
    shape: Shape = None,
    dtype: Any = None,
    ctx: Context | None = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return whole numbers drawn evenly from ``[low, high)``, int32 by default or int64."""
    bounds = (whole(low), whole(high))
    wanted = "int32" if dtype is None and out is None else dtype
    return drawn("randint", bounds, shape, wanted, ctx or device, out)


def multinomial(
    data: NDArray,
    shape: Shape = None,
    get_prob: bool = False,
    out: NDArray | None = None,
    dtype: Any = "int32",
) -> NDArray | list[NDArray]:
    """Return positions drawn by their probabilities.

    Parameters
    ----------
    data : NDArray
        Probabilities on the last axis, which sum to 1.
    shape : int or sequence of int, optional
        How many for each row; one by default.
    get_prob : bool
        Whether to return the logarithms of their probabilities as well.
    out : NDArray, optional
    dtype : optional
    """
    attrs: Attrs = (
        ("dtype", dtype_name(dtype)),
        ("get_prob", flag(get_prob)),
        ("shape", () if shape is None else integers(shape)),
    )
    if get_prob:
        return apply_several(MULTINOMIAL, (data,), attrs)
    return apply(MULTINOMIAL, (data,), attrs, out=out)


def shuffle(data: NDArray, out: NDArray | None = None) -> NDArray:
    """Return the rows in random order."""
    return apply(SHUFFLE, (data,), out=out)


# In the shape, the type and on the device of an array


def _drawn_like(
    name: str, data: NDArray, parameters: tuple[float, ...], out: NDArray | None
) -> NDArray:
    return apply(RANDOM_LIKE[name], (data,), (), _numbers(name, parameters), out)


def uniform_like(
    data: NDArray, low: float = 0.0, high: float = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return numbers drawn evenly from ``[low, high)``, as many as ``data`` has."""
    return _drawn_like("uniform", data, (low, high), out)


def normal_like(
    data: NDArray, loc: float = 0.0, scale: float = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return normally distributed numbers, as many as ``data`` has."""
    return _drawn_like("normal", data, (loc, scale), out)


def exponential_like(data: NDArray, lam: float = 1.0, out: NDArray | None = None) -> NDArray:
    """Return exponentially distributed numbers of rate ``lam``, as many as ``data`` has."""
    return _drawn_like("exponential", data, (lam,), out)


def gamma_like(
    data: NDArray, alpha: float = 1.0, beta: float = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return gamma distributed numbers, as many as ``data`` has."""
    return _drawn_like("gamma", data, (alpha, beta), out)


def poisson_like(data: NDArray, lam: float = 1.0, out: NDArray | None = None) -> NDArray:
    """Return Poisson distributed numbers of mean ``lam``, as many as ``data`` has."""
    return _drawn_like("poisson", data, (lam,), out)


def negative_binomial_like(
    data: NDArray, k: int = 1, p: float = 1.0, out: NDArray | None = None
) -> NDArray:
    """Return numbers of failures before ``k`` successes, as many as ``data`` has."""
    return _drawn_like("negative_binomial", data, (whole(k), p), out)


def seed(seed_state: int, ctx: Context | Literal["all"] | None = None) -> None:
    """Start a sequence of random numbers anew, on all devices unless one is named.

    What is queued already keeps the old sequence.
    """
    device = None if ctx is None or ctx == "all" else device_of(ctx)
    api.random_seed(number("seed", "seed_state", whole(seed_state)), device)

"""The functions of `mx.nd.random` under the names they have in `mx.nd`."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.nd import random
from mxprof_nb.runtime.nd.array import NDArray
from mxprof_nb.runtime.nd.random import Shape, shuffle

__all__ = [
    "normal",
    "random_exponential",
    "random_gamma",
    "random_negative_binomial",
    "random_normal",
    "random_poisson",
    "random_randint",
    "random_uniform",
    "sample_exponential",
    "sample_gamma",
    "sample_multinomial",
    "sample_normal",
    "sample_poisson",
    "sample_uniform",
    "shuffle",
    "uniform",
]

# Given by numbers


def random_uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: Shape = None,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return numbers drawn evenly from ``[low, high)``."""
    return random.uniform(low, high, shape, dtype, ctx or device, out)


def random_normal(
    loc: float = 0.0,
    scale: float = 1.0,
    shape: Shape = None,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return normally distributed numbers; a scale of 0 or less fails where the value is read."""
    return random.normal(loc, scale, shape, dtype, ctx or device, out)


uniform, normal = random_uniform, random_normal


def random_exponential(
    lam: float = 1.0,
    shape: Shape = None,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return exponentially distributed numbers of rate ``lam``, so of mean 1 / ``lam``."""
    return random.drawn("exponential", (lam,), shape, dtype, ctx or device, out)


def random_gamma(
    alpha: float = 1.0,
    beta: float = 1.0,
    shape: Shape = None,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return gamma distributed numbers of shape ``alpha`` and scale ``beta``."""
    return random.gamma(alpha, beta, shape, dtype, ctx or device, out)


def random_poisson(
    lam: float = 1.0,
    shape: Shape = None,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return Poisson distributed numbers of mean ``lam``, as floating point numbers."""
    return random.poisson(lam, shape, dtype, ctx or device, out)


def random_negative_binomial(
    k: int = 1,
    p: float = 1.0,
    shape: Shape = None,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return numbers of failures before ``k`` successes of probability ``p``."""
    return random.negative_binomial(k, p, shape, dtype, ctx or device, out)


def random_randint(
    low: int,
    high: int,
    shape: Shape = None,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    device: Context | None = None,
) -> NDArray:
    """Return whole numbers drawn evenly from ``[low, high)``."""
    return random.randint(low, high, shape, dtype, ctx or device, out)


# Given by arrays


def sample_uniform(
    low: NDArray, high: NDArray, shape: Shape = None, dtype: Any = None, out: NDArray | None = None
) -> NDArray:
    """Return ``shape`` numbers drawn evenly between each two elements of arrays."""
    return random.uniform(low, high, shape, dtype, None, out)


def sample_normal(
    mu: NDArray, sigma: NDArray, shape: Shape = None, dtype: Any = None, out: NDArray | None = None
) -> NDArray:
    """Return ``shape`` normally distributed numbers for each two elements of arrays."""
    return random.normal(mu, sigma, shape, dtype, None, out)


def sample_gamma(
    alpha: NDArray,
    beta: NDArray,
    shape: Shape = None,
    dtype: Any = None,
    out: NDArray | None = None,
) -> NDArray:
    """Return ``shape`` gamma distributed numbers for each two elements of arrays."""
    return random.gamma(alpha, beta, shape, dtype, None, out)


def sample_exponential(
    lam: NDArray, shape: Shape = None, dtype: Any = None, out: NDArray | None = None
) -> NDArray:
    """Return ``shape`` exponentially distributed numbers for each element, a rate."""
    return random.drawn("exponential", (lam,), shape, dtype, None, out)


def sample_poisson(
    lam: NDArray, shape: Shape = None, dtype: Any = None, out: NDArray | None = None
) -> NDArray:
    """Return ``shape`` Poisson distributed numbers for each element, a mean."""
    return random.poisson(lam, shape, dtype, None, out)


def sample_multinomial(
    data: NDArray,
    shape: Shape = None,
    get_prob: bool = False,
    dtype: Any = "int32",
    out: NDArray | None = None,
) -> NDArray | list[NDArray]:
    """Return positions drawn by their probabilities."""
    return random.multinomial(data, shape, get_prob, out, dtype)

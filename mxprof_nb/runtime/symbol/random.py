"""`mx.sym.random`: random arrays in graphs, given by numbers or by symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.symbol.functions import call
from mxprof_nb.runtime.symbol.names import functions_of
from mxprof_nb.runtime.symbol.symbol import Symbol

__all__ = [
    "exponential",
    "gamma",
    "multinomial",
    "negative_binomial",
    "normal",
    "poisson",
    "randint",
    "randn",
    "shuffle",
    "uniform",
]

_likes, _get = functions_of(
    "sym.random", "_random_", [name for name in nd.random.__all__ if name.endswith("_like")]
)
__all__ += _likes


def _drawn(name: str, parameters: dict[str, Any], shape: Any, dtype: Any, more: Any) -> Symbol:
    """Return a distribution whose parameters are all numbers or all symbols."""
    symbols = [isinstance(each, Symbol) for each in parameters.values()]
    told = {"shape": shape, "dtype": dtype}
    told = {key: value for key, value in told.items() if value is not None}
    if not any(symbols):
        return call(f"_random_{name}", **parameters, **told, **more)
    if not all(symbols):
        raise ArgumentError(f"{name}: the parameters must be all numbers or all symbols.")
    return call(f"_sample_{name}", *parameters.values(), **told, **more)


def uniform(
    low: Any = 0, high: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return numbers drawn evenly from ``[low, high)``."""
    return _drawn("uniform", {"low": low, "high": high}, shape, dtype, kwargs)


def normal(
    loc: Any = 0, scale: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return normally distributed numbers."""
    return _drawn("normal", {"loc": loc, "scale": scale}, shape, dtype, kwargs)


def randn(*shape: int, loc: Any = 0, scale: Any = 1, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return normally distributed numbers; the shape comes as single numbers."""
    return normal(loc, scale, shape or None, dtype, **kwargs)


def poisson(lam: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return Poisson distributed numbers of mean ``lam``."""
    return _drawn("poisson", {"lam": lam}, shape, dtype, kwargs)


def exponential(scale: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return exponentially distributed numbers of mean ``scale``."""
    return _drawn("exponential", {"lam": 1.0 / scale}, shape, dtype, kwargs)


def gamma(
    alpha: Any = 1, beta: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return gamma distributed numbers of shape ``alpha`` and scale ``beta``."""
    return _drawn("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, kwargs)


def negative_binomial(
    k: Any = 1, p: Any = 1, shape: Any = None, dtype: Any = None, **kwargs: Any
) -> Symbol:
    """Return numbers of failures before ``k`` successes of probability ``p``."""
    return _drawn("negative_binomial", {"k": k, "p": p}, shape, dtype, kwargs)


def randint(low: int, high: int, shape: Any = None, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Return whole numbers drawn evenly from ``[low, high)``."""
    return _drawn("randint", {"low": low, "high": high}, shape, dtype, kwargs)


def multinomial(
    data: Symbol, shape: Any = None, get_prob: bool = True, dtype: Any = "int32", **kwargs: Any
) -> Symbol:
    """Return positions drawn by their probabilities, and the logarithms of those."""
    told = {} if shape is None else {"shape": shape}
    return call("_sample_multinomial", data, get_prob=get_prob, dtype=dtype, **told, **kwargs)


def shuffle(data: Symbol, **kwargs: Any) -> Symbol:
    """Return the rows in random order."""
    return call("_shuffle", data, **kwargs)


def __getattr__(name: str) -> Callable[..., Symbol]:
    return _get(name)

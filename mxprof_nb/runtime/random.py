"""`mx.random`: the same functions as `mx.nd.random`."""

from mxprof_nb.runtime.nd.random import (
    exponential,
    gamma,
    multinomial,
    negative_binomial,
    normal,
    poisson,
    randint,
    randn,
    seed,
    shuffle,
    uniform,
)

__all__ = [
    "exponential",
    "gamma",
    "multinomial",
    "negative_binomial",
    "normal",
    "poisson",
    "randint",
    "randn",
    "seed",
    "shuffle",
    "uniform",
]

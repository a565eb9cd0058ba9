"""`mx.random`: the same functions as `mx.nd.random`."""

from mxprof_nb.runtime.nd.random import normal, seed, uniform

__all__ = ["normal", "seed", "uniform"]

"""Initializers that draw."""

from __future__ import annotations

import math

import numpy as np

from mxprof_nb.errors import ArgumentError, ShapeError
from mxprof_nb.runtime import random
from mxprof_nb.runtime.initializer.base import Initializer
from mxprof_nb.runtime.initializer.registry import register
from mxprof_nb.runtime.nd import NDArray

__all__ = ["MSRAPrelu", "Normal", "Orthogonal", "Uniform", "Xavier"]


@register
class Uniform(Initializer):
    """Draws weights uniformly from -scale to scale."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: NDArray) -> None:
        random.uniform(-self.scale, self.scale, arr.shape, out=arr)


@register
class Normal(Initializer):
    """Draws weights from a normal distribution of mean 0 and deviation sigma."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: NDArray) -> None:
        random.normal(0, self.sigma, arr.shape, out=arr)


@register
class Orthogonal(Initializer):
    """Fills weights so that rows, or columns if they are fewer, are orthogonal.

    Parameters
    ----------
    scale : float
        Length of the rows.
    rand_type : {'uniform', 'normal'}
        Distribution of the matrix whose singular vectors they are.

    References
    ----------
    Saxe, McClelland, Ganguli: Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks, arXiv:1312.6120.
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        _one_of("rand_type", rand_type, ("uniform", "normal"))
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: NDArray) -> None:
        shape = arr.shape
        flat = (shape[0], math.prod(shape[1:]))
        if self.rand_type == "uniform":
            drawn = random.uniform(-1.0, 1.0, flat)
        else:
            drawn = random.normal(0.0, 1.0, flat)
        left, _, right = np.linalg.svd(drawn.asnumpy(), full_matrices=False)
        arr[:] = self.scale * (left if left.shape == flat else right).reshape(shape)


@register
class Xavier(Initializer):
    """Draws weights so that signals keep their size from layer to layer.

    The variance is the magnitude over the number of inputs, of outputs, or their average, when
    drawn from a normal distribution; a uniform one has its bounds at the root of that.

    Parameters
    ----------
    rnd_type : {'uniform', 'gaussian'}
    factor_type : {'avg', 'in', 'out'}
    magnitude : float

    References
    ----------
    Glorot, Bengio: Understanding the difficulty of training deep feedforward neural networks,
    AISTATS 2010.
    """

    def __init__(
        self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3
    ) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        _one_of("rnd_type", rnd_type, ("uniform", "gaussian"))
        _one_of("factor_type", factor_type, ("avg", "in", "out"))
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: NDArray) -> None:
        shape = arr.shape
        if len(shape) < 2:
            raise ShapeError(
                f"{type(self).__name__} needs two axes, outputs and inputs; {str(name)!r} has "
                f"shape {shape}. Give it an initializer of its own, init=..."
            )
        window = math.prod(shape[2:])
        fan_in, fan_out = shape[1] * window, shape[0] * window
        factor = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}[self.factor_type]
        scale = math.sqrt(self.magnitude / factor)
        if self.rnd_type == "uniform":
            random.uniform(-scale, scale, shape, out=arr)
        else:
            random.normal(0, scale, shape, out=arr)


@register
class MSRAPrelu(Xavier):
    """Draws weights so that signals keep their size through leaky rectifiers.

    Parameters
    ----------
    factor_type : {'avg', 'in', 'out'}
    slope : float
        Of the rectifier below 0.

    References
    ----------
    He, Zhang, Ren, Sun: Delving deep into rectifiers, arXiv:1502.01852.
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


def _one_of(parameter: str, given: str, choices: tuple[str, ...]) -> None:
    if given not in choices:
        raise ArgumentError(f"{parameter}={given!r} is not one of {', '.join(map(repr, choices))}.")

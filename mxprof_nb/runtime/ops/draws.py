"""Operators that draw random numbers, from the generator of their device."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.axes import of_one_type
from mxprof_nb.runtime.ops.cost import times
from mxprof_nb.runtime.ops.registry import Aval, Gradient, OpSpec, aval, refuse, register

__all__ = ["MULTINOMIAL", "RANDOM", "RANDOM_LIKE", "SAMPLE", "SHUFFLE"]

Array = NumpyArray[Any]
Shape = tuple[int, ...]

# Roughly what a generator computes for each number.
_FLOPS = times(10)
_RULES: dict[str, Any] = {"workspace": True, "draws": True, "flops": _FLOPS}


class BadParameter(ValueError):
    """A parameter for which the distribution does not exist."""


def _need(condition: Any, told: str) -> None:
    # Found by the kernel and not at the call, as in MXNet (sample_op.h): the value of a
    # parameter that is an array is not known before.
    if not np.all(condition):
        raise BadParameter(told)


def _uniform(generator: Generator, shape: Shape, single: bool, low: Any, high: Any) -> Array:
    _need(high >= low, f"low={low}, high={high}: low must not be above high")
    numbers: Array = generator.random(shape, dtype=np.float32 if single else np.float64)
    numbers *= high - low
    numbers += low
    return numbers


def _normal(generator: Generator, shape: Shape, single: bool, loc: Any, scale: Any) -> Array:
    # As in MXNet, 0 will do where the scale is an array.
    fits = scale >= 0 if isinstance(scale, np.ndarray) else scale > 0
    _need(fits, f"scale={scale}: the scale of a normal distribution must be above 0")
    numbers: Array = generator.standard_normal(shape, dtype=np.float32 if single else np.float64)
    numbers *= scale
    numbers += loc
    return numbers


def _exponential(generator: Generator, shape: Shape, single: bool, lam: Any) -> Array:
    _need(lam > 0, f"lam={lam}: the rate of an exponential distribution must be above 0")
    numbers: Array = generator.standard_exponential(
        shape, dtype=np.float32 if single else np.float64
    )
    numbers /= lam
    return numbers


def _gamma(generator: Generator, shape: Shape, single: bool, alpha: Any, beta: Any) -> Array:
    _need(alpha > 0, f"alpha={alpha}: the shape of a gamma distribution must be above 0")
    _need(beta > 0, f"beta={beta}: the scale of a gamma distribution must be above 0")
    numbers: Array = np.asarray(generator.standard_gamma(alpha, shape))
    numbers *= beta
    return numbers


def _poisson(generator: Generator, shape: Shape, single: bool, lam: Any) -> Array:
    _need(lam >= 0, f"lam={lam}: the rate of a Poisson distribution must not be negative")
    return np.asarray(generator.poisson(lam, shape))


def _negative_binomial(generator: Generator, shape: Shape, single: bool, k: Any, p: Any) -> Array:
    _need(k >= 0, f"k={k}: the limit of a negative binomial distribution must not be negative")
    _need((p > 0) & (p <= 1), f"p={p}: the probability must be above 0 and at most 1")
    return np.asarray(generator.negative_binomial(np.maximum(k, 1e-300), p, shape))


#: Name to kernel, which takes the parameters last.
_DISTRIBUTIONS: dict[str, Any] = {
    "uniform": _uniform,
    "normal": _normal,
    "exponential": _exponential,
    "gamma": _gamma,
    "poisson": _poisson,
    "negative_binomial": _negative_binomial,
}


def _single(dtype: Any) -> bool:
    made: bool = np.dtype(dtype).itemsize <= 4
    return made


def _given_numbers(distribution: Any) -> Any:
    def kernel(generator: Generator, *parameters: float, shape: Shape, dtype: str) -> Array:
        numbers: Array = distribution(generator, shape, _single(dtype), *parameters)
        return numbers.astype(dtype, copy=False)

    return kernel


def _floating(name: str, dtype: str) -> None:
    if np.dtype(dtype).kind != "f":
        raise refuse(
            name,
            f"random numbers of this distribution cannot be {dtype}",
            remedy="Draw floating point numbers and convert them with .astype(...).",
        )


def _infer_random(name: str) -> Any:
    def infer(shape: Shape, dtype: str) -> Aval:
        _floating(name, dtype)
        return aval(shape, dtype)

    return infer


#: Distribution to operator whose parameters are numbers. Nothing flows back to numbers.
RANDOM: dict[str, OpSpec] = {
    name: register(
        f"_random_{name}",
        _infer_random(f"_random_{name}"),
        f"Random numbers, {name} distribution.",
        **_RULES,
    )(_given_numbers(kernel))
    for name, kernel in _DISTRIBUTIONS.items()
}


def _random_randint(generator: Generator, low: int, high: int, shape: Shape, dtype: str) -> Array:
    _need(high > low, f"low={low}, high={high}: low must be below high")
    return generator.integers(low, high, shape, dtype)


def _infer_randint(shape: Shape, dtype: str) -> Aval:
    if dtype not in ("int32", "int64"):
        raise refuse("_random_randint", f"dtype {dtype} must be int32 or int64")
    return aval(shape, dtype)


RANDOM["randint"] = register(
    "_random_randint", _infer_randint, "Random integers below a bound.", **_RULES
)(_random_randint)


def _as_operand(distribution: Any) -> Any:
    def kernel(generator: Generator, operand: Array, *parameters: float) -> Array:
        numbers: Array = distribution(generator, operand.shape, _single(operand.dtype), *parameters)
        return numbers.astype(operand.dtype, copy=False)

    return kernel


def _infer_like(name: str) -> Any:
    def infer(operand: Aval) -> Aval:
        _floating(name, operand.dtype.name)
        return operand

    return infer


#: The same in the shape of an array, whose values do not matter: nothing flows back.
RANDOM_LIKE: dict[str, OpSpec] = {
    name: register(
        f"_random_{name}_like",
        _infer_like(f"_random_{name}_like"),
        f"Random numbers in the shape of an array, {name} distribution.",
        **_RULES,
    )(_as_operand(kernel))
    for name, kernel in _DISTRIBUTIONS.items()
}


def _given_arrays(distribution: Any) -> Any:
    def kernel(generator: Generator, *parameters: Array, shape: Shape, dtype: str) -> Array:
        size = (*parameters[0].shape, *shape)
        spread = [
            parameter.reshape(*parameter.shape, *(1,) * len(shape)) for parameter in parameters
        ]
        numbers: Array = distribution(generator, size, _single(dtype), *spread)
        return numbers.astype(dtype, copy=False)

    return kernel


def _infer_sample(name: str, count: int) -> Any:
    def infer(*parameters: Aval, shape: Shape, dtype: str) -> Aval:
        if len(parameters) != count:
            raise refuse(name, f"it has {count} parameters, not {len(parameters)}", *parameters)
        of_one_type(name, *parameters)
        if parameters[0].dtype.kind == "b":
            raise refuse(name, "parameters must be numbers", *parameters)
        for other in parameters[1:]:
            if other.shape != parameters[0].shape:
                raise refuse(name, "the shapes differ", parameters[0], other)
        _floating(name, dtype)
        return aval((*parameters[0].shape, *shape), dtype)

    return infer


#: The same for each element of arrays of parameters. MXNet's gradient is zero.
SAMPLE: dict[str, OpSpec] = {
    name: register(
        f"_sample_{name}",
        # Before its parameters a kernel takes generator, shape and precision.
        _infer_sample(f"_sample_{name}", len(inspect.signature(kernel).parameters) - 3),
        f"Random numbers for each element of the parameters, {name} distribution.",
        **_RULES,
    )(_given_arrays(kernel))
    for name, kernel in _DISTRIBUTIONS.items()
}


def _infer_shuffle(operand: Aval) -> Aval:
    return operand


def _shuffle(generator: Generator, operand: Array) -> Array:
    return generator.permutation(operand)


# MXNet has no gradient for it.
SHUFFLE = register("_shuffle", _infer_shuffle, "Rows in random order.", **_RULES)(_shuffle)


def _infer_multinomial(
    operand: Aval, shape: Shape = (), get_prob: bool = False, dtype: str = "int32"
) -> Any:
    if not operand.shape[-1] or operand.dtype.kind == "b":
        raise refuse("_sample_multinomial", "probabilities are needed on the last axis", operand)
    size = (*operand.shape[:-1], *shape) or (1,)
    drawn = aval(size, dtype)
    return (drawn, aval(size, operand.dtype)) if get_prob else drawn


def _multinomial(
    generator: Generator,
    operand: Array,
    shape: Shape = (),
    get_prob: bool = False,
    dtype: str = "int32",
) -> Any:
    rows = operand.reshape(-1, operand.shape[-1])
    _need(rows >= 0, "a probability is negative")
    each = int(np.prod(shape))
    ends = np.cumsum(rows, axis=1, dtype=np.float64)
    marks = generator.random((len(rows), each)) * ends[:, -1:]
    drawn = np.empty(marks.shape, np.intp)
    for row, end, mark in zip(drawn, ends, marks, strict=True):
        row[:] = np.searchsorted(end, mark, side="right")
    np.minimum(drawn, rows.shape[1] - 1, out=drawn)
    size = (*operand.shape[:-1], *shape) or (1,)
    numbers = drawn.reshape(size).astype(dtype)
    if not get_prob:
        return numbers
    logs = np.log(np.take_along_axis(rows, drawn, axis=1))
    return numbers, logs.reshape(size).astype(operand.dtype, copy=False)


def _multinomial_back(
    *arrays: Array, shape: Shape = (), get_prob: bool = False, dtype: str = "int32"
) -> Array:
    """Return the slope of the logarithms, where they were asked for."""
    *heads, operand, drawn = arrays
    made = np.zeros_like(operand)
    if get_prob:
        rows = made.reshape(-1, operand.shape[-1])
        chosen = drawn.reshape(len(rows), -1).astype(np.intp)
        given = operand.reshape(rows.shape)
        slopes = heads[1].reshape(chosen.shape) / np.take_along_axis(given, chosen, axis=1)
        np.add.at(rows, (np.arange(len(rows))[:, None], chosen), slopes)
    return made


MULTINOMIAL = register(
    "_sample_multinomial",
    _infer_multinomial,
    "Numbers drawn by their probabilities.",
    gradient=Gradient(
        "_backward_sample_multinomial", _multinomial_back, inputs=(0,), outputs=(0,), heads=None
    ),
    **_RULES,
)(_multinomial)

"""What the operators of neural networks demand of their inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.runtime.ops.registry import Aval, refuse

__all__ = ["choice", "floating", "in_single", "matching", "with_bias"]

Array = NumpyArray[Any]


def floating(name: str, *avals: Aval) -> None:
    """Refuse inputs that are not floating point numbers, all of one type."""
    if avals[0].dtype.kind != "f":
        raise refuse(name, "floating point numbers are needed", *avals, remedy="See .astype(...).")
    if any(one.dtype != avals[0].dtype for one in avals):
        raise refuse(name, "the types differ", *avals, remedy="Convert with .astype(...).")


def matching(name: str, argument: str, given: Aval, shape: tuple[int, ...], why: str) -> None:
    """Refuse an argument whose shape is not the one that the others ask for."""
    if given.shape != shape:
        raise refuse(name, f"{argument} must have shape {shape}, {why}", given)


def choice(name: str, argument: str, given: object, known: Iterable[str]) -> None:
    """Refuse a word that is none of those known."""
    if given not in (allowed := sorted(known)):
        raise refuse(name, f"{argument}={given!r} is none of {', '.join(allowed)}")


def with_bias(name: str, no_bias: bool, *avals: Aval) -> None:
    """Refuse data and weight with a bias that is not wanted, or without one that is."""
    if len(avals) != (2 if no_bias else 3):
        raise refuse(name, "give either a bias or no_bias=True", *avals)


def in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that computes float16 in float32 and rounds once, at the end.

    NumPy has no fast float16; MXNet accumulates in it and loses digits.
    """

    @wraps(kernel)
    def run(*arguments: Any, **attrs: Any) -> Any:
        if not any(isinstance(one, np.ndarray) and one.dtype == np.float16 for one in arguments):
            return kernel(*arguments, **attrs)
        made = kernel(*map(_widened, arguments), **attrs)
        return tuple(map(_narrowed, made)) if isinstance(made, tuple) else _narrowed(made)

    return run


def _widened(argument: Any) -> Any:
    if isinstance(argument, np.ndarray) and argument.dtype == np.float16:
        return argument.astype(np.float32)
    return argument


def _narrowed(result: Any) -> Any:
    if isinstance(result, np.ndarray) and result.dtype == np.float32:
        return result.astype(np.float16)
    return result

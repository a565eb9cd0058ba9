"""Arrays of the runtime beside the NumPy arrays they must equal, and failures by number.

A failure's number is written into the error's text, so that it can be followed from where it
arose to where it is told.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

import mxprof_nb.runtime as mx
from mxprof_nb.errors import OperatorError
from mxprof_nb.runtime import Context, NDArray

__all__ = ["BINARY", "SCALAR", "UNARY", "Array", "Box", "Cycle", "Failures", "Memory"]

Values = NumpyArray[np.float32]


@dataclass(eq=False)
class Array:
    """An array of the runtime and the NumPy array it must equal."""

    ours: NDArray
    memory: Memory
    values: Values
    whole: bool  # a view is a part of its memory, even one as large as the whole


@dataclass(eq=False)
class Memory:
    """What a block of memory holds, or the number of the failure that it ended with."""

    values: Values
    context: Context
    failure: int = 0
    handles: list[Array] = field(default_factory=list)


@dataclass(eq=False)
class Box:
    """A variable of the engine with a Python number that pushed functions read and write."""

    var: mx.engine.Var = field(default_factory=mx.engine.Var)
    actual: int = 0
    expected: int = 0
    failure: int = 0


class Cycle:
    """Holds arrays until the garbage collector comes by, on whatever thread that is."""

    def __init__(self, handles: list[Array]) -> None:
        self.itself, self.handles = self, handles


class Failures:
    """Which failures arose and where each was told; shared by all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._numbers = itertools.count(1)
        self.made: set[int] = set()
        self.read: set[int] = set()
        self.waited: set[int] = set()

    def new(self) -> int:
        """Return the number of a failure that is about to be caused."""
        with self._lock:
            self.made.add(number := next(self._numbers))
        return number

    def expect(self, failure: int, wait: Callable[[], Any]) -> Any:
        """Return what a wait for a value returns, or see that it raises exactly this failure."""
        value, told = None, []
        try:
            value = wait()
        except OperatorError as error:
            told = numbers(str(error))
        assert told == ([failure] if failure else []), f"{told} were told instead of {failure}"
        with self._lock:
            self.read.update(told)
        return value

    def wait_for_all(self) -> None:
        """Wait until nothing is queued; what is told then was told to nobody before."""
        with self._turn:
            with self._lock:
                before = self.read | self.waited
            told = []
            try:
                mx.nd.waitall()
            except OperatorError as error:
                told = [
                    n
                    for text in (str(error), *getattr(error, "__notes__", ()))
                    for n in numbers(text)
                ]
            with self._lock:
                assert len(set(told)) == len(told), f"told twice at once: {told}"
                assert not before & set(told), f"told again: {before & set(told)}"
                assert self.made.issuperset(told)
                self.waited.update(told)


def numbers(text: str) -> list[int]:
    """Return the numbers of the failures that an error's text names."""
    return [int(number) for number in re.findall(r": scale=-(\d+)", text)]


#: Operators by the name that profiles show: ours, and NumPy's.
BINARY: dict[str, tuple[Callable[..., NDArray], Callable[..., Any]]] = {
    "broadcast_add": (lambda x, y: x + y, np.add),
    "broadcast_sub": (lambda x, y: x - y, np.subtract),
    "broadcast_mul": (lambda x, y: x * y, np.multiply),
    "broadcast_maximum": (mx.nd.maximum, np.maximum),
    "broadcast_greater": (lambda x, y: x > y, np.greater),
    "broadcast_equal": (lambda x, y: x == y, np.equal),
}
SCALAR: dict[str, tuple[Callable[..., NDArray], Callable[..., Any]]] = {
    "_plus_scalar": (lambda x, n: x + n, np.add),
    "_rminus_scalar": (lambda x, n: n - x, lambda x, n: n - x),
    "_mul_scalar": (lambda x, n: x * n, np.multiply),
    "_minimum_scalar": (mx.nd.minimum, np.minimum),
}
UNARY: dict[str, tuple[Callable[..., NDArray], Callable[..., Any]]] = {
    "abs": (mx.nd.abs, np.abs),
    "relu": (mx.nd.relu, lambda x: np.maximum(x, 0)),
    "transpose": (lambda x: x.T, np.transpose),
    "CopyCPU2CPU": (lambda x: x.copy(), np.copy),
    "slice": (lambda x: x[::-2], lambda x: x[::-2].copy()),
}

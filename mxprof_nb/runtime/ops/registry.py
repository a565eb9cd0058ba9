"""`OpSpec`: an operator is a name with rules attached; this is where they are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray as NumpyArray

from mxprof_nb.errors import ShapeError, UnknownOperatorError, close_match

__all__ = ["Aval", "OpSpec", "aval", "operator_names", "register", "spec"]

Kernel = Callable[..., NumpyArray[Any]]


class Aval:
    """Shape and type of an array whose value may not exist yet (an *abstract value*).

    Interned by `aval`, so that equal ones are the same object and hash by identity.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    size, nbytes : int
    """

    __slots__ = ("dtype", "nbytes", "shape", "size")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        size = 1
        for extent in shape:
            size *= extent
        self.size = size
        self.nbytes = size * dtype.itemsize

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


_AVALS: dict[tuple[tuple[int, ...], np.dtype[Any]], Aval] = {}


def aval(shape: tuple[int, ...], dtype: Any) -> Aval:
    """Return the one `Aval` of this shape and type."""
    key = (shape, np.dtype(dtype))
    found = _AVALS.get(key)
    if found is None:
        found = _AVALS.setdefault(key, Aval(shape, key[1]))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class OpSpec:
    """All rules of one operator.

    Attributes
    ----------
    name : str
        MXNet's internal name, which profiles show.
    forward : callable
        ``forward(*arrays, *dynamic, **attrs) -> ndarray``; runs on a worker.
    infer : callable
        ``infer(*avals, **attrs) -> Aval`` of the result; runs when the operator is called.
    doc : str
        One sentence.
    workspace : bool
        Whether it asks the resource manager for space; the first that does sets it up.
    draws : bool
        Whether it draws random numbers: ``forward`` then gets the device's generator first, and
        such operators run in program order.
    blas : bool
        Whether it spends its time in BLAS, which has threads of its own to be shared out.
    """

    name: str
    forward: Kernel
    infer: Callable[..., Aval]
    doc: str
    workspace: bool = False
    draws: bool = False
    blas: bool = False
    #: Inferred results by (attributes, inputs); filled by `mxprof_nb.runtime.invoke`.
    signatures: dict[Any, Any] = field(default_factory=dict, repr=False)


_REGISTRY: dict[str, OpSpec] = {}


def register(
    name: str,
    infer: Callable[..., Aval],
    doc: str,
    *,
    workspace: bool = False,
    draws: bool = False,
    blas: bool = False,
) -> Callable[[Kernel], OpSpec]:
    """Return a decorator that makes a kernel the operator ``name``."""

    def keep(forward: Kernel) -> OpSpec:
        made = OpSpec(name, forward, infer, doc, workspace, draws, blas)
        if name in _REGISTRY:
            raise ValueError(f"Operator {name!r} is registered already; choose another name.")
        _REGISTRY[name] = made
        return made

    return keep


def spec(name: str) -> OpSpec:
    """Return the operator of the given name.

    Raises
    ------
    UnknownOperatorError
        Nothing is registered under the name.
    """
    found = _REGISTRY.get(name)
    if found is None:
        raise UnknownOperatorError(
            f"There is no operator {name!r}.{close_match(name, _REGISTRY)} "
            "`mxprof_nb.runtime.ops.operator_names()` lists all."
        )
    return found


def operator_names() -> Mapping[str, OpSpec]:
    """Return all registered operators by name."""
    return dict(sorted(_REGISTRY.items()))


def refuse(operator: str, problem: str, *avals: Aval, remedy: str = "") -> ShapeError:
    """Return the error for inputs that do not fit an operator."""
    told = " and ".join(str(a) for a in avals)
    return ShapeError(f"{operator} got {told}: {problem}.{' ' + remedy if remedy else ''}")

"""`trace`: which operators a function of `mx.nd` asks for, without running one.

What decides is the function itself, called with arrays that have a shape and a type and no value:
so a graph cannot mean anything else than the same calls one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.mode import noting_by
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.ops import Aval, OpSpec
from mxprof_nb.runtime.ops.inference import inferred
from mxprof_nb.runtime.ops.registry import refuse

__all__ = ["Abstract", "Note", "trace"]


class Abstract(NDArray):
    """An array of a graph: shape and type, and no value."""

    __slots__ = ()

    @classmethod
    def of(cls, aval: Aval) -> Abstract:
        """Return a new one."""
        made = cls.__new__(cls)
        made.aval, made.view = aval, None
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes; asking for them is no event in a profile."""
        return self.aval.shape

    @property
    def dtype(self) -> type[np.generic]:
        """Type of the elements."""
        return self.aval.dtype.type

    @property
    def chunk(self) -> Any:  # type: ignore[override]
        """Where its value would be.

        Raises
        ------
        ArgumentError
            It has none.
        """
        raise ArgumentError(
            f"The value of an array ({self.aval}) is needed before the graph runs, so this cannot "
            "stand in a graph. Call the function of mx.nd outside of it."
        )

    def __del__(self) -> None:
        """Give nothing back: there is no memory."""


@dataclass(frozen=True, slots=True)
class Note:
    """One operator that was asked for.

    Attributes
    ----------
    op : OpSpec
    attrs, dynamic : tuple
        As `mxprof_nb.runtime.invoke.invoke` takes them.
    inputs, outputs : tuple of Abstract
    """

    op: OpSpec
    attrs: Attrs
    dynamic: tuple[Any, ...]
    inputs: tuple[Abstract, ...]
    outputs: tuple[Abstract, ...]


def trace(
    function: Callable[..., Any],
    arrays: Sequence[Abstract],
    named: Mapping[str, Any],
    *,
    train: bool,
) -> tuple[list[Abstract], list[Note]]:
    """Call a function of `mx.nd` and return its results and the operators that make them.

    Parameters
    ----------
    function : callable
    arrays : sequence of Abstract
        Its arguments by place.
    named : mapping
        Its arguments by name.
    train : bool
        Whether it is called for training.
    """
    notes: list[Note] = []

    def note(
        op: OpSpec, inputs: Sequence[Any], attrs: Attrs, dynamic: tuple[Any, ...], *_: Any
    ) -> list[Abstract]:
        for place, each in enumerate(inputs, 1):
            if not isinstance(each, Abstract):
                raise ArgumentError(
                    f"{op.name}: input {place} must be an array of the graph, not "
                    f"{type(each).__name__}."
                )
        avals = tuple([each.aval for each in inputs])
        try:
            hash(attrs)
        except TypeError:
            told = ", ".join(f"{name}={value!r:.60}" for name, value in attrs)
            raise refuse(op.name, f"{told}: give numbers or text", *avals) from None
        with noting_by(None, train):  # operators that programs bring along infer in Python
            results = inferred(op, avals, dict(attrs))
        made = [Abstract.of(result) for result in results]
        notes.append(Note(op, attrs, dynamic, tuple(inputs), tuple(made)))
        return made

    with noting_by(note, train):
        results = function(*arrays, **named)
    return list(results) if isinstance(results, (list, tuple)) else [results], notes

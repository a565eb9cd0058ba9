"""Operators that programs write in Python: where they are kept until somebody calls one.

`mxprof_nb.runtime.operator` offers them; ``nd.Custom`` and ``sym.Custom``, which are below it,
ask for them here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mxprof_nb.errors import UnknownOperatorError, close_match
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.ops.registry import OpSpec
from mxprof_nb.runtime.ops.shapes import Aval

__all__ = ["Described", "Later", "custom", "offer", "renewed"]


class Described(Protocol):
    """An operator for the attributes of a call.

    Attributes
    ----------
    arguments, outputs, states : list of str
        Names of its inputs, its results, and the states that calls hand in behind the inputs.
    op : OpSpec
    """

    arguments: list[str]
    outputs: list[str]
    states: list[str]
    op: OpSpec

    def shapes(
        self, given: Sequence[Sequence[int]]
    ) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
        """Return shapes of inputs, results and states; those given may have unknown parts, 0."""

    def types(self, given: Sequence[Any]) -> list[list[str]]:
        """Return names of the types of inputs, results and states."""

    def create(self, context: Context, avals: Sequence[Aval]) -> Any:
        """Return what computes it."""


class Later:
    """What computes an operator of a graph, made when it runs for the first time.

    Until then it is not known where that is. All runs and their gradients have the same.
    """

    def __init__(self, described: Described, avals: Sequence[Aval]) -> None:
        self._described, self._avals = described, avals
        self._made: Any = None
        self._making = threading.Lock()

    def anew(self) -> Later:
        """Return one that makes another."""
        return Later(self._described, self._avals)

    def made(self, context: Context) -> Any:
        """Return it."""
        with self._making:
            if self._made is None:
                self._made = self._described.create(context, self._avals)
            return self._made


def renewed(dynamic: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the dynamic arguments of an operator of a graph for a run that knows no other."""
    return tuple([each.anew() if isinstance(each, Later) else each for each in dynamic])


Maker = Callable[[dict[str, str]], Described]

_makers: dict[str, Maker] = {}


def offer(op_type: str, make: Maker) -> None:
    """Keep a maker of operators under a name; a later one of the same name takes its place."""
    _makers[op_type] = make


def custom(op_type: str, attributes: Mapping[str, Any]) -> Described:
    """Return the operator of that name for attributes, which it gets as text.

    Raises
    ------
    UnknownOperatorError
        Nobody offered one of that name.
    CustomOperatorError
        It cannot be made.
    """
    make = _makers.get(op_type)
    if make is None:
        raise UnknownOperatorError(
            f"Custom: no operator has op_type={op_type!r}.{close_match(str(op_type), _makers)}"
            " Register it before it is called."
        )
    return make({name: str(value) for name, value in attributes.items()})

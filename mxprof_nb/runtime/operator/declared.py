"""`Declared`: what a `CustomOpProp` says about its operator, checked, as an `OpSpec`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import index
from typing import Any

import numpy as np

from mxprof_nb.errors import CustomOperatorError
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.operator.custom_op import CustomOp, CustomOpProp
from mxprof_nb.runtime.operator.running import run_backward, run_forward
from mxprof_nb.runtime.ops import Aval, OpSpec, aval
from mxprof_nb.runtime.ops.cost import nothing
from mxprof_nb.runtime.ops.registry import Gradient, refuse

__all__ = ["Declared"]


class Declared:
    """An operator written in Python, for the attributes of a call.

    Parameters
    ----------
    op_type : str
    make : callable
        Makes its `CustomOpProp`.
    attributes : dict of str to str

    Attributes
    ----------
    arguments, outputs, states : list of str
    op : OpSpec

    Raises
    ------
    CustomOperatorError
        The description fails or contradicts itself.
    """

    def __init__(
        self, op_type: str, make: Callable[..., CustomOpProp], attributes: dict[str, str]
    ) -> None:
        self.op_type = op_type
        with self._asking("__init__"):
            self.prop = make(**attributes)
        self.arguments = self._names("list_arguments")
        self.outputs = self._names("list_outputs")
        self.states = self._names("list_auxiliary_states")
        if not self.outputs:
            raise self._error("list_outputs", "returns no name; an operator has a result or more.")
        if twice := {*self.arguments} & {*self.states}:
            told = f"names {sorted(twice)[0]!r}, which list_arguments does, too."
            raise self._error("list_auxiliary_states", told)
        self._inferred: tuple[tuple[Aval, ...], tuple[Aval, ...]] | None = None
        self.op = self._spec()

    @contextmanager
    def _asking(self, method: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            told = f"failed: {type(error).__name__}: {error}"
            raise self._error(method, told) from error

    def _error(self, method: str, problem: str) -> CustomOperatorError:
        return CustomOperatorError.of(self.op_type, method, problem)

    def _names(self, method: str) -> list[str]:
        with self._asking(method):
            found = list(getattr(self.prop, method)())
        if not all(isinstance(name, str) for name in found) or len({*found}) != len(found):
            raise self._error(method, f"returned {found!r:.80}; it must be different names.")
        return found

    def _spec(self) -> OpSpec:
        results, inputs = len(self.outputs), len(self.arguments)
        first, last = results + inputs, 2 * results + inputs
        with self._asking("declare_backward_dependency"):
            needed = {
                *self.prop.declare_backward_dependency(
                    list(range(results)), list(range(results, first)), list(range(first, last))
                )
            }
        if not needed <= set(range(last)):
            told = f"returned {sorted(needed, key=str)}; it must be some of 0 to {last - 1}."
            raise self._error("declare_backward_dependency", told)
        states = tuple(range(inputs, inputs + len(self.states)))
        kept = tuple(n for n in range(inputs) if results + n in needed) + states
        gradient = Gradient(
            f"_backward_{self.op_type}",
            _never,
            inputs=kept,
            outputs=tuple(n for n in range(results) if first + n in needed),
            heads=None,
            wrt=tuple(range(inputs)),
            mutates=tuple(results + kept.index(n) for n in states),
            flops=nothing,
            python=partial(run_backward, self, frozenset(needed)),
            loss=not needed & set(range(results)),
        )
        return OpSpec(
            self.op_type,
            _never,
            self._infer,
            "Written in Python.",
            gradient,
            flops=nothing,
            mutates=states,
            python=partial(run_forward, self),
        )

    def shapes(
        self, given: Sequence[Sequence[int]]
    ) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
        """Return shapes of inputs, results and states."""
        found = self._three_lists("infer_shape", [list(each) for each in given])
        ask = [[self._shape(shape) for shape in each] for each in found]
        return ask[0], ask[1], ask[2]

    def _shape(self, shape: Any) -> list[int]:
        try:
            found = [index(extent) for extent in shape]
        except TypeError:
            found = [-1]
        if any(extent < 0 for extent in found):
            raise self._error("infer_shape", f"returned {shape!r:.80}, which is no shape.")
        return found

    def types(self, given: Sequence[Any]) -> list[list[str]]:
        """Return names of the types of inputs, results and states."""
        found = self._three_lists("infer_type", list(given))
        try:
            return [[dtype_name(one) for one in each] for each in found]
        except TypeError as error:
            raise self._error("infer_type", f"returned a type that is none: {error}") from error

    def _three_lists(self, method: str, given: list[Any]) -> list[list[Any]]:
        """Ask for what inputs, results and states are like."""
        with self._asking(method):
            answer = getattr(self.prop, method)(given)
            lists = [list(each) for each in answer]
        if len(lists) == 2:
            lists.append([])
        if len(lists) != 3:
            told = f"returned {len(lists)} lists; it must be those of inputs, results and states."
            raise self._error(method, told)
        parts = ("input", self.arguments), ("result", self.outputs), ("state", self.states)
        for each, (part, names) in zip(lists, parts, strict=True):
            if len(each) != len(names):
                s = "" if len(names) == 1 else "s"
                told = f"returned {len(each)} for {len(names)} {part}{s} ({', '.join(names)})."
                raise self._error(method, told)
        return lists

    def _infer(self, *avals: Aval) -> tuple[Aval, ...]:
        if self._inferred is not None and self._inferred[0] == avals:
            return self._inferred[1]
        names = [*self.arguments, *self.states]
        if len(avals) != len(names):
            told = f"it takes {len(names)} inputs ({', '.join(names)}), not {len(avals)}"
            raise refuse(self.op_type, told, *avals)
        count = len(self.arguments)
        shapes = self.shapes([each.shape for each in avals[:count]])
        types = self.types([each.dtype.type for each in avals[:count]])
        wanted = [
            aval(tuple(shape), dtype)
            for place in (0, 2)
            for shape, dtype in zip(shapes[place], types[place], strict=True)
        ]
        for name, given, said in zip(names, avals, wanted, strict=True):
            if given is not said:
                method = "infer_shape" if given.shape != said.shape else "infer_type"
                told = f"{method} says that {name} is {said}, and it is {given}"
                raise refuse(self.op_type, told, *avals)
        results = tuple(
            aval(tuple(shape), dtype) for shape, dtype in zip(shapes[1], types[1], strict=True)
        )
        self._inferred = avals, results
        return results

    def create(self, context: Context, avals: Sequence[Aval]) -> CustomOp:
        """Return what computes it."""
        self._infer(*avals)
        inputs = avals[: len(self.arguments)]
        with self._asking("create_operator"):
            made: Any = self.prop.create_operator(
                context.base,
                [list(each.shape) for each in inputs],
                [each.dtype.type for each in inputs],
            )
        if not isinstance(made, CustomOp):
            told = f"returned {type(made).__name__}; it must be a CustomOp."
            raise self._error("create_operator", told)
        return made


def _never(*arrays: np.ndarray[Any, Any], **attrs: Any) -> Any:
    """Stand in for the kernel of an operator that has none."""
    raise CustomOperatorError("An operator written in Python runs by its own code.")

"""`Inference`: shapes and types of all arrays of a graph, as far as they follow from some.

Each node is asked what it makes as soon as its inputs are known. Where one is a variable whose
shape is not known, rules tell it from the data beside it; what keeps its shape also tells it
backwards. So it goes on until nothing new follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError, EngineError, ShapeError
from mxprof_nb.runtime.graph.deduction import ALIKE, LABELS, RULES
from mxprof_nb.runtime.graph.nodes import Entry, Node, in_order
from mxprof_nb.runtime.graph.operators import Operator, operator_of
from mxprof_nb.runtime.graph.tracing import Abstract, Note, trace
from mxprof_nb.runtime.graph.types import infer_types
from mxprof_nb.runtime.graph.words import value_of
from mxprof_nb.runtime.ops import Aval, aval

__all__ = ["Inference", "Shape", "shape_mark"]

#: Lengths of axes; 0 for one that is not known.
Shape = tuple[int, ...]

#: How often what follows backwards is carried on; graphs need one or two, those of strangers end.
MAX_PASSES = 50

_FLOAT32 = np.dtype(np.float32)


def shape_mark(node: Node) -> Shape | None:
    """Return the shape that a variable was made with, None if it was made with none."""
    word = node.marks.get("__shape__")
    if word is None:
        return None
    told = value_of(word, "Shape")
    shape = told if isinstance(told, tuple) else (told,)
    if not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ShapeError(f"Variable {node.name!r}: __shape__={word!r:.60} is no shape.")
    return shape


class Inference:
    """What follows for a graph.

    Parameters
    ----------
    heads : sequence of Entry
    shapes : mapping of str to tuple of int
        Shapes of variables by name; those that variables were made with count for the others.
    types : mapping of str to dtype
        Their types; float32 for those that do not follow.
    train : bool
        Whether operators are called for training.
    known : mapping of str to Aval, optional
        Variables of which both are known; here 0 is the length of an axis without elements.

    Attributes
    ----------
    order : list of Node
    results : dict
        Arrays that each node makes, for nodes of which they are known.
    notes : dict
        The operators that make them.
    """

    def __init__(
        self,
        heads: Sequence[Entry],
        shapes: Mapping[str, Shape],
        types: Mapping[str, Any],
        *,
        train: bool,
        known: Mapping[str, Aval] | None = None,
    ) -> None:
        known = known or {}
        self.heads = heads
        self.order = in_order(heads)
        self.results: dict[Node, list[Abstract]] = {}
        self.notes: dict[Node, list[Note]] = {}
        self._train = train
        whole = {name: each.dtype for name, each in known.items()}
        self._types = infer_types(self.order, {**types, **whole})
        #: What is known of a shape that is not known whole.
        self._partly: dict[Node, Shape] = {}
        for node in self.order:
            if node.is_variable and node.name in known:
                self.results[node] = [Abstract.of(known[node.name])]
            elif node.is_variable:
                told = shapes.get(node.name)
                shape = shape_mark(node) if told is None else told
                if shape:
                    self._tell(node, shape)
        #: Shapes that results of nodes must have, by what takes them.
        self._wanted: dict[Node, Shape] = {}
        self._operators = {
            node: operator_of(node.op) for node in self.order if not node.is_variable
        }
        waiting = list(self._operators)
        for _ in range(MAX_PASSES):
            before = self._progress()
            waiting = [node for node in waiting if not self._forward(node)]
            for node in reversed(waiting):
                self._backward(node)
            if before == self._progress():
                break
        self.waiting = waiting

    def _progress(self) -> tuple[int, int]:
        return len(self.results), len(self._wanted)

    def known(self, entry: Entry) -> Aval | None:
        """Return shape and type of a result, None if they are not known."""
        node, place = entry
        found = self.results.get(node)
        if found is None:
            return None
        if place >= len(found):
            raise ArgumentError(
                f"Node {node.name!r} ({node.op}) has {len(found)} results; one asks for number "
                f"{place}."
            )
        return found[place].aval

    def partly(self, node: Node) -> Shape:
        """Return what is known of a variable's shape: empty if nothing, 0 for a length."""
        found = self.results.get(node)
        return self._partly.get(node, ()) if found is None else found[0].aval.shape

    def must_be_whole(self) -> None:
        """Refuse a graph of which something is not known.

        Raises
        ------
        ShapeError
            It names the variables.
        """
        unknown = [
            node.name for node in self.order if node.is_variable and node not in self.results
        ]
        if unknown:
            raise ShapeError(
                f"The shape of {', '.join(map(repr, unknown[:10]))}"
                f"{' and others' if len(unknown) > 10 else ''} is not known and does not follow "
                "from the others. Give it by name."
            )

    def _tell(self, node: Node, shape: Shape, by: Node | None = None) -> bool:
        """Take what is said about a variable's shape; return whether that is news."""
        if not all(isinstance(extent, (int, np.integer)) and extent >= 0 for extent in shape):
            raise ShapeError(f"Variable {node.name!r}: {shape!r:.60} is no shape.")
        before = self.partly(node)
        merged = _merged(before, shape)
        if merged is None:
            said = f"; {by.name!r} ({by.op}) needs {shape}" if by else f", and {shape}"
            raise _placed(
                ShapeError(f"Variable {node.name!r} has shape {before}{said}."), by or node
            )
        if merged == before:
            return False
        if all(merged):
            kind = self._types[node][0] or _FLOAT32
            self.results[node] = [Abstract.of(aval(merged, kind))]
            self._partly.pop(node, None)
        else:
            self._partly[node] = merged
        return True

    def _forward(self, node: Node) -> bool:
        """Ask a node what it makes, if its inputs are known or follow; return whether it told."""
        avals = [self.known(each) for each in node.inputs]
        operator = self._operators[node]
        if None in avals:
            self._deduce(node, operator, avals)
            avals = [self.known(each) for each in node.inputs]
            if None in avals:
                return False
        arrays = [self.results[parent][place] for parent, place in node.inputs]
        try:
            values = operator.values(node.attrs)
            if not operator.variadic:
                _must_take(operator, node, len(arrays))
            made, notes = trace(operator.function, arrays, values, train=self._train)
        except EngineError as error:
            raise _placed(error, node) from error
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise _placed(ArgumentError(str(error)), node) from error
        self.results[node], self.notes[node] = made, notes
        return True

    def _deduce(self, node: Node, operator: Operator, avals: list[Aval | None]) -> None:
        """Tell variables among the inputs what follows from the other inputs."""
        if operator.name in ALIKE:
            shape = next((each.shape for each in avals if each is not None), ())
            wanted = dict.fromkeys(range(len(avals)), shape)
        else:
            rule = RULES.get(operator.name) or LABELS.get(operator.name)
            if rule is None or not avals or avals[0] is None:
                return
            try:
                values = operator.defaults(operator.values(node.attrs))
                told = rule({**values, "data": avals[0]})
            except (IndexError, TypeError, ZeroDivisionError):
                return  # the operator says it, when its inputs are known
            except EngineError as error:
                raise _placed(error, node) from error
            wanted = {
                place: told.get(name, ())
                for place, name in enumerate(operator.inputs[: len(avals)])
            }
        for place, shape in wanted.items():
            parent = node.inputs[place][0]
            if not shape or avals[place] is not None:
                continue
            if parent.is_variable:
                self._tell(parent, shape, node)
            else:
                self._wanted.setdefault(parent, shape)

    def _backward(self, node: Node) -> None:
        """Tell variables that a node takes the shape that its results must have."""
        if self._operators[node].name not in ALIKE or node not in self._wanted:
            return
        shape = self._wanted[node]
        for parent, place in node.inputs:
            if parent.is_variable:
                self._tell(parent, shape, node)
            elif place == 0:
                self._wanted.setdefault(parent, shape)


def _must_take(operator: Operator, node: Node, count: int) -> None:
    wanted = operator.input_names(node.attrs)
    if count != len(wanted):
        raise ArgumentError(
            f"{operator.name} takes {len(wanted)} inputs ({', '.join(wanted)}), not {count}."
        )


def _merged(one: Shape, other: Shape) -> Shape | None:
    """Return what two shapes, each perhaps known in part, say together; None if they differ."""
    if not one or not other:
        return tuple(map(int, one or other))
    if len(one) != len(other):
        return None
    if any(left and right and left != right for left, right in zip(one, other, strict=True)):
        return None
    return tuple(int(left or right) for left, right in zip(one, other, strict=True))


def _placed(error: EngineError, node: Node) -> EngineError:
    """Return an error that also says in which node it is."""
    kind = type(error) if isinstance(error, ArgumentError) else ArgumentError
    placed = kind(f"Node {node.name!r} ({node.op}): {error}")
    if isinstance(placed, ShapeError):
        placed.layer = node.name
    return placed

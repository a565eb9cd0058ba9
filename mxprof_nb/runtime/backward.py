"""Going back over the tape: queues the operators that compute gradients.

It only queues: gradients are promises like all results, and each operator is recorded, under
MXNet's name, with the line that asked for the gradients. As in MXNet they run in bulks, of 15
unless the environment says otherwise (`mxprof_nb.runtime.engine.bulking`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np

from mxprof_nb.errors import GradientError, ShapeError
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine.bulking import backward_size
from mxprof_nb.runtime.engine.default import bulked
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Attrs, Send
from mxprof_nb.runtime.ops import Aval, OpSpec, aval
from mxprof_nb.runtime.ops.cost import nothing
from mxprof_nb.runtime.ops.elementwise import ADD_N, IDENTITY
from mxprof_nb.runtime.ops.gradient import backward as gradient_of
from mxprof_nb.runtime.ops.gradient import over_head
from mxprof_nb.runtime.sending import in_bulks
from mxprof_nb.runtime.storage import Chunk
from mxprof_nb.runtime.tape import Edge, Leaf, Node, Step, place_of

__all__ = [
    "Plan",
    "Target",
    "check_heads",
    "go_back",
    "heads_of",
    "in_order",
    "targets_for",
    "variables_of",
]

#: Where a gradient goes: the request (``"write"`` or ``"add"``) and the array.
Target = tuple[str, Handle]


def _zeros(shape: tuple[int, ...], dtype: str) -> Any:
    return np.full(shape, 0, dtype)


#: What a head's gradient is where none is given, one that nobody has computed beside others, and
#: that of a variable which no gradient reaches.
_SET_VALUE = OpSpec(
    "SetValueOp", lambda shape, dtype: np.ones(shape, dtype), aval, "Ones.", flops=nothing
)
_NO_GRADIENT = OpSpec(
    "_zeros_without_dtype",
    _zeros,
    aval,
    "Gradient of a result that nothing depends on.",
    flops=nothing,
)
_UNREACHED = OpSpec("zeros_like", _zeros, aval, "Zeros.", flops=nothing)


def heads_of(arrays: Sequence[Handle]) -> list[Edge]:
    """Return the places of arrays on the tape.

    Raises
    ------
    GradientError
        One has none.
    """
    found = []
    for array in arrays:
        edge = place_of(array)
        if edge is None:
            raise GradientError(
                f"This {array.aval} is not part of a recorded computation, so it has no gradient. "
                "Compute it within autograd.record() from arrays that have attach_grad(). To go "
                "back twice, give the first backward retain_graph=True."
            )
        found.append(edge)
    return found


def variables_of(heads: Sequence[Edge]) -> dict[Leaf, Target]:
    """Return the variables that heads depend on and what becomes of their gradients.

    Raises
    ------
    GradientError
        There are none.
    """
    found: dict[Leaf, Target] = {
        node: (node.request, node.grad)
        for node in in_order(heads)
        if isinstance(node, Leaf) and node.request != "null" and node.grad is not None
    }
    if not found:
        raise GradientError(
            "The recorded computation depends on no array that wants a gradient. Call "
            "attach_grad() on one before autograd.record()."
        )
    return found


def targets_for(heads: Sequence[Edge], variables: Sequence[Handle]) -> dict[Leaf, Target]:
    """Return new places for the gradients of some variables.

    Raises
    ------
    GradientError
        One of them is no variable, or the heads do not depend on it.
    """
    known = set(in_order(heads))
    found: dict[Leaf, Target] = {}
    for number, variable in enumerate(variables, 1):
        node, _ = place_of(variable) or (None, 0)
        if not isinstance(node, Leaf) or node.request == "null":
            raise GradientError(
                f"Variable {number}, {variable.aval}, wants no gradient. Call attach_grad() on it "
                "before autograd.record()."
            )
        if node not in known:
            raise GradientError(f"The heads do not depend on variable {number}, {variable.aval}.")
        if node in found:
            raise GradientError(f"Variable {number}, {variable.aval}, is named twice.")
        found[node] = ("write", _promised(node.results[0], node.context))
    return found


def check_heads(heads: Sequence[Edge], gradients: Sequence[Handle | None]) -> None:
    """Compare gradients with the heads they are given for.

    Raises
    ------
    ShapeError
        One has another shape or type.
    """
    for (node, place), gradient in zip(heads, gradients, strict=True):
        if gradient is not None and gradient.aval is not node.results[place]:
            raise ShapeError(
                f"The gradient of a head has the shape and type of the head, "
                f"{node.results[place]}; got {gradient.aval}."
            )


def go_back(
    heads: Sequence[Edge],
    gradients: Sequence[Handle | None],
    targets: Mapping[Leaf, Target],
    retain: bool,
    send: Send | None = None,
) -> None:
    """Queue all that computes the gradients of variables.

    Parameters
    ----------
    heads : sequence of Edge
        What to go back from.
    gradients : sequence of Handle or None
        Gradients of the heads; ones for None.
    targets : mapping of Leaf to Target
        Variables, and where their gradients go.
    retain : bool
        Whether the tape stays for another time.
    send : callable, optional
        Queues each operator; by default they go in bulks.

    Raises
    ------
    ShapeError
        A head's gradient has another shape or type than the head.
    GradientError
        A function of the program returned no gradients that fit.
    """
    check_heads(heads, gradients)
    order = in_order(heads)
    plan = Plan(order, heads, targets)
    with nullcontext(send) if send else in_bulks(0) as one:
        way = _Way(plan, one)
        for (node, place), gradient in zip(heads, gradients, strict=True):
            if gradient is None:
                gradient = way.filled(_SET_VALUE, node, place)
            way.sums.setdefault((node, place), []).append(gradient)
    with nullcontext(send) if send else in_bulks(backward_size()) as way.send:
        way.go(targets, by_units=send is None)
    for leaf, target in targets.items():
        if target[1] is leaf.grad:
            leaf.fresh = True
    if not retain:
        for node in order:
            node.erase()


def in_order(heads: Sequence[Edge]) -> list[Node]:
    """Return the nodes that heads depend on, each behind its parents."""
    order: dict[Node, None] = {}
    begun: set[Node] = set()
    for head, _ in heads:
        if head in begun:
            continue
        begun.add(head)
        path: list[tuple[Node, Iterator[Edge]]] = [(head, iter(head.parents))]
        while path:
            node, rest = path[-1]
            for parent, _ in rest:
                if parent not in begun:
                    begun.add(parent)
                    path.append((parent, iter(parent.parents)))
                    break
            else:
                order[node] = None
                path.pop()
    return list(order)


class Plan:
    """Which nodes a gradient passes, and how.

    Attributes
    ----------
    wanted : dict of Node to list of int
        Inputs whose gradients lead to a target.
    firing : list of Node
        Those that a gradient reaches, in the order in which they run.
    direct : dict of Leaf to Target
        Variables whose only gradient can be written where it goes.
    """

    def __init__(
        self, order: Sequence[Node], heads: Sequence[Edge], targets: Mapping[Leaf, Target]
    ) -> None:
        self.wanted: dict[Node, list[int]] = {}
        active: set[Node] = set(targets)
        for node in order:
            places = [n for n in _differentiable(node) if node.parents[n][0] in active]
            if places:
                self.wanted[node] = places
                active.add(node)
        reached = Counter(heads)
        self.firing: list[Node] = []
        for node in reversed(order):
            if node in self.wanted and any((node, place) in reached for place in _heads(node)):
                self.firing.append(node)
                reached.update(node.parents[place] for place in self.wanted[node])
        self.direct: dict[Leaf, Target] = {
            leaf: target
            for leaf, target in targets.items()
            if reached[leaf, 0] == 1 and (leaf, 0) not in heads
        }
        for node in self.firing:
            if not isinstance(node, Step):  # it makes its gradients itself
                for place in self.wanted[node]:
                    self.direct.pop(node.parents[place][0], None)  # type: ignore[call-overload]


def _differentiable(node: Node) -> Sequence[int]:
    """Return the inputs to which gradients flow."""
    if not isinstance(node, Step):
        return range(len(node.parents))
    rule = node.op.gradient
    if rule is None:
        return ()
    places = range(len(node.parents)) if rule.wrt is None else rule.wrt
    return [place for place in places if place < len(node.parents)]


def _heads(node: Node) -> Sequence[int]:
    """Return the results whose gradients a node takes."""
    rule = node.op.gradient if isinstance(node, Step) else None
    every = range(len(node.results))
    return every if rule is None or rule.heads is None else rule.heads


class _Way:
    """One way back: gradients so far, and what queues the operators.

    Parameters
    ----------
    plan : Plan
    send : callable
    """

    def __init__(self, plan: Plan, send: Send) -> None:
        self.sums: dict[Edge, list[Handle]] = {}
        self._plan = plan
        self.send = send

    def go(self, targets: Mapping[Leaf, Target], *, by_units: bool) -> None:
        """Queue all operators from the heads' gradients on, those of a graph as it has it."""
        plan, sums, usual = self._plan, self.sums, self.send
        for unit, nodes in groupby(plan.firing, _unit_of if by_units else _no_unit):
            with unit.way_back() if unit else nullcontext(usual) as self.send:
                for node in nodes:
                    wanted = plan.wanted[node]
                    for place, gradient in zip(wanted, self._pull(node, wanted), strict=True):
                        if gradient is not None:
                            sums.setdefault(node.parents[place], []).append(gradient)
        self.send = usual
        for leaf, target in targets.items():
            if leaf not in plan.direct:
                self._deliver(sums.pop((leaf, 0), []), leaf, target)

    def _pull(self, node: Node, wanted: list[int]) -> Sequence[Handle | None]:
        """Queue what computes the gradients of a node's inputs; None for one that is delivered."""
        plan = self._plan
        heads = []
        for place in _heads(node):
            parts = self.sums.pop((node, place), [])
            heads.append(self._sum(parts) if parts else self.filled(_NO_GRADIENT, node, place))
        if not isinstance(node, Step):
            function: Any = node  # of the front end, which is above
            with bulked(0):  # it may wait for what it computes
                found = function.pull(heads)
            return [found[place] for place in wanted]
        op, rule = gradient_of(node.op), node.op.gradient
        assert op is not None  # else nothing would be wanted of it
        assert rule is not None
        wrt = rule.wrt
        positions = tuple(wanted if wrt is None else [wrt.index(place) for place in wanted])
        attrs: Attrs = (*node.attrs, ("like", node.like), ("wanted", positions))
        parents = [node.parents[place] for place in wanted]
        targets = [plan.direct.get(parent) for parent, _ in parents]  # type: ignore[call-overload]
        context = parents[0][0].context
        inputs = [*heads, *node.saved]
        over = over_head(rule)
        if over is not None and not any(targets) and type(heads[0]) is Handle:
            # Bare, hence made on the way back and held by nobody else: its memory serves again, as
            # MXNet's plan for the memory of gradients has it.
            self._write(over, inputs, attrs, node.dynamic, heads, (), context)
            return heads
        if not any(targets):
            return self._queue(op, inputs, attrs, node.dynamic, context)
        out = [
            _promised(parent.results[place], context) if target is None else target[1]
            for (parent, place), target in zip(parents, targets, strict=True)
        ]
        added = tuple(n for n, target in enumerate(targets) if target and target[0] == "add")
        self._write(op, inputs, attrs, node.dynamic, out, added, context)
        return [each if target is None else None for each, target in zip(out, targets, strict=True)]

    def _deliver(self, parts: list[Handle], leaf: Leaf, target: Target) -> None:
        """Queue what brings the sum of gradients where it goes."""
        request, grad = target
        added = (0,) if request == "add" else ()
        if len(parts) > 1:
            self._write(ADD_N, parts, (), (), [grad], added, leaf.context)
        elif parts:
            self._write(IDENTITY, parts, (), (), [grad], added, leaf.context)
        elif request == "write":
            self._write(_UNREACHED, (), _as(grad.aval), (), [grad], (), leaf.context)

    def _sum(self, parts: list[Handle]) -> Handle:
        if len(parts) == 1:
            return parts[0]
        return self._queue(ADD_N, parts, (), (), parts[0].chunk.context)[0]

    def filled(self, op: OpSpec, node: Node, place: int) -> Handle:
        """Queue what makes a gradient of one value."""
        return self._queue(op, (), _as(node.results[place]), (), node.context)[0]

    def _queue(
        self,
        op: OpSpec,
        inputs: Sequence[Handle],
        attrs: Attrs,
        dynamic: tuple[Any, ...],
        context: Context,
    ) -> list[Handle]:
        """Queue an operator and return its results."""
        call = self.send(op, inputs, attrs, dynamic, None, context)
        found = []
        for chunk, result in zip(call.outputs, call.signature.results, strict=True):
            made = Handle()
            made.chunk, made.aval, made.view = chunk, result, None
            found.append(made)
        return found

    def _write(
        self,
        op: OpSpec,
        inputs: Sequence[Handle],
        attrs: Attrs,
        dynamic: tuple[Any, ...],
        out: Sequence[Handle],
        added: tuple[int, ...],
        context: Context,
    ) -> None:
        """Queue an operator that writes to arrays, or adds to those that ``added`` names."""
        if added:
            op = _adding(op, added)
            inputs = [*(out[place] for place in added), *inputs]
        self.send(op, inputs, attrs, dynamic, out, context)


def _unit_of(node: Node) -> Any:
    return node.unit if isinstance(node, Step) else None


def _no_unit(node: Node) -> None:
    return None


def _as(wanted: Aval) -> Attrs:
    return (("shape", wanted.shape), ("dtype", wanted.dtype.name))


def _promised(result: Aval, context: Context) -> Handle:
    made = Handle()
    made.chunk, made.aval, made.view = Chunk(result.nbytes, context), result, None
    return made


@cache
def _adding(op: OpSpec, added: tuple[int, ...]) -> OpSpec:
    """Return the operator that adds some of another's results to what it gets first."""
    count = len(added)

    def infer(*avals: Aval, **attrs: Any) -> Any:
        return op.infer(*avals[count:], **attrs)

    def run(*arrays: Any, **attrs: Any) -> Any:
        made = op.forward(*arrays[count:], **attrs)
        results = list(made) if isinstance(made, tuple) else [made]
        for place, target in zip(added, arrays, strict=False):
            target += results[place]
            results[place] = target
        return tuple(results) if len(results) > 1 else results[0]

    def flops(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
        return op.flops(inputs[count:], results, attrs) + sum(results[n].size for n in added)

    return OpSpec(
        op.name,
        run,
        infer,
        op.doc,
        flops=flops,
        mutates=tuple(place + count for place in op.mutates),
        blas=op.blas,
    )

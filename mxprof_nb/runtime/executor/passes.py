"""`Pass`: one program of an executor, forward and back, in memory that it keeps.

What a forward pass makes is written to the same arrays each time. So the tape needs to be written
once, and the way back over it to be found once: from then on its operators are queued again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import GradientError, ShapeError
from mxprof_nb.runtime.backward import Target, go_back, in_order
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.engine.bulking import backward_size, forward_size, is_bulked
from mxprof_nb.runtime.graph import Program, in_segments, run
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Attrs, Invocation, prepared
from mxprof_nb.runtime.ops import OpSpec
from mxprof_nb.runtime.storage import Chunk, bring
from mxprof_nb.runtime.tape import Edge, Leaf, Node, Step, bare, place_of

__all__ = ["Pass"]

#: Operators whose gradient is that of a loss, whatever the gradient of their result.
LOSSES = frozenset(
    {
        "BlockGrad",
        "LinearRegressionOutput",
        "LogisticRegressionOutput",
        "MAERegressionOutput",
        "MakeLoss",
        "SoftmaxOutput",
        "make_loss",
    }
)


class Pass:
    """A program, its arrays, and the way back.

    Parameters
    ----------
    program : Program
    train : bool
        Whether it was lowered for training.
    inputs : mapping of str to Handle
        Arrays of the variables.
    targets : mapping of str to Target
        Where gradients go, for variables that have one.
    outputs : sequence of Handle
        Where the results go; one that is a variable is that variable.
    names : sequence of str
        What the results are called, for errors.
    context : Context
    """

    def __init__(
        self,
        program: Program,
        train: bool,
        inputs: Mapping[str, Handle],
        targets: Mapping[str, Target],
        outputs: Sequence[Handle],
        names: Sequence[str],
        context: Context,
    ) -> None:
        self._program = program
        self._train = train
        self._names = names
        self._context = context
        self._targets: dict[Leaf, Target] = {}
        arrays: list[Handle] = []
        for name in program.inputs:
            # Not the program's own object, which may stand on a tape of its own.
            array = bare(inputs[name])
            request, grad = targets.get(name, ("null", None))
            leaf = Leaf(array.aval, context, request, grad)
            array.entry = (leaf, 0)
            if grad is not None:
                self._targets[leaf] = (request, grad)
            arrays.append(array)
        results = dict(zip(program.outputs, outputs, strict=True))
        for place in range(len(arrays), len(program.avals)):
            array = Handle()
            array.aval, array.view = program.avals[place], None
            result = results.get(place)
            array.chunk = Chunk(array.aval.nbytes, context) if result is None else result.chunk
            arrays.append(array)
        self._arrays: list[Handle | None] = list(arrays)
        self._heads = [arrays[place] for place in program.outputs]
        self._recorded = False
        self._back: _Back | None = None

    def forward(self) -> None:
        """Queue the operators of the program."""
        if self._train:
            size: int | None = forward_size(train=True)
        else:
            size = None if is_bulked(train=False) else 0
        with in_segments(size, brackets=True) as send:
            run(
                self._program,
                self._arrays,
                send,
                context=self._context,
                record=not self._recorded,
            )
        self._recorded = True

    def backward(self, gradients: Sequence[Handle | None]) -> None:
        """Queue what computes the gradients.

        Parameters
        ----------
        gradients : sequence of Handle or None
            Gradients of the results; None where a result is a loss.

        Raises
        ------
        GradientError
            One is missing.
        ShapeError
            One has another shape or type than the result.
        """
        if self._back is None:
            self._back = _Back(self._heads, self._targets)
        for name, head, given in zip(self._names, self._heads, gradients, strict=True):
            if given is not None and given.aval is not head.aval:
                raise ShapeError(
                    f"The gradient of {name!r} has its shape and type, {head.aval}; got "
                    f"{given.aval}."
                )
        missing = [
            name
            for name, place, given in zip(self._names, self._back.places, gradients, strict=True)
            if given is None and place is not None and not place.filled
        ]
        if missing:
            raise GradientError(
                f"{', '.join(map(repr, missing))}: no loss, so backward() needs the gradient. Pass "
                "out_grads, one for each result, or end the graph in a loss such as SoftmaxOutput."
            )
        self._back.go(gradients)


class _Head(Handle):
    """Stands for the gradient of a result; not `Handle` itself, whose memory is used again."""

    __slots__ = ("filled",)

    #: Whether it holds ones, which a loss does not look at.
    filled: bool


class _Back:
    """The operators of the way back, as they are queued each time.

    Attributes
    ----------
    places : list of _Head or None
        What stands for the gradient of each result; None where none flows back.
    """

    def __init__(self, heads: Sequence[Handle], targets: Mapping[Leaf, Target]) -> None:
        self.places: list[_Head | None] = []
        edges: list[Edge] = []
        given: list[_Head] = []
        for head in heads:
            edge = place_of(head)
            place = None
            if edge is not None and targets:
                place = _Head()
                place.aval, place.view = head.aval, None
                place.chunk = Chunk(head.aval.nbytes, head.chunk.context)
                place.filled = _is_loss(edge)
                if place.filled:
                    bring(place.chunk, np.ones(head.aval.shape, head.aval.dtype))
                edges.append(edge)
                given.append(place)
            self.places.append(place)
        self._calls: list[_Call] = []
        labels = _labels(edges)
        wanted = {leaf: target for leaf, target in targets.items() if leaf not in labels}
        go_back(edges, given, wanted, True, self._note)

    def _note(
        self,
        op: OpSpec,
        inputs: Sequence[Handle],
        attrs: Attrs = (),
        dynamic: tuple[Any, ...] = (),
        out: Sequence[Handle] | None = None,
        context: Context | None = None,
    ) -> Invocation:
        """Note an operator instead of queueing it."""
        call = prepared(op, inputs, attrs, dynamic, out, context, (None, -1), 0)
        if out is None:
            out = []
            for chunk, aval in zip(call.outputs, call.signature.results, strict=True):
                made = Handle()
                made.chunk, made.aval, made.view = chunk, aval, None
                out.append(made)
        self._calls.append((op, inputs, attrs, dynamic, out, context))
        return call

    def go(self, gradients: Sequence[Handle | None]) -> None:
        """Queue them."""
        chosen = {
            id(place): given
            for place, given in zip(self.places, gradients, strict=True)
            if place is not None and given is not None
        }
        with in_segments(backward_size(), brackets=True) as send:
            for op, inputs, attrs, dynamic, out, context in self._calls:
                taken = [chosen.get(id(each), each) for each in inputs]
                send(op, taken, attrs, dynamic, out, context)


#: As `mxprof_nb.runtime.invoke.Send` takes them.
_Call = tuple[OpSpec, Sequence[Handle], Attrs, tuple[Any, ...], Sequence[Handle], Context | None]


def _labels(heads: Sequence[Edge]) -> set[Node]:
    """Return variables that losses alone compare with: no gradient is written for them."""
    compared: set[Node] = set()
    used: set[Node] = set()
    for node in in_order(heads):
        wrt = node.op.gradient.wrt if isinstance(node, Step) and node.op.gradient else None
        for place, (parent, _) in enumerate(node.parents):
            label = _is_loss((node, 0)) and wrt is not None and place not in wrt
            (compared if label else used).add(parent)
    return compared - used


def _is_loss(edge: Edge) -> bool:
    node, _ = edge
    if not isinstance(node, Step) or node.op.name not in LOSSES:
        return False
    return not dict(node.attrs).get("out_grad", False)

"""The tape: which operators made an array from which, kept while a thread records.

An array points to the `Node` that made it, a node to those that made its inputs. Nodes keep bare
handles of what gradients need, never arrays that point to nodes: there is no cycle, so what
nobody holds is freed at once. Going back over the tape is in `mxprof_nb.runtime.backward`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mxprof_nb.errors import GradientError
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.handle import Handle
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.ops import Aval, OpSpec, aval
from mxprof_nb.runtime.ops.shape import RESHAPE
from mxprof_nb.runtime.ops.slicing import SLICE

if TYPE_CHECKING:
    from mxprof_nb.runtime.graph.unit import Unit

__all__ = [
    "REQUESTS",
    "Edge",
    "Leaf",
    "Node",
    "Step",
    "bare",
    "must_be_free",
    "place_of",
    "record",
    "record_function",
    "record_reshape",
    "record_row",
    "record_rows",
]


#: What may become of a gradient: it replaces the one before, is added to it, or is not computed.
REQUESTS = ("write", "add", "null")


class Node:
    """Where arrays of a computation come from.

    Attributes
    ----------
    results : tuple of Aval
        Shapes and types of the arrays it gives.
    context : Context
        Where they live.
    parents : tuple of Edge
        Where its inputs come from.
    erased : bool
        Whether going back has used it up.
    """

    __slots__ = ("context", "erased", "parents", "results")

    def __init__(
        self, results: tuple[Aval, ...], context: Context, parents: tuple[Edge, ...] = ()
    ) -> None:
        self.results = results
        self.context = context
        self.parents = parents
        self.erased = False

    def erase(self) -> None:
        """Forget what it holds."""
        self.erased = True
        self.parents = ()


#: A node, and which of its results is meant.
Edge = tuple[Node, int]


class Leaf(Node):
    """An array that nothing recorded has made: a variable, or a constant.

    Attributes
    ----------
    request : {'write', 'add', 'null'}
        What becomes of its gradient.
    grad : Handle or None
        Where that is written.
    fresh : bool
        Whether it was written since somebody last said that he has used it.
    """

    __slots__ = ("fresh", "grad", "request")

    def __init__(
        self, aval: Aval, context: Context, request: str = "null", grad: Handle | None = None
    ) -> None:
        super().__init__((aval,), context)
        self.request = request
        self.grad = grad
        self.fresh = False

    def erase(self) -> None:
        """Forget a constant; variables stay ones."""
        self.erased = self.request == "null"


class Step(Node):
    """One recorded operator.

    Attributes
    ----------
    op : OpSpec
    attrs, dynamic : tuple
        As it was called.
    like : tuple of Aval
        Shapes and types of its inputs.
    saved : tuple of Handle
        What its gradient needs.
    unit : Unit or None
        The call of a graph that it belongs to, if that says how its gradient is queued.
    """

    __slots__ = ("attrs", "dynamic", "like", "op", "saved", "unit")

    def __init__(
        self,
        op: OpSpec,
        attrs: Attrs,
        dynamic: tuple[Any, ...],
        inputs: Sequence[Handle],
        outputs: Sequence[Handle],
        parents: tuple[Edge, ...],
    ) -> None:
        first = outputs[0]
        super().__init__(tuple([each.aval for each in outputs]), first.chunk.context, parents)
        self.op = op
        self.attrs = attrs
        self.dynamic = dynamic
        self.like = tuple([each.aval for each in inputs])
        self.unit: Unit | None = None
        rule = op.gradient
        self.saved: tuple[Handle, ...] = ()
        if rule is not None:
            needed = [inputs[place] for place in rule.inputs if place < len(inputs)]
            needed += [outputs[place] for place in rule.outputs]
            self.saved = tuple([bare(each) for each in needed])

    def erase(self) -> None:
        """Forget what it holds, above all memory."""
        super().erase()
        self.saved = ()
        self.unit = None


def bare(handle: Handle) -> Handle:
    """Return the same array without where it comes from."""
    made = Handle()
    made.chunk, made.aval, made.view = handle.chunk, handle.aval, handle.view
    return made


def place_of(handle: Handle) -> Edge | None:
    """Return the place of an array on the tape, None if it has none (any more)."""
    entry: Edge | None = getattr(handle, "entry", None)
    return None if entry is None or entry[0].erased else entry


def must_be_free(op: OpSpec, inputs: Sequence[Handle], targets: Sequence[Handle]) -> None:
    """Refuse to write to arrays that gradients depend on.

    Raises
    ------
    GradientError
        One stands on the tape, or would by this operator, which reads it.
    """
    recorded = any(place_of(each) for each in inputs)
    for target in targets:
        if place_of(target) or (recorded and target.chunk in [each.chunk for each in inputs]):
            raise GradientError(
                f"{op.name} would write to an array of a recorded computation, and its gradient "
                "would be wrong. Inside of autograd.record() make a new array (y = y + 1, not "
                "y += 1 or y[...] = ...), or write within autograd.pause()."
            )


def record(
    op: OpSpec,
    inputs: Sequence[Handle],
    attrs: Attrs,
    dynamic: tuple[Any, ...],
    outputs: Sequence[Handle],
) -> None:
    """Put an operator that was called on the tape, if a gradient may be asked through it."""
    if parents := _parents(inputs):
        _keep(Step(op, attrs, dynamic, inputs, outputs, parents), outputs)


def record_reshape(source: Handle, made: Handle) -> None:
    """Put a view in another shape on the tape."""
    if parents := _parents((source,)):
        attrs: Attrs = (("shape", made.aval.shape),)
        _keep(Step(RESHAPE, attrs, (), (source,), (made,), parents), (made,))


def record_rows(source: Handle, begin: int, end: int, made: Handle) -> None:
    """Put a view of some rows on the tape."""
    if parents := _parents((source,)):
        attrs: Attrs = (("begin", (begin,)), ("end", (end,)))
        _keep(Step(SLICE, attrs, (), (source,), (made,), parents), (made,))


def record_row(source: Handle, position: int, made: Handle) -> None:
    """Put a view of one row on the tape: of some rows, less the axis."""
    shape = source.aval.shape
    if len(shape) == 1:  # there is no array without axes
        record_rows(source, position, position + 1, made)
        return
    row = bare(made)
    row.aval = aval((1, *shape[1:]), source.aval.dtype)
    record_rows(source, position, position + 1, row)
    record_reshape(row, made)


def record_function(
    make: Callable[[Any, Sequence[Handle], tuple[Edge, ...]], Node],
    function: object,
    inputs: Sequence[Handle],
    outputs: Sequence[Handle],
) -> None:
    """Put a function of the program on the tape, by a node of its own kind."""
    if parents := _parents(inputs):
        _keep(make(function, outputs, parents), outputs)


def _parents(inputs: Sequence[Handle]) -> tuple[Edge, ...]:
    """Return where inputs come from; none at all if they all are constants."""
    found = [place_of(each) for each in inputs]
    for edge in found:
        if edge is not None and not _is_constant(edge[0]):
            break
    else:
        return ()
    for place, each in enumerate(inputs):
        if found[place] is None:
            # It belongs to the computation from here on: writing to it would change gradients.
            found[place] = each.entry = (Leaf(each.aval, each.chunk.context), 0)
    return tuple([edge for edge in found if edge is not None])


def _is_constant(node: Node) -> bool:
    return isinstance(node, Leaf) and node.request == "null"


def _keep(node: Node, outputs: Sequence[Handle]) -> None:
    for place, each in enumerate(outputs):
        each.entry = (node, place)

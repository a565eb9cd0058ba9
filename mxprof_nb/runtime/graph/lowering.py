"""`lower`: a graph of nodes for inputs of known shapes and types, as a list of operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.graph.inference import Inference
from mxprof_nb.runtime.graph.nodes import Entry
from mxprof_nb.runtime.graph.program import Program, Step
from mxprof_nb.runtime.graph.tracing import Abstract
from mxprof_nb.runtime.ops import Aval

__all__ = ["lower"]


def lower(heads: Sequence[Entry], known: Mapping[str, Aval], *, train: bool) -> Program:
    """Return the operators that compute some results of a graph.

    Parameters
    ----------
    heads : sequence of Entry
        The results.
    known : mapping of str to Aval
        Shapes and types of variables by name. Those of parameters and labels follow from the data
        beside them, where a layer says them.
    train : bool
        Whether operators are called for training.

    Raises
    ------
    ShapeError
        Shapes or types do not fit, or are not known; it names the node.
    ArgumentError
        A node lacks an input or a parameter, or two variables have one name.
    UnknownOperatorError
        There is no such operator.
    """
    inferred = Inference(heads, {}, {}, train=train, known=known)
    variables = [node for node in inferred.order if node.is_variable]
    names = [node.name for node in variables]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(
            f"Two variables are called {twice!r}: arrays could not be told apart. Rename one, or "
            f"to share it make it once, w = mx.sym.var({twice!r}), and use w in both places."
        )
    inferred.must_be_whole()
    places: dict[Abstract, int] = {}
    avals: list[Aval] = []

    def place(array: Abstract) -> int:
        found = places.get(array)
        if found is None:
            found = places[array] = len(avals)
            avals.append(array.aval)
        return found

    for node in variables:
        place(inferred.results[node][0])
    steps = [
        Step(
            note.op,
            note.attrs,
            note.dynamic,
            tuple(map(place, note.inputs)),
            tuple(map(place, note.outputs)),
            node.name,
        )
        for node in inferred.order
        for note in inferred.notes.get(node, ())
    ]
    for head in heads:
        inferred.known(head)  # which says so if there is no such result
    outputs = tuple([place(inferred.results[node][number]) for node, number in heads])
    return Program(tuple(steps), tuple(avals), tuple(names), outputs)

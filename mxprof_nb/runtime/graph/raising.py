"""`raised`: operators that were called, back as nodes of a graph; the reverse of lowering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mxprof_nb.errors import GradientError
from mxprof_nb.runtime.backward import in_order
from mxprof_nb.runtime.graph.nodes import VARIABLE, Entry, Node
from mxprof_nb.runtime.graph.operators import operator_of
from mxprof_nb.runtime.graph.words import word_of
from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.ops import OpSpec
from mxprof_nb.runtime.tape import Edge, Leaf, Step
from mxprof_nb.runtime.tape import Node as TapeNode

__all__ = ["called", "raised"]


def _one(axes: Any) -> Any:
    return axes[0] if len(axes) == 1 else None


#: Attributes that functions are told otherwise: under which name, and how.
_TOLD: dict[tuple[str, str], tuple[str, Callable[[Any], Any]]] = {
    ("_eye", "rows"): ("N", int),
    ("_eye", "columns"): ("M", int),
    ("_split_v2", "indices"): ("indices", lambda cuts: (0, *cuts)),
    ("argmax", "axis"): ("axis", _one),
    ("argmin", "axis"): ("axis", _one),
}

#: Operators that graphs have under other names.
_NAMES = {"CopyCPU2CPU": "_copy"}


def called(op: OpSpec, attrs: Attrs, dynamic: tuple[Any, ...]) -> tuple[str, dict[str, str]]:
    """Return operator and parameters of a node that calls an operator so.

    Parameters
    ----------
    op : OpSpec
    attrs, dynamic : tuple
        As `mxprof_nb.runtime.invoke.invoke` takes them.
    """
    name = _NAMES.get(op.name, op.name)
    if name == "_copy" and "dtype" in dict(attrs):
        name = "Cast"
    operator = operator_of(name)
    told: dict[str, Any] = {}
    for key, value in attrs:
        key, say = _TOLD.get((name, key), (key, None))
        told[key] = value if say is None else say(value)
    numbers = iter(dynamic)
    words = {}
    for key, parameter in operator.parameters.items():
        if key not in told:
            if key in ("ctx", "device"):
                continue
            told[key] = next(numbers, parameter.default)
        if told[key] is not parameter.empty and not _usual(name, told[key], parameter.default):
            words[key] = word_of(told[key])
    return name, words


def _usual(name: str, value: Any, default: Any) -> bool:
    """Whether a parameter need not be told; no axes at all mean what None does, but to squeeze."""
    if value == () and default is None:
        return name != "squeeze"
    return value is default or (value == default and type(value) is type(default))


def raised(edge: Edge) -> Entry:
    """Return the graph of what was recorded for a place on the tape.

    Raises
    ------
    GradientError
        A function written in Python is among it: that is no operator.
    """
    nodes: dict[TapeNode, Node] = {}
    variables = 0
    for each in in_order([edge]):
        if isinstance(each, Leaf):
            kind = VARIABLE if each.request == "null" else "var"
            nodes[each] = Node(VARIABLE, f"{kind}{variables}")
            variables += 1
            continue
        if not isinstance(each, Step):
            raise GradientError(
                "get_symbol: an autograd.Function was recorded, which is no operator, so a graph "
                "cannot say it. Write it as a custom operator."
            )
        name, words = called(each.op, each.attrs, each.dynamic)
        inputs = [(nodes[parent], place) for parent, place in each.parents]
        nodes[each] = Node(name, f"node_{len(nodes) - variables}", words, inputs)
    return nodes[edge[0]], edge[1]

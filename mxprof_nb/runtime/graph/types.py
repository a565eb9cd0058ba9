"""`infer_types`: types of the arrays of a graph, as far as they follow from some.

Most operators have one type for all that they take and make. The others are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.graph.nodes import Node
from mxprof_nb.runtime.graph.operators import operator_of
from mxprof_nb.runtime.nd.dtypes import dtype_name
from mxprof_nb.runtime.ops.draws import RANDOM, SAMPLE

__all__ = ["CODES", "infer_types"]

DType = np.dtype[Any]
Values = Mapping[str, Any]

#: As in `mxprof_nb.runtime.graph.inference`.
MAX_PASSES = 50

#: MXNet's numbers of types, which it keeps for variables.
CODES: dict[str, int] = {
    "float32": 0,
    "float64": 1,
    "float16": 2,
    "uint8": 3,
    "int32": 4,
    "int8": 5,
    "int64": 6,
    "bool": 7,
}
_NAMES = {str(code): name for name, code in CODES.items()}

#: Inputs, by place, whose type is a matter of their own.
_FREE: dict[str, tuple[int, ...]] = {
    "BatchNorm": (1, 2, 3, 4),
    "Cast": (0,),
    "Embedding": (0,),
    "_contrib_boolean_mask": (1,),
    "_image_to_tensor": (0,),
    "_scatter_set_nd": (2,),
    "batch_take": (1,),
    "broadcast_like": (1,),
    "gather_nd": (1,),
    "one_hot": (0,),
    "pick": (1,),
    "reshape_like": (1,),
    "scatter_nd": (1,),
    "shape_array": (0,),
    "size_array": (0,),
    "slice_like": (1,),
    "softmax": (1,),
    "take": (1,),
    "where": (0,),
    "mp_nag_mom_update": (2, 3),
    "mp_sgd_mom_update": (2, 3),
    "mp_sgd_update": (2,),
}


def _typed(default: str | None) -> Callable[[Values], str | None]:
    return lambda given: default if given["dtype"] is None else given["dtype"]


#: Type of the results where it is not that of the inputs, None if it is after all.
_MADE: dict[str, Callable[[Values], str | None]] = {
    "Cast": _typed("float32"),
    "_image_to_tensor": lambda given: "float32",
    "_np_cumsum": _typed(None),
    "_sample_multinomial": _typed("int32"),
    "argsort": _typed("float32"),
    "log_softmax": _typed(None),
    "norm": lambda given: given["out_dtype"],
    "one_hot": _typed("float32"),
    "shape_array": lambda given: "int64",
    "size_array": lambda given: "int64",
    "softmax": _typed(None),
    "softmin": _typed(None),
    "topk": lambda given: None if given["ret_typ"] in ("value", "mask") else given["dtype"],
    **dict.fromkeys(
        ("_arange", "_eye", "_full", "_linspace", "_ones", "_zeros"), _typed("float32")
    ),
    **dict.fromkeys((op.name for op in (*RANDOM.values(), *SAMPLE.values())), _typed("float32")),
    "_random_randint": _typed("int32"),
}


#: Which of several results has the type of the inputs.
_MIXED = {"_sample_multinomial": 1, "topk": 0}


def type_mark(node: Node) -> DType | None:
    """Return the type that a variable was made with, None if it was made with none."""
    word = node.marks.get("__dtype__")
    return None if word is None else _dtype(node, _NAMES.get(word, word))


def _dtype(node: Node, name: str) -> DType:
    try:
        return np.dtype(dtype_name(name))
    except TypeError as error:
        raise ArgumentError(f"Node {node.name!r} ({node.op}): {error}") from None


def infer_types(order: Sequence[Node], types: Mapping[str, Any]) -> dict[Node, list[DType | None]]:
    """Return the types of all results of all nodes, None for one that does not follow.

    Parameters
    ----------
    order : sequence of Node
        Each behind its inputs.
    types : mapping of str to dtype
        Types of variables by name; those that variables were made with count for the others.
    """
    found: dict[Node, list[DType | None]] = {}
    rules: dict[Node, Rule] = {}
    for node in order:
        if node.is_variable:
            told = types.get(node.name)
            found[node] = [type_mark(node) if told is None else _dtype(node, told)]
        else:
            rules[node] = rule = Rule(node)
            found[node] = list(rule.made)
    for _ in range(MAX_PASSES):
        news = False
        for nodes in (rules, reversed(rules)):
            for node in nodes:
                news |= rules[node].apply(found)
        if not news:
            break
    return found


class Rule:
    """What the types of one node have to do with each other.

    Parameters
    ----------
    node : Node

    Attributes
    ----------
    made : list of dtype or None
        Types of its results as far as its parameters say.
    """

    def __init__(self, node: Node) -> None:
        operator = operator_of(node.op)
        values = operator.defaults(operator.values(node.attrs))
        count = len(operator.outputs(node.attrs))
        name = _MADE[operator.name](values) if operator.name in _MADE else None
        told = None if name is None else _dtype(node, name)
        self.made: list[DType | None] = [told] * count
        if operator.name in _MIXED and count > 1:
            self.made[_MIXED[operator.name]] = None
        #: What the table of `Embedding` has if nothing else tells.
        table = operator.name == "Embedding"
        self._default = _dtype(node, values["dtype"] or "float32") if table else None
        self.node = node
        self.operator = operator.name
        free = _FREE.get(operator.name, ())
        alike = [place for place in range(len(node.inputs)) if place not in free]
        self._inputs = [node.inputs[place] for place in alike]
        own = [(node, place) for place in range(count) if self.made[place] is None]
        self._alike = [*self._inputs, *own]

    def apply(self, found: dict[Node, list[DType | None]]) -> bool:
        """Tell what is not known yet; return whether anything was."""
        news = False
        kind = next((t for node, place in self._alike if (t := found[node][place])), None)
        kind = kind or self._default
        if kind is not None:
            for node, place in self._alike:
                if found[node][place] is None:
                    found[node][place] = kind
                    news = True
        if self.operator == "BatchNorm" and kind is not None:
            wide = np.dtype(np.float32) if kind == np.float16 else kind
            news |= self._tell_states(found, range(1, 5), wide)
        elif self.operator.startswith("mp_"):
            news |= self._tell_states(found, _FREE[self.operator], np.dtype(np.float32))
        return news

    def _tell_states(
        self, found: dict[Node, list[DType | None]], places: Sequence[int], kind: DType
    ) -> bool:
        news = False
        for place in places:
            node, result = self.node.inputs[place]
            if found[node][result] is None:
                found[node][result] = kind
                news = True
        return news

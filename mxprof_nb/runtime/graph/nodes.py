"""`Node`: one operator or variable of a graph, as MXNet's JSON has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["VARIABLE", "Entry", "Node", "in_order"]

#: What stands for the operator of a variable.
VARIABLE = "null"


@dataclass(slots=True, eq=False)
class Node:
    """One operator of a graph, or a variable.

    Attributes
    ----------
    op : str
        MXNet's internal name of the operator; ``"null"`` for a variable.
    name : str
    attrs : dict
        Parameters of the operator as words, as MXNet keeps and writes them.
    inputs : list of Entry
        What it takes: nodes, and which of their results.
    marks : dict
        Attributes of the user's, such as ``ctx_group`` and ``__lr_mult__``.
    """

    op: str
    name: str
    attrs: dict[str, str] = field(default_factory=dict)
    inputs: list[tuple[Node, int]] = field(default_factory=list)
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def is_variable(self) -> bool:
        """Whether it is an input of the graph."""
        return self.op == VARIABLE


#: A node, and which of its results is meant.
Entry = tuple[Node, int]


def in_order(heads: Sequence[Entry]) -> list[Node]:
    """Return the nodes that heads depend on, each behind its inputs: depth first, as MXNet does."""
    order: dict[Node, None] = {}
    begun: set[Node] = set()
    for head, _ in heads:
        if head in begun:
            continue
        begun.add(head)
        path: list[tuple[Node, Iterator[Entry]]] = [(head, iter(head.inputs))]
        while path:
            node, rest = path[-1]
            for parent, _ in rest:
                if parent not in begun:
                    begun.add(parent)
                    path.append((parent, iter(parent.inputs)))
                    break
            else:
                order[node] = None
                path.pop()
    return list(order)

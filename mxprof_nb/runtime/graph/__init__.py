"""Graphs of operators: as programs describe them (`nodes`), and ready to run (`program`)."""

from mxprof_nb.runtime.graph.lowering import lower
from mxprof_nb.runtime.graph.nodes import VARIABLE, Entry, Node, in_order
from mxprof_nb.runtime.graph.program import Program, Step

__all__ = ["VARIABLE", "Entry", "Node", "Program", "Step", "in_order", "lower"]

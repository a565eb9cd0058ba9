"""Graphs of operators: as programs describe them (`nodes`), and ready to run (`program`)."""

from mxprof_nb.runtime.graph.lowering import lower
from mxprof_nb.runtime.graph.nodes import VARIABLE, Entry, Node, in_order
from mxprof_nb.runtime.graph.program import Program, Step
from mxprof_nb.runtime.graph.run import in_bulks, in_segments, run

__all__ = [
    "VARIABLE",
    "Entry",
    "Node",
    "Program",
    "Step",
    "in_bulks",
    "in_order",
    "in_segments",
    "lower",
    "run",
]

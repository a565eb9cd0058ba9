"""Graphs of operators: as programs describe them (`nodes`), and ready to run (`program`).

`lowering` makes the second of the first, by the functions of `mx.nd`; `run` runs it, also gradients
for `mx.autograd`. They are above and below arrays, so they are no part of this module.
"""

from mxprof_nb.runtime.graph.nodes import VARIABLE, Entry, Node, in_order
from mxprof_nb.runtime.graph.program import Program, Step

__all__ = ["VARIABLE", "Entry", "Node", "Program", "Step", "in_order"]

"""`Program`: a graph for inputs of known shapes and types, as a list of operators to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mxprof_nb.runtime.invoke import Attrs
from mxprof_nb.runtime.ops import Aval, OpSpec

__all__ = ["Program", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of a program; arrays are known by their places in `Program.avals`.

    Attributes
    ----------
    op : OpSpec
    attrs, dynamic : tuple
        As `mxprof_nb.runtime.invoke.invoke` takes them.
    inputs, outputs : tuple of int
        Places of what it reads and makes. One that it also changes in place (`OpSpec.mutates`),
        such as the moving mean of BatchNorm, keeps its place.
    node : str
        Name of the node that it belongs to, for errors.
    """

    op: OpSpec
    attrs: Attrs
    dynamic: tuple[Any, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    node: str


@dataclass(frozen=True, slots=True)
class Program:
    """Operators in an order in which they can run.

    Attributes
    ----------
    steps : tuple of Step
    avals : tuple of Aval
        Shapes and types of all arrays: first of ``inputs``, then of what the steps make.
    inputs : tuple of str
        Names of the variables, arguments and auxiliary states, in the order of the graph.
    outputs : tuple of int
        Places of the results.
    """

    steps: tuple[Step, ...]
    avals: tuple[Aval, ...]
    inputs: tuple[str, ...]
    outputs: tuple[int, ...]

"""What an operator costs, from shapes alone: floating point operations, bytes moved.

A rule takes the avals of inputs and results and the attributes. Counts follow the usual
convention: a multiplication and an addition are two operations, a function such as exp is one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mxprof_nb.runtime.ops.shapes import Aval

__all__ = ["Rule", "moved", "nothing", "per_element", "per_input", "times"]

Rule = Callable[[Sequence[Aval], Sequence[Aval], Mapping[str, Any]], int]


def nothing(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
    """Return 0: the operator moves data and computes nothing."""
    return 0


def per_element(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
    """Return one operation for each element of the results."""
    return sum(result.size for result in results)


def per_input(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
    """Return one operation for each element of the first input, as reductions have it."""
    return inputs[0].size


def times(factor: int, rule: Rule = per_element) -> Rule:
    """Return a rule that counts a multiple of another."""

    def count(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
        return factor * rule(inputs, results, attrs)

    return count


def moved(inputs: Sequence[Aval], results: Sequence[Aval], attrs: Mapping[str, Any]) -> int:
    """Return the bytes of all inputs and all results."""
    return sum(each.nbytes for each in (*inputs, *results))

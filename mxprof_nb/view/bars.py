"""`Bars`: marks that are drawn alike, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mxprof_nb._typing import F64Array, I64Array

__all__ = ["Bars"]


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Marks of one colour, drawn as one trace; arrays of shape (marks,)."""

    category: str
    many: bool
    start_ns: I64Array
    end_ns: I64Array
    y: F64Array
    told: Callable[[], list[str]]
    dim: bool = False  # not what a search looks for

    @property
    def hover(self) -> list[str]:
        """What is said of each mark beside the pointer; made anew, which takes its time."""
        return self.told()

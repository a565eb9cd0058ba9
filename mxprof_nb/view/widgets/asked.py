"""`Asked`: what a page asks of the kernel, and whether what it says makes sense."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = ["Asked", "are_numbers", "folds_of", "is_window"]


class Asked(NamedTuple):
    """What an answer depends on."""

    begin: int
    end: int
    width: int
    selected: int = -1
    text: str = ""
    regex: bool = False
    table: str = ""  # where the text names a row of it
    folds: tuple[tuple[str, int], ...] = ()

    @property
    def sought(self) -> tuple[str, bool, str]:
        """What is searched for."""
        return self.text, self.regex, self.table


def are_numbers(values: list[Any]) -> bool:
    """Tell whether all are numbers, neither infinite nor missing."""
    return all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)


def folds_of(folds: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    """Return which groups a page has opened and closed, without what makes no sense."""
    return tuple(sorted((str(key), choice) for key, choice in folds.items() if choice in (0, 1, 2)))


def is_window(window: list[float]) -> bool:
    """Tell whether there are two numbers, begin and end."""
    return len(window) == 2 and are_numbers(window)

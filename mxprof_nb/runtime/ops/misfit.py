"""`Misfit`: what was given for a parameter of an operator and is of another kind than it wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Misfit", "misfit_told"]


class Misfit(str):
    """A value as text, which stands where the value would, until the operator refuses it.

    So the refusal names operator, inputs and parameter, which the function that found the misfit
    does not know.

    Parameters
    ----------
    given : object
    wanted : str
        What it is not, e.g. ``"whole number"``.
    """

    __slots__ = ("wanted",)

    wanted: str

    def __new__(cls, given: object, wanted: str) -> Misfit:
        """Keep what tells the value."""
        aval = getattr(given, "aval", None)  # an array is told by its shape: to show it would wait
        made = super().__new__(cls, f"{given!r:.60}" if aval is None else f"the array {aval}")
        made.wanted = wanted
        return made


def misfit_told(attrs: Mapping[str, Any]) -> str:
    """Return which attribute holds a misfit, in words, or an empty string."""
    for name, value in attrs.items():
        if isinstance(value, Misfit):
            return f"{name}={value} is no {value.wanted}"
        if type(value) is tuple:
            for part in value:
                if isinstance(part, Misfit):
                    return f"{name}: {part} is no {part.wanted}"
    return ""

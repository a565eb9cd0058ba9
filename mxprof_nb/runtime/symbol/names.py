"""Which functions `mx.sym` and its parts have: those of `mx.nd` that call one operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mxprof_nb.errors import close_match
from mxprof_nb.runtime.graph.functions import ALIASES, FUNCTIONS
from mxprof_nb.runtime.nd.absent import ABSENT
from mxprof_nb.runtime.symbol.functions import function
from mxprof_nb.runtime.symbol.symbol import Symbol

__all__ = ["functions_of"]


def functions_of(
    part: str, prefix: str, names: Sequence[str]
) -> tuple[list[str], Callable[[str], Callable[..., Symbol]]]:
    """Return the names that have an operator, and what makes the function of a name.

    Parameters
    ----------
    part : str
        Name of the part of `mx`, for errors.
    prefix : str
        What operators' names begin with.
    names : sequence of str
        Names of functions of `mx.nd`.
    """
    known = [name for name in names if ALIASES.get(prefix + name, prefix + name) in FUNCTIONS]

    def get(name: str) -> Callable[..., Symbol]:
        if name in known or (not prefix and name in ALIASES):
            return function(prefix + name, name)
        raise _no_such_name(part, name, known)

    return known, get


def _no_such_name(part: str, name: str, known: Sequence[str]) -> AttributeError:
    if part == "sym" and name in ABSENT:
        return AttributeError(
            f"mx.sym.{name}: MXNet 1.9.1 has it, the embedded runtime of mxprof_nb does not. "
            "Another operator can be written with mx.sym.Custom."
        )
    if name.startswith("linalg_"):
        return AttributeError(
            f"mx.{part} has no {name!r} here; see mx.sym.linalg.{name.removeprefix('linalg_')}."
        )
    return AttributeError(f"mx.{part} has no {name!r} here.{close_match(name, known)}")

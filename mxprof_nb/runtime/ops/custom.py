"""Operators that programs bring along: where they are kept until somebody calls one.

Whoever registers one gives a function that makes the operator for the attributes of a call; from
there on it is an operator like all others.
"""

from __future__ import annotations

from collections.abc import Callable

from mxprof_nb.errors import UnknownOperatorError, close_match
from mxprof_nb.runtime.ops.registry import OpSpec

__all__ = ["Attributes", "custom", "offer"]

#: Attributes of a call, sorted by name; words, as MXNet hands them on.
Attributes = tuple[tuple[str, str], ...]
Maker = Callable[[dict[str, str]], OpSpec]

_makers: dict[str, Maker] = {}
_made: dict[tuple[str, Attributes], OpSpec] = {}


def offer(op_type: str, make: Maker) -> None:
    """Keep a maker of operators under a name; a later one of the same name takes its place."""
    _makers[op_type] = make
    for known in [key for key in _made if key[0] == op_type]:
        del _made[known]


def custom(op_type: str, attributes: Attributes = ()) -> OpSpec:
    """Return the operator of that name for these attributes.

    Raises
    ------
    UnknownOperatorError
        Nobody offered one of that name.
    """
    key = op_type, attributes
    found = _made.get(key)
    if found is None:
        make = _makers.get(op_type)
        if make is None:
            raise UnknownOperatorError(
                f"Custom: no operator has op_type={op_type!r}.{close_match(op_type, _makers)}"
                " Register it before it is called."
            )
        found = _made[key] = make(dict(attributes))
    return found

"""`inferred`: what an operator will make of inputs, or the refusal of a call that does not fit."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Any

from mxprof_nb.errors import EngineError, ShapeError
from mxprof_nb.runtime.ops.misfit import misfit_told
from mxprof_nb.runtime.ops.registry import OpSpec, refuse
from mxprof_nb.runtime.ops.shapes import Aval

__all__ = ["inferred"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@lru_cache(maxsize=1000)
def _inputs(op: OpSpec) -> tuple[int, float]:
    """Return how many inputs an operator takes, least and most, as its rule declares them."""
    least, most = 0, 0.0
    for parameter in inspect.signature(op.infer).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            most = inf
        elif parameter.kind in _POSITIONAL and "Aval" in str(parameter.annotation):
            least += parameter.default is parameter.empty
            most += 1
        elif parameter.kind in _POSITIONAL and parameter.annotation is parameter.empty:
            least, most = least + 1, most + 1
    return least, most


def inferred(op: OpSpec, avals: Sequence[Aval], attrs: Mapping[str, Any]) -> tuple[Aval, ...]:
    """Return shapes and types of an operator's results.

    Raises
    ------
    ShapeError, ArgumentError
        The inputs or attributes do not fit, in number or in kind.
    """
    least, most = _inputs(op)
    if not least <= len(avals) <= most:
        number = f"{least}" if least == most else f"{least} to {most}" if most < inf else f"{least}"
        more = " or more" if most == inf else ""
        plural = "" if (least, most) == (1, 1) else "s"
        raise refuse(op.name, f"it takes {number}{more} input{plural}, not {len(avals)}", *avals)
    if told := misfit_told(attrs):
        raise refuse(op.name, told, *avals)
    try:
        made = op.infer(*avals, **attrs)
    except EngineError:
        raise
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        told = ", ".join(f"{name}={value!r}" for name, value in attrs.items())
        raise refuse(op.name, f"{told or 'no attributes'}: {error}", *avals) from error
    results: tuple[Aval, ...] = made if isinstance(made, tuple) else (made,)
    for result in results:
        if not result.shape or min(result.shape) < 0:
            got = f" got {' and '.join(map(str, avals))}" if avals else ""
            raise ShapeError(
                f"{op.name}{got}: the result would have shape {result.shape}; arrays have one axis "
                "or more, and none of negative length."
            )
    return results

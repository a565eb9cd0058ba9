"""What was found out about a trace once, and holds as long as the trace does: it never changes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar
from weakref import finalize

from mxprof_nb.trace.trace import Trace

__all__ = ["remembered"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def remembered(
    function: Callable[Concatenate[Trace, _P], _T],
) -> Callable[Concatenate[Trace, _P], _T]:
    """Keep what a function returns for a trace alone, until that trace is gone.

    For values that nobody can change and that do not hold the trace. Calls with further arguments
    are passed on.
    """
    known: dict[int, _T] = {}  # by identity: traces are compared by what is in them

    @functools.wraps(function)
    def recalled(trace: Trace, /, *rest: _P.args, **options: _P.kwargs) -> _T:
        if rest or options:
            return function(trace, *rest, **options)
        key = id(trace)
        try:
            return known[key]
        except KeyError:  # two threads may both find it out; either is right
            value = known[key] = function(trace, *rest, **options)
            finalize(trace, known.pop, key, None).atexit = False
            return value

    return recalled

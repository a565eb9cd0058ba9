"""`LENIENT`: `mx.nd` for blocks that need more of it than arrays do.

Its functions take a ``name=``, as those of symbols do, and its layers find out from the first data
the shapes of parameters that are not known.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.context import Context
from mxprof_nb.runtime.gluon.parameter import Parameter
from mxprof_nb.runtime.graph.deduction import RULES

__all__ = ["LENIENT", "Unshaped"]


class Unshaped:
    """Stands for a parameter whose shape is not known yet.

    Parameters
    ----------
    param : Parameter
    context : Context
        Device that its value is needed on.
    """

    def __init__(self, param: Parameter, context: Context) -> None:
        self.param = param
        self.context = context

    def __getattr__(self, name: str) -> Any:
        raise ShapeError(
            f"The shape of parameter {self.param.name!r} is {self.param.shape} and does not follow "
            f"from the data where it is used: only {', '.join(RULES)} tell. Give all of its shape."
        )


class _Lenient:
    """What of `mx.nd` a block asks for, made lenient."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(nd, name)
        if name in RULES:
            return _unnamed(_deducing(found, RULES[name]))
        return _unnamed(found) if isinstance(found, FunctionType) else found


LENIENT = _Lenient()


def _unnamed(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, name: str | None = None, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def _deducing(layer: Callable[..., Any], rule: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(layer)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        waiting = [name for name, each in given.items() if isinstance(each, Unshaped)]
        if not waiting:
            return layer(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments  # these are others now
        try:
            shapes = rule(given)
        except (IndexError, TypeError, ValueError, ZeroDivisionError):
            # As the layer itself says it, with a parameter of whatever shape.
            shapes = dict.fromkeys(waiting, (1,))
        params = [given[name].param for name in waiting]
        before = [(each._shape, each._deferred) for each in params]
        try:
            for name, param in zip(waiting, params, strict=True):
                param.shape = shapes[name]
            for name, param in zip(waiting, params, strict=True):
                param._finish_deferred_init()
                given[name] = param.data(given[name].context)
            return layer(*bound.args, **bound.kwargs)
        except BaseException:
            for param, (shape, plan) in zip(params, before, strict=True):
                param._shape, param._deferred, param._data, param._grad = shape, plan, None, None
            raise

    return call

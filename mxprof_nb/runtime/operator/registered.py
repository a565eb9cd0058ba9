"""`register`: the names of operators that a program writes in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.operator.custom_op import CustomOpProp
from mxprof_nb.runtime.operator.declared import Declared
from mxprof_nb.runtime.ops.custom import offer
from mxprof_nb.runtime.ops.registry import operator_names

__all__ = ["get_all_registered_operators", "register"]

P = TypeVar("P", bound=type[CustomOpProp])

_classes: dict[str, type] = {}


def register(reg_name: str) -> Callable[[P], P]:
    """Return a decorator that registers a `CustomOpProp` under a name.

    A class of the same name in the same module replaces the one before, as when a cell runs again.

    Raises
    ------
    ArgumentError
        What is decorated is no such class, or another class has the name.
    """

    def keep(prop: P) -> P:
        if not (isinstance(prop, type) and issubclass(prop, CustomOpProp)):
            raise ArgumentError(
                f"register({reg_name!r}): {prop!r:.80} is no class of CustomOpProp."
            )
        known = _classes.get(reg_name, prop)
        if _place_of(known) != _place_of(prop):
            raise ArgumentError(
                f"register({reg_name!r}): {_place_of(known)} has that name, and "
                f"{_place_of(prop)} cannot have it, too. Choose another."
            )
        _classes[reg_name] = prop
        offer(reg_name, lambda attributes: Declared(reg_name, prop, attributes))
        return prop

    if not isinstance(reg_name, str) or not reg_name:
        raise ArgumentError(f"register: {reg_name!r:.80} is no name. Use it as @register('my_op').")
    return keep


def _place_of(kind: type) -> str:
    module = getattr(kind, "__module__", "")  # code run by `exec` may have none
    return f"{module}.{kind.__qualname__}"


def get_all_registered_operators() -> list[str]:
    """Return names of the operators that come with the runtime, as MXNet does."""
    return sorted({*operator_names(), "Custom"})

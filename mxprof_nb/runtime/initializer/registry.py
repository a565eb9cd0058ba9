"""Initializers by name: those of the package, and those that programs register."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from mxprof_nb.errors import ArgumentError, close_match

if TYPE_CHECKING:
    from mxprof_nb.runtime.initializer.base import Initializer

__all__ = ["alias", "create", "register"]

Kind = TypeVar("Kind", bound="type[Initializer]")

_kinds: dict[str, type[Initializer]] = {}


def register(klass: Kind) -> Kind:
    """Make a class known under its name, in small letters; used as a decorator."""
    _kinds[klass.__name__.lower()] = klass
    return klass


def alias(*aliases: str) -> Callable[[Kind], Kind]:
    """Return a decorator that makes a class known under further names."""

    def also(klass: Kind) -> Kind:
        _kinds.update((name.lower(), klass) for name in aliases)
        return klass

    return also


def create(init: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an initializer.

    Parameters
    ----------
    init : str, mapping or callable
        A name, such as ``"xavier"``; what `Initializer.dumps` wrote; a mapping whose entry
        ``"initializer"`` is the name and whose others are parameters; or something that fills
        arrays already, which is returned.
    *args, **kwargs
        Parameters of the initializer.

    Raises
    ------
    ArgumentError
        It is nothing of that kind, or no initializer has the name.
    """
    if callable(init) and not isinstance(init, type):
        if args or kwargs:
            raise ArgumentError(f"{init!r} is an initializer already; leave its parameters out.")
        return init
    if isinstance(init, str) and init[:1] in ("[", "{"):
        try:
            init = json.loads(init)
        except json.JSONDecodeError as error:
            raise ArgumentError(f"{init!r:.60} is no initializer in JSON: {error}.") from None
        if isinstance(init, list) and len(init) == 2 and isinstance(init[1], dict):
            init, kwargs = init
    if isinstance(init, Mapping) and isinstance(init.get("initializer"), str):
        kwargs = {key: value for key, value in init.items() if key != "initializer"}
        init = init["initializer"]
    if not isinstance(init, str):
        raise ArgumentError(
            f"{init!r:.60} is no initializer. Give an object such as mx.init.Xavier(), or a name "
            "such as 'xavier'."
        )
    kind = _kinds.get(init.lower())
    if kind is None:
        raise ArgumentError(f"There is no initializer {init!r}.{close_match(init.lower(), _kinds)}")
    return kind(*args, **kwargs)

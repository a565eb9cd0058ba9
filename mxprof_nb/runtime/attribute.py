"""`mx.attribute`: attributes that symbols get where they are made."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from mxprof_nb.errors import ArgumentError

__all__ = ["AttrScope", "current_scope"]


class AttrScope:
    """Attributes for all symbols made in a ``with`` block; blocks inside add to them.

    Parameters
    ----------
    **attributes : str
        E.g. ``ctx_group="stage1"`` or ``__lr_mult__="2"``.

    Raises
    ------
    ArgumentError
        A value is no text.
    """

    def __init__(self, **attributes: str) -> None:
        self._attributes = texts(attributes)
        self._outer: list[AttrScope] = []

    def get(self, attr: Mapping[str, str] | None) -> dict[str, str]:
        """Return the attributes of this scope and, above them, those given."""
        inherited = self._outer[-1].get(None) if self._outer else {}
        return {**inherited, **self._attributes, **texts(attr or {})}

    def __enter__(self) -> AttrScope:
        self._outer.append(current_scope())
        _entered.scope = self
        return self

    def __exit__(self, *error: object) -> None:
        _entered.scope = self._outer.pop()


def texts(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return attributes, all of which must be texts."""
    for name, value in attributes.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise ArgumentError(f"Attribute {name}={value!r:.60}: attributes are texts.")
    return dict(attributes)


class _Entered(threading.local):
    """The scope of a thread."""

    scope: AttrScope | None = None


_entered = _Entered()


def current_scope() -> AttrScope:
    """Return the scope of the thread."""
    found = _entered.scope
    if found is None:
        found = _entered.scope = AttrScope()
    return found

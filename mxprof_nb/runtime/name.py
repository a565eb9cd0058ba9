"""`mx.name`: names for what the program does not name, counted by kind."""

from __future__ import annotations

import threading

__all__ = ["NameManager", "Prefix", "current_manager"]


class NameManager:
    """Gives names such as ``dense0``, ``dense1``; in a ``with`` block it is the thread's own.

    A name is a hint and how often the manager was asked for it.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._outer: list[NameManager] = []

    def get(self, name: str | None, hint: str) -> str:
        """Return the name, or where there is none the next one for the hint."""
        if name:
            return name
        count = self._counts.get(hint, 0)
        self._counts[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> NameManager:
        self._outer.append(current_manager())
        _entered.manager = self
        return self

    def __exit__(self, *error: object) -> None:
        _entered.manager = self._outer.pop()


class Prefix(NameManager):
    """A manager that puts a prefix before all names, also those that the program gives.

    Parameters
    ----------
    prefix : str
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """Return the name of `NameManager.get` behind the prefix."""
        return self._prefix + super().get(name, hint)


def current_manager() -> NameManager:
    """Return the manager of the thread."""
    found = _entered.manager
    if found is None:
        found = _entered.manager = NameManager()
    return found


class _Entered(threading.local):
    """The manager of a thread, from its first use on."""

    manager: NameManager | None = None


_entered = _Entered()

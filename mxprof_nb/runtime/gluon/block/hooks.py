"""`HookHandle`: what takes a hook away again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["HookHandle"]

Hooks = dict[int, Callable[..., Any]]


class HookHandle:
    """Stands for one hook of a block; in a ``with`` block until its end.

    Parameters
    ----------
    hooks : dict
        The block's hooks, in the order in which they are called.
    hook : callable
    """

    _made = 0

    def __init__(self, hooks: Hooks, hook: Callable[..., Any]) -> None:
        HookHandle._made += 1
        self._number = HookHandle._made
        self._hooks = hooks
        hooks[self._number] = hook

    def detach(self) -> None:
        """Take the hook away; the second time does nothing."""
        self._hooks.pop(self._number, None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.detach()

"""`NameScope`: what makes names of blocks and parameters begin with those of the block around."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from mxprof_nb.runtime import symbol
from mxprof_nb.runtime.gluon.parameter import ParameterDict
from mxprof_nb.runtime.name import Prefix, current_manager

if TYPE_CHECKING:
    from mxprof_nb.runtime.gluon.block.block import Block

__all__ = ["NameScope", "fwd", "named"]


class NameScope:
    """The ``with`` block in which a block makes its children.

    Their names begin with the block's, and are counted from 0 by kind. A block whose prefix is
    empty makes no difference.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self._counts: dict[str, int] = {}
        self._outer: list[tuple[NameScope | None, Prefix]] = []

    def next_prefix(self, hint: str) -> str:
        """Return the prefix of the next child of this kind."""
        count = self._counts.get(hint, 0)
        self._counts[hint] = count + 1
        return f"{hint}{count}_"

    def __enter__(self) -> NameScope:
        if not self.block._empty_prefix:
            names = Prefix(self.block.prefix)
            self._outer.append((_entered.scope, names))
            names.__enter__()
            _entered.scope = self
        return self

    def __exit__(self, *error: object) -> None:
        if not self.block._empty_prefix:
            _entered.scope, names = self._outer.pop()
            names.__exit__()


def named(prefix: str | None, params: ParameterDict | None, hint: str) -> tuple[str, ParameterDict]:
    """Return the whole prefix of a new block, and the dictionary that its parameters go to.

    Parameters
    ----------
    prefix : str, optional
        As the program gives it; by default the hint and a number.
    params : ParameterDict, optional
        Whose parameters the block shares.
    hint : str
        Kind of the block.
    """
    scope = _entered.scope
    if scope is None:
        whole = current_manager().get(None, hint) + "_" if prefix is None else prefix
        own = ParameterDict(whole)
    else:
        last = scope.next_prefix(hint) if prefix is None else prefix
        whole = scope.block.prefix + last
        parent = scope.block.params
        own = ParameterDict(parent.prefix + last, parent._shared)
    return whole, own if params is None else ParameterDict(params.prefix, params)


def fwd(F: Any) -> dict[str, str]:
    """Return the name that a layer gives its operator in graphs, as in MXNet; arrays have none."""
    return {"name": "fwd"} if F is symbol else {}


class _Entered(threading.local):
    """The innermost scope that this thread is in."""

    scope: NameScope | None = None


_entered = _Entered()

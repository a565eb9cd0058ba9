"""`mx.sym.contrib`: the functions of `mx.nd.contrib` for symbols."""

from __future__ import annotations

from collections.abc import Callable

from mxprof_nb.runtime.nd import contrib as arrays
from mxprof_nb.runtime.symbol.names import functions_of
from mxprof_nb.runtime.symbol.symbol import Symbol

__all__, _get = functions_of("sym.contrib", "_contrib_", arrays.__all__)


def __getattr__(name: str) -> Callable[..., Symbol]:
    return _get(name)

"""`mx.sym.image`: the functions of `mx.nd.image` for symbols."""

from __future__ import annotations

from collections.abc import Callable

from mxprof_nb.runtime.nd import image as arrays
from mxprof_nb.runtime.symbol.names import functions_of
from mxprof_nb.runtime.symbol.symbol import Symbol

__all__, _get = functions_of("sym.image", "_image_", arrays.__all__)


def __getattr__(name: str) -> Callable[..., Symbol]:
    return _get(name)

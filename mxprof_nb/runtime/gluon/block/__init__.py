"""`mx.gluon.block`: what networks are built of."""

from typing import NoReturn

from mxprof_nb.runtime.gluon import absent
from mxprof_nb.runtime.gluon.block.block import Block
from mxprof_nb.runtime.gluon.block.hooks import HookHandle
from mxprof_nb.runtime.gluon.block.hybrid import HybridBlock
from mxprof_nb.runtime.gluon.block.symbol_block import SymbolBlock

__all__ = ["Block", "HookHandle", "HybridBlock", "SymbolBlock"]


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name("gluon.block", name, __all__)

"""`mx.gluon.block`: what networks are built of."""

from mxprof_nb.runtime.gluon.block.block import Block
from mxprof_nb.runtime.gluon.block.hooks import HookHandle
from mxprof_nb.runtime.gluon.block.hybrid import HybridBlock

__all__ = ["Block", "HookHandle", "HybridBlock"]

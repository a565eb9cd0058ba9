"""Blocks one after the other."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from mxprof_nb.runtime.gluon.block import Block, HybridBlock
from mxprof_nb.runtime.gluon.block.block import tree

__all__ = ["HybridSequential", "Sequential"]


class _Chain(Block):
    """What both kinds of sequences have in common."""

    _is_sequence = True

    def add(self, *blocks: Block) -> None:
        """Append blocks."""
        for block in blocks:
            self.register_child(block)

    def __repr__(self) -> str:
        return tree(self, list(self._children.items()))

    def __getitem__(self, key: int | slice) -> Any:
        """Return one block, or some in a new sequence of the same prefix."""
        found = list(self._children.values())[key]
        if isinstance(found, Block):
            return found
        part = type(self)(prefix=self._prefix)
        with part.name_scope():
            part.add(*found)
        return part

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())


class Sequential(_Chain):
    """Gives its input to its first block, the result to the next, and so on."""

    def forward(self, x: Any) -> Any:
        """Return what the last block gives."""
        for block in self._children.values():
            x = block(x)
        return x

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """See `HybridBlock.hybridize`."""
        if self._children and all(isinstance(each, HybridBlock) for each in self):
            warnings.warn(
                f"All blocks of {self.name!r} are HybridBlocks; a HybridSequential of them is "
                "computed by one graph.",
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Chain, HybridBlock):
    """A `Sequential` of `HybridBlock` only."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Return what the last block gives."""
        for block in self._children.values():
            x = block(x)
        return x

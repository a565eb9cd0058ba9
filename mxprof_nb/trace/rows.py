"""`Rows`: the rows of one table while it is being filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.trace.tables import TableBase

__all__ = ["Rows"]


class Rows:
    """Columns of one table, collected row by row or block by block, joined once."""

    def __init__(self, table: type[TableBase]) -> None:
        self.table = table
        self.blocks: list[TableBase] = []
        self.pending: dict[str, list[Any]] = {c.name: [] for c in table.spec.columns}
        self.nulls = {c.name: c.null for c in table.spec.columns}
        self.length = 0

    def add_row(self, row: Mapping[str, Any]) -> int:
        """Add one row and return its number; columns that are not given are null."""
        for name, values in self.pending.items():
            values.append(row.get(name, self.nulls[name]))
        self.length += 1
        return self.length - 1

    def add_block(self, columns: Mapping[str, Any]) -> NDArray[np.int64]:
        """Add rows as columns, scalars repeated, and return their numbers."""
        self._flush()
        block = self.table.of(columns)
        self.blocks.append(block)
        first, self.length = self.length, self.length + len(block)
        return np.arange(first, self.length)

    def _flush(self) -> None:
        if next(iter(self.pending.values())):
            self.blocks.append(self.table.of(self.pending))
            self.pending = {name: [] for name in self.pending}

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all rows, as one array for each column."""
        self._flush()
        blocks = self.blocks or [self.table.empty()]
        if len(blocks) == 1:  # nothing to join, nothing to copy
            return {name: getattr(blocks[0], name) for name in self.pending}
        return {
            name: np.concatenate([getattr(block, name) for block in blocks])
            for name in self.pending
        }

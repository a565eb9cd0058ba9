"""`Statistics`: the figures of everything since the last reset, without keeping everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mxprof_nb.record import Recording, freeze
from mxprof_nb.record.buffer import Block
from mxprof_nb.record.carry import Carry
from mxprof_nb.record.signals import held_back
from mxprof_nb.record.spool import Spool, SpoolReader
from mxprof_nb.runtime.aggregate import Table, aggregate, joined
from mxprof_nb.trace import Meta

__all__ = ["Statistics"]


class Statistics:
    """What `dumps` tells.

    What went to a spool is read there when somebody asks, part by part; the rest is in memory.

    Parameters
    ----------
    nothing : Recording
        An empty one, to collect what was heard.

    Attributes
    ----------
    recent : Recording
        What is in no spool yet.
    """

    def __init__(self, nothing: Recording) -> None:
        self.recent = nothing
        self._table: Table = {}
        self._carry = Carry()
        self._reader: SpoolReader | None = None

    def reset(self, nothing: Recording) -> None:
        """Begin anew; what is in the spool so far was told."""
        self._skip()
        self.recent, self._table, self._carry = nothing, {}, Carry()

    def holds(self, blocks: Sequence[Block]) -> bool:
        """Return whether what is in memory is just these."""
        return list(map(id, blocks)) == list(map(id, self.recent.blocks))

    def fold(self) -> None:
        """Turn what is in memory into figures."""
        self._catch_up()
        if self.recent.blocks:
            self._fold(self.recent)
        self.recent.blocks, self.recent.windows = [], []

    def follow(self, spool: Spool, *, skip: bool) -> None:
        """Read from a spool from now on, which what was in memory has gone to.

        With ``skip=True`` what is in it so far is left out.
        """
        if self._reader is None:
            self._reader = spool.reader()
        if skip:
            self._skip()
        self.recent.blocks = []

    def leave_spool(self) -> None:
        """Take over what is in the spool: it will be removed."""
        self._catch_up()
        self._reader = None

    def table(self) -> Table:
        """Return the figures of everything so far."""
        self._catch_up()
        return joined(self._table, self._figures(self.recent, self._carry.for_the_last()))

    def _catch_up(self) -> None:
        while self._catch_up_one():
            pass

    @held_back()
    def _catch_up_one(self) -> bool:
        part = None if self._reader is None else self._reader.next()
        if part is not None:
            self._fold(part)
        return part is not None

    def _skip(self) -> None:
        while self._reader is not None and self._reader.next(skip=True) is not None:
            pass

    def _fold(self, part: Recording) -> None:
        self._table = joined(self._table, self._figures(part, self._carry))

    @staticmethod
    def _figures(part: Recording, carry: Carry) -> Table:
        config = replace(part.config, lines=False)  # nobody asks where calls came from
        return aggregate(freeze(replace(part, config=config), Meta(), carry=carry))

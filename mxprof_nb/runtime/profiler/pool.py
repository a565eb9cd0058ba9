"""Statistics of the pool of large blocks, which are recorded when they are asked for."""

from __future__ import annotations

import struct

from mxprof_nb.record import RECORDER, Label
from mxprof_nb.record.buffer import SAMPLE
from mxprof_nb.runtime import pool

__all__ = ["sample", "switch"]

_LABEL = RECORDER.labels.number(Label("Memory: pool", "memory", "Pool Memory"))
_now = RECORDER.clock.now
_asked = False


def switch(on: bool) -> None:
    """Say whether the statistics are asked for."""
    global _asked
    _asked = on
    pool.watch(_note if on else None)


def sample() -> None:
    """Record how many bytes wait now, if somebody asked."""
    if _asked:
        _note(pool.kept_bytes())


def _note(kept: int) -> None:
    """Record how many bytes wait; no lock and no look at the list, see `pool.watch`."""
    if RECORDER.on:
        (bits,) = struct.unpack("=q", struct.pack("=d", float(kept)))
        moment = _now()
        RECORDER.buffer().user.extend((moment, moment, _LABEL, SAMPLE, bits, None, -1))

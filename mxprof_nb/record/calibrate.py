"""What recording costs: measured on this machine, once per process, and shown with each profile."""

from __future__ import annotations

import sys
from functools import lru_cache
from statistics import median

from mxprof_nb.record.buffer import Block, ThreadBuffer, ThreadInfo
from mxprof_nb.record.recorder import Recorder
from mxprof_nb.trace import Cost

__all__ = ["cost_of", "record_cost_ns"]

ROUNDS, PER_ROUND = 7, 300


def _measure(recorder: Recorder) -> float:
    """Return the cost of one call record in ns: two readings of the clock, a frame, an append."""
    now = recorder.clock.now
    buffer = ThreadBuffer(ThreadInfo("calibration", "host", None, -1, 0), recorder.codes.number)
    results = []
    for _ in range(ROUNDS):
        began = now()
        for number in range(PER_ROUND):
            start = now()
            frame = sys._getframe(0)
            buffer.calls.extend((start, now(), 0, number, frame.f_code, frame.f_lasti))
        results.append((now() - began) / PER_ROUND)
        packing = now()
        buffer.pack()
        results[-1] += (now() - packing) / PER_ROUND
        buffer.blocks.clear()
    return median(results)


@lru_cache(maxsize=4)
def record_cost_ns(recorder: Recorder) -> float:
    """Return the calibrated cost of one record on this machine, in ns."""
    return _measure(recorder)


def cost_of(recorder: Recorder, blocks: list[Block]) -> Cost:
    """Return what recording these blocks cost, by the calibration."""
    records = sum(len(block) for block in blocks)
    per_record = record_cost_ns(recorder)
    return Cost(total_ns=round(records * per_record), records=records, per_record_ns=per_record)

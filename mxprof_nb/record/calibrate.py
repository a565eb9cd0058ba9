"""What recording costs: measured on this machine, once per process, and shown with each profile."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from statistics import median

from mxprof_nb.record.buffer import ThreadBuffer, ThreadInfo
from mxprof_nb.record.recorder import Recorder
from mxprof_nb.record.sites import Place, user_frame_finder
from mxprof_nb.trace import Cost

__all__ = ["cost_of", "record_cost_ns"]

ROUNDS, PER_ROUND = 7, 300


def _measure(recorder: Recorder) -> float:
    """Return the cost of one record in ns, made as a runtime makes it.

    A call that is recorded looks for the line of the program, reads the clock twice, appends, and
    is packed later. What the work itself loses, because caches and the interpreter lock are
    shared, is not in it: for operators of a few microseconds the true cost is higher.
    """
    now = recorder.clock.now
    buffer = ThreadBuffer(ThreadInfo("calibration", "host", None, -1, 0), recorder.codes.numbers)
    find = user_frame_finder(str(Path(__file__).parents[1]))

    def note(label: int, start: int, end: int, number: int, place: Place) -> None:
        buffer.calls.extend((start, end, label, number, *place))

    def recorded(number: int) -> None:
        place = find(1)
        start = now()
        try:
            pass
        finally:
            note(0, start, now(), number, place)

    results = []
    for _ in range(ROUNDS):
        began = now()
        for number in range(PER_ROUND):
            recorded(number)
        buffer.pack()
        results.append((now() - began) / PER_ROUND)
        buffer.blocks.clear()
    return median(results)


@lru_cache(maxsize=4)
def record_cost_ns(recorder: Recorder) -> float:
    """Return the calibrated cost of one record on this machine, in ns."""
    if recorder.record_cost_ns is not None:
        return recorder.record_cost_ns
    return _measure(recorder)


def cost_of(recorder: Recorder, records: int) -> Cost:
    """Return what so many records cost, by the calibration."""
    per_record = record_cost_ns(recorder)
    return Cost(total_ns=round(records * per_record), records=records, per_record_ns=per_record)

"""Tables of counters: what a value was over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.analysis.intervals import Window
from mxprof_nb.analysis.result import Result
from mxprof_nb.trace import HasTrace, trace_of

__all__ = ["counter_tables"]


def counter_tables(trace: HasTrace, *, window: Window = None) -> dict[str, Result]:
    """Return the tables "Memory" and "Counters", each if it has rows.

    Parameters
    ----------
    trace : Trace
    window : tuple of int, optional
        Begin and end in ns; the profiled range when left out.

    Returns
    -------
    dict of str to Result
        =====  =======  ==========================================================
        name   str      the counter; with its track where two tracks have the name
        count  int64    samples in the window
        min    float64  smallest value in the window
        mean   float64  mean over time: each value weighs as long as it lasted
        max    float64  largest value in the window
        last   float64  value at the end of the window
        unit   str      only in "Counters"; values of "Memory" are bytes
        =====  =======  ==========================================================

    Notes
    -----
    A counter keeps its value until the next sample, so the value from before the window counts
    in it; before its first sample a counter has none. Values that are no finite number are left
    out, and a note says how many.
    """
    trace = trace_of(trace)
    counters, strings = trace.counters, trace.strings
    begin, end = window or trace.window_ns
    if window is None and len(counters):  # samples at the rim of the profiled range belong to it
        begin = min(begin, int(counters.time_ns[0]))
        end = max(end, int(counters.time_ns[-1]) + 1)
    group = counters.track.astype(np.int64) * len(strings) + counters.name
    found: list[tuple[str, str, str, tuple[float, ...], int]] = []
    for key in np.unique(group):
        mine = np.flatnonzero(group == key)
        finite = mine[np.isfinite(counters.value[mine])]
        values = _over_time(counters.time_ns[finite], counters.value[finite], begin, end)
        if values is None:
            continue
        track = trace.tracks.name[counters.track[mine[0]]]
        unit = strings.text(int(counters.unit[mine[-1]]))
        name = strings[int(counters.name[mine[0]])]
        found.append((name, strings[int(track)], unit, values, len(mine) - len(finite)))
    found.sort(key=lambda row: row[:2])

    def is_memory(name: str, unit: str) -> bool:
        return unit == "B" or name.startswith("Memory")

    tables = {}
    memory = [row for row in found if is_memory(row[0], row[2])]
    others = [row for row in found if not is_memory(row[0], row[2])]
    if memory:
        tables["Memory"] = _table(memory, with_unit=False)
    if others:
        tables["Counters"] = _table(others, with_unit=True)
    return tables


def _over_time(
    time: NDArray[Any], value: NDArray[Any], begin: int, end: int
) -> tuple[float, ...] | None:
    """Return count, min, mean, max and last of one counter in a window, None without a value."""
    first, stop = np.searchsorted(time, [begin, end], side="left")
    carried = max(first - 1, 0)  # the sample whose value holds when the window begins
    value = value[carried:stop]
    if not len(value):
        return None
    held = np.diff(np.clip(time[carried:stop], begin, end), append=end).astype(np.float64)
    if first and len(held) > 1 and held[0] == 0:
        value, held = value[1:], held[1:]  # replaced at the very begin of the window
    mean = np.average(value, weights=held) if held.any() else value.mean()
    return (stop - first, value.min(), mean, value.max(), value[-1])


def _table(found: list[tuple[str, str, str, tuple[float, ...], int]], *, with_unit: bool) -> Result:
    names = [name for name, *_ in found]
    columns: dict[str, Any] = {
        "name": [
            name if names.count(name) == 1 else f"{name} ({track})" for name, track, *_ in found
        ],
        "count": np.array([values[0] for *_, values, _ in found], dtype=np.int64),
    }
    for place, column in enumerate(("min", "mean", "max", "last"), start=1):
        columns[column] = np.array([values[place] for *_, values, _ in found], dtype=np.float64)
    if with_unit:
        columns["unit"] = [unit for _, _, unit, *_ in found]
    lost = sum(row[-1] for row in found)
    notes = (f"{lost:,} samples that are no finite number are left out.",) if lost else ()
    return Result(columns, [np.empty(0, dtype=np.int64) for _ in found], notes)

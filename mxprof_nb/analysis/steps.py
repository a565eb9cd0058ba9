"""Steps side by side: how long each took, how much of it waiting, working, idle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, I64Array
from mxprof_nb.analysis.intervals import clip, union_ns
from mxprof_nb.analysis.recorded import records_waits
from mxprof_nb.analysis.result import Result
from mxprof_nb.analysis.summary import STEPS_ARE_MARKED_BY
from mxprof_nb.errors import MissingDataError
from mxprof_nb.record.steps import step_ranges
from mxprof_nb.trace import HasTrace, Trace, trace_of
from mxprof_nb.trace.nesting import union_by_group

__all__ = ["step_breakdown"]

_WORK = ("operator", "copy", "kernel")
_ENGINES = ("worker", "stream", "copy")


def step_breakdown(trace: HasTrace) -> Result:
    """Return one row per step, in order of their numbers.

    Parameters
    ----------
    trace : Trace
        Or an object that offers one, e.g. a `Profile`.

    Returns
    -------
    Result
        ===============  =======  =======================================================
        step             int64    its number
        start_ns         int64    when it first began
        wall_ns          int64    how long it took: the time between its begin and end
        busy_ns          int64    time within it in which some worker or stream ran
        idle_ns          int64    the rest of it: ``wall_ns`` - ``busy_ns``
        host_wait_ns     int64    time within it in which its host thread waited
        operators        int64    operators, copies and kernels it queued, whenever they ran
        work_ns          int64    their durations, added up
        busy_ns: TRACK   int64    time within it in which that worker or stream ran; one
                                  column for each
        ===============  =======  =======================================================

        ``rows`` are the events of the step. ``notes`` tell how far the steps' times spread.

    Raises
    ------
    MissingDataError
        The trace has no steps.

    Notes
    -----
    A range of time and what was queued in it are two things, for work goes on after the call that
    queued it: ``busy_ns``, ``idle_ns`` and ``host_wait_ns`` tell what happened between begin and
    end of the step, whoever asked for it; ``operators`` and ``work_ns`` what the step asked for.
    A step that was marked several times has its ranges added up; where a file has numbers of
    steps and no ranges, a step lasts from its first event on the host to its last.
    """
    trace = trace_of(trace)
    events, tracks = trace.events, trace.tracks
    steps = trace.steps()
    if not len(steps):
        raise MissingDataError.needs("step_breakdown", "numbers of steps", STEPS_ARE_MARKED_BY)
    number, begin, end, track = step_ranges(trace)
    engines = np.flatnonzero(tracks.is_role(*_ENGINES))
    sync = events.is_category("sync")
    running = _Sorted(trace, np.isin(events.track, engines) & ~sync)
    waiting = _Sorted(trace, sync)
    asked, work_ns = _asked(trace, steps)

    found: list[tuple[int, ...]] = []
    by_engine = np.zeros((len(steps), len(engines)), dtype=np.int64)
    for row, step in enumerate(steps.tolist()):
        ranges = np.flatnonzero(number == step)
        wall = busy = waited = 0
        for low, high, on in _apart(begin[ranges], end[ranges], track[ranges]):
            wall += high - low
            on_engines, start, stop = running.within(low, high)
            busy += union_ns(start, stop)
            by_engine[row] += union_by_group(on_engines, start, stop, len(tracks))[engines]
            on_hosts, start, stop = waiting.within(low, high)
            waited += union_ns(start[on_hosts == on], stop[on_hosts == on])
        first = int(begin[ranges].min())
        found.append((step, first, wall, busy, wall - busy, waited, asked[row], work_ns[row]))

    names = ("step", "start_ns", "wall_ns", "busy_ns", "idle_ns", "host_wait_ns", "operators")
    table = np.array(found, dtype=np.int64).T
    columns: dict[str, Any] = dict(zip((*names, "work_ns"), table, strict=True))
    for place, engine in enumerate(engines.tolist()):
        name = f"busy_ns: {trace.strings[int(tracks.name[engine])]}"
        columns[name if name not in columns else f"{name} ({engine})"] = by_engine[:, place]
    return Result(
        columns,
        _rows(trace, steps),
        _notes(trace, columns["wall_ns"], sync),
    )


class _Sorted:
    """Some events, found by time without looking at all of them."""

    def __init__(self, trace: Trace, mask: BoolArray) -> None:
        events = trace.events
        self.track, self.start, self.end = (  # by start, as all events are
            values[mask] for values in (events.track, events.start_ns, events.end_ns)
        )
        self.reach = np.maximum.accumulate(self.end)

    def within(self, low: int, high: int) -> tuple[NDArray[Any], I64Array, I64Array]:
        """Return track, begin and end of the parts that lie in a range of time."""
        first = int(np.searchsorted(self.reach, low, side="right"))
        some = slice(first, int(np.searchsorted(self.start, high, side="left")))
        return self.track[some], *clip(self.start[some], self.end[some], (low, high))


def _asked(trace: Trace, steps: NDArray[Any]) -> tuple[list[int], list[int]]:
    """Return per step how much work it queued: operators, and their time in ns."""
    events = trace.events
    work = np.flatnonzero(events.is_category(*_WORK) & (events.step >= 0))
    place = np.searchsorted(steps, events.step[work])
    total = np.zeros(len(steps), dtype=np.int64)
    np.add.at(total, place, events.dur_ns[work])
    return np.bincount(place, minlength=len(steps)).tolist(), total.tolist()


def _rows(trace: Trace, steps: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the events of each step, in order of time."""
    step = trace.events.step
    order = np.argsort(step, kind="stable")
    first = np.searchsorted(step[order], steps, side="left")
    return np.split(order[first[0] :], first[1:] - first[0])


def _apart(
    begin: NDArray[Any], end: NDArray[Any], track: NDArray[Any]
) -> list[tuple[int, int, int]]:
    """Return ranges without what an earlier one has covered: begin, end, track."""
    apart = []
    reached: int | None = None
    for low, high, on in sorted(zip(begin.tolist(), end.tolist(), track.tolist(), strict=True)):
        start = low if reached is None else max(low, reached)
        if high > start or reached is None:
            apart.append((start, max(high, start), on))
        reached = high if reached is None else max(high, reached)
    return apart


def _notes(trace: Trace, wall: NDArray[Any], sync: BoolArray) -> tuple[str, ...]:
    notes = []
    if len(wall) > 1:
        shortest, longest = int(wall.min()), int(wall.max())
        median = int(np.sort(wall)[len(wall) // 2])
        apart = f", {longest / shortest:.2f} times the shortest" if shortest else ""
        notes.append(
            f"Of {len(wall):,} steps the shortest took {shortest:,} ns, the middle one "
            f"{median:,} ns, the longest {longest:,} ns{apart}."
        )
    if trace.meta.config.get("operators", True) is False:
        notes.append("Operators were not recorded: their number and the busy times are 0.")
    if not sync.any() and not records_waits(trace):
        notes.append("This trace does not say when the host waited: host_wait_ns is 0.")
    return tuple(notes)

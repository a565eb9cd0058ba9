"""Flows of a Chrome trace: the slices that their points bind, and the steps between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.io.chrome.checked import Checked, Thread
from mxprof_nb.trace import TraceBuilder, nesting, schema

__all__ = ["FLOWS", "add_flows", "enclosing"]

#: Why one event precedes another, by the name or category of the flow.
FLOWS: dict[str, str] = {kind: kind for kind in schema.FLOW_KINDS} | {
    "ac2g": "launch",
    "fwdbwd": "program",
}

#: What the events of one flow have in common: category, name, id.
_FlowKey: TypeAlias = tuple[str, str, int | str | None]


def add_flows(
    builder: TraceBuilder,
    checked: Checked,
    slices: Sequence[int],
    track: NDArray[Any],
    threads: Mapping[Thread, int],
) -> None:
    """Add every step of every flow; note those that lead nowhere or come from nowhere.

    Parameters
    ----------
    builder : TraceBuilder
        Holds the slices as its first rows.
    checked : Checked
    slices : sequence of int, length n
        The events that became rows, in that order.
    track : ndarray of int, shape (n,)
        Their tracks.
    threads : Mapping
        Tracks by ids of process and thread.
    """
    points = checked.flow_points()
    if not points:
        return
    bound = dict(zip(points, _bound(checked, points, slices, track, threads), strict=True))
    opened: dict[_FlowKey, int] = {}
    loose = orphans = 0
    for kind, before, after in _steps(checked, points, opened):
        if before is None:
            orphans += 1
            continue
        source, target = bound[before], bound[after]
        if source < 0 or target < 0:
            loose += 1
        else:
            builder.flow(source, target, kind)
    if loose:
        told = "1 flow begins or ends" if loose == 1 else f"{loose:,} flows begin or end"
        builder.note("loose_flow", loose, f"{told} outside of all slices; left out.")
    if orphans:
        told = "1 step or end of a flow" if orphans == 1 else f"{orphans:,} steps or ends of flows"
        have = "has" if orphans == 1 else "have"
        builder.note("orphan_flow", orphans, f"{told} {have} no begin; left out.")
    if opened:
        told = "1 flow leads" if len(opened) == 1 else f"{len(opened):,} flows lead"
        builder.note("open_flow", len(opened), f"{told} nowhere; left out.")


def _bound(
    checked: Checked,
    points: Sequence[int],
    slices: Sequence[int],
    track: NDArray[Any],
    threads: Mapping[Thread, int],
) -> list[int]:
    """Return the row each point of a flow belongs to, -1 for none."""
    events, own = checked.events, checked.file.own
    if own is not None and own.get("events") == len(slices):  # nobody changed what we wrote
        args = [events[row].args for row in points]
        told = [max(one.source, one.target, one.event) if one else -1 for one in args]
        return [row if row < len(slices) else -1 for row in told]
    spans = [place for place, row in enumerate(slices) if events[row].ph in "XB"]
    rows = [slices[place] for place in spans]
    start = checked.start[rows]
    found = enclosing(
        track[spans],
        start,
        start + checked.lengths(rows),
        np.array([threads.get(checked.thread(row), -1) for row in points]),
        checked.start[points],
        following=np.array([events[row].ph == "f" and events[row].bp != "e" for row in points]),
    )
    return [spans[place] if place >= 0 else -1 for place in found.tolist()]


def _steps(
    checked: Checked, points: Sequence[int], opened: dict[_FlowKey, int]
) -> Iterator[tuple[str, int | None, int]]:
    """Yield kind, and the two points, of every step of every flow; leave the unfinished.

    The first point is None where the flow never began.
    """
    if checked.file.own is None:  # ours stand side by side, and some lead back in time
        order = np.argsort(checked.start[points], kind="stable")
        points = [points[place] for place in order]
    for row in points:
        event = checked.events[row]
        key = (event.cat, event.name, event.id)
        if event.ph != "s":
            kind = FLOWS.get(event.name) or FLOWS.get(event.cat) or "async"
            yield kind, opened.get(key), row
            if key not in opened:
                continue
        if event.ph == "f":
            del opened[key]
        else:
            opened[key] = row


def enclosing(
    track: NDArray[Any],
    start: I64Array,
    end: I64Array,
    point_track: NDArray[Any],
    point_ns: I64Array,
    *,
    following: NDArray[np.bool_],
) -> I64Array:
    """Find the slice that each point of a flow belongs to.

    Parameters
    ----------
    track, start, end : ndarray of int, shape (n,)
        The slices, in any order.
    point_track, point_ns : ndarray of int, shape (m,)
        The points.
    following : ndarray of bool, shape (m,)
        Where true, the next slice that begins on the track at or after the point is meant; else
        the innermost that contains it. An end belongs to its slice unless another begins there.

    Returns
    -------
    ndarray of int64, shape (m,)
        Position of the slice, -1 for none.
    """
    order = nesting.sort_rows(track, start, end)
    first = np.searchsorted(track[order], point_track, side="left")
    stop = np.searchsorted(track[order], point_track, side="right")
    found = np.full(len(point_ns), -1, dtype=np.int64)
    begins, ends = start[order], end[order]
    parent: list[NDArray[Any]] = []  # found when a point asks for it: most lie in the last slice

    def parents() -> NDArray[Any]:
        if not parent:
            parent.append(nesting.nest(track[order], begins, ends)[0])
        return parent[0]

    by_track = np.argsort(point_track, kind="stable")
    borders = np.flatnonzero(np.diff(point_track[by_track])) + 1
    for points in np.split(by_track, borders) if len(by_track) else ():
        low, high = int(first[points[0]]), int(stop[points[0]])
        if low == high:
            continue
        later = points[following[points]]
        row = low + np.searchsorted(begins[low:high], point_ns[later], side="left")
        found[later] = np.where(row < high, order[np.minimum(row, high - 1)], -1)
        inside = points[~following[points]]
        row = low + np.searchsorted(begins[low:high], point_ns[inside], side="right") - 1
        row = np.where(row >= low, row, -1)
        row = _climbed(row, point_ns[inside], begins[:high], ends, low, parents)
        found[inside] = np.where(row >= 0, order[row], -1)
    return found


#: So many slices around a point are tried at once; what is left is swept in order of time.
_STEPS = 32


def _climbed(
    row: I64Array,
    time: I64Array,
    begins: I64Array,
    ends: I64Array,
    low: int,
    parents: Callable[[], NDArray[Any]],
) -> I64Array:
    """Return the innermost slices, from the given ones outwards, that have not ended yet."""
    for _ in range(_STEPS):
        over = np.flatnonzero((row >= 0) & (ends[row] < time))
        if not len(over):
            return row
        row[over] = np.where(row[over] > low, row[over] - 1, -1)
    parent = parents()
    for _ in range(_STEPS):
        over = np.flatnonzero((row >= 0) & (ends[row] < time))
        if not len(over):
            return row
        row[over] = parent[row[over]]
    over = np.flatnonzero((row >= 0) & (ends[row] < time))
    over = over[np.argsort(time[over], kind="stable")]
    # All from one track: what is open is a stack, entered in order of time.
    opened: list[int] = []
    place = int(row[over].min()) if len(over) else 0
    while place > 0 and parent[place] >= 0:
        place = int(parent[place])
    last = len(begins)
    for point, at in zip(over.tolist(), time[over].tolist(), strict=True):
        while place < last and begins[place] <= at:
            opened.append(place)
            place += 1
        while opened and ends[opened[-1]] < at:
            opened.pop()
        row[point] = opened[-1] if opened else -1
    return row

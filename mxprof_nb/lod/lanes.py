"""`LaneTable`: the rows of a timeline from top to bottom, and the lane of every event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, I32Array, I64Array
from mxprof_nb.trace import Trace
from mxprof_nb.trace.nesting import nest, sort_by_track
from mxprof_nb.trace.tables import EventTable, TrackTable

__all__ = ["LaneTable", "lay_lanes"]

#: Up to so many lanes are sorted by counting, in a tenth of the time.
FEW_LANES = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class LaneTable:
    """The lanes of a trace: (track, sub-lane) pairs that hold events, from top to bottom.

    Attributes
    ----------
    track : ndarray of int32, shape (lanes,)
        Row of the tracks table.
    sub_lane : ndarray of int32, shape (lanes,)
        Sub-row within the track, from 0; nested and overlapping events go deeper.
    role : ndarray of int8, shape (lanes,)
        Role of the track, as in the tracks table.
    """

    track: I32Array
    sub_lane: I32Array
    role: I32Array

    def __len__(self) -> int:
        return len(self.track)


def lay_lanes(trace: Trace) -> tuple[LaneTable, NDArray[np.intp], I64Array]:
    """Order the lanes of a trace and the events by lane and time.

    Marks and lines of a cell come first, then hosts, workers, copies, streams and data loading;
    within a role the tracks of a device stand together and otherwise keep their own order; within
    a track sub-lanes follow one another.

    Returns
    -------
    lanes : LaneTable
        Only lanes that hold events.
    order : ndarray of int, shape (n,)
        Rows of the events by lane, then by time; no two events of one lane overlap.
    first : ndarray of int64, shape (lanes + 1,)
        Where each lane begins in ``order``.

    Notes
    -----
    The sub-lane of an event is the number of events around it. Where that leaves two on one
    another, which nesting events never do, those that hang together are laid out one by one.
    """
    events = trace.events
    sub_lane = _depth(events.parent)
    lanes, order, first = _sort(trace, sub_lane)
    overlapping = _overlapping(events, order, first)
    if overlapping.any():
        _lay_apart(events, overlapping, sub_lane)
        lanes, order, first = _sort(trace, sub_lane)
    return lanes, order, first


def _depth(parent: I32Array) -> I32Array:
    """Return how many events lie around each one, by doubling the steps outwards."""
    depth = (parent >= 0).astype(np.int32)
    rows = np.flatnonzero(depth)
    outer = parent[rows]
    reached = parent.copy() if len(rows) else parent
    while len(rows):
        # What lies `depth` steps out has its own steps out: both together are twice as many.
        depth[rows] += depth[outer]
        outer = reached[outer]
        reached[rows] = outer
        further = outer >= 0
        rows, outer = rows[further], outer[further]
    return depth


def _sort(trace: Trace, sub_lane: I32Array) -> tuple[LaneTable, NDArray[np.intp], I64Array]:
    tracks, track = trace.tracks, trace.events.track
    position = np.empty(len(tracks), dtype=np.int64)
    position[np.lexsort((tracks.order, _device(tracks), tracks.role))] = np.arange(len(tracks))
    depth = int(sub_lane.max(initial=0)) + 1
    key = (position * depth)[track] + sub_lane
    # A table of used keys is far cheaper than np.unique, which hashes or sorts all rows.
    used = np.bincount(key, minlength=len(tracks) * depth)
    kept = np.flatnonzero(used)
    few = len(kept) <= FEW_LANES
    number = np.cumsum(used > 0) - 1
    order = np.argsort(number.astype(np.uint16 if few else np.int64)[key], kind="stable")
    of_lane = np.argsort(position)[kept // depth].astype(np.int32)
    lanes = LaneTable(
        of_lane, (kept % depth).astype(np.int32), tracks.role[of_lane].astype(np.int32)
    )
    return lanes, order, np.concatenate(([0], np.cumsum(used[kept])))


def _device(tracks: TrackTable) -> I64Array:
    """Return a number per track, the same for those of one device, in the order of the first."""
    first = np.full(int(tracks.device.max(initial=-1)) + 2, np.iinfo(np.int64).max)
    np.minimum.at(first, tracks.device, tracks.order)
    alike: I64Array = first[tracks.device]
    # The order of two devices may be the same; they still stand apart.
    return np.where(tracks.device >= 0, alike * len(first) + tracks.device, 0)


def _overlapping(events: EventTable, order: NDArray[np.intp], first: I64Array) -> BoolArray:
    """Return a mask, shape (n,), of events that lie on another one of their lane."""
    mask = np.zeros(len(order), dtype=bool)
    start = events.start_ns[order]
    late = start[1:] < start[:-1] + events.dur_ns[order[:-1]]
    late[first[1:-1] - 1] = False
    found = np.flatnonzero(late)
    mask[order[found]] = mask[order[found + 1]] = True
    return mask


def _lay_apart(events: EventTable, overlapping: BoolArray, sub_lane: I32Array) -> None:
    """Lay the events that hang together with overlapping ones out anew, in ``sub_lane``."""
    tangled = np.zeros(int(events.track.max()) + 1, dtype=bool)
    tangled[events.track[overlapping]] = True
    rows = np.flatnonzero(tangled[events.track])
    rows = rows[sort_by_track(events.track[rows])]
    track, start, end = events.track[rows], events.start_ns[rows], events.end_ns[rows]
    knot = _knots(track, start, end)
    bad = np.zeros(int(knot[-1]) + 1, dtype=bool)
    bad[knot[overlapping[rows]]] = True
    mine: NDArray[Any] = bad[knot]
    sub_lane[rows[mine]] = nest(track[mine], start[mine], end[mine])[1]


def _knots(track: I32Array, start: I64Array, end: I64Array) -> I64Array:
    """Return the number of the stretch without a pause that each event lies in, ascending."""
    other = np.diff(track, prepend=track[0]) != 0
    number, low = np.cumsum(other), int(start.min())
    span = int(end.max()) - low + 1
    if span * (int(number[-1]) + 1) >= 1 << 62:
        return number  # too long an axis: a whole track counts as one stretch
    base = number * span - low
    reach = np.maximum.accumulate(end + base)
    other[1:] |= (start + base)[1:] >= reach[:-1]
    return np.cumsum(other)

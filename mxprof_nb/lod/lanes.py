"""`LaneTable`: the rows of a timeline from top to bottom, and the lane of every event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb._typing import I32Array, I64Array
from mxprof_nb.trace import Trace

__all__ = ["LaneTable", "lay_lanes"]


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


def lay_lanes(trace: Trace) -> tuple[LaneTable, I64Array]:
    """Order the lanes of a trace and say on which one each event lies.

    Marks and lines of a cell come first, then hosts, workers, copies, streams and data loading;
    within a role tracks keep their own order, within a track sub-lanes follow one another.

    Returns
    -------
    lanes : LaneTable
        Only lanes that hold events.
    lane : ndarray of int64, shape (n,)
        Lane of each event; no two events of one lane overlap.
    """
    tracks, events = trace.tracks, trace.events
    position = np.empty(len(tracks), dtype=np.int64)
    position[np.lexsort((np.arange(len(tracks)), tracks.order, tracks.role))] = np.arange(
        len(tracks)
    )
    depth = int(trace.lane.max()) + 1 if len(events) else 1
    key = position[events.track] * depth + trace.lane
    # A table of used keys is far cheaper than np.unique, which hashes or sorts all rows.
    used = np.zeros(len(tracks) * depth, dtype=bool)
    used[key] = True
    number = np.cumsum(used) - 1
    kept = np.flatnonzero(used)
    by_position = np.argsort(position)
    track = by_position[kept // depth].astype(np.int32)
    lanes = LaneTable(track, (kept % depth).astype(np.int32), tracks.role[track].astype(np.int32))
    return lanes, number[key]

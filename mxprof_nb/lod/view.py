"""`View`: which marks stand for the events of a window when not all of them fit the screen.

Three answers, the first that keeps to the cap on marks:

- every event;
- runs: neighbours of a lane share a mark unless the boundary between them is as strong as a pixel
  (see `boundaries`), so every event of a pixel or more is single, every gap of a pixel or more
  is blank, and the marks cover exactly the pixels that drawing every event would cover;
- two layers: a raster that holds count and busy time of every cell, and above it the longest
  events. Marks alone cannot be both few and true to the pixel where there is this much.

Cost: O(lanes x log n + marks x log n + cells x log n), whatever the window holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, F64Array, I8Array, I32Array, I64Array
from mxprof_nb.lod.raster import Raster, lay_raster
from mxprof_nb.lod.segments import distinct, ranges

if TYPE_CHECKING:
    from mxprof_nb.lod.index import TimelineIndex
    from mxprof_nb.lod.intervals import Intervals

__all__ = ["SAMPLES", "View", "choose_marks"]

#: Runs are also cut on a grid no finer than this, so that a dense stretch shows its profile.
GRID_PX = 8
#: The event that a run is named after is the best of so many samples.
SAMPLES = 8
#: Samples lie in equal parts, but not at equal distances: programs repeat themselves.
GOLDEN_RATIO = 0.618034


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Marks of one window, one element per mark in every array, and perhaps a raster below.

    Attributes
    ----------
    window_ns : tuple of int
        The window that was asked for.
    lane : ndarray of int64
        Lane of the mark.
    start_ns, end_ns : ndarray of int64
        Begin of the first event and end of the last, not clipped to the window.
    first, count : ndarray of int64
        Its events are ``count`` positions of the index from ``first`` on.
    busy_ns : ndarray of int64
        Time within the window that its events cover.
    row : ndarray of int32
        Row of the event. Of several: of one whose category, and among its like whose name, covers
        the most time, as far as up to `SAMPLES` of them tell, taken from equal parts of the busy
        time; `TimelineIndex.composition` looks at all.
    category : ndarray of int8
        Category of that event.
    resolution_ns : int
        Every event at least this long is a mark of its own; 0 when all are.
    raster : Raster
        All events that are no marks; without rows when there are none.
    """

    window_ns: tuple[int, int]
    lane: I64Array
    start_ns: I64Array
    end_ns: I64Array
    first: I64Array
    count: I64Array
    busy_ns: I64Array
    row: I32Array
    category: I8Array
    resolution_ns: int
    raster: Raster

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def mode(self) -> Literal["rows", "runs", "layers"]:
        """Which of the three answers this is."""
        if len(self.raster):
            return "layers"
        return "runs" if self.resolution_ns else "rows"

    @property
    def single(self) -> BoolArray:
        """Which marks are one event, shape (marks,)."""
        alone: BoolArray = self.count == 1
        return alone

    @property
    def sampled(self) -> BoolArray:
        """Which marks are named after a sample of their events, shape (marks,)."""
        guessed: BoolArray = self.count > SAMPLES
        return guessed

    @property
    def complete(self) -> bool:
        """Whether every event in the window is a mark of its own."""
        return self.resolution_ns == 0

    def mark_of(self, positions: NDArray[np.integer]) -> NDArray[np.intp]:
        """Return the mark that holds each position of the index, -1 for none."""
        if not len(self):
            return np.full(len(positions), -1, dtype=np.intp)
        mark = np.maximum(np.searchsorted(self.first, positions, side="right") - 1, 0)
        inside = (positions >= self.first[mark]) & (positions < (self.first + self.count)[mark])
        return np.where(inside, mark, -1)


def choose_marks(
    index: TimelineIndex,
    window_ns: tuple[int, int],
    lanes: I64Array,
    *,
    width_px: int,
    max_marks: int,
    max_cells: int,
) -> View:
    """Answer a view of ``lanes`` (ascending); see `TimelineIndex.view`."""
    every_lane = len(lanes) == len(index.lanes)
    first, stop = index.window(*window_ns, lanes)
    filled = stop > first
    lanes, first, stop = lanes[filled], first[filled], stop[filled]
    count = stop - first
    if int(count.sum()) <= max_marks:
        heads = ranges(first, stop)
        return _marks(index, window_ns, np.repeat(lanes, count), heads, heads + 1, 0)
    pixel = -(-(window_ns[1] - window_ns[0]) // width_px)
    cuts = index.boundaries.cuts(first, stop, pixel, max_marks - len(lanes))
    if cuts is not None:
        heads = np.sort(np.concatenate((first, cuts)))
        heads = _with_grid(index, window_ns, heads, stop, max_marks, GRID_PX * pixel)
        ends = _ends(heads, stop)
        lane = lanes[np.searchsorted(first, heads, side="right") - 1]
        return _marks(index, window_ns, lane, heads, ends, pixel)
    chosen, resolution = index.boundaries.longest(first, stop, pixel, max_marks)
    raster = lay_raster(
        index,
        window_ns,
        lanes,
        first,
        chosen,
        all_lanes=every_lane,
        width_px=width_px,
        max_cells=max_cells,
    )
    lane = lanes[np.searchsorted(first, chosen, side="right") - 1]
    return _marks(index, window_ns, lane, chosen, chosen + 1, resolution, raster)


def _ends(heads: I64Array, stop: I64Array) -> I64Array:
    """Return where the runs end that begin at ``heads`` and fill ranges that end at ``stop``."""
    ends = np.append(heads[1:], stop[-1])
    limit: I64Array = np.minimum(ends, stop[np.searchsorted(stop, heads, side="right")])
    return limit


def _with_grid(
    index: TimelineIndex,
    window_ns: tuple[int, int],
    heads: I64Array,
    stop: I64Array,
    max_marks: int,
    finest: int,
) -> I64Array:
    """Cut long runs at multiples of a power of two as well, as far as the cap allows.

    Multiples of the absolute time and powers of two keep the cuts in place while panning.
    """
    rows = index.intervals
    ends = _ends(heads, stop)
    lane = rows.lane_of(heads)
    start, end = rows.times(heads, lane)[0], rows.times(ends - 1, lane)[1]
    start = np.maximum(start, window_ns[0] - index.begin_ns)
    end = np.minimum(end, window_ns[1] - index.begin_ns)
    wide = (ends - heads > 1) & (end - start >= 2 * finest)
    room = max_marks - len(heads) - int(np.count_nonzero(wide))
    if not wide.any() or room <= 0:
        return heads
    start, end, lane = start[wide], end[wide], lane[wide]
    shift = (max(finest, -(-int((end - start).sum()) // room)) - 1).bit_length()
    # A run has at most its length / grid + 1 multiples within.
    low, high = (start >> shift) + 1, -(-end >> shift)
    high = np.maximum(low, high)
    lines = ranges(low, high) << shift
    cuts = rows.started(np.repeat(lane, high - low), lines)
    inside = (cuts > np.repeat(heads[wide], high - low)) & (
        cuts < np.repeat(ends[wide], high - low)
    )
    return np.sort(np.concatenate((heads, distinct(cuts[inside]))))


def _marks(
    index: TimelineIndex,
    window_ns: tuple[int, int],
    lane: I64Array,
    first: I64Array,
    stop: I64Array,
    resolution: int,
    raster: Raster | None = None,
) -> View:
    rows, (begin, until) = index.intervals, window_ns
    start, first_end = (time + index.begin_ns for time in rows.times(first, lane))
    last_start, end = (time + index.begin_ns for time in rows.times(stop - 1, lane))
    # Only the first and the last event of a range can reach out of the window.
    outside = np.clip(begin - start, 0, first_end - start) + np.clip(
        end - until, 0, end - last_start
    )
    row = index.order[_typical(index, first, stop)]
    return View(
        window_ns=window_ns,
        lane=lane,
        start_ns=start,
        end_ns=end,
        first=first,
        count=stop - first,
        busy_ns=rows.busy[stop] - rows.busy[first] - outside,
        row=row,
        category=index.category[row],
        resolution_ns=resolution,
        raster=Raster.none() if raster is None else raster,
    )


def _typical(index: TimelineIndex, first: I64Array, stop: I64Array) -> I64Array:
    """Return the position, per range, of an event of what covers the most time; see `View.row`."""
    typical = first.copy()
    many = np.flatnonzero(stop - first > 1)
    if not len(many):
        return typical
    positions, weight = _samples(index.intervals, first[many], stop[many])
    rows = index.order[positions]
    alike = _alike(index.category[rows])
    time = (alike * weight[:, np.newaxis, :]).sum(axis=2)
    first_of = np.where(time >= time.max(axis=1, keepdims=True), 1.0, 0.0)
    same = alike & _alike(index.name[rows])
    best = ((same * weight[:, np.newaxis, :]).sum(axis=2) * first_of).argmax(axis=1)
    typical[many] = positions[np.arange(len(many)), best]
    return typical


def _alike(codes: NDArray[np.integer]) -> BoolArray:
    """Return which samples of a range have the same code, (ranges, samples, samples)."""
    same: BoolArray = codes[:, :, np.newaxis] == codes[:, np.newaxis, :]
    return same


def _samples(rows: Intervals, first: I64Array, stop: I64Array) -> tuple[I64Array, F64Array]:
    """Return `SAMPLES` positions of each range, and what each one weighs, (ranges, samples).

    Up to as many events all count, by their duration. Of more, one from each of as many equal
    parts of the busy time, and all alike; of instants, one from each part of their number.
    """
    step = np.arange(SAMPLES)
    positions = np.minimum(first[:, np.newaxis] + step, stop[:, np.newaxis] - 1)
    # The little more lets instants count among themselves.
    weight: F64Array = np.add(rows.duration(positions), 2.0**-10, dtype=np.float64)
    weight[step >= (stop - first)[:, np.newaxis]] = 0.0
    large = np.flatnonzero(stop - first > SAMPLES)
    if len(large):
        a, b = first[large][:, np.newaxis], stop[large][:, np.newaxis]
        busy = rows.busy[b] - rows.busy[a]
        part = (step + (step * GOLDEN_RATIO + 0.5) % 1) / SAMPLES
        moments = rows.busy[a] + (part * busy).astype(np.int64)
        running = np.searchsorted(rows.busy, moments.ravel(), side="right").reshape(moments.shape)
        even = a + (part * (b - a)).astype(np.int64)
        positions[large] = np.where(busy > 0, np.clip(running - 1, a, b - 1), even)
        weight[large] = 1.0
    return positions, weight

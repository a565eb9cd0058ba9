"""`View`: which marks stand for the events of a window when not all of them fit the screen.

One number per boundary between neighbours of a lane decides: its *strength*, the largest of the
gap and the durations left and right of it. Cutting at the strongest boundaries keeps long events
single and wide gaps blank, and what lies between two cuts is one run of neighbours. The number of
marks is the number of lanes plus the number of cuts, so the cap is a top-k and always holds.

Cost: O(events in the window). A later index finds the strong boundaries without looking at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I8Array, I32Array, I64Array
from mxprof_nb.lod.segments import extreme, ranges

if TYPE_CHECKING:
    from mxprof_nb.lod.index import TimelineIndex

__all__ = ["View", "choose_marks"]

#: Boundaries of equal strength are chosen by this hash of their position: spread evenly, and the
#: same ones again after panning, so that the picture does not flicker.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
#: Runs are also cut on a grid no finer than this, so that a dense stretch shows its profile.
GRID_PX = 8


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Marks of one window; one element per mark in every array.

    Attributes
    ----------
    window_ns : tuple of int
        The window that was asked for.
    lane, last_lane : ndarray of int64
        Lane of the mark. They differ only where there are more lanes than marks, and a mark
        stands for neighbouring lanes.
    start_ns, end_ns : ndarray of int64
        Begin of the first event and end of the last, not clipped to the window.
    first, count : ndarray of int64
        Its events are ``count`` positions of the index from ``first`` on; ``first`` is -1 where
        the mark stands for several lanes.
    busy_ns : ndarray of int64
        Time within the window that its events cover.
    row : ndarray of int32
        Row of the event, of the longest one where there are several.
    category : ndarray of int8
        Category of that event.
    resolution_ns : int
        Every event at least this long is a mark of its own; 0 when all are.
    """

    window_ns: tuple[int, int]
    lane: I64Array
    last_lane: I64Array
    start_ns: I64Array
    end_ns: I64Array
    first: I64Array
    count: I64Array
    busy_ns: I64Array
    row: I32Array
    category: I8Array
    resolution_ns: int

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def single(self) -> NDArray[np.bool_]:
        """Which marks are one event, shape (marks,)."""
        alone: NDArray[np.bool_] = self.count == 1
        return alone

    @property
    def complete(self) -> bool:
        """Whether every event in the window is a mark of its own."""
        return self.resolution_ns == 0


def choose_marks(
    index: TimelineIndex,
    window_ns: tuple[int, int],
    lanes: I64Array,
    first: I64Array,
    stop: I64Array,
    *,
    width_px: int,
    max_marks: int,
) -> View:
    """Choose the marks for the given ranges of positions, one non-empty range per lane."""
    count = stop - first
    if int(count.sum()) <= max_marks:
        heads = ranges(first, stop)
        return _marks(index, window_ns, np.repeat(lanes, count), heads, heads + 1, heads, 0)
    positions = ranges(first, stop)
    lane = np.repeat(lanes, count)
    start, end = index.times(positions, lane)
    duration = end - start
    lane_heads = np.cumsum(count) - count
    if len(lanes) > max_marks:
        longest = positions[extreme(duration, lane_heads, np.maximum)]
        each = _marks(index, window_ns, lanes, first, stop, longest, int(duration.max()) + 1)
        return _bands(each, max_marks, index, longest)

    pixel = -(-(window_ns[1] - window_ns[0]) // width_px)
    strength = np.zeros(len(positions), dtype=np.int64)
    strength[1:] = start[1:] - end[:-1]
    np.maximum(strength[1:], duration[1:], out=strength[1:])
    np.maximum(strength[1:], duration[:-1], out=strength[1:])
    strength[lane_heads] = 0  # between lanes there is nothing to cut: they are apart already
    room = max_marks - len(lanes)
    chosen, resolution = _strongest(strength, positions, pixel, room)
    cut = np.zeros(len(positions), dtype=bool)
    cut[lane_heads] = True
    cut[chosen] = True
    _add_grid(cut, start, window_ns, len(lanes), room - len(chosen), GRID_PX * pixel)
    heads = np.flatnonzero(cut)
    longest = positions[extreme(duration, heads, np.maximum)]
    sizes = np.diff(heads, append=len(positions))
    return _marks(
        index,
        window_ns,
        lane[heads],
        positions[heads],
        positions[heads] + sizes,
        longest,
        resolution,
    )


def _strongest(
    strength: I64Array, positions: I64Array, pixel: int, room: int
) -> tuple[NDArray[np.intp], int]:
    """Return the boundaries to cut, ``room`` at most, and the resolution that results."""
    candidates = np.flatnonzero(strength >= max(pixel, 1))
    if len(candidates) <= room:
        return candidates, max(pixel, 1)
    score = strength[candidates].astype(np.float64)
    spread = (positions[candidates].astype(np.uint64) * GOLDEN) >> np.uint64(11)
    score += spread.astype(np.float64) * 2.0**-53
    best = np.argpartition(-score, room)
    chosen, rejected = candidates[best[:room]], candidates[best[room:]]
    return chosen, int(strength[rejected].max()) + 1


def _add_grid(
    cut: NDArray[np.bool_],
    start: I64Array,
    window_ns: tuple[int, int],
    lanes: int,
    spare: int,
    finest: int,
) -> None:
    """Cut long runs at multiples of a power of two, as far as ``spare`` cuts allow.

    Multiples of the absolute time and powers of two keep the cuts in place while panning.
    """
    room = spare - 2 * lanes  # a lane has at most window / grid + 2 crossings
    if room <= 0:
        return
    needed = max(finest, -(-lanes * (window_ns[1] - window_ns[0]) // room), 1)
    shift = (needed - 1).bit_length()
    cell = start >> shift
    cut[1:] |= cell[1:] != cell[:-1]


def _marks(
    index: TimelineIndex,
    window_ns: tuple[int, int],
    lane: I64Array,
    first: I64Array,
    stop: I64Array,
    longest: NDArray[Any],
    resolution: int,
) -> View:
    start, first_end = index.times(first, lane)
    last_start, end = index.times(stop - 1, lane)
    begin, until = window_ns
    # Only the first and the last event of a range can reach out of the window.
    outside = np.clip(begin - start, 0, first_end - start) + np.clip(
        end - until, 0, end - last_start
    )
    row = index.order[longest]
    return View(
        window_ns=window_ns,
        lane=lane,
        last_lane=lane,
        start_ns=start,
        end_ns=end,
        first=first,
        count=stop - first,
        busy_ns=index.busy_ns(first, stop) - outside,
        row=row,
        category=index.category[row],
        resolution_ns=resolution,
    )


def _bands(each: View, max_marks: int, index: TimelineIndex, longest: NDArray[Any]) -> View:
    """Join neighbouring lanes, one mark each, until ``max_marks`` are left."""
    lanes = len(each)
    heads = np.searchsorted(np.arange(lanes) * max_marks // lanes, np.arange(max_marks))
    start, end = index.times(longest, each.lane)
    best = extreme(end - start, heads, np.maximum)
    tails = np.append(heads[1:], lanes) - 1
    return View(
        window_ns=each.window_ns,
        lane=each.lane[heads],
        last_lane=each.lane[tails],
        start_ns=np.minimum.reduceat(each.start_ns, heads),
        end_ns=np.maximum.reduceat(each.end_ns, heads),
        first=np.where(heads == tails, each.first[heads], -1),
        count=np.add.reduceat(each.count, heads),
        busy_ns=np.add.reduceat(each.busy_ns, heads),
        row=each.row[best],
        category=each.category[best],
        resolution_ns=each.resolution_ns,
    )

"""The threads of a document that is written piece by piece, and how begins and ends nest on them.

A viewer closes with an end whatever was begun last on the same thread, and wants both in order of
time. So what overlaps without nesting, or began before something that is written already ended,
gets a further thread, called like the first.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.io.chrome_writer import own_key
from mxprof_nb.trace import Trace
from mxprof_nb.trace.nesting import nest, sort_rows

__all__ = ["Threads", "sequence"]

_NEVER = -(2**63)


class Threads:
    """Numbers of threads: one for each track, from 1, and further ones where a track needs them."""

    def __init__(self) -> None:
        self._tracks: dict[tuple[Any, ...], int] = {}
        self._names: dict[int, str] = {}
        self._lanes: dict[int, list[int]] = {}  # threads of a track, by its first
        self._news: list[list[int]] = []
        self._written: dict[tuple[int, int], int] = {}  # latest end by process and thread

    def name(self, tid: int) -> str:
        """Return what a thread is called."""
        return self._names[tid]

    def news(self) -> list[list[int]]:
        """Return the further threads since the last time, each with the first of its track."""
        news, self._news = self._news, []
        return news

    def of_tracks(self, trace: Trace) -> tuple[list[int], list[dict[str, Any]]]:
        """Return the thread of every track, and what those are that are new.

        Tracks of two partial traces are one where they say the same of themselves but for their
        place from the top.
        """
        found, new = [], []
        alike: Counter[tuple[Any, ...]] = Counter()
        for track in own_key.tracks(trace):
            said = tuple(value for name, value in track.items() if name != "order")
            key = (*said, alike[said])
            alike[said] += 1
            tid = self._tracks.get(key)
            if tid is None:
                tid = self._tracks[key] = self._new(track["name"])
                self._lanes[tid] = [tid]
                new.append({"tid": tid, **track})
            found.append(tid)
        return found, new

    def place(
        self,
        pid: I64Array,
        track: NDArray[Any],
        threads: I64Array,
        start: I64Array,
        end: I64Array,
    ) -> tuple[NDArray[np.intp], I64Array, I64Array]:
        """Find a thread for every span.

        Parameters
        ----------
        pid, track : ndarray of int, shape (n,)
            Process and track; both together are what shares threads.
        threads : ndarray of int64, shape (number of tracks,)
            Thread of each track, from `of_tracks`.
        start, end : ndarray of int64, shape (n,)

        Returns
        -------
        order : ndarray of int, shape (n,)
            Spans by thread, start, the longer first.
        tid, depth : ndarray of int64, shape (n,)
            Thread, and how many spans of that thread lie around it; both in that order.
        """
        tid = threads[track]
        many = int(threads.max(initial=0)) + 1
        group = pid * many + tid
        order = sort_rows(group, start, end)
        depth = np.zeros(len(order), dtype=np.int64)
        if not len(order):
            return order, tid, depth
        parent, lane = nest(group[order], start[order], end[order])
        depth[:] = lane
        nested = lane == np.where(parent >= 0, lane[parent] + 1, 0)
        sorted_group = group[order]
        firsts = np.flatnonzero(np.diff(sorted_group, prepend=sorted_group[0] - 1))
        stops = np.append(firsts[1:], len(order))
        moved = False
        for first, stop in zip(firsts.tolist(), stops.tolist(), strict=True):
            rows = order[first:stop]
            place = divmod(int(sorted_group[first]), many)
            if int(start[rows[0]]) < self._written.get(place, _NEVER):
                entangled = np.ones(len(rows), dtype=bool)
            else:
                entangled = _entangled(nested[first:stop], start[rows], end[rows])
            if entangled.any():
                theirs, depths = rows[entangled], depth[first:stop]
                tid[theirs], depths[entangled] = self._laid_out(place, start[theirs], end[theirs])
                moved = True
            latest = int(end[rows[~entangled]].max(initial=_NEVER))
            self._written[place] = max(latest, self._written.get(place, _NEVER))
        if moved:
            again = np.lexsort((pid[order] * (int(tid.max()) + 1) + tid[order],))
            order, depth = order[again], depth[again]
        return order, tid[order], depth

    def _laid_out(
        self, place: tuple[int, int], start: I64Array, end: I64Array
    ) -> tuple[list[int], list[int]]:
        """Return thread and depth of spans that do not all fit one thread, the first that fits."""
        pid, first = place
        lanes = self._lanes[first]
        opened: list[list[int]] = [[] for _ in lanes]  # ends of what is open on each
        since = [self._written.get((pid, tid), _NEVER) for tid in lanes]
        latest = list(since)
        tids, depths = [], []
        for begin, stop in zip(start.tolist(), end.tolist(), strict=True):
            for number, stack in enumerate(opened):
                while stack and stack[-1] <= begin:
                    stack.pop()
                if begin >= since[number] and (not stack or stack[-1] >= stop):
                    break
            else:
                number, stack = len(lanes), []
                tid = self._new(self._names[first])
                lanes.append(tid)
                self._news.append([tid, first])
                opened.append(stack)
                since.append(_NEVER)
                latest.append(_NEVER)
            tids.append(lanes[number])
            depths.append(len(stack))
            stack.append(stop)
            latest[number] = max(latest[number], stop)
        self._written.update({(pid, tid): at for tid, at in zip(lanes, latest, strict=True)})
        return tids, depths

    def _new(self, name: str) -> int:
        tid = len(self._names) + 1
        self._names[tid] = name
        return tid


def _entangled(nested: NDArray[np.bool_], start: I64Array, end: I64Array) -> NDArray[np.bool_]:
    """Return which spans of one track are in touch with some that overlap without nesting.

    Between two groups that touch there is a moment when nothing runs, so the others stay where
    they are.
    """
    if nested.all():
        return np.zeros(len(nested), dtype=bool)
    reach = np.maximum.accumulate(end)
    group = np.cumsum(np.append(True, start[1:] >= reach[:-1])) - 1
    met = np.zeros(int(group[-1]) + 1, dtype=bool)
    met[group[~nested]] = True
    touched: NDArray[np.bool_] = met[group]
    return touched


def sequence(depth: I64Array) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the order of begins and ends of nested spans.

    Parameters
    ----------
    depth : ndarray of int64, shape (n,)
        Of spans as `Threads.place` orders them.

    Returns
    -------
    span : ndarray of int, shape (2 n,)
        Which span begins or ends.
    is_end : ndarray of bool, shape (2 n,)
    """
    n = len(depth)
    rows = np.arange(n)
    # Before a begin stand the begins of all spans before it, and the ends of those not around it.
    begin = 2 * rows - depth
    inside = np.zeros(n, dtype=np.int64)
    for level in range(int(depth.max(initial=-1)) + 1):
        outer = np.flatnonzero(depth <= level)
        following = np.append(outer[1:], n)
        here = depth[outer] == level
        inside[outer[here]] = following[here] - outer[here] - 1
    span = np.empty(2 * n, dtype=np.intp)
    is_end = np.zeros(2 * n, dtype=bool)
    span[begin] = rows
    close = begin + 2 * inside + 1
    span[close] = rows
    is_end[close] = True
    return span, is_end

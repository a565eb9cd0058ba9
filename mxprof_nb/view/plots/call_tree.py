"""`flame`: the calls of the host, nested as they were made and merged by path."""

from __future__ import annotations

from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis.intervals import clip, touching
from mxprof_nb.errors import TraceError
from mxprof_nb.trace import HasTrace
from mxprof_nb.trace.nesting import self_time
from mxprof_nb.trace.schema import CATEGORIES
from mxprof_nb.view import numbers
from mxprof_nb.view.palette import TITLES, Theme, colours
from mxprof_nb.view.plots.part import Part, drawn, name_shown

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["flame"]

MAX_BOXES = 1000
LEVEL_PX = 26
#: A usual width of the whole, for choosing what is written.
BOX_PX, CHAR_PX, LEAST_CHARS = 900, 7, 3
MOST_PX = 720


@dataclass(frozen=True, slots=True, eq=False)
class _Paths:
    """Calls merged by path, parents before children; arrays of shape (paths,)."""

    parent: I64Array  # the path around it, -1 for none
    depth: I64Array
    name: I64Array  # code of the last name on it
    track: I64Array  # of the first call
    category: I64Array
    count: I64Array
    total_ns: I64Array
    self_ns: I64Array
    width_ns: I64Array  # self times of the path and of all below it, added up


def flame(
    trace: HasTrace,
    *,
    max_boxes: int = MAX_BOXES,
    begin_ns: int | None = None,
    end_ns: int | None = None,
    theme: Theme = "light",
) -> go.Figure:
    """Return a flame graph of the host: calls below what called them, merged by path.

    Parameters
    ----------
    trace : Trace or Profile
    max_boxes : int
        Most boxes for paths, at least 1, the widest ones; those left out of a box share one more
        in it, which says how many.
    begin_ns, end_ns : int, optional
        The part to look at, in ns from the origin of the trace: calls that touch it count, with
        the part of them inside. The whole run when left out.
    theme : {"light", "dark"}

    Returns
    -------
    plotly.graph_objects.Figure
        One box for all, in it one for each thread, in these one for each path of names. The width
        of a box is time: that of the boxes in it and of what the calls did themselves, which
        stays blank. A click on a box enlarges it.

    Raises
    ------
    TraceError
        ``trace`` offers none, the theme is unknown, the part has no length, or no box is allowed.

    Notes
    -----
    - Calls that overlap without nesting, as asynchronous ones may, each have their own width: the
      box around them is then wider than the time that passed, which is told beside the pointer.
    - Where a trace has no host, the events of all tracks are shown.
    - Cost: O(n log n x depth).

    References
    ----------
    B. Gregg, "The Flame Graph", Communications of the ACM 59(6), 2016.
    """
    if max_boxes < 1:
        raise TraceError(f"flame(max_boxes={max_boxes}): at least 1 box must be allowed.")
    part = Part.of("flame", trace, begin_ns, end_ns, theme)
    paths = _paths(part)
    if not paths.width_ns.sum():
        return drawn(part, "Host calls by path", [], {}, empty="No calls in this range.")
    strings, tracks = part.trace.strings, part.trace.tracks
    named = colours(theme)
    order = np.argsort(-paths.width_ns, kind="stable")  # parents first where both are as wide
    kept = np.sort(order[:max_boxes])
    place = np.full(len(paths.parent) + 1, -1)
    place[kept] = np.arange(len(kept))
    roots = np.unique(paths.track[paths.parent < 0])
    whole = int(paths.width_ns[paths.parent < 0].sum())

    ids = [f"path {path}" for path in kept.tolist()]
    above = [
        f"path {parent}" if parent >= 0 else f"thread {track}"
        for parent, track in zip(
            paths.parent[kept].tolist(), paths.track[kept].tolist(), strict=True
        )
    ]
    labels = [name_shown(strings[code]) for code in paths.name[kept].tolist()]
    values = paths.width_ns[kept].tolist()
    kinds = [CATEGORIES[code] for code in paths.category[kept].tolist()]
    fills = [named[kind] for kind in kinds]
    inks = [named[f"{kind}.text"] for kind in kinds]
    texts = [
        f"<b>{label}</b><br>{TITLES[kind]}, {numbers.count(n, 'time')}"
        f"<br>total {numbers.duration(total)} ({total:,} ns)"
        f"<br>self {numbers.duration(own)} ({own:,} ns)"
        for label, kind, n, total, own in zip(
            labels,
            kinds,
            paths.count[kept].tolist(),
            paths.total_ns[kept].tolist(),
            paths.self_ns[kept].tolist(),
            strict=True,
        )
    ]

    def add(name: str, parent: str, label: str, width: int, text: str, fill: str) -> None:
        ids.append(name)
        above.append(parent)
        labels.append(label)
        values.append(width)
        fills.append(named[fill])
        inks.append(named["text"])
        texts.append(f"<b>{label}</b><br>{text}{numbers.duration(width)} ({width:,} ns)")

    for parent, track, width, many in _left_out(paths, place):
        inside = f"path {parent}" if parent >= 0 else f"thread {track}"
        label = numbers.count(many, "narrower path")
        add(f"rest of {inside}", inside, label, width, "together ", "python")
    for track in roots.tolist():
        mine = (paths.parent < 0) & (paths.track == track)
        label = name_shown(strings[int(tracks.name[track])])
        add(f"thread {track}", "all" if len(roots) > 1 else "", label,
            int(paths.width_ns[mine].sum()), "calls ", "grid")  # fmt: skip
    if len(roots) > 1:
        add("all", "", numbers.count(len(roots), "thread"), whole, "calls ", "grid")

    # What there is room for: name and numbers, the name alone, or its begin.
    written = []
    for label, value in zip(labels, values, strict=True):
        both = f"{label}  {numbers.duration(value)}, {numbers.share(value / whole)}"
        room = int(value / whole * BOX_PX / CHAR_PX) - 1
        fits = both if len(unescape(both)) <= room else name_shown(unescape(label), room)
        written.append(fits if room >= LEAST_CHARS else "")
    data = {
        "type": "icicle",
        "ids": ids,
        "parents": above,
        "labels": labels,
        "values": values,
        "customdata": texts,
        "text": written,
        "textinfo": "text",
        "leaf": {"opacity": 1},
        "hovertemplate": "%{customdata}<extra></extra>",
        "branchvalues": "total",
        "sort": True,
        "tiling": {"orientation": "v", "pad": 1},
        "marker": {"colors": fills, "line": {"width": 0}},
        "pathbar": {"visible": True, "edgeshape": ">", "thickness": 20},
        "textfont": {"size": 12, "color": inks},
    }
    levels = int(paths.depth[kept].max()) + 2 + (len(roots) > 1)
    merged = len(paths.parent) - len(kept)
    return drawn(
        part,
        "Host calls by path",
        [data],
        {
            "height": int(min(110 + LEVEL_PX * (levels + 1), MOST_PX)),
            "margin": {"l": 20, "r": 20, "t": 70, "b": 12},
            "uniformtext": {"minsize": 10, "mode": "hide"},
        },
        said="the width of a box is time"
        + (f", {numbers.count(merged, 'narrower path')} merged" if merged else ""),
    )


def _paths(part: Part) -> _Paths:
    """Return the calls of the host within a part, merged by path."""
    events, tracks = part.trace.events, part.trace.tracks
    start, end = clip(events.start_ns, events.end_ns, part.window)
    chosen = tracks.is_role("host")[events.track]
    chosen = chosen if chosen.any() else np.ones(len(events), dtype=bool)
    chosen &= (events.kind != 1) & touching(events.start_ns, events.end_ns, part.window)
    own = part.trace.self_ns if part.window is None else self_time(events.parent, start, end)

    path = np.full(len(events) + 1, -1, dtype=np.int64)  # of each event; the last one for none
    rows = np.flatnonzero(chosen)
    levels: list[I64Array] = []  # of paths of one depth: parent, track where it has none, name
    count, waiting = 0, rows
    while len(waiting):
        around = events.parent[waiting]
        known = (around < 0) | ~chosen[around] | (path[around] >= 0)
        now, waiting = waiting[known], waiting[~known]
        parent = path[np.where(chosen[events.parent[now]], events.parent[now], -1)]
        track = np.where(parent < 0, events.track[now], -1)
        keys, found = np.unique(
            np.stack([parent, track, events.name[now]]), axis=1, return_inverse=True
        )
        path[now] = count + found.reshape(-1)  # NumPy 2.0 gave it two dimensions
        count += keys.shape[1]
        levels.append(keys)
    mine = path[rows]
    parent, _, name = np.concatenate([np.empty((3, 0), np.int64), *levels], axis=1)
    sizes = [keys.shape[1] for keys in levels]
    first = np.full(count, len(events), dtype=np.int64)
    np.minimum.at(first, mine, rows)
    total, alone = np.zeros((2, count), dtype=np.int64)
    np.add.at(total, mine, (end - start)[rows])
    np.add.at(alone, mine, own[rows])
    width = alone.copy()
    depth = np.repeat(np.arange(len(sizes)), sizes)
    for level in range(len(sizes) - 1, 0, -1):
        paths = np.flatnonzero(depth == level)
        np.add.at(width, parent[paths], width[paths])
    return _Paths(
        parent=parent,
        depth=depth,
        name=name,
        track=events.track[first].astype(np.int64),
        category=events.category[first].astype(np.int64),
        count=np.bincount(mine, minlength=count).astype(np.int64),
        total_ns=total,
        self_ns=alone,
        width_ns=width,
    )


def _left_out(paths: _Paths, place: I64Array) -> list[tuple[int, int, int, int]]:
    """Return, for each box that lost some of those in it, its path and track, and what it lost.

    Returns
    -------
    list of tuple of int
        The path, -1 for that of a thread; the track; the width of the lost boxes; their number.
    """
    lost = np.flatnonzero(place[:-1] < 0)
    lost = lost[(paths.parent[lost] < 0) | (place[paths.parent[lost]] >= 0)]
    keys, group = np.unique(
        np.stack([paths.parent[lost], np.where(paths.parent[lost] < 0, paths.track[lost], -1)]),
        axis=1,
        return_inverse=True,
    )
    width = np.zeros(keys.shape[1], dtype=np.int64)
    np.add.at(width, group.reshape(-1), paths.width_ns[lost])
    many = np.bincount(group.reshape(-1), minlength=keys.shape[1])
    found = zip(*keys.tolist(), width.tolist(), many.tolist(), strict=True)
    return [row for row in found if row[2]]

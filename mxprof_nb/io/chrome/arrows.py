"""Flows of a Chrome trace of any producer: which row leads to which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.io.chrome.columns import Columns
from mxprof_nb.io.chrome.faults import Faults
from mxprof_nb.io.chrome.flows import FLOWS, enclosing
from mxprof_nb.io.chrome.rows import Rows
from mxprof_nb.trace import TraceBuilder, schema

__all__ = ["add_arrows"]

_SPAN = schema.KINDS.index("span")


def add_arrows(
    builder: TraceBuilder,
    columns: Columns,
    rows: Rows,
    tracks: NDArray[Any],
    known: set[tuple[int, int]],
    faults: Faults,
) -> None:
    """Add every step of every flow; note those that lead nowhere or come from nowhere.

    Parameters
    ----------
    builder : TraceBuilder
        Holds the rows.
    columns : Columns
    rows : Rows
    tracks : ndarray of int
        Tracks by number of the thread.
    known : set of tuple of int
        Links from call to work that are there already.
    faults : Faults
    """
    found: dict[str, list[tuple[int, int]]] = {}
    loose = 0
    for kind, source, target in _steps(builder, columns, rows, tracks, faults):
        if source < 0 or target < 0:
            loose += 1
        elif kind != "launch" or (source, target) not in known:
            found.setdefault(kind, []).append((source, target))
    faults.add("loose_flow", count=loose)
    for kind, links in found.items():
        sources, targets = zip(*links, strict=True)
        builder.add_flows(np.array(sources), np.array(targets), kind)


def _steps(
    builder: TraceBuilder, columns: Columns, rows: Rows, tracks: NDArray[Any], faults: Faults
) -> Iterator[tuple[str, int, int]]:
    """Yield kind, and the rows at both ends, -1 for none, of every step of every flow."""
    yield from _of_points(builder, columns, rows, tracks, faults)
    yield from _of_slices(columns, rows)


def _of_points(
    builder: TraceBuilder, columns: Columns, rows: Rows, tracks: NDArray[Any], faults: Faults
) -> Iterator[tuple[str, int, int]]:
    """Yield the steps of flows whose points are events of their own.

    An id that begins anew is a new flow; one begin may have several ends.
    """
    places = columns.where("stf")
    places = places[rows.usable[places]]
    if not len(places):
        return
    # Of equal times the begin comes first, whichever thread was written first.
    is_end = columns.phase[places] != columns.where_code("s")
    places = places[np.lexsort((is_end, columns.start[places]))]
    bound = _bound(columns, rows, tracks, places)
    kinds: dict[tuple[int, int], str] = {}
    last: dict[tuple[int, int, int], int] = {}
    open_ends: set[tuple[int, int, int]] = set()
    begin, end = columns.where_code("s"), columns.where_code("f")
    orphans, first = 0, -1
    for place, phase, row, cat, name, key in zip(
        places.tolist(),
        columns.phase[places].tolist(),
        bound.tolist(),
        columns.cat[places].tolist(),
        columns.name[places].tolist(),
        columns.key[places].tolist(),
        strict=True,
    ):
        flow = (cat, name, key)
        if phase == begin:
            last[flow] = row
            open_ends.add(flow)
            continue
        if flow not in last:
            orphans, first = orphans + 1, place if first < 0 else first
            continue
        kind = kinds.get((cat, name))
        if kind is None:
            texts = builder.text_of(name), builder.text_of(cat)
            kind = kinds[cat, name] = FLOWS.get(texts[0]) or FLOWS.get(texts[1]) or "async"
        yield kind, last[flow], row
        if phase == end:
            open_ends.discard(flow)
        else:
            last[flow] = row
            open_ends.add(flow)
    if orphans:
        faults.add("orphan_flow", f"event {int(columns.row[first])}", orphans)
    faults.add("open_flow", count=len(open_ends))


def _bound(
    columns: Columns, rows: Rows, tracks: NDArray[Any], places: NDArray[Any]
) -> NDArray[Any]:
    """Return the row that each point belongs to, -1 for none."""
    spans = np.flatnonzero(rows.kind == _SPAN)
    start = rows.start[spans]
    is_end = columns.phase[places] == columns.where_code("f")
    inside = np.isin(places, np.array(sorted(columns.enclosed), dtype=np.intp))
    found = enclosing(
        tracks[columns.thread[rows.place[spans]]],
        start,
        start + rows.dur[spans],
        tracks[columns.thread[places]],
        columns.start[places],
        following=is_end & ~inside,
    )
    return np.where(found >= 0, spans[found], -1) if len(spans) else found


def _of_slices(columns: Columns, rows: Rows) -> Iterator[tuple[str, int, int]]:
    """Yield the steps of flows that slices tell themselves, in order of time."""
    last: dict[Any, int] = {}
    told = sorted(columns.bound, key=lambda one: int(columns.start[one[0]]))
    for place, which, comes_in, goes_out in told:
        row = int(np.searchsorted(rows.place, place))
        if row >= len(rows.place) or rows.place[row] != place:
            continue
        if comes_in and which in last:
            yield "async", last[which], row
        if goes_out:
            last[which] = row

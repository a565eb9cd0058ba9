"""Flows of a Chrome trace of any producer: which row leads to which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mxprof_nb.io.chrome.columns import Columns
from mxprof_nb.io.chrome.faults import Faults
from mxprof_nb.io.chrome.flows import FLOWS, enclosing
from mxprof_nb.io.chrome.rows import Rows
from mxprof_nb.trace import TraceBuilder, schema

__all__ = ["add_arrows"]

_SPAN = schema.KINDS.index("span")


_Links: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]


def add_arrows(
    builder: TraceBuilder,
    columns: Columns,
    rows: Rows,
    tracks: NDArray[Any],
    known: tuple[NDArray[Any], NDArray[Any]],
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
    known : tuple of ndarray
        Calls and work between which there are links already.
    faults : Faults
    """
    found: dict[str, list[_Links]] = {}
    loose = 0
    size = len(rows.place) + 1
    linked = known[0].astype(np.int64) * size + known[1]
    for kind, source, target in (
        *_of_points(builder, columns, rows, tracks, faults),
        *_of_slices(columns, rows),
    ):
        is_loose = (source < 0) | (target < 0)
        loose += int(is_loose.sum())
        keep = ~is_loose
        if kind == "launch":
            keep &= ~np.isin(source * size + target, linked)
        found.setdefault(kind, []).append((source[keep], target[keep]))
    faults.add("loose_flow", count=loose)
    for kind, links in found.items():
        sources, targets = (np.concatenate(ends) for ends in zip(*links, strict=True))
        if len(sources):
            builder.add_flows(sources, targets, kind)


def _of_points(
    builder: TraceBuilder, columns: Columns, rows: Rows, tracks: NDArray[Any], faults: Faults
) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield kind, and the rows at both ends, of the steps whose points are events of their own.

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
    # Flow by flow, each in order of time.
    order = np.lexsort((columns.key[places], columns.name[places], columns.cat[places]))
    name, cat, key, phase = (
        column[places[order]] for column in (columns.name, columns.cat, columns.key, columns.phase)
    )
    number = np.arange(len(order))
    is_first = (np.diff(cat) != 0) | (np.diff(name) != 0) | (np.diff(key) != 0)
    first = np.maximum.accumulate(np.where(np.append(True, is_first), number, 0))
    begins, ends = (phase == columns.where_code(letter) for letter in "sf")
    has_begun = np.maximum.accumulate(np.where(begins, number, -1)) >= first
    orphans = np.flatnonzero(~has_begun)
    if len(orphans):
        place = places[order[orphans].min()]
        faults.add("orphan_flow", f"event {int(columns.row[place])}", len(orphans))
    is_last = np.append(is_first, True)
    faults.add("open_flow", count=int((is_last & has_begun & ~ends).sum()))
    # A point leads on from the one before it in its flow that is no end.
    before = np.maximum.accumulate(np.where(ends, 0, number))
    steps = np.flatnonzero(has_begun & ~begins)
    steps = steps[np.argsort(order[steps])]
    source, target = bound[order[before[steps - 1]]], bound[order[steps]]
    kinds = ["async", *dict.fromkeys(FLOWS.values())]
    kind_of = np.zeros(builder.string_count + len(FLOWS), dtype=np.int8)
    for text, kind in FLOWS.items():
        kind_of[builder.string(text)] = kinds.index(kind)
    of_name = kind_of[name[steps]]
    of_step = np.where(of_name > 0, of_name, kind_of[cat[steps]])
    for at in dict.fromkeys(of_step.tolist()):
        of_kind = of_step == at
        yield kinds[at], source[of_kind], target[of_kind]


def _bound(
    columns: Columns, rows: Rows, tracks: NDArray[Any], places: NDArray[Any]
) -> NDArray[Any]:
    """Return the row that each point belongs to, -1 for none."""
    spans = np.flatnonzero(rows.kind == _SPAN)
    start = rows.start[spans]
    is_end = columns.phase[places] == columns.where_code("f")
    inside = np.isin(places, np.array(columns.enclosed, dtype=np.intp))
    found = enclosing(
        tracks[columns.thread[rows.place[spans]]],
        start,
        start + rows.dur[spans],
        tracks[columns.thread[places]],
        columns.start[places],
        following=is_end & ~inside,
    )
    return np.where(found >= 0, spans[found], -1) if len(spans) else found


def _of_slices(
    columns: Columns, rows: Rows
) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the steps of flows that slices tell themselves, in order of time."""
    last: dict[Any, int] = {}
    links: list[tuple[int, int]] = []
    told = sorted(columns.bound, key=lambda one: int(columns.start[one[0]]))
    for place, which, comes_in, goes_out in told:
        row = int(np.searchsorted(rows.place, place))
        if row >= len(rows.place) or rows.place[row] != place:
            continue
        if comes_in and which in last:
            links.append((last[which], row))
        if goes_out:
            last[which] = row
    if links:
        source, target = np.array(links, dtype=np.int64).T
        yield "async", source, target

"""Counters of a Chrome trace: every number of an event is a sample of a series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mxprof_nb.io.chrome.columns import Columns
from mxprof_nb.trace import TraceBuilder

__all__ = ["add_counters"]


def add_counters(
    builder: TraceBuilder,
    columns: Columns,
    usable: np.ndarray[Any, Any],
    track_of: Mapping[int, int],
) -> None:
    """Add the samples of all counter events.

    Parameters
    ----------
    builder : TraceBuilder
    columns : Columns
    usable : ndarray of bool, shape (number of events,)
    track_of : Mapping of int to int
        Track of the counters, by number of the thread.
    """
    places, series, values = columns.samples
    if not places:
        return
    place = np.array(places, dtype=np.intp)
    chosen = np.flatnonzero(usable[place])
    if not len(chosen):
        return
    place = place[chosen]
    alone = np.bincount(place)[place] == 1
    ids = columns.ids
    unit = {True: builder.string("B"), False: -1}
    known: dict[tuple[int, int, str | None], tuple[int, int]] = {}
    names, units = [], []
    for name, key, text, single in zip(
        columns.name[place].tolist(),
        columns.key[place].tolist(),
        map(series.__getitem__, chosen.tolist()),
        alone.tolist(),
        strict=True,
    ):
        # One series stands for the counter itself, whatever it is called.
        told = (name, key, None if single else text)
        found = known.get(told)
        if found is None:
            full = builder.text_of(name)
            full += f"[{ids[key]}]" if key >= 0 else ""
            full = full if single else f"{full} {text}"
            found = known[told] = (builder.string(full), unit[full.startswith("Memory: ")])
        names.append(found[0])
        units.append(found[1])
    tracks = np.full(len(columns.threads) + 1, -1, dtype=np.int32)
    for thread, track in track_of.items():
        tracks[thread] = track
    builder.add_counters(
        time_ns=columns.start[place],
        track=tracks[columns.thread[place]],
        name=names,
        value=np.array(values, dtype=np.float64)[chosen],
        unit=units,
    )

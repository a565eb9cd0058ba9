"""The lines of the program that waited: how often, how long."""

from __future__ import annotations

import numpy as np

from mxprof_nb.analysis.grouping import cut_off, grouped
from mxprof_nb.analysis.intervals import Window, clip, touching
from mxprof_nb.analysis.places import place_of, shorten, text_of
from mxprof_nb.analysis.result import Result
from mxprof_nb.analysis.sync_waits import around
from mxprof_nb.trace import HasTrace, trace_of

__all__ = ["wait_lines"]

#: Of a line's text, so that the name of the row stays readable beside its figures.
SOURCE_CHARS = 40


def wait_lines(trace: HasTrace, *, window: Window = None) -> Result:
    """Return one row per line of the program that waited, the one that waited longest first.

    Parameters
    ----------
    trace : Trace
    window : tuple of int, optional
        Begin and end in ns. Waits that touch it count, with the part of them inside.

    Returns
    -------
    Result
        ==========  =======  ============================================================
        name        str      the line: "line 7, y.asnumpy()"; where that is not known, the
                             call that waited, or the wait itself
        domain      str      the family of names the waits belong to
        count       int64    how many waits
        total_ns    int64    their durations, added up
        mean_ns     float64  total by count
        median_ns   int64    half of the durations are at most this long
        p90_ns      int64    90 % of them
        p99_ns      int64    99 % of them
        min_ns      int64    the shortest
        max_ns      int64    the longest
        share       float64  total as a part of all waiting, 0 to 1
        ==========  =======  ============================================================

    Notes
    -----
    A wait is an event of category "sync"; waits of several threads add up.
    """
    trace = trace_of(trace)
    events, strings = trace.events, trace.strings
    waits = events.is_category("sync") & (events.dur_ns > 0)
    rows = np.flatnonzero(waits & touching(events.start_ns, events.end_ns, window))
    start, end = clip(events.start_ns[rows], events.end_ns[rows], window)
    api, site = around(trace, rows)
    named = np.where(api >= 0, api, rows)

    keys, group = np.unique(
        np.stack([site, np.where(site < 0, events.name[named], -1), events.domain[rows]]),
        axis=1,
        return_inverse=True,
    )

    def label(site: int, name: int) -> str:
        if site < 0:
            return strings.text(name)
        text = shorten(text_of(trace, site), SOURCE_CHARS)
        return f"{place_of(trace, site)}, {text}" if text else place_of(trace, site)

    return grouped(
        {
            "name": [label(site, name) for site, name, _ in keys.T.tolist()],
            "domain": [strings.text(domain) for _, _, domain in keys.T.tolist()],
        },
        group.reshape(-1),  # NumPy 2.0 gave it two dimensions
        rows,
        end - start,
        notes=tuple(cut_off(events.dur_ns[rows], end - start)),
    )

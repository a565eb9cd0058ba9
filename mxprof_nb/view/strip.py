"""The whole run in a thin strip: how busy the workers were, and how much the hosts waited."""

from __future__ import annotations

import numpy as np

from mxprof_nb._typing import F64Array, I64Array
from mxprof_nb.trace.schema import ROLES
from mxprof_nb.view.scene import Stage

__all__ = ["strip"]


def strip(stage: Stage, bins: int) -> tuple[F64Array, F64Array]:
    """Return how busy the workers were over the run, and how much the hosts waited.

    Without workers it is how busy the hosts were.

    Returns
    -------
    busy : ndarray of float64, shape (bins,)
        Share, 0 to 1, of each part of the run in which the busiest of them ran something.
    waited : ndarray of float64, shape (bins,)
        Share of it in which a host waited.
    """
    edges = stage.origin_ns + np.linspace(0, stage.span_ns, bins + 1).astype(np.int64)
    width = np.maximum(np.diff(edges), 1)
    lanes, host = stage.index.lanes, ROLES.index("host")
    # Marks, lines and hosts stand above whatever works; where nothing else does, the hosts do.
    outer = lanes.sub_lane == 0
    work = np.flatnonzero(outer & (lanes.role > host))
    if not len(work):
        work = np.flatnonzero(outer & (lanes.role == host))
    busy = stage.index.busy_grid(work, edges).max(axis=0, initial=0) / width
    events = stage.trace.events
    wait = events.is_category("sync") & (stage.trace.tracks.role[events.track] == host)
    waited = _covered(events.start_ns[wait], events.end_ns[wait], edges) / width
    return busy, np.minimum(waited, 1.0)


def _covered(start: I64Array, end: I64Array, edges: I64Array) -> I64Array:
    """Return the summed time of intervals between neighbouring edges, in ns."""

    def passed(times: I64Array) -> I64Array:
        """Return, per edge, how long ago each earlier time was, added up."""
        ordered = np.sort(times)
        before = np.searchsorted(ordered, edges)
        total: I64Array = edges * before - np.concatenate(([0], np.cumsum(ordered)))[before]
        return total

    return np.diff(passed(start) - passed(end))

"""How long the repetitions of a cell took, and how far they spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb.trace import HasTrace, trace_of

__all__ = ["Spread", "spread_of_repetitions"]


@dataclass(frozen=True, slots=True)
class Spread:
    """Repetitions that ended well, and how long each took until its queued work was done.

    Attributes
    ----------
    count : int
        How many there were.
    warm_ups : int
        How many came before that count in no figure.
    median_ns, min_ns, max_ns : int
        Of the times of the ``count`` repetitions.
    """

    count: int
    warm_ups: int
    median_ns: int
    min_ns: int
    max_ns: int


def spread_of_repetitions(trace: HasTrace) -> Spread | None:
    """Return how long the repetitions of a cell took; None where it was not repeated.

    A repetition that failed or was interrupted, the last one, is not counted.
    """
    trace = trace_of(trace)
    events, strings = trace.events, trace.strings
    marks = trace.tracks.is_role("mark")[events.track]
    rows = np.flatnonzero(marks & (events.name == strings.code("repetition")))
    if trace.meta.status != "ok":
        rows = rows[:-1]
    if not len(rows):
        return None
    took = events.dur_ns[rows]
    warm_ups = int((marks & (events.name == strings.code("warm-up"))).sum())
    return Spread(
        len(rows), warm_ups, round(float(np.median(took))), int(took.min()), int(took.max())
    )

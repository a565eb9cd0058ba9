"""Where in the program an event came from, in words."""

from __future__ import annotations

from mxprof_nb.analysis.places import place_of, text_of
from mxprof_nb.trace import Trace

__all__ = ["place", "source_line"]


def place(trace: Trace, row: int) -> str:
    """Return where an event came from; empty when that is not known.

    As `mxprof_nb.analysis.places.place_of` tells its line.
    """
    return place_of(trace, int(trace.events.site[row]))


def source_line(trace: Trace, row: int) -> str:
    """Return the text of that line; empty when it is not known."""
    return text_of(trace, int(trace.events.site[row]))

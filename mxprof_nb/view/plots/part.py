"""`Part`: what a plot is of, checked; and the look that all plots share."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from mxprof_nb._typing import BoolArray, I64Array
from mxprof_nb.analysis.intervals import Window, touching
from mxprof_nb.errors import TraceError, close_match
from mxprof_nb.trace import HasTrace, Trace, trace_of
from mxprof_nb.view import numbers
from mxprof_nb.view.legible import legible
from mxprof_nb.view.palette import THEMES, Theme, paint
from mxprof_nb.view.words import shorten

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["NAME_CHARS", "WORK", "Part", "axis", "counts_axis", "drawn", "name_shown", "time_unit"]

#: What a program queues; waiting and housekeeping are not meant.
WORK = ("operator", "copy", "kernel")
NAME_CHARS = 40
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
#: Times beyond this leave no room for arithmetic.
_FAR_NS = 2**61


def time_unit(span_ns: float) -> tuple[str, float]:
    """Return the unit of the time axis of a run, and its length in ns."""
    for name, factor, most in (
        *(("ns", 1.0, 2e3), ("µs", 1e3, 2e6), ("ms", 1e6, 2e9)),
        *(("s", 1e9, 600e9), ("min", 60e9, 7200e9)),
    ):
        if span_ns < most:
            return name, factor
    return "h", 3600e9


def name_shown(text: str, most: int = NAME_CHARS) -> str:
    """Return a name for a figure, cut, and with what plotly would take for markup made text.

    What turns the direction of writing ends with the name.
    """
    fit = shorten(text, most)
    return escape(f"\u2068{fit}\u2069" if _TURNS.search(fit) else fit, quote=False)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A trace and the part of it that a plot shows.

    Attributes
    ----------
    trace : Trace
        With texts that are fit to show.
    begin_ns, end_ns : int
        The part, from the origin of the trace; the profiled range where nobody asked for another.
    window : tuple of int, or None
        The same, None where nobody asked.
    origin_ns : int
        Where the time axis starts at 0: the begin of the profiled range.
    theme : {"light", "dark"}
    """

    trace: Trace
    begin_ns: int
    end_ns: int
    window: Window
    origin_ns: int
    theme: Theme

    @classmethod
    def of(
        cls, name: str, trace: HasTrace, begin_ns: int | None, end_ns: int | None, theme: Theme
    ) -> Part:
        """Return what a plot called ``name`` was asked for.

        Raises
        ------
        TraceError
            ``trace`` offers none, the theme is unknown, or the part has no length.
        """
        if theme not in THEMES:
            raise TraceError(
                f"There is no theme {theme!r}.{close_match(str(theme), THEMES)} "
                f"Use one of {', '.join(THEMES)}."
            )
        found = legible(trace_of(trace))
        origin, last = found.window_ns
        asked = begin_ns is not None or end_ns is not None
        ends = (origin, max(last, origin + 1))
        if begin_ns is not None and end_ns is not None:
            ends = begin_ns, end_ns
        elif begin_ns is not None:
            ends = begin_ns, max(ends[1], begin_ns + 1)
        elif end_ns is not None:
            ends = min(origin, end_ns - 1), end_ns
        if not (ends[0] < ends[1] or ends[0] == ends[1] == math.inf):
            raise TraceError(
                f"{name}(begin_ns={begin_ns}, end_ns={end_ns}): the part to show must end after "
                f"it begins. The profiled range is from {origin} to {last}."
            )
        begin, end = (round(min(max(time, -_FAR_NS), _FAR_NS)) for time in ends)
        end = max(end, begin + 1)
        return cls(found, begin, end, (begin, end) if asked else None, origin, theme)

    @property
    def said(self) -> str:
        """What the plot is of, in words."""
        trace, origin = self.trace, self.origin_ns
        if self.window is None:
            return numbers.duration(trace.span_ns)
        return numbers.time_range(self.begin_ns - origin, self.end_ns - origin, trace.span_ns)

    def work(self) -> tuple[BoolArray, str]:
        """Return which events are work within the part, shape (n,), and what they are called.

        Where nothing was queued, as in traces of other producers, all intervals but waits and
        housekeeping are.
        """
        events = self.trace.events
        inside = touching(events.start_ns, events.end_ns, self.window)
        inside &= events.kind != 1  # instants
        chosen, noun = events.is_category(*WORK), "operator"
        if not chosen.any():
            chosen, noun = ~events.is_category("sync", "engine", "memory"), "event"
        return inside & chosen, noun

    def outermost(self, mask: BoolArray) -> BoolArray:
        """Return those of some events that lie within no other of them on their track."""
        parent = self.trace.events.parent
        inside = np.zeros(len(mask), dtype=bool)
        rows: I64Array = np.flatnonzero(mask)
        above = parent[rows]
        while len(rows):
            rows, above = rows[above >= 0], above[above >= 0]
            found = mask[above]
            inside[rows[found]] = True
            rows, above = rows[~found], parent[above[~found]]
        return mask & ~inside


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Return an axis of the common look."""
    return {
        "title": {"text": title, "font": {"color": "@muted"}},
        "gridcolor": "@grid",
        "zeroline": False,
        "tickfont": {"color": "@muted"},
        "separatethousands": True,
        "exponentformat": "none",
        "automargin": True,
        **more,
    }


def counts_axis(title: str, peak: float, **more: Any) -> dict[str, Any]:
    """Return an axis of whole numbers from 0, with some room above the largest."""
    few = {"dtick": 1} if peak <= 6 else {"nticks": 6}
    return axis(title, range=[0, max(1.15 * peak, 1)], tickformat=",d", **few, **more)


def drawn(
    part: Part,
    title: str,
    data: list[dict[str, Any]],
    layout: dict[str, Any],
    *,
    said: str = "",
    empty: str = "",
) -> go.Figure:
    """Return a figure in the colours of its theme.

    Parameters
    ----------
    part : Part
    title : str
        What is seen. May hold tags; names in it must be escaped.
    data, layout : list, dict
        As plotly has them, with named colours (see `palette`).
    said : str
        A line below the title, after what the plot is of: what was merged or left out.
    empty : str
        Why there is nothing to see; shown in the middle, where there is nothing.
    """
    import plotly.graph_objects as go

    below = " · ".join(text for text in (part.said, said) if text)
    common: dict[str, Any] = {
        "title": {
            "text": title,
            "font": {"size": 15},
            "subtitle": {"text": below, "font": {"size": 12, "color": "@muted"}},
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
        },
        "template": {"layout": {}},
        "font": {"size": 12, "color": "@text", "family": "system-ui, sans-serif"},
        "hoverlabel": {
            "align": "left",
            "bgcolor": "@background",
            "bordercolor": "@muted",
            "font": {"color": "@text"},
        },
        "paper_bgcolor": "@background",
        "plot_bgcolor": "@background",
        "margin": {"l": 60, "r": 20, "t": 70, "b": 48},
        "height": 360,
        "autosize": True,
        "showlegend": False,
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
        **layout,
    }
    if empty:
        nothing = {
            "text": empty,
            "x": 0.5,
            "y": 0.5,
            "xref": "paper",
            "yref": "paper",
            "showarrow": False,
            "font": {"color": "@muted", "size": 13},
        }
        hidden = {"visible": False}
        kept = {key: common[key] for key in common if not key.startswith(("xaxis", "yaxis"))}
        data = []
        common = {**kept, "annotations": [nothing], "shapes": [], "xaxis": hidden, "yaxis": hidden}
    described = paint({"data": data, "layout": common}, part.theme)
    return go.Figure(data=described["data"], layout=described["layout"])

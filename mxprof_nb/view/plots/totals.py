"""Plots of how long work took: the operators with the longest totals, and how durations spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis import op_summary
from mxprof_nb.analysis.grouping import of_rank
from mxprof_nb.errors import TraceError, close_match
from mxprof_nb.trace import HasTrace
from mxprof_nb.trace.schema import CATEGORIES
from mxprof_nb.view import numbers
from mxprof_nb.view.palette import Theme
from mxprof_nb.view.plots.part import Part, axis, counts_axis, drawn, name_shown

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["durations", "top_operators"]

ROW_PX = 24
#: Bars of the histogram for each factor of ten.
BINS_PER_DECADE = 10


def top_operators(
    trace: HasTrace,
    *,
    most: int = 15,
    begin_ns: int | None = None,
    end_ns: int | None = None,
    theme: Theme = "light",
) -> go.Figure:
    """Return the operators that took longest in total, as bars, the longest on top.

    Parameters
    ----------
    trace : Trace or Profile
    most : int
        Most bars, at least 1; what is left shares one more bar, which says how many.
    begin_ns, end_ns : int, optional
        The part to look at, in ns from the origin of the trace: operators that touch it count,
        with the part of them inside. The whole run when left out.
    theme : {"light", "dark"}

    Returns
    -------
    plotly.graph_objects.Figure
        The pale bar is the total, the strong one in it the self time: what no operator inside
        took. Numbers as `mxprof_nb.analysis.op_summary` has them.

    Raises
    ------
    TraceError
        ``trace`` offers none, the theme is unknown, the part has no length, or no bar is allowed.
    """
    if most < 1:
        raise TraceError(f"top_operators(most={most}): at least 1 bar must be allowed.")
    part = Part.of("top_operators", trace, begin_ns, end_ns, theme)
    mask, noun = part.work()
    categories = [CATEGORIES[code] for code in np.unique(part.trace.events.category[mask])]
    empty = f"No {noun}s in this range."
    if not categories:
        return drawn(part, "Operators by total time", [], {}, empty=empty)
    columns = op_summary(part.trace, category=categories, window=part.window).columns
    shown = slice(0, most)
    left = len(columns["name"]) - most
    total, own, count = (columns[name][shown] for name in ("total_ns", "self_ns", "count"))
    names = [name_shown(name) for name in columns["name"][shown]]
    shares = columns["share"][shown]
    if left > 0:
        rest = [int(columns[name][most:].sum()) for name in ("total_ns", "self_ns", "count")]
        total, own, count = (
            np.append(column, value)
            for column, value in zip((total, own, count), rest, strict=True)
        )
        names.append(f"{numbers.count(left, 'other name')}")
        shares = np.append(shares, columns["share"][most:].sum())
    unit, factor = numbers.scale(total.tolist(), "ns")
    texts = [
        f"<b>{name}</b><br>{numbers.count(int(n), noun)}<br>total {numbers.duration(t)} "
        f"({t:,} ns), {numbers.share(s)}<br>self {numbers.duration(o)} ({o:,} ns)"
        f"<br>mean {numbers.duration(t / n)}"
        for name, n, t, o, s in zip(
            names, count.tolist(), total.tolist(), own.tolist(), shares.tolist(), strict=True
        )
    ]
    place = np.arange(len(names))
    bars = {"type": "bar", "orientation": "h", "y": place, "hovertext": texts, "hoverinfo": "text"}
    data = [
        {
            **bars,
            "name": "total",
            "x": total / factor,
            "marker": {"color": "@operator.many"},
            "text": [
                f"{numbers.duration(t)}, {numbers.share(s)}"
                for t, s in zip(total.tolist(), shares.tolist(), strict=True)
            ],
            "textposition": "outside",
            "textfont": {"color": "@text", "size": 11},
            "cliponaxis": False,
        },
        {**bars, "name": "self", "x": own / factor, "marker": {"color": "@operator"}},
    ]
    return drawn(
        part,
        f"{noun.capitalize()}s by total time",
        data,
        {
            "barmode": "overlay",
            "bargap": 0.3,
            "height": 130 + ROW_PX * len(names),
            # Room at the right for the texts.
            "xaxis": axis(f"time ({unit})", range=[0, 1.25 * float(total.max()) / factor]),
            "yaxis": axis(
                "",
                range=[len(names) - 0.5, -0.5],
                tickvals=place,
                ticktext=names,
                tickfont={"color": "@text"},
                ticks="outside",
                tickcolor="rgba(0,0,0,0)",
                showgrid=False,
            ),
            "showlegend": True,
        },
        said=f"{numbers.count(int(count.sum()), noun)}, {numbers.count(left + most, 'name')}",
        empty="" if total.max() else f"No {noun}s of any length in this range.",
    )


def durations(
    trace: HasTrace,
    *,
    name: str | None = None,
    begin_ns: int | None = None,
    end_ns: int | None = None,
    theme: Theme = "light",
) -> go.Figure:
    """Return how often operators took how long, on a logarithmic axis.

    Parameters
    ----------
    trace : Trace or Profile
    name : str, optional
        Only operators of this name; all of them when left out.
    begin_ns, end_ns : int, optional
        The part to look at, in ns from the origin of the trace: operators that touch it count,
        with their whole duration. The whole run when left out.
    theme : {"light", "dark"}

    Returns
    -------
    plotly.graph_objects.Figure
        Ten bars for each factor of ten, of whole ns each; their heights add up to the number of
        operators, but for those without length, which a logarithmic axis cannot show and the line
        below the title counts. Lines mark the median and the duration that 90 % do not exceed, as
        `mxprof_nb.analysis.op_summary` has them.

    Raises
    ------
    TraceError
        ``trace`` offers none, the theme is unknown, the part has no length, or nothing has the
        name.
    """
    part = Part.of("durations", trace, begin_ns, end_ns, theme)
    mask, noun = part.work()
    events, strings = part.trace.events, part.trace.strings
    title = f"Durations of {noun}s"
    if name is not None:
        used = [strings[code] for code in np.unique(events.name[mask]).tolist()]
        if name not in used and begin_ns is end_ns is None:
            raise TraceError(f"No {noun} is called {name!r}.{close_match(name, used)}")
        mask &= events.name == strings.code(name)
        title = f"Durations of {name_shown(name)}"
    length = np.sort(events.dur_ns[mask])
    points = int(np.searchsorted(length, 1))
    length = length[points:]
    if not len(length):
        return drawn(part, title, [], {}, empty=f"No {noun}s of any length in this range.")
    edges, count = _histogram(length)
    texts = [
        f"{numbers.count(int(n), noun)}, {numbers.share(n / len(length))}<br>"
        f"{numbers.duration(low)} to {numbers.duration(high)}"
        for low, high, n in zip(
            edges[:-1].tolist(), edges[1:].tolist(), count.tolist(), strict=True
        )
    ]
    drawn_bins = np.flatnonzero(count)
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": noun,
            # Bars of a logarithmic axis stand between their edges where these are given as numbers.
            "x": ((edges[:-1] + edges[1:]) / 2)[drawn_bins],
            "width": np.diff(edges)[drawn_bins].astype(np.float64),
            "y": count[drawn_bins],
            "customdata": np.stack([edges[:-1], edges[1:]], axis=1)[drawn_bins],
            "marker": {"color": "@operator", "line": {"width": 0.5, "color": "@background"}},
            "hovertext": [texts[k] for k in drawn_bins.tolist()],
            "hoverinfo": "text",
        }
    ]
    lines = [
        (int(length[of_rank(percent, len(length))]), word)
        for percent, word in ((50, "median"), (90, "p90"))
    ]
    low, high = np.log10(edges[0]), np.log10(edges[-1])
    few = high - low < 2.5  # then two more marks between powers of ten
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    marks = [(digit, power) for power in powers for digit in ((1, 2, 5) if few else (1,))]
    said = f"{numbers.count(len(length) + points, noun)}"
    return drawn(
        part,
        title,
        data,
        {
            "bargap": 0,
            "xaxis": axis(
                "duration, logarithmic",
                type="log",
                range=[low - 0.02, high + 0.02],
                tickvals=[digit * 10.0**power for digit, power in marks],
                ticktext=[_round(digit, power) for digit, power in marks],
            ),
            "yaxis": counts_axis(f"{noun}s", float(count.max())),
            "shapes": [
                {
                    "type": "line",
                    "x0": at,
                    "x1": at,
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "line": {"color": "@text", "width": 1.2, "dash": "dot"},
                }
                for at, _ in lines
            ],
            "annotations": [
                {
                    "x": np.log10(at),
                    "yref": "paper",
                    "y": 1 - 0.08 * k,
                    "xanchor": "right" if np.log10(at) > 0.2 * low + 0.8 * high else "left",
                    "yanchor": "top",
                    "showarrow": False,
                    "bgcolor": "@background",
                    "text": f"{word} {numbers.duration(at)}",
                    "font": {"color": "@text", "size": 11},
                }
                for k, (at, word) in enumerate(lines)
            ],
        },
        said=f"{said}, {points:,} of them without length not drawn" if points else said,
    )


def _histogram(length: I64Array) -> tuple[I64Array, I64Array]:
    """Return edges, shape (b + 1,), and counts, shape (b,), of sorted lengths of at least 1 ns.

    Edges are whole ns, so that none lies between two lengths; the upper one does not belong.
    """
    low, high = np.log10(float(length[0])), np.log10(float(length[-1]))
    steps = np.arange(np.floor(low * BINS_PER_DECADE), np.floor(high * BINS_PER_DECADE + 1e-9) + 2)
    edges = np.unique(np.round(10.0 ** (steps / BINS_PER_DECADE)).astype(np.int64))
    edges[0] = min(edges[0], length[0])
    if edges[-1] <= length[-1]:  # rounded down
        edges = np.append(edges, length[-1] + 1)
    return edges, np.diff(np.searchsorted(length, edges)).astype(np.int64)


def _round(digit: int, power: int) -> str:
    """Return a round number of ns with the unit that fits: "20 µs"."""
    units = ("ns", "µs", "ms", "s")
    place = min(power // 3, len(units) - 1)
    return f"{digit * 10 ** (power - 3 * place):,} {units[place]}"

"""`timeline`: the marks of a scene as a plotly figure."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from mxprof_nb.errors import TraceError
from mxprof_nb.trace import HasTrace
from mxprof_nb.view import numbers
from mxprof_nb.view.heat import HEAT_NAMES, Heat
from mxprof_nb.view.links import HALF, Links
from mxprof_nb.view.palette import TITLES, Theme, paint
from mxprof_nb.view.plots.part import Part, time_unit
from mxprof_nb.view.scene import Bars, Counter, Outline, Scene, Stage

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["CONFIG", "DIMMED", "PLOT_PX", "figure", "opaque", "time_unit", "timeline"]

#: Width that labels are fitted to: a notebook cell on a usual screen, without the margins.
PLOT_PX = 840
COUNTER_PX = 58
AXIS_PX = 28
LEGEND_PX = 26
GAP_PX = 14
RIGHT_PX = 16
#: A usual width of a character of a row name, at 12 px.
NAME_CHAR_PX = 6.8

#: Grey that lets the page through, so that it is one for every theme; nothing at 0.
HEAT_SCALE = [
    [0, "rgba(120, 128, 136, 0)"],
    [0.009, "rgba(120, 128, 136, 0)"],
    [0.01, "rgba(120, 128, 136, 0.25)"],
    [1, "rgba(120, 128, 136, 0.9)"],
]

#: How to see what is behind a cell.
HEAT_ADVICE = {True: "click the name to unfold", False: "zoom in to see the events"}

#: Colour, width, head and name of the lines of each kind.
LINKS = {
    "launch": ("@link", 1.0, "triangle-down", "queued"),
    "wait": ("@waitlink", 1.4, "triangle-up", "released"),
    "selected": ("@text", 2.0, "circle", "of the selected"),
}
SAME = {TITLES["operator"]}
#: Opacity of what a search did not find.
DIMMED = 0.2

#: Ticks that nobody sees keep row names away from the bars.
NAME_DISTANCE = {"ticks": "outside", "ticklen": 7, "tickcolor": "rgba(0,0,0,0)"}

CONFIG: dict[str, Any] = {
    "scrollZoom": True,
    "displayModeBar": False,
    "displaylogo": False,
    "responsive": True,
    "doubleClick": False,
}


def timeline(
    trace: HasTrace,
    *,
    begin_ns: int | None = None,
    end_ns: int | None = None,
    max_marks: int = 1000,
    theme: Theme = "light",
) -> go.Figure:
    """Return the timeline of a trace: host calls above, engine work below, memory at the bottom.

    Parameters
    ----------
    trace : Trace or Profile
        Or anything that offers a trace as ``__mxprof_trace__``.
    begin_ns, end_ns : int, optional
        The part to show, in ns from the origin of the trace; the profiled range when left out.
        What is further away than 100 times the length of the run is brought nearer.
    max_marks : int
        Most bars, at least 1; where there are more events, neighbours share a lighter bar that
        says how many.
    theme : {"light", "dark"}

    Returns
    -------
    plotly.graph_objects.Figure
        The time axis starts at 0 where the profiled range begins.

    Raises
    ------
    TraceError
        ``trace`` offers none, the theme is unknown, the part to show has no length, or no bar
        is allowed.
    """
    import plotly.graph_objects as go

    if max_marks < 1:
        raise TraceError(f"timeline(max_marks={max_marks}): at least 1 bar must be allowed.")
    part = Part.of("timeline", trace, begin_ns, end_ns, theme)
    stage = Stage(part.trace)
    begin = None if begin_ns is None else begin_ns - stage.origin_ns
    end = None if end_ns is None else end_ns - stage.origin_ns
    scene = stage.scene(begin, end, width_px=PLOT_PX, max_marks=max_marks)
    described = paint(opaque(figure(scene, stage.span_ns)), theme)
    return go.Figure(data=described["data"], layout=described["layout"])


def opaque(figure: dict[str, Any]) -> dict[str, Any]:
    """Return a figure that brings its background: its texts are legible on a page of any theme."""
    ground = {"paper_bgcolor": "@background", "plot_bgcolor": "@background"}
    return {**figure, "layout": {**figure["layout"], **ground}}


def figure(
    scene: Scene, span_ns: int, *, width_px: int = PLOT_PX, hover: bool = True
) -> dict[str, Any]:
    """Return a scene as a plotly figure of plain dicts, with named colours (see `palette`).

    Parameters
    ----------
    scene : Scene
    span_ns : int
        Length of the whole run: it fixes the unit of the axis, and how far one may pan.
    width_px : int
        Width of the plot area, for fitting labels.
    hover : bool
        Whether the bars come with what is said of them, which takes longer than all the rest.
    """
    unit, factor = time_unit(span_ns)
    titled: set[str] = set()
    data: list[dict[str, Any]] = [_links(links, factor) for links in scene.links]
    for bars in scene.bars:
        data.extend(_bars(bars, factor, titled, bars.hover if hover else None))
    data.extend(_heat(heat, factor) for heat in scene.heat)
    if scene.failures:
        data.append(_failed(scene.failures, factor))
    labels = _labels(scene, factor, width_px)
    if labels:
        data.append(labels)
    data.extend(_counter(counter, factor, k) for k, counter in enumerate(scene.counters))
    return {"data": data, "layout": _layout(scene, span_ns, unit, factor)}


def _bars(
    bars: Bars, factor: float, titled: set[str], hover: list[str] | None
) -> list[dict[str, Any]]:
    name = TITLES[bars.category]
    colour = f"@{bars.category}{'.many' if bars.many else ''}"
    marker: dict[str, Any] = {"color": colour, "line": {"width": 0.6, "color": colour}}
    if bars.category == "sync":
        marker["line"] = {"width": 0.8, "color": "@sync.hatch"}
        marker["pattern"] = {
            "shape": "/",
            "bgcolor": colour,
            "fgcolor": "@sync.hatch",
            "size": 7,
            "solidity": 0.12 if bars.many else 0.2,
        }
    if bars.dim:
        marker["opacity"] = DIMMED
    # Seven digits are enough for a length, and half the bytes on the way to the page.
    length = ((bars.end_ns - bars.start_ns) / factor).astype(np.float32)
    common = {
        "name": name,
        "hoverinfo": "skip" if hover is None else "text",
        # Kernels have the colour of operators, which the legend says once.
        "showlegend": name not in titled and not (bars.category == "kernel" and titled & SAME),
    }
    titled.add(name)
    drawn = [
        {
            **common,
            "type": "bar",
            "orientation": "h",
            "base": bars.start_ns / factor,
            "x": length,
            "y": bars.y.astype(np.float32),
            "width": 2 * HALF,
            "marker": marker,
            "hovertext": hover,
        }
    ]
    points = np.flatnonzero(length == 0)
    if len(points):  # a bar without length is invisible
        drawn.append(
            {
                **common,
                "type": "scatter",
                "mode": "markers",
                "showlegend": False,
                "x": bars.start_ns[points] / factor,
                "y": bars.y[points],
                "hovertext": hover and [hover[k] for k in points.tolist()],
                "marker": {
                    "symbol": "diamond",
                    "size": 8,
                    "color": colour,
                    "opacity": DIMMED if bars.dim else 1,
                },
            }
        )
    return drawn


def _heat(heat: Heat, factor: float) -> dict[str, Any]:
    """Return the cells below the bars; plotly draws them below whatever their place."""
    rows, columns = heat.percent.shape
    edges = np.stack([heat.y - HALF, heat.y + HALF], axis=1).ravel()
    # Every other row is the gap between two, which stays blank.
    cells = [heat.percent[row // 2] if row % 2 == 0 else None for row in range(2 * rows - 1)]
    gap = np.zeros(columns, dtype=np.uint8)
    return {
        "type": "heatmap",
        "x": heat.edges_ns / factor,
        "y": edges,
        "z": [gap if row is None else row for row in cells],
        "zmin": 0,
        "zmax": 100,
        "colorscale": HEAT_SCALE,
        "showscale": False,
        "showlegend": True,
        "name": HEAT_NAMES[heat.folded],
        "hovertemplate": f"%{{z}} % busy, {HEAT_ADVICE[heat.folded]}<extra></extra>",
    }


def _labels(scene: Scene, factor: float, width_px: int) -> dict[str, Any] | None:
    scale = width_px / (scene.end_ns - scene.begin_ns)
    fitted = [(label, text) for label in scene.labels if (text := label.fit(scale))]
    if not fitted:
        return None
    return {
        "type": "scatter",
        "mode": "text",
        "x": np.array([label.start_ns + 3 / scale for label, _ in fitted]) / factor,
        "y": np.array([label.y for label, _ in fitted]),
        "text": [escape(text, quote=False) for _, text in fitted],
        # Lengths of the bars, for a page of another width, which cuts the texts.
        "customdata": np.array(
            [(label.end_ns - label.start_ns) / factor for label, _ in fitted], dtype=np.float32
        ),
        "textposition": "middle right",
        "textfont": {
            "size": min(11, scene.font_px),
            "color": [f"@{label.colour}" for label, _ in fitted],
        },
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": True,
    }


def _links(links: Links, factor: float) -> dict[str, Any]:
    """Return all links of one kind as one line with gaps, an arrow head at each effect."""
    n = len(links.x0_ns)
    x, y, size = np.full((n, 5), np.nan), np.full((n, 5), np.nan), np.zeros((n, 5))
    x[:, :2] = links.x0_ns[:, np.newaxis] / factor
    x[:, 2:4] = links.x1_ns[:, np.newaxis] / factor
    y[:, :4] = links.y.T
    size[:, 3] = 6
    colour, width, symbol, name = LINKS[links.kind]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x.ravel(),
        "y": y.ravel(),
        "line": {"color": colour, "width": width},
        "marker": {
            "symbol": symbol,
            "size": size.ravel(),
            "color": colour,
            "line": {"width": 0},
        },
        "hoverinfo": "skip",
        "showlegend": False,
        "name": name,
    }


def _counter(counter: Counter, factor: float, number: int) -> dict[str, Any]:
    name = escape(counter.name, quote=False)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": counter.time_ns / factor,
        "y": counter.value,
        "yaxis": f"y{number + 2}",
        "line": {"shape": "hv", "width": 1.5, "color": "@counter"},
        "fill": "tozeroy",
        "fillcolor": "@counter.fill",
        "hoverinfo": "text",
        "hovertext": [
            f"{name}<br>{numbers.value(value, counter.unit)}" for value in counter.value.tolist()
        ],
        "showlegend": False,
        "name": name,
    }


def _outlined(outline: Outline, factor: float, name: str, colour: str) -> dict[str, Any]:
    return {
        "type": "rect",
        "x0": outline.start_ns / factor,
        "x1": outline.end_ns / factor,
        "y0": outline.y - HALF,
        "y1": outline.y + HALF,
        "line": {"color": colour, "width": 2},
        "name": name,
    }


def _failed(failures: tuple[Outline, ...], factor: float) -> dict[str, Any]:
    """Return a mark at the begin of each event that failed, however narrow its bar."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": np.array([one.start_ns for one in failures]) / factor,
        "y": np.array([one.y for one in failures]),
        "marker": {"symbol": "x", "size": 9, "color": "@failed"},
        "hoverinfo": "skip",
        "name": "failed",
    }


def _layout(scene: Scene, span_ns: int, unit: str, factor: float) -> dict[str, Any]:
    rows_px = scene.row_px * (scene.height + 0.5)
    below_px = len(scene.counters) * (COUNTER_PX + GAP_PX)
    inner = rows_px + below_px
    names = [escape(row.name, quote=False) for row in scene.rows]
    tops = [numbers.value(counter.peak, counter.unit) for counter in scene.counters]
    left = 20 + NAME_CHAR_PX * max(scene.name_chars, *map(len, tops), 6)
    span = span_ns / factor
    layout: dict[str, Any] = {
        "height": round(inner + AXIS_PX + LEGEND_PX),
        "autosize": True,
        "margin": {"l": round(left), "r": RIGHT_PX, "t": LEGEND_PX, "b": AXIS_PX},
        "barmode": "overlay",
        "hovermode": "closest",
        "dragmode": "zoom",
        "uirevision": "mxprof",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12, "color": "@text", "family": "system-ui, sans-serif"},
        "hoverlabel": {"align": "left", "bgcolor": "@background", "font": {"color": "@text"}},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "bottom",
            "font": {"size": 11, "color": "@muted"},
            "itemclick": False,
            "itemdoubleclick": False,
        },
        "xaxis": {
            "range": [scene.begin_ns / factor, scene.end_ns / factor],
            "minallowed": -0.02 * span,
            "maxallowed": 1.02 * span,
            "ticksuffix": f" {unit}",
            "separatethousands": True,
            "exponentformat": "none",
            "nticks": 9,
            "ticks": "",  # a heatmap would bring them
            "gridcolor": "@grid",
            "zeroline": False,
            "anchor": f"y{len(scene.counters) + 1}" if scene.counters else "y",
            "tickfont": {"color": "@muted"},
        },
        "yaxis": {
            "range": [scene.height, -0.5],
            "domain": [below_px / inner, 1.0],
            "fixedrange": True,
            "tickvals": [row.y for row in scene.rows],
            "ticktext": names,
            "tickfont": {"size": scene.font_px},
            "showgrid": False,
            "zeroline": False,
            **NAME_DISTANCE,
        },
        "annotations": [],
        "shapes": [_outlined(one, factor, "failed", "@failed") for one in scene.failures],
    }
    for k, counter in enumerate(scene.counters):
        top = (below_px - k * (COUNTER_PX + GAP_PX) - GAP_PX) / inner
        layout[f"yaxis{k + 2}"] = {
            "range": [0, counter.top * 1.45],
            "domain": [max(top - COUNTER_PX / inner, 0.0), top],
            "fixedrange": True,
            # The base line is 0; written there, it would run into the times below it.
            "tickvals": [0, min(counter.peak, counter.top)],
            "ticktext": ["", tops[k]],
            "gridcolor": "@grid",
            "zeroline": False,
            "tickfont": {"color": "@muted", "size": 11},
            **NAME_DISTANCE,
        }
        layout["annotations"].append(
            {
                "text": f"{escape(counter.name, quote=False)}, peak {tops[k]}",
                "x": 0.004,
                "xref": "paper",
                "y": 1,
                "yref": f"y{k + 2} domain",
                "xanchor": "left",
                "yanchor": "top",
                "showarrow": False,
                "font": {"size": 11, "color": "@muted"},
            }
        )
    if scene.outline:
        layout["shapes"].append(_outlined(scene.outline, factor, "selected", "@text"))
    if scene.empty:
        layout["annotations"].append(
            {
                "text": "no events in this range",
                "x": 0.5,
                "xref": "paper",
                "y": 0.5,
                "yref": "y domain",
                "showarrow": False,
                "font": {"color": "@muted"},
            }
        )
    return layout

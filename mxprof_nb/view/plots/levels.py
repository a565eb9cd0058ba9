"""Plots of levels over time: operators that run, operators in the queue, memory that is held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mxprof_nb._typing import F64Array, I64Array
from mxprof_nb.analysis.intervals import depth_over_time
from mxprof_nb.lod import StepLine
from mxprof_nb.trace import HasTrace
from mxprof_nb.trace.schema import ROLES
from mxprof_nb.view import numbers
from mxprof_nb.view.palette import Theme
from mxprof_nb.view.plots.part import Part, axis, counts_axis, drawn, name_shown, time_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["concurrency", "memory"]

#: Changes of one line; where there are more, means of so many parts take their place.
MAX_POINTS, BINS = 2000, 400
#: Lines that eyes tell apart, whatever colours they see: Okabe and Ito's, the pale one left out.
LINES = ("@counter", "@operator", "@user", "@copy", "@engine", "@waitlink")
AVERAGED = "means of short times, the band from lowest to highest"
MERGED = "each part keeps its lowest and highest value"


def concurrency(
    trace: HasTrace,
    *,
    begin_ns: int | None = None,
    end_ns: int | None = None,
    theme: Theme = "light",
) -> go.Figure:
    """Return how many operators run at once, and below how many stand in the queue.

    Parameters
    ----------
    trace : Trace or Profile
    begin_ns, end_ns : int, optional
        The part to show, in ns from the origin of the trace; the profiled range when left out.
    theme : {"light", "dark"}

    Returns
    -------
    plotly.graph_objects.Figure
        Step lines. The upper one is of operators, copies and kernels that run, those that lie
        within another on their track not counted: its area is the time that the workers are busy.
        A dashed line says how many workers there are. The lower one is of those that are queued
        and have not started; it is left out where no recorder said when they were queued.

    Raises
    ------
    TraceError
        ``trace`` offers none, the theme is unknown, or the part to show has no length.

    Notes
    -----
    - Where a line has more than 2,000 changes, it is the mean of each of 400 parts of the picture,
      and the pale band reaches from the lowest to the highest value.
    - Where workers or streams ran operators, only what they ran counts: MXNet writes each operator
      a second time beside its threads.
    - In a trace that has no operators, all intervals count but waits and housekeeping.
    """
    part = Part.of("concurrency", trace, begin_ns, end_ns, theme)
    events, tracks = part.trace.events, part.trace.tracks
    mask, noun = part.work()
    on_workers = mask & (tracks.role > ROLES.index("host"))[events.track]
    mask = on_workers if on_workers.any() else mask
    work = np.flatnonzero(part.outermost(mask))
    queued = np.flatnonzero(mask & (events.queued_ns >= 0))
    window = part.begin_ns, part.end_ns
    start = events.start_ns
    running = depth_over_time(start[work], events.end_ns[work], window=window)
    waiting = depth_over_time(
        events.queued_ns[queued], np.maximum(start, events.queued_ns)[queued], window=window
    )
    unit, factor = time_unit(part.end_ns - part.begin_ns)
    has_queue = bool(len(queued))
    levels = [(*running, "@operator", "running", "y")]
    levels += [(*waiting, "@user", "queued, not started", "y2")] if has_queue else []
    data: list[dict[str, Any]] = []
    for time, count, colour, word, y_axis in levels:
        if len(time) > MAX_POINTS:
            data += _averaged(part, time, count, factor, colour, y_axis, f"{noun}s {word}")
            continue
        line = np.append(time, part.end_ns), np.append(count, count[-1])
        texts = [
            f"{numbers.count(value, noun)} {word}<br>from {_at(part, at)}"
            for at, value in zip(line[0].tolist(), line[1].tolist(), strict=True)
        ]
        fill = f"{colour}.many"
        data.append(_step(part, line, factor, texts, colour, y_axis, fill=fill, name=word))
    workers = np.unique(events.track[work])
    many = len(workers) if on_workers.any() else 0
    layout: dict[str, Any] = {
        "xaxis": _time_axis(part, unit, factor, "y2" if has_queue else "y"),
        "yaxis": counts_axis(
            f"{noun}s running",
            max(int(running[1].max(initial=0)), many),
            domain=[0.55 if has_queue else 0, 1],
        ),
        "shapes": [],
        "annotations": [],
        "height": 440 if has_queue else 320,
    }
    if has_queue:
        peak = int(waiting[1].max(initial=0))
        layout["yaxis2"] = counts_axis("queued, not started", peak, domain=[0, 0.42])
    if many:
        layout["shapes"] = [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": many, "y1": many,
             "line": {"color": "@muted", "width": 1, "dash": "dash"}}
        ]  # fmt: skip
        layout["annotations"] = [
            {"text": numbers.count(many, "worker"), "xref": "paper", "x": 1, "xanchor": "right",
             "y": many, "yanchor": "bottom", "showarrow": False,
             "font": {"color": "@muted", "size": 11}}
        ]  # fmt: skip
    return drawn(
        part,
        f"{noun.capitalize()}s running at once" + (", and waiting in the queue" * has_queue),
        data,
        layout,
        said=AVERAGED if any(len(level[0]) > MAX_POINTS for level in levels) else "",
        empty="" if len(work) else f"No {noun}s in this range.",
    )


def memory(
    trace: HasTrace,
    *,
    begin_ns: int | None = None,
    end_ns: int | None = None,
    theme: Theme = "light",
) -> go.Figure:
    """Return how much memory is held over time, a step line for each device.

    Parameters
    ----------
    trace : Trace or Profile
    begin_ns, end_ns : int, optional
        The part to show, in ns from the origin of the trace; the profiled range when left out.
    theme : {"light", "dark"}

    Returns
    -------
    plotly.graph_objects.Figure
        A line for each counter of bytes, of which at most six with the highest peaks; the point
        marks the peak within the part.

    Raises
    ------
    TraceError
        ``trace`` offers none, the theme is unknown, or the part to show has no length.

    Notes
    -----
    Where a counter has more than 2,000 samples, each part of the picture keeps its first, lowest,
    highest and last value: no peak is lost. Samples that are no finite number are left out.
    """
    part = Part.of("memory", trace, begin_ns, end_ns, theme)
    curves = _memory_curves(part)
    unit, factor = time_unit(part.end_ns - part.begin_ns)
    size, bytes_per = numbers.scale([max(v.max(), -v.min()) for _, (_, v), _ in curves], "B")
    data: list[dict[str, Any]] = []
    for colour, (name, line, _) in zip(LINES, curves, strict=False):
        texts = [
            f"<b>{name}</b><br>{numbers.size(value)} ({value:,.0f} B)<br>from {_at(part, at)}"
            for at, value in zip(*line, strict=True)
        ]
        scaled = line[0], line[1] / bytes_per
        fill = "@counter.fill" if len(curves) == 1 else ""
        data.append(_step(part, scaled, factor, texts, colour, "y", fill=fill, name=name))
        peak = int(np.argmax(line[1]))
        data.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "x": [(line[0][peak] - part.origin_ns) / factor],
                "y": [scaled[1][peak]],
                "text": [f"peak {numbers.size(line[1][peak])}"],
                "textposition": f"top {_side(part, int(line[0][peak]))}",
                "textfont": {"color": "@text", "size": 11},
                "marker": {"color": colour, "size": 7},
                "hovertext": [texts[peak]],
                "hoverinfo": "text",
                "showlegend": False,
                "cliponaxis": False,
            }
        )
    hidden = len(curves) - len(data) // 2
    said = [MERGED] if any(thinned for _, _, thinned in curves) else []
    said += [f"{numbers.count(hidden, 'lower curve')} not drawn"] if hidden else []
    return drawn(
        part,
        "Memory by device",
        data,
        {
            "xaxis": _time_axis(part, unit, factor, "y"),
            "yaxis": axis(f"memory ({size})", rangemode="tozero"),
            "showlegend": len(curves) > 1,
            "legend": {"orientation": "h", "x": 0, "y": -0.24, "yanchor": "top"},
            "height": 360 if len(curves) < 2 else 420,
        },
        said=" · ".join(said),
        empty="" if curves else "No memory was recorded in this range.",
    )


def _memory_curves(part: Part) -> list[tuple[str, tuple[I64Array, F64Array], bool]]:
    """Return name, corners and whether it was thinned, of each counter of bytes, highest first."""
    counters, strings, tracks = part.trace.counters, part.trace.strings, part.trace.tracks
    code = strings.code("B")
    rows = np.flatnonzero((counters.unit == code) & (code >= 0) & np.isfinite(counters.value))
    keys, group = np.unique(
        counters.track[rows].astype(np.int64) * len(strings) + counters.name[rows],
        return_inverse=True,
    )
    known: list[str] = [strings[int(key) % len(strings)] for key in keys.tolist()]
    found = []
    order = np.argsort(group, kind="stable")
    for k, mine in enumerate(np.split(rows[order], np.cumsum(np.bincount(group))[:-1])):
        if not len(mine):
            continue
        line, thinned = _corners(part, counters.time_ns[mine], counters.value[mine])
        if not len(line[0]):
            continue
        track = strings[int(tracks.name[counters.track[mine[0]]])]
        name = known[k] if known.count(known[k]) == 1 else f"{known[k]} ({track})"
        found.append((name_shown(name), line, thinned))
    return sorted(found, key=lambda curve: -float(curve[1][1].max()))


def _corners(part: Part, time: I64Array, value: F64Array) -> tuple[tuple[I64Array, F64Array], bool]:
    """Return the corners of a step line within the part, and whether there were too many."""
    line = StepLine(time, value).corners(part.begin_ns, part.end_ns, max_points=MAX_POINTS)
    inside = int(np.diff(np.searchsorted(time, (part.begin_ns, part.end_ns), side="right"))[0])
    return line, inside > MAX_POINTS


def _averaged(
    part: Part,
    time: I64Array,
    count: I64Array,
    factor: float,
    colour: str,
    y_axis: str,
    word: str,
) -> list[dict[str, Any]]:
    """Return a level as its mean over short times, in a band from lowest to highest."""
    edges = np.unique(np.linspace(part.begin_ns, part.end_ns, BINS + 1).astype(np.int64))
    mean, low, high = _in_bins(time, count, edges)
    spans = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    texts = [
        f"{numbers.value(m)} {word} on average, {lowest:,} to {highest:,}"
        f"<br>from {_at(part, begin)} to {_at(part, end)}"
        for m, lowest, highest, (begin, end) in zip(
            mean.round(2).tolist(), low.tolist(), high.tolist(), spans, strict=True
        )
    ]

    def line(values: Any, fill: str, name: str) -> dict[str, Any]:
        ends = edges, np.append(values, values[-1])
        return _step(part, ends, factor, [*texts, texts[-1]], colour, y_axis, fill=fill, name=name)

    quiet = {"hoverinfo": "skip", "hovertext": None, "line": {"shape": "hv", "width": 0}}
    floor = line(low, "", "lowest") | quiet
    band = line(high, f"{colour}.many", "highest") | quiet | {"fill": "tonexty"}
    return [floor, band, line(mean, "", word)]


def _in_bins(
    time: I64Array, count: I64Array, edges: I64Array
) -> tuple[F64Array, I64Array, I64Array]:
    """Return mean, lowest and highest value of a step function between edges, shape (bins,).

    Parameters
    ----------
    time, count : ndarray of int64, shape (n,)
        As `depth_over_time` gives them, the first time at the first edge at the latest.
    edges : ndarray of int64, shape (bins + 1,)
    """
    area = np.append(0, np.cumsum(np.diff(time) * count[:-1]))
    place = np.searchsorted(time, edges, side="right") - 1
    passed = area[place] + count[place] * (edges - time[place])
    stop = np.maximum(np.searchsorted(time, edges[1:]), place[:-1] + 1)
    cuts = np.stack([place[:-1], stop], axis=1).ravel()
    padded = np.append(count, 0)  # so that a cut may stand behind the last
    low, high = (ufunc.reduceat(padded, cuts)[::2] for ufunc in (np.minimum, np.maximum))
    return np.diff(passed) / np.diff(edges), low, high


def _side(part: Part, time: int) -> str:
    """Return where a text stands so that it stays in the picture: center, left or right."""
    place = (time - part.begin_ns) / (part.end_ns - part.begin_ns)
    return "right" if place < 0.1 else "left" if place > 0.9 else "center"


def _at(part: Part, time: int) -> str:
    return numbers.duration(int(time) - part.origin_ns)


def _time_axis(part: Part, unit: str, factor: float, anchor: str) -> dict[str, Any]:
    ends = [(time - part.origin_ns) / factor for time in (part.begin_ns, part.end_ns)]
    return axis(f"time ({unit})", range=ends, anchor=anchor)


def _step(
    part: Part,
    line: tuple[I64Array, Any],
    factor: float,
    texts: list[str],
    colour: str,
    y_axis: str,
    *,
    fill: str,
    name: str,
) -> dict[str, Any]:
    pale = {"fill": "tozeroy", "fillcolor": fill} if fill else {}
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": (line[0] - part.origin_ns) / factor,
        "y": line[1],
        "yaxis": y_axis,
        "line": {"shape": "hv", "width": 1.6, "color": colour},
        "hovertext": texts,
        "hoverinfo": "text",
        **pale,
    }

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
from mxprof_nb.view.plots.part import Part, axis, drawn, name_shown, time_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["concurrency", "memory"]

MAX_POINTS = 2000
#: Lines that eyes tell apart, whatever colours they see: Okabe and Ito's, the pale one left out.
LINES = ("@counter", "@operator", "@user", "@copy", "@engine", "@waitlink")
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
    Where there are more than 2,000 changes, each part of the picture keeps its first, lowest,
    highest and last value. In a trace that has no operators, all intervals count but waits and
    housekeeping.
    """
    part = Part.of("concurrency", trace, begin_ns, end_ns, theme)
    events, tracks = part.trace.events, part.trace.tracks
    mask, noun = part.work()
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
    data, merged = [], False
    told = [(running, "@operator", "running", "y")]
    told += [(waiting, "@user", "queued, not started", "y2")] if has_queue else []
    for (time, count), colour, word, y_axis in told:
        line, thinned = _corners(part, time, count.astype(np.float64))
        merged |= thinned
        texts = [
            f"{numbers.count(int(value), noun)} {word}<br>from {_at(part, at)}"
            for at, value in zip(*line, strict=True)
        ]
        fill = f"{colour}.many"
        data.append(_step(part, line, factor, texts, colour, y_axis, fill=fill, name=word))
    workers = np.unique(events.track[work])
    lanes = workers[tracks.role[workers] > ROLES.index("host")]
    many = len(lanes)
    layout: dict[str, Any] = {
        "xaxis": _time_axis(part, unit, factor, "y2" if has_queue else "y"),
        "yaxis": axis(
            f"{noun}s running",
            rangemode="tozero",
            tickformat=",d",
            domain=[0.55 if has_queue else 0, 1],
        ),
        "shapes": [],
        "annotations": [],
        "height": 440 if has_queue else 320,
    }
    if has_queue:
        layout["yaxis2"] = axis(
            "queued, not started", rangemode="tozero", tickformat=",d", domain=[0, 0.42]
        )
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
        said=MERGED if merged else "",
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
                "textposition": "top center",
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


def _at(part: Part, time: int) -> str:
    return numbers.duration(int(time) - part.origin_ns)


def _time_axis(part: Part, unit: str, factor: float, anchor: str) -> dict[str, Any]:
    ends = [(time - part.origin_ns) / factor for time in (part.begin_ns, part.end_ns)]
    return axis(f"time ({unit})", range=ends, anchor=anchor)


def _step(
    part: Part,
    line: tuple[I64Array, F64Array],
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

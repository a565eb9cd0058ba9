"""The timeline as a still picture, for viewers that run no script: same rows, colours, labels."""

from __future__ import annotations

import math

from mxprof_nb.trace import Trace
from mxprof_nb.view import numbers
from mxprof_nb.view.drawing import Drawing, Line, Rect, Text
from mxprof_nb.view.heat import HEAT_NAMES
from mxprof_nb.view.links import HALF
from mxprof_nb.view.palette import TITLES, Theme, colours, mix
from mxprof_nb.view.scene import Counter, Scene, Stage

__all__ = ["picture", "ticks"]

COUNTER_PX = 52.0
LEGEND_PX = 28.0
AXIS_PX = 26.0
NOTE_PX = 16.0
#: Fewer than on a screen: nobody zooms in here, and each costs 100 bytes of the notebook.
MAX_MARKS, MAX_CELLS = 500, 1000
GAP_PX = 14.0
RIGHT_PX = 22.0
NAME_PX, AXIS_CHAR_PX = 6.9, 6.4
UNITS = (
    *(("ns", 1), ("µs", 10**3), ("ms", 10**6), ("s", 10**9)),
    *(("min", 60 * 10**9), ("h", 3600 * 10**9)),
)


def ticks(begin_ns: int, end_ns: int, most: int = 9) -> list[tuple[int, str]]:
    """Return round times within a window, and how they are written.

    Examples
    --------
    >>> ticks(0, 412_000_000, most=5)
    [(0, '0 ms'), (100000000, '100 ms'), (200000000, '200 ms'), (300000000, '300 ms'), \
(400000000, '400 ms')]
    """
    unit, factor = next((u for u in reversed(UNITS) if max(abs(end_ns), 1) >= 2 * u[1]), UNITS[0])
    rough = max((end_ns - begin_ns) / most, 1) / factor
    power = math.floor(math.log10(rough))
    step, power = next((k, p) for p in (power, power + 1) for k in (1, 2, 5) if k * 10**p >= rough)
    step_ns = max(round(step * 10**power * factor), 1)
    first = -(-begin_ns // step_ns) * step_ns
    times = range(first, end_ns + 1, step_ns)
    return [(time, f"{time / factor:,.{max(-power, 0)}f} {unit}") for time in times]


def picture(trace: Trace | Stage, *, theme: Theme = "light", width: int = 980) -> Drawing:
    """Return the whole run as a drawing, ``width`` px wide.

    Parameters
    ----------
    trace : Trace
    theme : {"light", "dark"}
    width : int
        In px; at least 300.
    """
    stage = Stage.of(trace)
    left = 16 + NAME_PX * max(stage.tree.name_chars, 8)
    scene = stage.scene(
        width_px=int(width - left - RIGHT_PX), max_marks=MAX_MARKS, max_cells=MAX_CELLS
    )
    rows_px = scene.row_px * (scene.height + 0.5)
    bottom = LEGEND_PX + rows_px + len(scene.counters) * (COUNTER_PX + GAP_PX)
    height = bottom + AXIS_PX + NOTE_PX * len(scene.notes)
    pen = _Pen(scene, Drawing(width, math.ceil(height), ""), colours(theme), left)
    pen.axis(LEGEND_PX, bottom)
    pen.links()  # below the bars, so that no line crosses a text
    pen.rows()
    for k, counter in enumerate(scene.counters):
        pen.counter(counter, LEGEND_PX + rows_px + k * (COUNTER_PX + GAP_PX) + GAP_PX)
    pen.legend()
    pen.notes(bottom + AXIS_PX)
    return pen.drawing


class _Pen:
    """Turns times and rows of one scene into shapes."""

    def __init__(self, scene: Scene, drawing: Drawing, named: dict[str, str], left: float) -> None:
        self.scene, self.drawing, self.named, self.left = scene, drawing, named, left
        self.row_px, self.font_px = scene.row_px, scene.font_px
        self.right = drawing.width - RIGHT_PX
        self.scale = (self.right - left) / (scene.end_ns - scene.begin_ns)
        drawing.background = named["background"]

    def x(self, time_ns: float) -> float:
        """Return the x of a time, kept within the plot."""
        place = self.left + (time_ns - self.scene.begin_ns) * self.scale
        return min(max(place, self.left), self.right)

    def y(self, row: float) -> float:
        return LEGEND_PX + (row + 0.5) * self.row_px

    def axis(self, top: float, bottom: float) -> None:
        for time, text in ticks(self.scene.begin_ns, self.scene.end_ns):
            x = self.x(time)
            if not self.scene.empty:
                self.drawing.add(Line(((x, top), (x, bottom)), self.named["grid"]))
            # The last one ends with the picture rather than beyond it.
            x = min(x, self.drawing.width - AXIS_CHAR_PX / 2 * len(text))
            self.drawing.add(Text(x, bottom + 16, text, self.named["muted"], 11, "middle"))

    def links(self) -> None:
        for links in self.scene.links:
            waits = links.kind == "wait"
            colour = self.named["waitlink" if waits else "link"]
            heads = []
            for x0, x1, heights in zip(links.x0_ns, links.x1_ns, links.y.T, strict=True):
                a, b = self.x(float(x0)), self.x(float(x1))
                y = [self.y(float(height)) for height in heights]
                corners = ((a, y[0]), (a, y[1]), (b, y[2]), (b, y[3]))
                self.drawing.add(Line(corners, colour, 1.2 if waits else 0.9))
                back = y[3] + (-5.0 if y[3] > y[0] else 5.0)
                head = ((b, y[3]), (b - 3, back), (b + 3, back))
                heads.append(Line(head, fill=colour))
            for shape in heads:
                self.drawing.add(shape)

    def rows(self) -> None:
        add, named = self.drawing.add, self.named
        for row in self.scene.rows:
            ink = named["muted" if row.head else "text"]
            add(Text(self.left - 8, self.y(row.y) + 4, row.name, ink, self.font_px, "end"))
        cells = [stretch for heat in self.scene.heat for stretch in heat.stretches(25)]
        for begin, end, y, percent in cells:
            x, top = self.x(begin), self.y(y) - HALF * self.row_px
            fill = mix(named["background"], named["link"], 0.2 + percent / 200)
            add(Rect(x, top, max(self.x(end) - x, 0.8), 2 * HALF * self.row_px, fill))
        # Runs of many first, so that single events are never hidden under one.
        for bars in sorted(self.scene.bars, key=lambda bars: not bars.many):
            fill = named[f"{bars.category}{'.many' if bars.many else ''}"]
            hatch = named["sync.hatch"] if bars.category == "sync" else ""
            for start, end, y in zip(bars.start_ns, bars.end_ns, bars.y, strict=True):
                x = self.x(float(start))
                # Thinner than a pixel is still there; a hatch needs room to be seen as one.
                wide = max(self.x(float(end)) - x, 0.8)
                top = self.y(float(y)) - HALF * self.row_px
                add(Rect(x, top, wide, 2 * HALF * self.row_px, fill, hatch if wide > 3 else ""))
        for failed in self.scene.failures:
            x0, x1 = (
                self.x(failed.start_ns),
                max(self.x(failed.end_ns), self.x(failed.start_ns) + 3),
            )
            top, low = (self.y(failed.y + side * HALF) for side in (-1, 1))
            corners = ((x0, top), (x1, top), (x1, low), (x0, low), (x0, top))
            add(Line(corners, named["failed"], 2))
        for label in self.scene.labels:
            text = label.fit(self.scale)
            if text:
                x = self.x(label.start_ns) + 4
                add(Text(x, self.y(label.y) + 4, text, named[label.colour], min(11, self.font_px)))
        if self.scene.empty:
            middle = (self.left + self.right) / 2
            add(Text(middle, self.y(0) + 4, "no events", named["muted"], 12, "middle"))

    def counter(self, counter: Counter, top: float) -> None:
        add, named = self.drawing.add, self.named
        bottom = top + COUNTER_PX
        scale = COUNTER_PX / (counter.top * 1.4)
        corners: list[tuple[float, float]] = []
        for time, value in zip(counter.time_ns.tolist(), counter.value.tolist(), strict=True):
            x, y = self.x(time), bottom - max(value, 0.0) * scale
            if corners:
                corners.append((x, corners[-1][1]))
            corners.append((x, y))
        if corners:
            area = ((corners[0][0], bottom), *corners, (corners[-1][0], bottom))
            add(Line(area, fill=named["counter.fill"]))
            add(Line(tuple(corners), named["counter"], 1.5))
        peak = numbers.value(counter.peak, counter.unit)
        height = min(max(counter.peak, 0.0), counter.top) * scale
        add(Text(self.left - 8, bottom - height + 4, peak, named["muted"], 11, "end"))
        name = f"{counter.name}, peak {peak}"
        add(Text(self.left + 4, top + 10, name, named["muted"], 11))

    def legend(self) -> None:
        add, named = self.drawing.add, self.named
        x = self.left
        shown = {bars.category for bars in self.scene.bars}
        if "operator" in shown:
            shown.discard("kernel")  # of the same colour
        for category in (category for category in TITLES if category in shown):
            hatch = named["sync.hatch"] if category == "sync" else ""
            add(Rect(x, 9, 11, 11, named[category], hatch))
            add(Text(x + 16, 19, TITLES[category], named["muted"], 11))
            x += 16 + 6.2 * len(TITLES[category]) + 18
        grey = mix(named["background"], named["link"], 0.45)
        for folded in sorted({heat.folded for heat in self.scene.heat}):
            add(Rect(x, 9, 11, 11, grey))
            add(Text(x + 16, 19, HEAT_NAMES[folded], named["muted"], 11))
            x += 16 + 6.2 * len(HEAT_NAMES[folded]) + 18
        if self.scene.failures:
            corners = ((x, 9), (x + 11, 9), (x + 11, 20), (x, 20), (x, 8))
            add(Line(corners, named["failed"], 2))
            add(Text(x + 16, 19, "failed", named["muted"], 11))
            x += 16 + 6.2 * len("failed") + 18
        if any(bars.many for bars in self.scene.bars):
            add(Text(x, 19, "lighter: several events", named["muted"], 11))

    def notes(self, top: float) -> None:
        for k, note in enumerate(self.scene.notes):
            y = top + NOTE_PX * (k + 1) - 6
            self.drawing.add(Text(self.left, y, note, self.named["muted"], 11))

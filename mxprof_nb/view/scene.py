"""`Stage` and `Scene`: what a timeline shows, before anything decides how to draw it.

- A `Stage` is made once per trace: index, rows from top to bottom, texts.
- A `Scene` is what one window of it shows: capped marks in groups of one colour, labels, links
  and step lines, all in nanoseconds from the begin of the profiled range and rows from the top.
- `plots`, `picture` and the widgets only turn a scene into their own shapes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mxprof_nb._typing import BoolArray, F64Array, I64Array
from mxprof_nb.lod import Matched, Matches, StepLine, TimelineIndex, View
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import CATEGORIES, ROLES
from mxprof_nb.view import numbers
from mxprof_nb.view.heat import Heat, heat_of
from mxprof_nb.view.legible import legible
from mxprof_nb.view.links import ROLE_GAP, Linker, Links
from mxprof_nb.view.words import Words, shorten

__all__ = ["Bars", "Counter", "Label", "Outline", "Row", "Scene", "Stage"]

#: More rows than this do not fit a screen; what is left out is said.
MAX_ROWS = 40
MAX_LABELS = 300
MAX_COUNTER_POINTS = 800
#: Step lines drawn at most, those with the highest peaks.
MAX_COUNTERS = 5
NAME_CHARS, COUNTER_CHARS = 22, 60
#: Height that all rows together aim at, and limits of one row, in px.
ROWS_PX, LEAST_ROW_PX, MOST_ROW_PX = 280.0, 13.0, 26.0
#: A usual width of a character at 11 px, and what stays free at the ends of a bar.
CHAR_PX = 6.1
LABEL_PADDING_PX = 8
#: Largest value of a counter that is drawn in its place.
LARGEST = 1e300
#: How far from the run one may look, in lengths of the run and in ns.
FAR_RUNS, FAR_NS = 100, 2**61


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the picture: its name at the left and its middle, counted in rows from 0."""

    name: str
    y: float
    role: str


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Marks of one colour, drawn as one trace; arrays of shape (marks,)."""

    category: str
    many: bool
    start_ns: I64Array
    end_ns: I64Array
    y: F64Array
    hover: list[str]
    dim: bool = False  # not what a search looks for


@dataclass(frozen=True, slots=True)
class Label:
    """A text that may stand inside a bar: candidates, the longest first, one of which may fit."""

    start_ns: int
    end_ns: int
    y: float
    colour: str
    texts: tuple[str, ...]

    def fit(self, px_per_ns: float) -> str:
        """Return the longest candidate that the bar has room for, a cut one, or nothing."""
        room = ((self.end_ns - self.start_ns) * px_per_ns - LABEL_PADDING_PX) / CHAR_PX
        text = next((text for text in self.texts if len(text) <= room), "")
        if not text and room >= 5:
            return self.texts[-1][: int(room) - 1] + "…"
        return text


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """A step line: its corners, and the largest value of the whole run.

    Values are cut to ± `LARGEST`, so that arithmetic on a scale never overflows; ``peak`` is not.
    """

    name: str
    unit: str
    time_ns: I64Array
    value: F64Array
    peak: float

    @property
    def top(self) -> float:
        """What the scale must reach: the peak, within what arithmetic allows."""
        return min(max(self.peak, 1.0), LARGEST)


@dataclass(frozen=True, slots=True)
class Outline:
    """Where the selected event stands."""

    start_ns: int
    end_ns: int
    y: float


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What one window shows; times in ns from the begin of the profiled range."""

    begin_ns: int
    end_ns: int
    rows: tuple[Row, ...]
    bars: tuple[Bars, ...]
    labels: tuple[Label, ...]
    links: tuple[Links, ...]
    counters: tuple[Counter, ...]
    notes: tuple[str, ...]
    marks: int
    heat: Heat | None = None
    outline: Outline | None = None

    @property
    def empty(self) -> bool:
        """Whether no row shows anything."""
        return not self.bars and self.heat is None

    @property
    def height(self) -> float:
        """Height of all rows, in rows."""
        return self.rows[-1].y + 0.5 if self.rows else 1.0

    @property
    def row_px(self) -> float:
        """Height of one row, in px: less where there are many, so that the output stays low."""
        return min(max(ROWS_PX / (self.height + 0.5), LEAST_ROW_PX), MOST_ROW_PX)

    @property
    def font_px(self) -> float:
        """Size of the text in rows, in px."""
        return min(12.0, self.row_px * 0.75)


class Stage:
    """What all views of one trace share; immutable, safe to use from any thread."""

    def __init__(self, trace: Trace) -> None:
        trace = legible(trace)
        self.trace = trace
        self.index = TimelineIndex(trace)
        self.words = Words(trace)
        self.origin_ns = trace.window_ns[0]
        # A run without length still gets an axis.
        self.span_ns = max(trace.span_ns, 1)
        self.rows = self._rows()
        self._y = np.array([row.y for row in self.rows])
        self._lane = self._lane_of_events()
        self._curves_hidden = 0
        self._memory = self._memory_curves()
        self.linker = Linker(trace, self._lane, self._y, self.index.lanes.role[: len(self.rows)])

    @classmethod
    def of(cls, source: Trace | Stage) -> Stage:
        """Return the stage itself, or the one of a trace."""
        return source if isinstance(source, Stage) else cls(source)

    def _rows(self) -> tuple[Row, ...]:
        lanes, tracks, strings = self.index.lanes, self.trace.tracks, self.trace.strings
        rows: list[Row] = []
        y, last_role = -1.0, -1
        for lane in range(min(len(lanes), MAX_ROWS)):
            role = int(lanes.role[lane])
            y += 1.0 + (ROLE_GAP if last_role not in (-1, role) else 0.0)
            last_role = role
            name = strings[int(tracks.name[lanes.track[lane]])]
            if lanes.sub_lane[lane]:
                mine = self.index.order[self.index.first[lane] : self.index.first[lane + 1]]
                # Engine work done on the host's thread nests as waits do, but is the exception.
                waits = self.trace.events.is_category("sync")[mine].any()
                name = "waits" if waits else ""
            elif ROLES[role] == "host" and "host" not in name.lower():
                name = f"host · {name}"
            rows.append(Row(shorten(name, NAME_CHARS), y, ROLES[role]))
        return tuple(rows)

    def _lane_of_events(self) -> I64Array:
        lane = np.empty(len(self.index), dtype=np.int64)
        lane[self.index.order] = np.repeat(
            np.arange(len(self.index.lanes)), np.diff(self.index.first)
        )
        return lane

    @property
    def blank(self) -> bool:
        """Whether there is nothing to draw or to tabulate."""
        return not len(self.trace.events) and not len(self.trace.counters)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the timeline leaves out whatever its window."""
        lanes = len(self.index.lanes) - len(self.rows)
        hidden = [
            (lanes, "row", "rows"),
            (self._curves_hidden, "curve of memory", "curves of memory"),
        ]
        return tuple(
            f"{numbers.count(n, f'more {one}', f'more {many}')} not drawn."
            for n, one, many in hidden
            if n > 0
        )

    def near(self, begin_ns: float, end_ns: float) -> tuple[int, int]:
        """Return a window of at least 1 ns, brought near the run where it is far from it."""
        far = min(FAR_RUNS * self.span_ns, FAR_NS)
        begin, end = (round(min(max(time, -far), far)) for time in (begin_ns, end_ns))
        return begin, max(end, begin + 1)

    def scene(
        self,
        begin_ns: int | None = None,
        end_ns: int | None = None,
        *,
        width_px: int = 1000,
        max_marks: int = 1000,
        max_cells: int = 32_000,
        selected: int = -1,
        found: Matches | None = None,
    ) -> Scene:
        """Return what a window shows.

        Parameters
        ----------
        begin_ns, end_ns : int, optional
            The window, in ns from the begin of the profiled range; all of it when left out.
        width_px : int
            Width it is drawn at.
        max_marks : int
            Most marks.
        max_cells : int
            Most cells of the heatmap, where there is more than marks can show.
        selected : int
            Row of the event that is outlined and whose links are drawn, -1 for none.
        found : Matches, optional
            Events that a search found: the others are dimmed.
        """
        begin, end = self.near(
            0 if begin_ns is None else begin_ns, self.span_ns if end_ns is None else end_ns
        )
        view = self.index.view(
            begin + self.origin_ns,
            end + self.origin_ns + 1,  # what starts at the very end is seen, too
            width_px=width_px,
            max_marks=max_marks,
            max_cells=max_cells,
            lanes=np.arange(len(self.rows)),
        )
        matched = None if found is None else found.within(view)
        links, notes = self.linker.within(view, begin, end, selected)
        return Scene(
            begin_ns=begin,
            end_ns=end,
            rows=self.rows,
            bars=self._bars(view, matched),
            labels=self._labels(view, width_px, matched),
            links=links,
            counters=self._counters(begin, end),
            notes=(*self.notes, *notes),
            marks=len(view),
            heat=heat_of(view.raster, self._y, self.origin_ns, matched)
            if len(view.raster)
            else None,
            outline=self._outline(selected),
        )

    def shows(self, row: int) -> bool:
        """Tell whether there is an event of this number, and a row for it."""
        return 0 <= row < len(self._lane) and bool(self._lane[row] < len(self.rows))

    def drawn(self) -> BoolArray:
        """Return which events have a row, shape (events,)."""
        has: BoolArray = self._lane < len(self.rows)
        return has

    def category(self, row: int) -> str:
        """Return what an event is about."""
        return CATEGORIES[self.trace.events.category[row]]

    def times(self, row: int) -> tuple[int, int]:
        """Return begin and end of an event, in ns from the begin of the profiled range."""
        start = int(self.trace.events.start_ns[row]) - self.origin_ns
        return start, start + int(self.trace.events.dur_ns[row])

    def pick(self, time_ns: float, y: float, *, pixel_ns: float) -> int:
        """Return the row of the event at a place of the picture, -1 where there is none.

        Parameters
        ----------
        time_ns : float
            In ns from the begin of the profiled range.
        y : float
            Height, in rows.
        pixel_ns : float
            Width of a pixel.
        """
        if not self.rows:
            return -1
        lane = int(np.argmin(np.abs(self._y - y)))
        if abs(self._y[lane] - y) > 0.5:
            return -1
        time, _ = self.near(time_ns, time_ns)
        pixel = min(max(round(pixel_ns), 1), self.span_ns)
        return self.index.pick(lane, time + self.origin_ns, pixel_ns=pixel)

    def _outline(self, row: int) -> Outline | None:
        if not self.shows(row):
            return None
        return Outline(*self.times(row), float(self._y[self._lane[row]]))

    def _bars(self, view: View, matched: Matched | None) -> tuple[Bars, ...]:
        many = ~view.single
        dim = np.zeros(len(view), bool) if matched is None else matched.count == 0
        groups = []
        # One number per colour: category, whether several events share a mark, whether dimmed.
        kind = (view.category.astype(np.int64) * 2 + many) * 2 + dim
        for code in np.unique(kind).tolist():
            mine = np.flatnonzero(kind == code)
            merged = bool(code & 2)
            hover = [
                self._hover_many(view, mark, matched)
                if merged
                else self.words.hover(int(view.row[mark]))
                for mark in mine.tolist()
            ]
            groups.append(
                Bars(
                    category=CATEGORIES[code >> 2],
                    many=merged,
                    start_ns=view.start_ns[mine] - self.origin_ns,
                    end_ns=view.end_ns[mine] - self.origin_ns,
                    y=self._y[view.lane[mine]],
                    hover=hover,
                    dim=bool(code & 1),
                )
            )
        return tuple(groups)

    def _hover_many(self, view: View, mark: int, matched: Matched | None) -> str:
        text = self.words.hover_many(view, mark)
        if matched is None:
            return text
        return f"{text}<br>{numbers.count(int(matched.count[mark]))} of them found"

    def _labels(self, view: View, width_px: int, matched: Matched | None) -> tuple[Label, ...]:
        begin, end = view.window_ns
        start = np.maximum(view.start_ns, begin)
        stop = np.minimum(view.end_ns, end)
        width = (stop - start) * (width_px / (end - begin))
        readable = width >= 24
        if matched is not None:
            readable &= matched.count > 0
        wide = np.flatnonzero(readable)
        wide = wide[np.argsort(-width[wide], kind="stable")][:MAX_LABELS]
        labels = []
        for mark in wide.tolist():
            category = CATEGORIES[view.category[mark]]
            if view.count[mark] == 1:
                texts = self.words.labels(int(view.row[mark]))
                colour = f"{category}.text"
            else:
                events = int(view.count[mark])
                texts = (numbers.count(events, "event"), numbers.count(events))
                colour = f"{category}.many.text"
            labels.append(
                Label(
                    int(start[mark]) - self.origin_ns,
                    int(stop[mark]) - self.origin_ns,
                    float(self._y[view.lane[mark]]),
                    colour,
                    texts,
                )
            )
        return tuple(labels)

    def _memory_curves(self) -> list[tuple[str, StepLine]]:
        """Return name and line of each curve of memory; other counters have units of their own."""
        counters, strings = self.trace.counters, self.trace.strings
        code = strings.code("B")
        memory = np.flatnonzero((counters.unit == code) & (code >= 0) & np.isfinite(counters.value))
        keys = counters.track[memory].astype(np.int64) * len(strings) + counters.name[memory]
        curves = [memory[keys == key] for key in np.unique(keys)]
        highest = sorted(curves, key=lambda mine: -float(counters.value[mine].max()))
        drawn = {int(mine[0]) for mine in highest[:MAX_COUNTERS]}
        self._curves_hidden = len(curves) - len(drawn)
        return [
            (
                shorten(strings[int(counters.name[mine[0]])], COUNTER_CHARS),
                StepLine(counters.time_ns[mine] - self.origin_ns, counters.value[mine]),
            )
            for mine in curves
            if int(mine[0]) in drawn
        ]

    def _counters(self, begin: int, end: int) -> tuple[Counter, ...]:
        """Return the step lines of memory."""
        found = []
        for name, line in self._memory:
            time, value = line.corners(begin, end, max_points=MAX_COUNTER_POINTS)
            found.append(Counter(name, "B", time, np.clip(value, -LARGEST, LARGEST), line.peak))
        return tuple(found)

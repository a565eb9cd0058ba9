"""`Stage` and `Scene`: what a timeline shows, before anything decides how to draw it.

- A `Stage` is made once per trace: index, rows from top to bottom, texts.
- A `Scene` is what one window of it shows: capped marks in groups of one colour, labels, links
  and step lines, all in nanoseconds from the begin of the profiled range and rows from the top.
- `plots`, `picture` and the widgets only turn a scene into their own shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from mxprof_nb import lod
from mxprof_nb._typing import I32Array, I64Array
from mxprof_nb.analysis import records_operators
from mxprof_nb.lod import Folds, Matched, Matches, TimelineIndex, View
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import CATEGORIES
from mxprof_nb.view import numbers
from mxprof_nb.view.bars import Bars
from mxprof_nb.view.curves import Counter, Curves
from mxprof_nb.view.groups import MOST_ROWS, Tree
from mxprof_nb.view.heat import Heat, folded_heat, heat_of
from mxprof_nb.view.labels import Label
from mxprof_nb.view.legible import legible
from mxprof_nb.view.links import Linker, Links
from mxprof_nb.view.rows import HEAD, Layout, Row, lay_rows
from mxprof_nb.view.words import BULK, Words

__all__ = ["COUNTERS", "Bars", "Counter", "Label", "Outline", "Row", "Scene", "Stage"]

MAX_LABELS = 300
#: Groups of marks, each of one colour, and merged, dimmed or neither.
MAX_COLOURS = 11
#: Height that all rows together aim at, and limits of one row, in px.
ROWS_PX, LEAST_ROW_PX, MOST_ROW_PX = 300.0, 13.0, 26.0
#: Why there are no rows of workers.
NOTHING_QUEUED = "No rows of workers: the code queued no operator."
#: What choices call the group of step lines.
COUNTERS = "counters"
#: Failed events that are marked in one window.
MAX_FAILURES = 50
#: Width of a cell of a closed group, in px.
FOLDED_PX = 2
#: Layouts that a stage keeps, for views that differ in what is open.
KEPT_LAYOUTS = 16
#: How far from the run one may look, in lengths of the run and in ns.
FAR_RUNS, FAR_NS = 100, 2**61


@dataclass(frozen=True, slots=True)
class Outline:
    """Where an event stands that is selected, or that failed."""

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
    heat: tuple[Heat, ...] = ()
    outline: Outline | None = None
    failures: tuple[Outline, ...] = ()
    name_chars: int = 6  # of the longest name, whatever is opened

    @property
    def empty(self) -> bool:
        """Whether no row shows anything."""
        return not self.bars and not self.heat

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
        self.lanes = self._lane_of_events()
        self.ties = lod.Links(trace)
        self.curves = Curves(trace, self.origin_ns)
        self.tree = Tree(
            trace,
            self.index.lanes,
            self.index.first,
            inner=self._inner_name,
            closed=self._holds_bulks,
        )
        worked = trace.tracks.is_role("worker", "copy", "stream")[trace.events.track]
        idle = bool(len(trace.events)) and not worked.any()
        self._queued_nothing = idle and records_operators(trace)
        self._arrangements: dict[frozenset[tuple[str, int]], Arranged] = {}

    @classmethod
    def of(cls, source: Trace | Stage) -> Stage:
        """Return the stage itself, or the one of a trace."""
        return source if isinstance(source, Stage) else cls(source)

    def _events_of(self, first: int, stop: int) -> I32Array:
        """Return the rows of the events in a range of lanes."""
        found: I32Array = self.index.order[self.index.first[first] : self.index.first[stop]]
        return found

    def _inner_name(self, lane: int) -> str:
        """Return the name of a lane inside a track."""
        if self._holds_bulks(lane - 1, lane + 1):
            return "in bulks"
        mine = self._events_of(lane, lane + 1)
        found = {CATEGORIES[code] for code in np.unique(self.trace.events.category[mine])}
        # Engine work on the host's thread nests as waits do, but is the exception; calls are not.
        return "waits" if "sync" in found and not found & {"api", "user", "python", "io"} else ""

    def _holds_bulks(self, first: int, stop: int) -> bool:
        """Return whether what lies inside a track's events are the members of bulks."""
        inner = self._events_of(first + 1, stop)
        return bool((self.trace.events.domain[inner] == self.trace.strings.code(BULK)).all())

    def arranged(self, folds: Mapping[str, int] | None = None) -> Arranged:
        """Return the rows after some groups were opened or closed; see `lay_rows`."""
        key = frozenset((folds or {}).items())
        found = self._arrangements.get(key)
        if found is None:
            found = Arranged(self, lay_rows(self.tree, folds))
            if len(self._arrangements) > KEPT_LAYOUTS:
                self._arrangements.clear()
            self._arrangements[key] = found
        return found

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
    def rows(self) -> tuple[Row, ...]:
        """The rows at first."""
        return self.arranged().layout.rows

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
        folds: Mapping[str, int] | None = None,
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
        folds : mapping of str to int, optional
            Groups that a person has opened or closed; see `lay_rows`. `COUNTERS` stands for
            the step lines.
        """
        arranged = self.arranged(folds)
        layout = arranged.layout
        begin, end = self.near(
            0 if begin_ns is None else begin_ns, self.span_ns if end_ns is None else end_ns
        )
        all_rows = len(layout.drawn) + len(layout.first)
        cells = max_cells * len(layout.drawn) // max(all_rows, 1)
        view = self.index.view(
            begin + self.origin_ns,
            end + self.origin_ns + 1,  # what starts at the very end is seen, too
            width_px=width_px,
            max_marks=max_marks,
            max_cells=cells,
            lanes=layout.drawn,
        )
        matched = None if found is None else found.within(view)
        links, notes = arranged.linker.within(view, begin, end, selected)
        heat = arranged.heat((begin, end + 1), width_px, max_cells - cells, found)
        if len(view.raster):
            heat = (heat_of(view.raster, layout.y, self.origin_ns, matched), *heat)
        every = bool((folds or {}).get(COUNTERS))
        counters = self.curves.within(begin, end, every=every)
        if self._queued_nothing:
            notes = (NOTHING_QUEUED, *notes)
        if layout.refused:
            notes = (*notes, f"At most {MOST_ROWS} rows are drawn: close a group to open another.")
        if every and (hidden := len(self.curves) - self.curves.most):
            notes = (*notes, f"{numbers.count(hidden, 'more counter')} not drawn.")
        return Scene(
            begin_ns=begin,
            end_ns=end,
            rows=layout.rows + self._counters_row(layout.height, len(counters), every),
            bars=self._bars(view, matched, layout),
            labels=self._labels(view, width_px, matched, layout),
            links=links,
            counters=counters,
            notes=notes,
            marks=len(view),
            heat=heat,
            outline=self._outline(selected, layout),
            failures=self._failures(begin, end, layout),
            name_chars=self.tree.name_chars,
        )

    def _counters_row(self, height: float, shown: int, every: bool) -> tuple[Row, ...]:
        """Return the row that opens and closes the step lines; none where there are few."""
        if len(self.curves) == self.curves.first:
            return ()
        hidden = len(self.curves) - shown
        name = "counters" if every else numbers.count(hidden, "more counter")
        title = f"{numbers.count(len(self.curves), 'counter')} in all"
        return (Row(name, height + HEAD / 2, "counter", title, key=COUNTERS, open=every),)

    def shows(self, row: int) -> bool:
        """Tell whether there is an event of this number."""
        return 0 <= row < len(self.lanes)

    def category(self, row: int) -> str:
        """Return what an event is about."""
        return CATEGORIES[self.trace.events.category[row]]

    def times(self, row: int) -> tuple[int, int]:
        """Return begin and end of an event, in ns from the begin of the profiled range."""
        start = int(self.trace.events.start_ns[row]) - self.origin_ns
        return start, start + int(self.trace.events.dur_ns[row])

    def pick(
        self,
        time_ns: float,
        y: float,
        *,
        pixel_ns: float,
        folds: Mapping[str, int] | None = None,
    ) -> int:
        """Return the row of the event at a place of the picture, -1 where there is none.

        Parameters
        ----------
        time_ns : float
            In ns from the begin of the profiled range.
        y : float
            Height, in rows.
        pixel_ns : float
            Width of a pixel.
        folds : mapping of str to int, optional
            As for `scene`.
        """
        row = self.arranged(folds).layout.at(y)
        if row is None:
            return -1
        time, _ = self.near(time_ns, time_ns)
        pixel = min(max(round(pixel_ns), 1), self.span_ns)
        (first, stop), time = row.lanes, time + self.origin_ns
        # Of a track that is closed the outermost events are drawn, and meant where there are any.
        drawn = self.index.pick(first, time, pixel_ns=pixel)
        if drawn >= 0 or stop - first == 1:
            return drawn
        return self.index.pick(first, time, pixel_ns=pixel, lanes=stop - first)

    def _outline(self, row: int, layout: Layout) -> Outline | None:
        if not self.shows(row):
            return None
        return Outline(*self.times(row), float(layout.y[self.lanes[row]]))

    def _failures(self, begin: int, end: int, layout: Layout) -> tuple[Outline, ...]:
        """Return where the first of the failed events in a window stand."""
        found: list[Outline] = []
        for row in self.words.failures:
            start, stop = self.times(row)
            if start < end and stop >= begin and len(found) < MAX_FAILURES:
                found.append(Outline(start, stop, float(layout.y[self.lanes[row]])))
        return tuple(found)

    def _bars(self, view: View, matched: Matched | None, layout: Layout) -> tuple[Bars, ...]:
        many = ~view.single
        dim = np.zeros(len(view), bool) if matched is None else matched.count == 0
        groups = []
        # One number per colour: category, whether several events share a mark, whether dimmed.
        kind = (view.category.astype(np.int64) * 2 + many) * 2 + dim
        for alike in (many & dim, dim & ~many, many & ~dim):
            # A page draws each colour on its own, and slows down with their number.
            if len(np.unique(kind)) > MAX_COLOURS and alike.any():
                kind[alike] = np.bincount(kind[alike]).argmax()
        for code in np.unique(kind).tolist():
            mine = np.flatnonzero(kind == code)
            merged = bool(code & 2)
            groups.append(
                Bars(
                    category=CATEGORIES[code >> 2],
                    many=merged,
                    start_ns=view.start_ns[mine] - self.origin_ns,
                    end_ns=view.end_ns[mine] - self.origin_ns,
                    y=layout.y[view.lane[mine]],
                    told=partial(self._hovers, view, mine, matched, merged),
                    dim=bool(code & 1),
                )
            )
        return tuple(groups)

    def _hovers(
        self, view: View, marks: I64Array, matched: Matched | None, merged: bool
    ) -> list[str]:
        if merged:
            return [self._hover_many(view, mark, matched) for mark in marks.tolist()]
        return [self.words.hover(row) for row in view.row[marks].tolist()]

    def _hover_many(self, view: View, mark: int, matched: Matched | None) -> str:
        text = self.words.hover_many(view, mark)
        if matched is None:
            return text
        return f"{text}<br>{numbers.count(int(matched.count[mark]))} of them found"

    def _labels(
        self, view: View, width_px: int, matched: Matched | None, layout: Layout
    ) -> tuple[Label, ...]:
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
                row = int(view.row[mark])
                texts = self.words.labels(row)
                if self.words.members[row] and view.lane[mark] + 1 in layout.first:
                    texts = tuple(f"▸ {text}" for text in texts)
                colour = f"{category}.text"
            else:
                events = int(view.count[mark])
                texts = (numbers.count(events, "event"), numbers.count(events))
                colour = f"{category}.many.text"
            labels.append(
                Label(
                    int(start[mark]) - self.origin_ns,
                    int(stop[mark]) - self.origin_ns,
                    float(layout.y[view.lane[mark]]),
                    colour,
                    texts,
                )
            )
        return tuple(labels)


class Arranged:
    """What all windows of one layout share: its rows, its links, how busy closed groups are."""

    def __init__(self, stage: Stage, layout: Layout) -> None:
        self.layout = layout
        lanes, lane = stage.index.lanes, stage.lanes
        self.linker = Linker(stage.trace, stage.ties, lane, layout.y, lanes.role)
        self._shift_ns = stage.origin_ns - stage.index.begin_ns
        # What lies inside the events of a closed track shows nothing that these do not.
        first, stop = (stage.index.first[of] for of in (layout.first, layout.stop))
        own = stage.trace.events.parent[stage.index.order] < 0
        shown = (
            np.diff(np.concatenate(([0], np.cumsum(own)))[np.stack([first, stop])], axis=0)[0] > 0
        )
        self._first, self._stop = layout.first[shown], layout.stop[shown]
        self._y = layout.joined_y[shown]
        self._folds = stage.index.folded(self._first, self._stop) if shown.any() else None
        self._found: tuple[Matches, Folds] | None = None

    def heat(
        self, window: tuple[int, int], width_px: int, max_cells: int, found: Matches | None
    ) -> tuple[Heat, ...]:
        """Return how busy the closed groups were; after a search, with what was found."""
        folds = self._folds
        if folds is None:
            return ()
        if found is not None:
            if self._found is None or self._found[0] is not found:
                self._found = found, found.folded(self._first, self._stop)
            folds = self._found[1]
        columns = max(min(width_px // FOLDED_PX, max_cells // len(folds)), 1)
        return (folded_heat(folds, self._y, window, columns, self._shift_ns),)

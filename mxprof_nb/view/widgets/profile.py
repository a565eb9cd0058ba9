"""`ProfileWidget`: the interactive output under a profiled cell.

- Made on the kernel's main thread when a cell is shown; the page then reports gestures, and the
  kernel handles these messages on whichever thread it likes. A change is noted under a lock and
  answered without it, by one thread at a time, for the newest state; none is lost, and none is
  answered after `close`.
- State, not messages: what is shown stands in traits, so that a reloaded page has it at once.
- What a cell shows, and a notebook stores, is the form that needs no kernel; the page puts the
  live view in its place as long as the widget is there (``static/appearances.js``).
- Closing a widget also closes the layout that belongs to it. At most `MAX_LIVE` are kept.
"""

from __future__ import annotations

import base64
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets

from mxprof_nb.errors import TraceError
from mxprof_nb.trace import Trace
from mxprof_nb.view import report
from mxprof_nb.view.headline import headline, remarks, sentences
from mxprof_nb.view.inspector import inspect
from mxprof_nb.view.kernel import outputs_stand_apart
from mxprof_nb.view.legible import shown
from mxprof_nb.view.numbers import time_range
from mxprof_nb.view.plots import marks
from mxprof_nb.view.rows import described
from mxprof_nb.view.scene import Scene, Stage
from mxprof_nb.view.search import Search
from mxprof_nb.view.strip import strip
from mxprof_nb.view.tables import LIVE_ROWS, events_of, grids, row_of
from mxprof_nb.view.widgets import assets, plotlyjs
from mxprof_nb.view.widgets.answering import Answers
from mxprof_nb.view.widgets.asked import Asked, are_numbers, folds_of, is_window
from mxprof_nb.view.widgets.packing import pack
from mxprof_nb.view.words import shorten

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["ProfileWidget"]

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
MAX_MARKS = 1000
MAX_LIVE = 50
STRIP_BINS = 160
WIDTHS_PX = (100, 10_000)
#: Texts above the timeline are cut to that: what a program says of an error may fill a screen.
TEXT_CHARS = 500
#: Tables and hover texts follow once the view has been at rest that long: they take longer than a
#: figure, which must not wait for them.
TABLES_AFTER_S = 0.15

Action = Callable[[], Any]

_live: OrderedDict[str, ProfileWidget] = OrderedDict()
_live_lock = threading.Lock()
#: How wide the last page drew: the next timeline is made for that, and need not be made again.
_usual_width = marks.PLOT_PX


class ProfileWidget(anywidget.AnyWidget):
    """Headline, sentences, timeline and tables of one trace, to zoom and to click.

    Parameters
    ----------
    trace : Trace or Stage
    on_save, on_export : callable, optional
        What the buttons "Save report" and "Export trace" do: called without arguments, on any
        thread; what they return, a path, is shown, and so is the message of what they raise.
        A button without a callable is not there.
    cell : str
        The cell the widget belongs to: a later widget of the same cell closes this one.

    Attributes
    ----------
    view : list of float
        Begin and end of the visible part, in ns from the begin of the run; may be set.
    range : list of float
        Begin and end of the part that the tables are of, where it is not the visible one: empty
        then. May be set.
    selected : int
        Row of the selected event, -1 for none; may be set.
    """

    _esm = assets.STUB

    view = traitlets.List(traitlets.Float()).tag(sync=True)
    range = traitlets.List(traitlets.Float()).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    _folds = traitlets.Dict().tag(sync=True)
    _query = traitlets.Dict().tag(sync=True)
    _mark = traitlets.Unicode().tag(sync=True)
    _assets = traitlets.Unicode().tag(sync=True)
    # One trait, so that it arrives at once: figure, of which part, what is selected, what was
    # found, and a number.
    _shown = traitlets.Dict().tag(sync=True)
    # What is said of its bars beside the pointer, with that number: texts take longer than marks.
    _hover = traitlets.Bytes().tag(sync=True)
    _tables = traitlets.Bytes().tag(sync=True)
    _range = traitlets.Unicode().tag(sync=True)
    _said = traitlets.Unicode().tag(sync=True)
    _picture = traitlets.Unicode().tag(sync=True)
    _text = traitlets.Dict().tag(sync=True)
    _strip = traitlets.Bytes().tag(sync=True)
    _can = traitlets.Dict().tag(sync=True)
    _span_ns = traitlets.Float().tag(sync=True)
    _height = traitlets.Int().tag(sync=True)
    _margin = traitlets.List(traitlets.Int()).tag(sync=True)
    _width = traitlets.Int(marks.PLOT_PX).tag(sync=True)
    _plotly_key = traitlets.Unicode().tag(sync=True)
    _plotly_version = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        trace: Trace | Stage,
        *,
        on_save: Action | None = None,
        on_export: Action | None = None,
        cell: str = "",
    ) -> None:
        shared = assets.assets_id()
        plotlyjs.push_once()
        self._stage = Stage.of(trace)
        self._actions = {"save": on_save, "export": on_export}
        self._answers = Answers(self._answer)
        self._acting = threading.Lock()
        self._tabulating = threading.Timer(0, self._tabulate)
        whole = (0, self._stage.span_ns)
        self._search: Search | None = None
        self._answered = Asked(*whole, _usual_width)
        self._table_window = self._tabulated = whole
        figure, layout, scene = self._drawn(self._answered)
        self._untold: tuple[int, Scene] | None = None
        mark = uuid.uuid4().hex
        super().__init__(
            model_id=mark,
            view=[float(time) for time in whole],
            _mark=mark,
            _assets=shared,
            _shown={"seq": 0, "view": whole, "figure": figure, "inspected": {}, "found": {}},
            _hover=_hovers(0, scene),
            _width=_usual_width,
            _tables=self._tabled(*whole),
            _range=self._ranged(*whole),
            _text=self._told(),
            _query={"text": "", "regex": False},
            _strip=self._stripped(),
            _can={name: action is not None for name, action in self._actions.items()},
            _span_ns=float(self._stage.span_ns),
            _height=layout["height"],
            _margin=[layout["margin"]["l"], layout["margin"]["r"]],
            _plotly_key=plotlyjs.key(),
            _plotly_version=plotlyjs.version(),
        )
        self.observe(
            lambda _: self._answers.note(),
            ["view", "range", "selected", "_query", "_folds", "_width"],
        )
        self.on_msg(self._on_message)
        _keep(self, cell)

    def _repr_mimebundle_(self, **_options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the forms that need no kernel, marked for the page to find.

        The widget itself is named only where the page could not find them: a stored name shows an
        error, and nothing of the other forms, once its kernel is gone.
        """
        bundle = report.mime_bundle(self._stage, mark=self._mark)
        if outputs_stand_apart():
            shown = super()._repr_mimebundle_()
            bundle |= {WIDGET_MIME: shown[0][WIDGET_MIME]} if shown else {}
        return bundle, {}

    @property
    def stage(self) -> Stage:
        """What another widget of the same trace may share with this one."""
        return self._stage

    def to_figure(self, **options: Any) -> go.Figure:
        """Return what is in view as a plain plotly figure, to restyle or to export.

        Parameters
        ----------
        **options
            As for `mxprof_nb.timeline`; ``begin_ns`` and ``end_ns`` are those of the view where
            they are left out.

        Raises
        ------
        TraceError
            As `mxprof_nb.timeline`.
        """
        begin, end = (round(time) + self._stage.origin_ns for time in self.view)
        return marks.timeline(self._stage.trace, **{"begin_ns": begin, "end_ns": end, **options})

    def close(self) -> None:
        """Remove the widget and its layout from kernel and page; nothing is answered any more."""
        with self._answers.lock:
            self._answers.closed = True
            self._tabulating.cancel()
            layout = self.layout
            super().close()
        with _live_lock:
            for name in [name for name, widget in _live.items() if widget is self]:
                del _live[name]
        if layout is not None:
            layout.close()

    def _drawn(self, asked: Asked) -> tuple[bytes, dict[str, Any], Scene]:
        scene = self._stage.scene(
            asked.begin,
            asked.end,
            width_px=asked.width,
            max_marks=MAX_MARKS,
            selected=asked.selected,
            found=None if self._search is None else self._search.matches,
            folds=dict(asked.folds),
        )
        figure = marks.figure(scene, self._stage.span_ns, width_px=asked.width, hover=False)
        unit_ns, rows = marks.time_unit(self._stage.span_ns)[1], described(scene.rows)
        packed = pack({**figure, "unit_ns": unit_ns, "notes": list(scene.notes), "rows": rows})
        return packed, figure["layout"], scene

    def _tabled(self, begin: int, end: int) -> bytes:
        origin, span = self._stage.origin_ns, self._stage.span_ns
        # The whole run is not a window: what ran on after its end belongs to it.
        window = None if begin <= 0 and end >= span else (begin + origin, end + origin)
        found = grids(self._stage.trace, window, most=LIVE_ROWS)
        return pack({"grids": [grid.described() for grid in found]})

    def _ranged(self, begin: int, end: int) -> str:
        span = self._stage.trace.span_ns
        begin = min(max(begin, 0), span)
        return time_range(begin, max(min(end, span), begin), span)

    def _told(self) -> dict[str, Any]:
        origin, trace = self._stage.origin_ns, self._stage.trace
        told = [
            {
                "text": shorten(sentence.text, TEXT_CHARS),
                "window": sentence.window_ns
                and [float(time - origin) for time in sentence.window_ns],
            }
            for sentence in sentences(trace)
        ]
        return {
            "headline": shorten(headline(trace), TEXT_CHARS),
            "sentences": told,
            "remarks": [shorten(remark, TEXT_CHARS) for remark in remarks(trace)],
        }

    def _stripped(self) -> bytes:
        """Return the overview strip, bytes from 0 to 255.

        First how busy the workers were in each bin, then how much of it the hosts waited.
        """
        shares = np.concatenate(strip(self._stage, STRIP_BINS))
        return (shares * 255).round().astype(np.uint8).tobytes()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take over what the page has changed."""
        with self._answers.changing():
            super().set_state(sync_data)

    def _answer(self) -> None:
        """Answer a gesture: a figure of the visible part first, its tables after."""
        global _usual_width
        with self._answers.lock:
            if self._answers.closed or not is_window(self.view):
                return
            view = self._stage.near(*self.view)
            least, most = WIDTHS_PX
            asked = Asked(
                *view,
                min(max(self._width, least), most),
                self.selected if self._stage.shows(self.selected) else -1,
                str(self._query.get("text", "")),
                bool(self._query.get("regex", False)),
                str(self._query.get("table", "")),
                folds_of(self._folds),
            )
            window = self._stage.near(*self.range) if is_window(self.range) else view
        _usual_width = asked.width
        if asked != self._answered:
            self._show(asked, window)
        if window != self._table_window or self._untold:
            self._tabulate_later(window)

    def _tabulate_later(self, window: tuple[int, int]) -> None:
        with self._answers.lock:
            if self._answers.closed:
                return
            self._table_window = window
            self._tabulating.cancel()
            self._tabulating = threading.Timer(TABLES_AFTER_S, self._tabulate, [window])
            self._tabulating.daemon = True
            self._tabulating.start()

    def _tabulate(self, window: tuple[int, int]) -> None:
        with self._answers.lock:
            untold, self._untold = self._untold, None
        if untold:
            self._tell(_hover=_hovers(*untold))
        if window == self._tabulated:
            return
        ranged, tables = self._ranged(*window), self._tabled(*window)
        with self._answers.lock:
            if window == self._table_window and not self._answers.closed:
                self._tabulated = window
                self._range = ranged
                self._tables = tables

    def _show(self, asked: Asked, window: tuple[int, int]) -> None:
        before, error = self._answered, self._shown["found"].get("error", "")
        if asked.sought != before.sought:
            self._search, error = self._searched(asked)
        row, inspected = asked.selected, self._shown["inspected"]
        if row != before.selected:
            inspected = self._told_of(row) if row >= 0 else {}
        figure, _, scene = self._drawn(asked)
        answer = {
            "view": asked[:2],
            "figure": figure,
            "inspected": inspected,
            "found": self._counted(row, error),
        }
        with self._answers.lock:
            self._answered = asked
            self._untold = self._shown["seq"] + 1, scene
            if not self._answers.closed:
                with self.hold_sync():  # one message
                    self._range = self._ranged(*window)
                    self._shown = {"seq": self._shown["seq"] + 1, **answer}

    def _told_of(self, row: int) -> dict[str, Any]:
        return {**asdict(inspect(self._stage, row)), "table_row": row_of(self._stage.trace, row)}

    def _counted(self, row: int, error: str) -> dict[str, Any]:
        """Return how many events were found, and which of them is the selected one."""
        if error:
            return {"count": 0, "at": 0, "error": error}
        if self._search is None:
            return {}
        return {"count": len(self._search), "at": self._search.number(row), "error": ""}

    def _searched(self, asked: Asked) -> tuple[Search | None, str]:
        """Return the search for a text or a row of a table, or why there is none."""
        if not asked.text:
            return None, ""
        rows = events_of(self._stage.trace, asked.table, asked.text) if asked.table else None
        try:
            return Search(self._stage, asked.text, regex=asked.regex, rows=rows), ""
        except TraceError as error:
            return None, shown(str(error))

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        kind = content.get("type") if isinstance(content, dict) else None
        if self._answers.closed:
            return
        if kind == "need":
            plotlyjs.answer(self, content)
        elif kind == "picture" and not self._picture:
            image = base64.b64encode(report.svg(self._stage).encode()).decode()
            self._tell(_picture=f"data:image/svg+xml;base64,{image}")
        elif kind == "pick":
            place = [content.get(name) for name in ("time", "y", "pixel")]
            if are_numbers(place):
                time, y, pixel = place
                folds = dict(self._answered.folds)
                self._tell(selected=self._stage.pick(time, y, pixel_ns=pixel, folds=folds))
        elif kind == "go" and isinstance(row := content.get("row"), int):
            self._go(row)
        elif kind == "step" and self._search is not None:
            by = -1 if content.get("by") == -1 else 1
            self._go(self._search.step(self.selected, by, self._answered.begin))
        elif kind in self._actions:
            self._act(kind)

    def _tell(self, **traits: Any) -> None:
        with self._answers.changing():
            if not self._answers.closed:
                for name, value in traits.items():
                    self.set_trait(name, value)

    def _go(self, row: int) -> None:
        """Select an event, and move the view as little as it takes to see it."""
        if not self._stage.shows(row):
            return
        (begin, end), (first, last) = self._stage.times(row), self._answered[:2]
        view = self.view
        if begin < first or end > last:
            width = max(float(last - first), 1.5 * (end - begin))
            start = min((begin + end - width) / 2, self._stage.span_ns - width)
            start = max(start, 0.0)
            view = [start, start + width]
        self._tell(selected=row, view=view)

    def _act(self, kind: str) -> None:
        action = self._actions[kind]
        if action is None:
            return
        with self._acting:
            self._tell(_said="Writing…")
            try:
                path = action()
            except Exception as error:  # whatever it is, the person at the button must read it
                self._tell(_said=shown(str(error)) or type(error).__name__)
            else:
                self._tell(_said=shown(f"Written: {path}"))


def _hovers(seq: int, scene: Scene) -> bytes:
    return pack({"seq": seq, "texts": [bars.hover for bars in scene.bars]})


def _keep(widget: ProfileWidget, cell: str) -> None:
    """Remember a live widget, and close the one of the same cell and those beyond the limit."""
    name = cell or widget.model_id
    with _live_lock:
        gone = [_live.pop(name)] if name in _live else []
        _live[name] = widget
        while len(_live) > MAX_LIVE:
            gone.append(_live.popitem(last=False)[1])
    for old in gone:
        old.close()

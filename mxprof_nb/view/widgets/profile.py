"""`ProfileWidget`: the interactive output under a profiled cell.

- Made on the kernel's main thread when a cell is shown; the page then reports gestures, and every
  answer is computed on whichever thread the kernel handles that message: callbacks take a lock.
- State, not messages: what is shown stands in traits, so that a reloaded page has it at once.
- What a cell shows, and a notebook stores, is the form that needs no kernel; the page puts the
  live view in its place as long as the widget is there (``static/appearances.js``).
- Closing a widget also closes the layout that belongs to it. At most `MAX_LIVE` are kept.
"""

from __future__ import annotations

import base64
import math
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from mxprof_nb.trace import Trace
from mxprof_nb.view import plots, report
from mxprof_nb.view.headline import headline, remarks, sentences
from mxprof_nb.view.kernel import outputs_stand_apart
from mxprof_nb.view.legible import shown
from mxprof_nb.view.numbers import time_range
from mxprof_nb.view.palette import THEMES, colours
from mxprof_nb.view.scene import Stage
from mxprof_nb.view.strip import strip
from mxprof_nb.view.tables import grids
from mxprof_nb.view.widgets import plotlyjs
from mxprof_nb.view.widgets.packing import pack

__all__ = ["ProfileWidget"]

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
MAX_MARKS = 1000
MAX_LIVE = 50
STRIP_BINS = 160

Action = Callable[[], Any]

_live: OrderedDict[str, ProfileWidget] = OrderedDict()
_live_lock = threading.Lock()


class ProfileWidget(anywidget.AnyWidget):
    """Headline, sentences, timeline and tables of one trace, to zoom and to click.

    Parameters
    ----------
    trace : Trace
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
    """

    _esm = plotlyjs.script("plotlyjs.js", "appearances.js", "fitting.js", "parts.js", "profile.js")
    _css = plotlyjs.script("profile.css")

    view = traitlets.List(traitlets.Float()).tag(sync=True)
    _mark = traitlets.Unicode().tag(sync=True)
    _figure = traitlets.Bytes().tag(sync=True)
    _seq = traitlets.Int(0).tag(sync=True)
    _tables = traitlets.List(traitlets.Dict()).tag(sync=True)
    _range = traitlets.Unicode().tag(sync=True)
    _said = traitlets.Unicode().tag(sync=True)
    _picture = traitlets.Unicode().tag(sync=True)
    _text = traitlets.Dict().tag(sync=True)
    _strip = traitlets.Dict().tag(sync=True)
    _palette = traitlets.Dict().tag(sync=True)
    _config = traitlets.Dict().tag(sync=True)
    _can = traitlets.Dict().tag(sync=True)
    _span_ns = traitlets.Float().tag(sync=True)
    _height = traitlets.Int().tag(sync=True)
    _margin = traitlets.List(traitlets.Int()).tag(sync=True)
    _width = traitlets.Int(plots.PLOT_PX).tag(sync=True)
    _plotly_key = traitlets.Unicode().tag(sync=True)
    _plotly_version = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        trace: Trace,
        *,
        on_save: Action | None = None,
        on_export: Action | None = None,
        cell: str = "",
    ) -> None:
        plotlyjs.push_once()
        self._stage = Stage(trace)
        self._actions = {"save": on_save, "export": on_export}
        self._drawing = threading.Lock()
        self._acting = threading.Lock()
        whole = (0, self._stage.span_ns)
        self._shown: tuple[int, int, int] = (*whole, plots.PLOT_PX)
        figure, layout = self._drawn(*self._shown)
        super().__init__(
            view=[float(time) for time in whole],
            # Not the model's id, which nobody knows before the model is on its way to the page.
            _mark=uuid.uuid4().hex,
            _figure=figure,
            _tables=self._tabled(*whole),
            _range=self._ranged(*whole),
            _text=self._told(),
            _strip=self._stripped(),
            _palette={theme: colours(theme) for theme in THEMES},
            _config=dict(plots.CONFIG),
            _can={name: action is not None for name, action in self._actions.items()},
            _span_ns=float(self._stage.span_ns),
            _height=layout["height"],
            _margin=[layout["margin"]["l"], layout["margin"]["r"]],
            _plotly_key=plotlyjs.key(),
            _plotly_version=plotlyjs.version(),
        )
        self.observe(self._on_view, ["view", "_width"])
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

    def close(self) -> None:
        """Remove the widget and its layout from kernel and page."""
        layout = self.layout
        super().close()
        with _live_lock:
            for name in [name for name, widget in _live.items() if widget is self]:
                del _live[name]
        if layout is not None:
            layout.close()

    def _drawn(self, begin: int, end: int, width_px: int) -> tuple[bytes, dict[str, Any]]:
        scene = self._stage.scene(begin, end, width_px=width_px, max_marks=MAX_MARKS)
        figure = plots.figure(scene, self._stage.span_ns, width_px=width_px)
        unit_ns = plots.time_unit(self._stage.span_ns)[1]
        packed = pack({**figure, "unit_ns": unit_ns, "notes": list(scene.notes)})
        return packed, figure["layout"]

    def _tabled(self, begin: int, end: int) -> list[dict[str, Any]]:
        origin, span = self._stage.origin_ns, self._stage.span_ns
        # The whole run is not a window: what ran on after its end belongs to it.
        window = None if begin <= 0 and end >= span else (begin + origin, end + origin)
        return [
            {
                "title": grid.title,
                "headings": grid.headings,
                "rows": grid.rows,
                "shares": [round(share, 4) for share in grid.shares],
                "total": grid.total,
                "notes": grid.notes,
                "meanings": grid.meanings,
                "headingMeanings": grid.heading_meanings,
            }
            for grid in grids(self._stage.trace, window)
        ]

    def _ranged(self, begin: int, end: int) -> str:
        span = self._stage.trace.span_ns
        begin = min(max(begin, 0), span)
        return time_range(begin, max(min(end, span), begin), span)

    def _told(self) -> dict[str, Any]:
        origin, trace = self._stage.origin_ns, self._stage.trace
        told = [
            {
                "text": sentence.text,
                "window": sentence.window_ns
                and [float(time - origin) for time in sentence.window_ns],
            }
            for sentence in sentences(trace)
        ]
        return {"headline": headline(trace), "sentences": told, "remarks": list(remarks(trace))}

    def _stripped(self) -> dict[str, list[float]]:
        """Return the overview strip: shares, 0 to 1, of busy workers and of waiting hosts."""
        busy, waited = strip(self._stage, STRIP_BINS)
        return {"busy": busy.round(3).tolist(), "waited": waited.round(3).tolist()}

    def _on_view(self, _change: Any) -> None:
        """Answer a gesture: a figure of the visible part first, its tables after."""
        with self._drawing:
            if len(self.view) != 2 or not all(math.isfinite(time) for time in self.view):
                return
            asked = (*self._stage.near(*self.view), min(max(self._width, 100), 10_000))
            if asked == self._shown:
                return
            moved, self._shown = asked[:2] != self._shown[:2], asked
            figure, _ = self._drawn(*asked)
            with self.hold_sync():
                self._figure = figure
                self._range = self._ranged(*asked[:2])
                self._seq += 1
            if moved:
                self._tables = self._tabled(*asked[:2])

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        kind = content.get("type") if isinstance(content, dict) else None
        if kind == "need":
            plotlyjs.answer(self, content)
        elif kind == "picture" and not self._picture:
            image = base64.b64encode(report.svg(self._stage).encode()).decode()
            self._picture = f"data:image/svg+xml;base64,{image}"
        elif kind in self._actions:
            self._act(kind)

    def _act(self, kind: str) -> None:
        action = self._actions[kind]
        if action is None:
            return
        with self._acting:
            self._said = "Writing…"
            try:
                path = action()
            except Exception as error:  # whatever it is, the person at the button must read it
                self._said = shown(str(error)) or type(error).__name__
            else:
                self._said = shown(f"Written: {path}")


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

"""Forms of a profile that need no kernel: text, HTML, PNG, plotly JSON, a file, a MIME bundle.

All show the same, in the same order: headline, sentences, picture, tables, remarks.
"""

from __future__ import annotations

import base64
import json
import textwrap
from html import escape
from pathlib import Path
from typing import Any, Protocol

from mxprof_nb._typing import StrPath
from mxprof_nb.errors import WriteError
from mxprof_nb.trace import Trace
from mxprof_nb.view import plots
from mxprof_nb.view.headline import headline, remarks, sentences
from mxprof_nb.view.kernel import kernel_runs
from mxprof_nb.view.palette import paint
from mxprof_nb.view.picture import picture
from mxprof_nb.view.scene import Stage
from mxprof_nb.view.tables import Grid, grids
from mxprof_nb.view.words import shorten

__all__ = ["html", "mime_bundle", "plotly_json", "png", "save_html", "svg", "text_summary"]

TEXT_WIDTH = 100
TEXT_ROWS = 15
NAME_CHARS = 30
BAR_CHARS = 10
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
#: Marks in a notebook file; the hover text of each costs about 100 bytes.
OVERVIEW_MARKS = 400
#: Marks of the figure in a file of its own, where nobody can be asked for more detail.
FILE_MARKS = 3000
PLOTLY_MIME = "application/vnd.plotly.v1+json"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


class _Shown(Protocol):
    """A widget, as far as a bundle needs to know it."""

    def _repr_mimebundle_(self, **kwargs: Any) -> Any: ...


def text_summary(trace: Trace) -> str:
    """Return headline, sentences and the table of operators as plain text.

    Lines are at most 100 columns wide.
    """
    lines = textwrap.wrap(headline(trace), TEXT_WIDTH)
    for sentence in sentences(trace):
        lines += textwrap.wrap(
            sentence.text, TEXT_WIDTH, initial_indent=" • ", subsequent_indent="   "
        )
    for grid in grids(trace)[:1]:
        lines += ["", *_text_table(grid)]
    for remark in remarks(trace):
        lines += textwrap.wrap(remark, TEXT_WIDTH, initial_indent=" ! ", subsequent_indent="   ")
    return "\n".join(lines)


def _text_table(grid: Grid) -> list[str]:
    rows = [
        [shorten(row[0], NAME_CHARS), *row[1:]] for row in (grid.headings, *grid.rows[:TEXT_ROWS])
    ]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        bar = _text_bar(grid.shares[number - 1]) if number and grid.shares else ""
        lines.append("  ".join([*cells, bar]).rstrip())
    left = grid.total - (len(rows) - 1)
    return [*lines, f"and {left:,} more"] if left > 0 else lines


def _text_bar(part: float) -> str:
    """Return a bar of up to ten characters, in eighths of a character."""
    eighths = round(part * BAR_CHARS * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8]


def svg(trace: Trace | Stage) -> str:
    """Return the still picture as one SVG element."""
    stage = Stage.of(trace)
    return picture(stage).svg(f"Timeline: {headline(stage.trace)}")


def png(trace: Trace | Stage) -> bytes:
    """Return the still picture as a PNG file, two pixels per px."""
    return picture(trace).png()


def html(trace: Trace | Stage) -> str:
    """Return a fragment of HTML that also viewers which run no script and trust nothing show.

    Styles stand inline and the picture is a data URI, because JupyterLab and GitHub strip script,
    style and svg elements from outputs. All names are escaped.
    """
    stage = Stage.of(trace)
    trace = stage.trace
    image = base64.b64encode(svg(stage).encode()).decode()
    parts = [
        '<div style="font-variant-numeric:tabular-nums">',
        f'<p style="margin:0 0 4px;font-weight:600">{_headline_html(trace)}</p>',
        _sentences_html(trace),
        f'<img alt="{escape(headline(trace))}" style="max-width:100%;display:block;'
        f'border-radius:4px" src="data:image/svg+xml;base64,{image}">',
        *(_table_html(grid, opened=k == 0) for k, grid in enumerate(grids(trace))),
        _notes_html(remarks(trace)),
        "</div>",
    ]
    return "".join(parts)


def _headline_html(trace: Trace) -> str:
    """Return the headline; it wraps between its parts, never between a number and its unit."""
    parts = (escape(part) for part in headline(trace).split(" · "))
    return " · ".join(f'<span style="white-space:nowrap">{part}</span>' for part in parts)


def _sentences_html(trace: Trace) -> str:
    items = "".join(f"<li>{escape(sentence.text)}</li>" for sentence in sentences(trace))
    return f'<ul style="margin:0 0 8px;padding-left:1.4em">{items}</ul>'


def _notes_html(notes: tuple[str, ...]) -> str:
    return "".join(f'<p style="margin:4px 0;opacity:.8">{escape(note)}</p>' for note in notes)


def _table_html(grid: Grid, *, opened: bool) -> str:
    cell = 'style="text-align:{};padding:2px 12px 2px 0;white-space:nowrap{}"'
    heads = "".join(
        f"<th {cell.format('left' if k == 0 else 'right', ';font-weight:600')}>{escape(name)}</th>"
        for k, name in enumerate(grid.headings)
    )
    body = []
    for number, row in enumerate(grid.rows):
        cells = "".join(
            f"<td {cell.format('left' if k == 0 else 'right', '')}>{escape(text)}</td>"
            for k, text in enumerate(row)
        )
        if grid.shares:
            width = max(round(grid.shares[number] * 90), 1)
            cells += (
                '<td style="text-align:left;padding:2px 0"><div style="background:#0072B2;'
                f'height:9px;width:{width}px"></div></td>'
            )
        body.append(f"<tr>{cells}</tr>")
    extra = "<th></th>" if grid.shares else ""
    return (
        f'<details{" open" if opened else ""} style="margin:6px 0">'
        f"<summary>{escape(grid.title)} ({grid.total:,})</summary>"
        '<table style="border-collapse:collapse;margin:4px 0;font-size:90%">'
        f"<thead><tr>{heads}{extra}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        f"{_notes_html(grid.notes)}</details>"
    )


def plotly_json(trace: Trace | Stage) -> dict[str, Any]:
    """Return an overview of the run as plotly JSON, interactive without a kernel, below 100 kB."""
    stage = Stage.of(trace)
    scene = stage.scene(width_px=plots.PLOT_PX, max_marks=OVERVIEW_MARKS)
    described = paint(_plain(plots.figure(scene, stage.span_ns), digits=9), "light")
    described["layout"]["paper_bgcolor"] = described["layout"]["plot_bgcolor"] = "#ffffff"
    return {**described, "config": dict(plots.CONFIG)}


def _plain(part: Any, *, digits: int) -> Any:
    """Return a figure without arrays; floats of ``digits`` significant digits, gaps as null."""
    if isinstance(part, dict):
        return {key: _plain(inner, digits=digits) for key, inner in part.items()}
    if hasattr(part, "tolist"):
        part = part.tolist()
    if isinstance(part, list | tuple):
        return [_plain(inner, digits=digits) for inner in part]
    if isinstance(part, float):
        return None if part != part else float(f"{part:.{digits}g}")
    return part


def save_html(trace: Trace | Stage, path: StrPath) -> Path:
    """Write a file that shows the profile without kernel, server or network.

    The page is plain HTML with a still picture. Where scripts run, the same timeline with zoom
    and hover, of up to 3,000 marks, takes the place of the picture; plotly.js for it is inside the
    file, 4.8 MB.

    Parameters
    ----------
    trace : Trace
    path : path-like
        File to write; replaced when it exists.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    WriteError
        It cannot be written.
    """
    from plotly.offline import get_plotlyjs

    stage = Stage.of(trace)
    scene = stage.scene(width_px=plots.PLOT_PX, max_marks=FILE_MARKS)
    described = paint(_plain(plots.figure(scene, stage.span_ns), digits=15), "light")
    # "</" inside a script would end it, whatever a name in the trace says.
    plot = json.dumps({**described, "config": plots.CONFIG}).replace("</", "<\\/")
    title = escape(stage.trace.meta.title or "profile")
    page = _PAGE.format(title=title, body=html(stage), plotly=get_plotlyjs(), plot=plot)
    target = Path(path)
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as cause:
        raise WriteError.to(str(target), cause) from cause
    return target


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>body{{font:14px/1.45 system-ui,sans-serif;color:#1f2328;background:#fff;max-width:1000px;
margin:24px auto;padding:0 16px}}details summary{{cursor:pointer}}</style></head>
<body><h1 style="font-size:1.3em">{title}</h1>
{body}
<script>{plotly}</script>
<script>
const figure = {plot}, whole = [...figure.layout.xaxis.range];
const picture = document.querySelector("img"), plot = document.createElement("div");
plot.title = "Scroll or drag to zoom, double-click to see the whole run";
picture.before(plot);
Plotly.newPlot(plot, figure.data, figure.layout, figure.config).then(() => picture.remove());
plot.on("plotly_doubleclick", () => Plotly.relayout(plot, {{"xaxis.range": [...whole]}}));
</script></body></html>
"""


def mime_bundle(trace: Trace, widget: _Shown | None = None) -> dict[str, Any]:
    """Return every form a viewer may choose from, the richest it knows.

    Parameters
    ----------
    trace : Trace
    widget : widget, optional
        Named in the bundle only while a kernel runs that can answer it.
    """
    stage = Stage.of(trace)
    bundle: dict[str, Any] = {
        PLOTLY_MIME: plotly_json(stage),
        "text/html": html(stage),
        "image/png": base64.b64encode(png(stage)).decode(),
        "text/plain": text_summary(trace),
    }
    if widget is not None and kernel_runs():
        shown = widget._repr_mimebundle_()
        data = shown[0] if isinstance(shown, tuple) else shown
        if data and WIDGET_MIME in data:
            bundle[WIDGET_MIME] = data[WIDGET_MIME]
    return bundle

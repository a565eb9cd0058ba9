"""Forms of a profile that need no kernel: text, HTML, PNG, plotly JSON, a file, a MIME bundle.

All show the same, in the same order: headline, sentences, picture, tables, remarks.
"""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

from mxprof_nb._typing import StrPath
from mxprof_nb.io.files import writing
from mxprof_nb.trace import Trace
from mxprof_nb.trace.privacy import fit_to_travel
from mxprof_nb.view.contents import contents
from mxprof_nb.view.headline import headline, remarks, sentences
from mxprof_nb.view.legible import legible
from mxprof_nb.view.page import page
from mxprof_nb.view.palette import paint
from mxprof_nb.view.paragraph import folded, wrapped
from mxprof_nb.view.picture import picture
from mxprof_nb.view.plots import marks
from mxprof_nb.view.scene import Stage
from mxprof_nb.view.tables import Grid, aligned, grids
from mxprof_nb.view.words import shorten

__all__ = [
    "html",
    "mime_bundle",
    "plotly_json",
    "png",
    "save_html",
    "save_png",
    "svg",
    "text_summary",
]

TEXT_WIDTH = 100
TEXT_ROWS = 15
NAME_CHARS = 30
BAR_CHARS = 10
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
#: Marks in a notebook file; the hover text of each costs about 100 bytes.
OVERVIEW_MARKS, OVERVIEW_CELLS = 400, 3000


def text_summary(trace: Trace) -> str:
    """Return headline, sentences and the table of operators as plain text.

    Where there are no operators it is the first table that there is. Lines are at most 100
    columns wide.
    """
    trace = legible(trace)
    lines = folded(headline(trace), TEXT_WIDTH)
    for sentence in sentences(trace):
        lines += wrapped(sentence.text, TEXT_WIDTH, first=" • ", then="   ")
    found = grids(trace)
    for grid in found[:1]:
        lines += ["", grid.title, *_text_table(grid)]
        for note in grid.notes:
            lines += wrapped(note, TEXT_WIDTH)
    if len(found) > 1:
        more = ", ".join(grid.title for grid in found[1:])
        lines += ["", *wrapped(f"Other tables: {more}.", TEXT_WIDTH)]
    for remark in remarks(trace):
        lines += wrapped(remark, TEXT_WIDTH, first=" ! ", then="   ")
    return "\n".join(lines)


def _text_table(grid: Grid) -> list[str]:
    rows = grid.rows[:TEXT_ROWS]
    columns = [[heading] for heading in grid.headings]
    for place, column in enumerate(columns):
        cells = [row[place] for row in rows]
        column += aligned(cells, digit=" ", point=" ") if grid.columns[place].values else cells
    widths = [max(map(len, column)) for column in columns]
    bars = [""] + [_text_bar(share) for share in grid.shares[:TEXT_ROWS]]
    # Names give way where the rest is wide.
    rest = sum(widths[1:]) + 2 * len(widths[1:]) + (BAR_CHARS + 2 if grid.shares else 0)
    widths[0] = min(widths[0], NAME_CHARS, max(TEXT_WIDTH - rest, 8))
    lines = []
    for number, (name, *row) in enumerate(zip(*columns, strict=True)):
        cells = [shorten(name, widths[0]).ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row, widths[1:], strict=True)]
        lines.append("  ".join([*cells, bars[number] if grid.shares else ""]).rstrip())
    left = grid.total - len(rows)
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


def html(trace: Trace | Stage, *, mark: str = "") -> str:
    """Return a fragment of HTML that also viewers which run no script and trust nothing show.

    Styles stand inline and the picture is a data URI, because JupyterLab and GitHub strip script,
    style and svg elements from outputs. All names are escaped. A run in which nothing happened
    has words alone.

    Parameters
    ----------
    trace : Trace
    mark : str, optional
        Name of the widget that may take the place of the fragment while a page shows it. It
        stands in a class, which the sanitisers keep.
    """
    stage = Stage.of(trace)
    trace = stage.trace
    parts = [
        '<div style="font-variant-numeric:tabular-nums">',
        f'<p style="margin:0 0 4px;font-weight:600">{_headline_html(trace)}</p>',
        _sentences_html(trace),
        *([] if stage.blank else [_picture_html(stage), *_tables_html(trace)]),
        _notes_html(remarks(trace)),
        "</div>",
    ]
    form = "".join(parts)
    return f'<div class="mxp-form mxp-form-{escape(mark)}">{form}</div>' if mark else form


def _headline_html(trace: Trace) -> str:
    """Return the headline; it wraps between its parts, rather than between number and unit."""
    whole = '<span style="display:inline-block;max-width:100%">{}</span>'
    parts = headline(trace).replace(" · ", " ·\n").split("\n")
    return " ".join(whole.format(escape(part)) for part in parts)


def _picture_html(stage: Stage) -> str:
    image = base64.b64encode(svg(stage).encode()).decode()
    return (
        f'<img alt="{escape(headline(stage.trace))}" style="max-width:100%;display:block;'
        f'border-radius:4px" src="data:image/svg+xml;base64,{image}">'
    )


def _tables_html(trace: Trace) -> list[str]:
    """Return the tables, the first that has rows open."""
    found = grids(trace)
    first = next((k for k, grid in enumerate(found) if grid.rows), 0)
    return [_table_html(grid, opened=k == first) for k, grid in enumerate(found)]


def _sentences_html(trace: Trace) -> str:
    items = "".join(f"<li>{escape(sentence.text)}</li>" for sentence in sentences(trace))
    return f'<ul style="margin:0 0 8px;padding-left:1.4em">{items}</ul>'


def _notes_html(notes: tuple[str, ...]) -> str:
    return "".join(f'<p style="margin:4px 0;opacity:.8">{escape(note)}</p>' for note in notes)


def _table_html(grid: Grid, *, opened: bool) -> str:
    # Short styles, for there are many cells; what JupyterLab says of cells must be said again.
    name = (
        'style="padding:2px 12px 2px 0;text-align:left;white-space:nowrap;max-width:24em;'
        'overflow:hidden;text-overflow:ellipsis;font-weight:400"'
    )
    number = 'style="padding:2px 12px 2px 0"'
    above_bars = 'style="padding:2px 12px 2px 0;text-align:left"'
    looks = (
        above_bars if column.key == "share" else number if column.values else name
        for column in grid.columns
    )
    heads = "".join(
        f'<th scope="col" {look}{_title(column.meaning)}>{_unbroken(column.heading)}</th>'
        for look, column in zip(looks, grid.columns, strict=True)
    )
    texts = [aligned(column.texts) if column.values else column.texts for column in grid.columns]
    body = []
    for place, row in enumerate(zip(*texts, strict=True)):
        cells = f'<th scope="row" {name}{_title(grid.meanings[place])}>{escape(row[0])}</th>'
        for column, text in zip(grid.columns[1:], row[1:], strict=True):
            bar = _bar_html(column.values[place] or 0.0) if column.key == "share" else ""
            cells += f"<td {number if column.values else name}>{_unbroken(text)}{bar}</td>"
        body.append(f"<tr>{cells}</tr>")
    return (
        f'<details{" open" if opened else ""} style="margin:6px 0">'
        f"<summary>{escape(grid.title)} ({grid.total:,})</summary>"
        '<div style="overflow-x:auto">'
        '<table style="border-collapse:collapse;margin:4px 0;font-size:90%;text-align:right;'
        'font-variant-numeric:tabular-nums">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        f"{_notes_html(grid.notes)}</details>"
    )


def _bar_html(share: float) -> str:
    """Return a share as a bar, in a space as long as that of the whole."""
    width = max(round(share * 90), 1) if share > 0 else 0
    return (
        '<span style="display:inline-block;width:90px;margin-left:8px;text-align:left"><span '
        f'style="display:inline-block;background:#0072B2;height:9px;width:{width}px"></span></span>'
    )


def _title(meaning: str) -> str:
    """Return the attribute that shows what a name means beside the pointer."""
    return f' title="{escape(meaning)}"' if meaning else ""


def _unbroken(text: str) -> str:
    """Return the text of a number and its unit, which stay on one line."""
    return escape(text).replace(" ", "&nbsp;")


def plotly_json(trace: Trace | Stage) -> dict[str, Any]:
    """Return an overview of the run as plotly JSON, interactive without a kernel, below 100 kB."""
    stage = Stage.of(trace)
    scene = stage.scene(width_px=marks.PLOT_PX, max_marks=OVERVIEW_MARKS, max_cells=OVERVIEW_CELLS)
    figure = marks.opaque(marks.figure(scene, stage.span_ns))
    described = paint(_plain(figure, digits=9), "light")
    return {**described, "config": dict(marks.CONFIG)}


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


def save_html(
    trace: Trace | Stage, path: StrPath, *, source: bool = True, private: bool = True
) -> Path:
    """Write a file that shows the profile without kernel, server or network.

    The page is plain HTML with a still picture and tables. Where scripts run, a live view takes
    their place: every event, to zoom, to search and to click, from columns that the same file
    holds; about 8 bytes for each of many events, and the arguments of the 10,000 longest.

    Parameters
    ----------
    trace : Trace
    path : path-like
        File to write; replaced when it exists, and only by the whole page.
    source : bool
        Write the code of the cell and the text of lines.
    private : bool
        Give paths from the working directory on, and leave names of host and user out.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    WriteError
        It cannot be written.
    """
    stage = Stage.of(_written(trace, source, private))
    text = page(stage, html(stage), contents(stage.trace, private=private))
    target = Path(path)
    with writing(target) as file:
        file.write(text.encode())
    return target


def save_png(
    trace: Trace | Stage, path: StrPath, *, source: bool = True, private: bool = True
) -> Path:
    """Write the still picture to a file and return its path; the rest is as for `save_html`."""
    target, content = Path(path), png(_written(trace, source, private))
    with writing(target) as file:
        file.write(content)
    return target


def _written(trace: Trace | Stage, source: bool, private: bool) -> Trace:
    return fit_to_travel(Stage.of(trace).trace, source=source, private=private)


def mime_bundle(trace: Trace | Stage, *, mark: str = "") -> dict[str, Any]:
    """Return every form that a notebook stores: each is complete without kernel and network.

    Parameters
    ----------
    trace : Trace
    mark : str, optional
        Name of the widget that serves this display; see `html`.
    """
    stage = Stage.of(trace)
    bundle: dict[str, Any] = {"text/html": html(stage, mark=mark)}
    if not stage.blank:
        # One pixel per px: viewers show a PNG at its own size.
        image = picture(stage).png(scale=1)
        bundle["image/png"] = base64.b64encode(image).decode()
    return {**bundle, "text/plain": text_summary(stage.trace)}

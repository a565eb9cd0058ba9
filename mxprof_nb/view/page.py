"""`page`: one file that shows a profile without kernel, server or network.

It is plain HTML, complete as it is. Where scripts run, a live view takes the place of its picture
and tables: it draws on a canvas from packed columns that stand in the same file.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from html import escape

from mxprof_nb.view.archive import archive
from mxprof_nb.view.columns import packed
from mxprof_nb.view.scene import Stage
from mxprof_nb.view.scripts import script, style
from mxprof_nb.view.words import shorten

__all__ = ["page"]

SCRIPTS = (
    "element.js",
    "parts.js",
    "tables.js",
    "inspector.js",
    "groups.js",
    "search.js",
    "keys.js",
    "hint.js",
    "numbers.js",
    "report_columns.js",
    "report_trace.js",
    "report_words.js",
    "report_tables.js",
    "report_layout.js",
    "report_canvas.js",
    "report_pointer.js",
    "report.js",
    "report_start.js",
)
STYLES = ("profile.css", "tables.css", "report.css")
TITLE_CHARS = 200


def page(stage: Stage, still: str, foot: str) -> str:
    """Return the page.

    Parameters
    ----------
    stage : Stage
        Of the trace as it is to be written.
    still : str
        What is shown where no script runs, HTML.
    foot : str
        What the page contains, plain text.
    """
    meta = stage.trace.meta
    title = shorten(meta.title, TITLE_CHARS)
    return _PAGE.format(
        title=escape(f"Profile of {title}" if title else "Profile"),
        style=style(*STYLES),
        when=_when(stage),
        source=_source(meta.source),
        still=still,
        foot=escape(foot),
        live="" if stage.blank else _live(stage),
    )


def _live(stage: Stage) -> str:
    """Return what puts the live view in place: nothing of the trace stands there as text."""
    held = archive(stage)
    data = base64.b64encode(packed(held.head, held.columns)).decode()
    return _LIVE.format(data=data, script=script(*SCRIPTS))


def _when(stage: Stage) -> str:
    """Return when the run began, by the clock of whoever writes; nothing when that is unknown."""
    epoch_ns = stage.trace.meta.origin_epoch_ns
    if epoch_ns < 0:
        return ""
    begin = datetime.fromtimestamp((epoch_ns + stage.origin_ns) / 1e9, UTC).astimezone()
    return f"<p>Recorded {escape(begin.strftime('%Y-%m-%d %H:%M:%S %Z'))}</p>"


def _source(source: str) -> str:
    """Return the profiled code, its lines numbered as in the sentences."""
    if not source.strip():
        return ""
    lines = source.rstrip().split("\n")
    width = len(str(len(lines)))
    numbered = "\n".join(
        f'<span class="n">{number:>{width}}</span>  {escape(line)}'
        for number, line in enumerate(lines, start=1)
    )
    return (
        '<details open><summary>Code</summary><pre tabindex="0" role="region" aria-label="Code">'
        f"{numbered}</pre></details>"
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>{style}</style>
</head><body><main><h1>{title}</h1>
{when}
{source}
<div class="mxp-still">{still}</div>
</main>
<footer>{foot}</footer>
{live}</body></html>
"""

_LIVE = """<script type="application/octet-stream" class="mxp-data">{data}</script>
<script>{script}</script>
"""

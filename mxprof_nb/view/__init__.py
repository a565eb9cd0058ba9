"""What a person sees: figures, still forms, and widgets, all drawn from the same scene.

`plots` has the functions that return a plotly figure, `timeline` first of all; the functions of
`report` return the forms that need no kernel; `mxprof_nb.view.widgets` holds the interactive output
of a notebook cell.
"""

from mxprof_nb.view import plots
from mxprof_nb.view.plots import timeline
from mxprof_nb.view.report import html, mime_bundle, png, save_html, text_summary

__all__ = ["html", "mime_bundle", "plots", "png", "save_html", "text_summary", "timeline"]

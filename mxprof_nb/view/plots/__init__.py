"""Plotly figures of a trace. No widgets here: a figure is a plain description of a plot.

Each function takes a trace or a profile, the part of it to show and a theme, and returns a
``plotly.graph_objects.Figure`` that is free to be changed: what each looks at is said in its title,
and exact values stand beside the pointer.
"""

from mxprof_nb.view.plots.call_tree import flame
from mxprof_nb.view.plots.levels import concurrency, memory
from mxprof_nb.view.plots.marks import timeline
from mxprof_nb.view.plots.totals import durations, top_operators

__all__ = [
    "concurrency",
    "durations",
    "flame",
    "memory",
    "timeline",
    "top_operators",
]

"""Which marks fit a view: lanes without overlap, and runs of neighbours below the pixel.

NumPy only. `TimelineIndex` answers a window with row numbers, never with copies of events, so
that hover texts, selection and tables stay linked to the trace.
"""

from mxprof_nb.lod.counters import step_line
from mxprof_nb.lod.index import TimelineIndex
from mxprof_nb.lod.lanes import LaneTable, lay_lanes
from mxprof_nb.lod.view import View

__all__ = ["LaneTable", "TimelineIndex", "View", "lay_lanes", "step_line"]

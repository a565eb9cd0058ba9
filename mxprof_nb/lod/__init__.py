"""Which marks fit a view: every event, runs of neighbours, or a raster below the longest events.

NumPy only. `TimelineIndex` answers a window with row numbers, never with copies of events, so
that hover texts, selection and tables stay linked to the trace.
"""

from mxprof_nb.lod.counters import StepLine
from mxprof_nb.lod.folds import Folds
from mxprof_nb.lod.index import Composition, TimelineIndex
from mxprof_nb.lod.lanes import LaneTable, lay_lanes
from mxprof_nb.lod.links import Links
from mxprof_nb.lod.matches import Matched, Matches, find
from mxprof_nb.lod.raster import Raster
from mxprof_nb.lod.view import View

__all__ = [
    "Composition",
    "Folds",
    "LaneTable",
    "Links",
    "Matched",
    "Matches",
    "Raster",
    "StepLine",
    "TimelineIndex",
    "View",
    "find",
    "lay_lanes",
]

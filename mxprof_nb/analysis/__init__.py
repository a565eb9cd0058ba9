"""Analyses: functions of a trace that return a result. NumPy only; pandas inside ``.frame``."""

from mxprof_nb.analysis.counters import counter_tables
from mxprof_nb.analysis.intervals import busy_by_track, busy_ns, union_ns
from mxprof_nb.analysis.overview import Overview, overview
from mxprof_nb.analysis.result import Result
from mxprof_nb.analysis.summary import domain_tables, op_summary
from mxprof_nb.analysis.sync_waits import sync_waits

__all__ = [
    "Overview",
    "Result",
    "busy_by_track",
    "busy_ns",
    "counter_tables",
    "domain_tables",
    "op_summary",
    "overview",
    "sync_waits",
    "union_ns",
]

"""Analyses: functions of a trace that return a result. NumPy only; pandas inside ``.frame``."""

from mxprof_nb.analysis.counters import counter_tables
from mxprof_nb.analysis.domains import domain_tables
from mxprof_nb.analysis.failures import failures
from mxprof_nb.analysis.frames import Frames
from mxprof_nb.analysis.intervals import busy_by_track, busy_ns, union_ns
from mxprof_nb.analysis.latency import launch_latency
from mxprof_nb.analysis.memory import memory_changes, memory_scope
from mxprof_nb.analysis.overview import Overview, overview
from mxprof_nb.analysis.own_code import OwnCode, longest_own_code
from mxprof_nb.analysis.recorded import (
    BLOCKING_CALLS,
    records_calls,
    records_operators,
    records_waits,
)
from mxprof_nb.analysis.repetitions import Spread, spread_of_repetitions
from mxprof_nb.analysis.result import Result
from mxprof_nb.analysis.steps import step_breakdown
from mxprof_nb.analysis.summary import op_summary
from mxprof_nb.analysis.sync_waits import sync_waits
from mxprof_nb.analysis.wait_lines import wait_lines

__all__ = [
    "BLOCKING_CALLS",
    "Frames",
    "Overview",
    "OwnCode",
    "Result",
    "Spread",
    "busy_by_track",
    "busy_ns",
    "counter_tables",
    "domain_tables",
    "failures",
    "launch_latency",
    "longest_own_code",
    "memory_changes",
    "memory_scope",
    "op_summary",
    "overview",
    "records_calls",
    "records_operators",
    "records_waits",
    "spread_of_repetitions",
    "step_breakdown",
    "sync_waits",
    "union_ns",
    "wait_lines",
]

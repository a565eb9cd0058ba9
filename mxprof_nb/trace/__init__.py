"""What a profile is: an immutable table of intervals. NumPy only; pandas inside ``.frame()``."""

from mxprof_nb.trace.builder import TraceBuilder, concat
from mxprof_nb.trace.meta import Cost, Health, HealthNote, Meta
from mxprof_nb.trace.strings import StringBuilder, Strings
from mxprof_nb.trace.trace import HasTrace, Trace, trace_of

__all__ = [
    "Cost",
    "HasTrace",
    "Health",
    "HealthNote",
    "Meta",
    "StringBuilder",
    "Strings",
    "Trace",
    "TraceBuilder",
    "concat",
    "trace_of",
]

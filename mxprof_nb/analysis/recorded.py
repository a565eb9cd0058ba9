"""What the producer of a trace recorded, so that nothing is said about the rest.

That a table holds no wait means that the host never waited only where waits were recorded and
none was taken out since.
"""

from __future__ import annotations

from mxprof_nb.trace import HasTrace, Trace, trace_of

__all__ = ["BLOCKING_CALLS", "records_calls", "records_operators", "records_waits"]

#: Calls that return when work is done, by the names their runtimes give them.
BLOCKING_CALLS = (
    *("MXNDArrayWaitAll", "MXNDArrayWaitToRead", "MXNDArrayWaitToWrite", "MXNDArraySyncCopyToCPU"),
    *("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize"),
    *("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"),
    *("hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize"),
)

#: Steps in a history that leave rows out by what they are.
_SELECTIONS = ("where(", "take(")


def records_waits(trace: HasTrace) -> bool:
    """Return whether every wait of the host is in the trace, so that their absence means none."""
    trace = trace_of(trace)
    events = trace.events
    on_host = trace.tracks.is_role("host")[events.track]
    return bool((events.is_category("sync") & on_host).any()) or records_calls(trace)


def records_calls(trace: HasTrace) -> bool:
    """Return whether every call into the runtime is in the trace."""
    trace = trace_of(trace)
    return _complete(trace) and bool(trace.meta.config.get("api"))


def records_operators(trace: HasTrace) -> bool:
    """Return whether every operator that ran is in the trace."""
    trace = trace_of(trace)
    return _complete(trace) and bool(trace.meta.config.get("operators"))


def _complete(trace: Trace) -> bool:
    """Return whether a backend recorded the trace and no row of it was lost or left out."""
    return (
        bool(trace.meta.backend)
        and not any(step.startswith(_SELECTIONS) for step in trace.meta.history)
        and not any(note.code == "capped" for note in trace.health.notes)
    )

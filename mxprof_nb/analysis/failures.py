"""Which operators failed, and why."""

from __future__ import annotations

import json

import numpy as np

from mxprof_nb.trace import HasTrace, trace_of

__all__ = ["failures"]

#: How the details of an event begin that tell of a failure.
_TOLD = '{"error": '


def failures(trace: HasTrace) -> dict[int, str]:
    """Return the events that failed and the message of each, by row.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    dict of int to str
        In the order of the events table, which is that of their begins.
    """
    trace = trace_of(trace)
    events, args, strings = trace.events, trace.args, trace.strings
    codes = [code for code, text in enumerate(strings) if text.startswith(_TOLD)]
    told = np.flatnonzero(np.isin(args.raw, codes)) if codes else ()
    if not len(told):
        return {}
    found = {}
    for row in np.flatnonzero(np.isin(events.arg, told)).tolist():
        text = strings[int(args.raw[events.arg[row]])]
        try:
            details = json.loads(text)
        except (ValueError, RecursionError):
            details = {}
        found[row] = str(details.get("error", ""))
    return found

"""What a written report contains, in words, so that a person knows before passing it on."""

from __future__ import annotations

import os

import numpy as np

from mxprof_nb.trace import Trace
from mxprof_nb.view.numbers import count

__all__ = ["contents"]


def contents(trace: Trace, *, private: bool = True) -> str:
    """Return the foot of a report.

    Parameters
    ----------
    trace : Trace
        As it is written.
    private : bool
        Whether names of host and user were taken out, and paths shortened.
    """
    sites, strings = trace.sites, trace.strings
    files = {strings[code] for code in np.unique(sites.file).tolist()}
    lines = int((sites.text >= 0).sum())
    told = [f"names and times of {count(len(trace.events), 'event')}"]
    if trace.meta.source.strip():
        told.append("the code of the cell")
    if lines:
        told.append(f"the text of {count(lines, 'line')} of code")
    if files:
        named = "name" if len(files) == 1 else "names"
        whole = ", with their whole paths" if any(map(os.path.isabs, files)) else ""
        told.append(f"the {named} of {count(len(files), 'file')}{whole}")
    if trace.meta.error:
        told.append("the message of the error that ended it")
    parts = f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0]
    kept = " Names of host and user were left out." if private else ""
    return f"This page contains {parts}.{kept}"

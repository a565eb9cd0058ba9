"""Where in the program an event came from, in words."""

from __future__ import annotations

from pathlib import PurePath

from mxprof_nb.record.sites import is_cell
from mxprof_nb.trace import Trace

__all__ = ["place", "source_line"]


def place(trace: Trace, row: int) -> str:
    """Return where an event came from; empty when that is not known.

    Returns
    -------
    str
        ``"line 7"`` within the profiled cell, ``"line 22 of step()"`` in a function defined
        elsewhere, ``"line 3 of train.py"`` or ``"line 3 of another cell"`` outside functions.
    """
    site = int(trace.events.site[row])
    if site < 0:
        return ""
    sites, strings = trace.sites, trace.strings
    line = f"line {sites.line[site]}"
    file, own = strings.text(int(sites.file[site])), trace.meta.source_file
    if not own or file == own:
        return line
    function = strings.text(int(sites.function[site])).rpartition(".")[2]
    if function and not function.startswith("<"):
        return f"{line} of {function}()"
    return f"{line} of {'another cell' if is_cell(file) else PurePath(file).name}"


def source_line(trace: Trace, row: int) -> str:
    """Return the text of that line; empty when it is not known."""
    site = int(trace.events.site[row])
    return trace.strings.text(int(trace.sites.text[site])) if site >= 0 else ""

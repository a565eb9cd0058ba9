"""Where in the program something came from, in words."""

from __future__ import annotations

from pathlib import PurePath

from mxprof_nb.record.sites import is_cell
from mxprof_nb.trace import Trace

__all__ = ["place_of", "shorten", "text_of"]


def shorten(text: str, most: int) -> str:
    """Return at most ``most`` characters of one line of text, with … where it was cut."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: max(most - 1, 0)] + "…"


def place_of(trace: Trace, site: int) -> str:
    """Return a row of the sites table in words; empty for -1.

    Returns
    -------
    str
        ``"line 7"`` within the profiled cell, ``"line 22 of step()"`` in a function defined
        elsewhere, ``"line 3 of train.py"`` or ``"line 3 of another cell"`` outside functions.
    """
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


def text_of(trace: Trace, site: int) -> str:
    """Return the text of that line; empty when it is not known."""
    return trace.strings.text(int(trace.sites.text[site])) if site >= 0 else ""

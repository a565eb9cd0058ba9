r"""Texts of a trace, made fit to show: in a page, in a picture, on a terminal.

Names and messages come from programs and files, and may hold what no page can: half surrogates
have no UTF-8, XML knows no control characters, a terminal obeys them, and some turn text round.
"""

from __future__ import annotations

import re
from dataclasses import replace

from mxprof_nb.trace import Health, Trace
from mxprof_nb.trace.strings import Strings

__all__ = ["legible", "shown"]

#: Control characters but for tab and line ends, half surrogates, what is no character at all, and
#: what turns the direction of the text around it (Unicode's Bidi_Control): that would reach from a
#: name into the words beside it.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_BREAKS = re.compile("[\t\n]")


def shown(text: str) -> str:
    r"""Return a text with U+FFFD in the place of each character that cannot be shown.

    Tabs and lines stay; lines end in ``\n``.

    Examples
    --------
    >>> shown("dot\x1b[2J, \udc80") == "dot\ufffd[2J, \ufffd"
    True
    """
    return _UNFIT.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _line(text: str) -> str:
    """Return a text as `shown` does, on one line."""
    return _BREAKS.sub(" ", shown(text))


def legible(trace: Trace) -> Trace:
    """Return the trace with all its texts fit to show: itself where they are already.

    Names and lines of source code stand on one line afterwards; errors and cells may have several.
    """
    meta, notes = trace.meta, trace.health.notes
    strings = tuple(map(_line, trace.strings))
    fit_meta = replace(
        meta,
        title=_line(meta.title),
        source_file=_line(meta.source_file),
        source=shown(meta.source),
        error=shown(meta.error),
    )
    told = tuple(replace(note, message=shown(note.message)) for note in notes)
    if strings == tuple(trace.strings) and told == notes and fit_meta == meta:
        return trace
    return replace(trace, strings=Strings(strings), meta=fit_meta, health=Health(told))

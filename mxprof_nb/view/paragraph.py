"""Texts broken into lines, never between a number and its unit."""

from __future__ import annotations

import re
import textwrap

__all__ = ["JOIN", "folded", "joined", "wrapped"]

#: Stands for the space between a number and its unit while a text is broken into lines: a
#: character that no text has. A no-break space will not do: rich breaks lines there.
JOIN = "\ue000"
_UNIT = re.compile(r"(?<=\d) (?=(?:ns|µs|ms|s|min|h|B|kB|MB|GB|TB|%)(?!\w))")


def joined(text: str) -> str:
    """Return a text with `JOIN` between numbers and their units.

    Examples
    --------
    >>> joined("waited 20.5 µs (3 %)").split(" ") == ["waited", f"20.5{JOIN}µs", f"(3{JOIN}%)"]
    True
    """
    return _UNIT.sub(JOIN, text)


def wrapped(text: str, width: int, *, first: str = "", then: str = "") -> list[str]:
    """Return the lines of a text, the first one behind ``first``, the others behind ``then``."""
    lines = textwrap.wrap(joined(text), width, initial_indent=first, subsequent_indent=then)
    return [line.replace(JOIN, " ") for line in lines]


def folded(text: str, width: int) -> list[str]:
    """Return the lines of a headline, broken between its parts where these fit a line."""
    lines = [""]
    for part in text.split(" · "):
        longer = f"{lines[-1]} · {part}" if lines[-1] else part
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return [short for line in lines if line for short in wrapped(line, width)]

"""Finds where events begin and end in text that no strict decoder takes.

One pass over the text, whatever it holds: strings, brackets and what stands between decide, and
where they contradict each other the search goes on at the next place that looks like the begin of
an event.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

__all__ = ["EVENT_START", "NO_KEY", "Scan", "Span", "end_of_value", "rest_of_object", "scanned"]

#: Begins an object of which only the end is there.
NO_KEY = b'{"":0'
#: So much of that is looked at first, and so much behind a bracket tells what begins there.
_WINDOW, _ENOUGH = 1 << 12, 256

#: Looks like the begin of an event.
EVENT_START = re.compile(
    rb'\{\s*"(?:ph|name|cat|pid|tid|ts|dur|id|args|bp|s|tts|cname|sf|flow_in|flow_out)"\s*:'
)
#: A string, also one that does not end, or a bracket.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_GAP = re.compile(rb"[\s,]*")
#: Anything that is neither a bracket, a comma nor white space.
_SCALAR = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[^\s,{}\[\]"]+', re.DOTALL)
_CLOSER = {0x7B: 0x7D, 0x5B: 0x5D}
_QUOTE, _OPEN, _CLOSE, _END_OF_LIST = 0x22, 0x7B, 0x7D, 0x5D

State = Literal["whole", "no_bracket", "damaged", "too_deep", "cut"]


class Span(NamedTuple):
    """A value in the list: where it stands, and how sure that is."""

    begin: int
    end: int
    state: State


class Scan(NamedTuple):
    """What `scanned` found.

    Attributes
    ----------
    spans : list of Span
    stray, missing : list of int
        Where a comma stands that separates nothing, and where one is missing.
    end : int
        Where the scan ended.
    state : {"closed", "stop", "end"}
        Behind the bracket that closes the list, or before one that closes what is around it; at
        the place asked for; at the end of the text.
    """

    spans: list[Span]
    stray: list[int]
    missing: list[int]
    end: int
    state: Literal["closed", "stop", "end"]


def scanned(text: bytes, begin: int, stop: int, nesting: int, *, is_first: bool) -> Scan:
    """Find the values of a list.

    Parameters
    ----------
    text : bytes
    begin : int
        Within the list, not within a value.
    stop : int
        Values that begin here or later are not asked for.
    nesting : int
        Brackets within brackets that a value may have.
    is_first : bool
        Whether no value stands before, so that no comma is due.
    """
    spans: list[Span] = []
    stray: list[int] = []
    missing: list[int] = []
    place = begin
    while True:
        gap = _GAP.match(text, place)
        commas = gap[0].count(b",") if gap else 0
        after = gap.end() if gap else place
        at_end = after >= len(text)
        is_close = not at_end and text[after] == _END_OF_LIST
        expected = 0 if is_first or is_close else 1
        if commas > expected and not at_end:
            stray.append(place)
        elif (
            not commas
            and expected
            and not at_end
            and (not spans or spans[-1].state == "whole")  # others take their comma with them
        ):
            missing.append(place)
        place, is_first = after, False
        if at_end:
            return Scan(spans, stray, missing, place, "end")
        if is_close:
            return Scan(spans, stray, missing, place + 1, "closed")
        if text[place] == _CLOSE:  # of the object around the list, whose own bracket is missing
            return Scan(spans, stray, missing, place, "closed")
        if place >= stop:
            return Scan(spans, stray, missing, place, "stop")
        if text[place] in _CLOSER:
            span = end_of_value(text, place, nesting)
        elif (scalar := _SCALAR.match(text, place)) is not None:
            span = Span(place, scalar.end(), "whole")
        else:
            span = Span(place, place + 1, "damaged")
        spans.append(span)
        place = span.end


def end_of_value(text: bytes, begin: int, nesting: int) -> Span:
    """Find the end of an object or list that begins at ``begin``."""
    stack: list[int] = []
    last, is_flawed = begin, False
    for token in _TOKEN.finditer(text, begin):
        first = text[token.start()]
        if first == _QUOTE:
            after = text[token.end() : token.end() + 1]
            if after not in _AFTER_STRING:  # a quotation mark too many or too few
                return Span(begin, _resumed(text, token.start() + 1), "damaged")
            if not after and (len(token[0]) < 2 or text[token.end() - 1] != _QUOTE):
                return Span(begin, len(text), "cut")
        elif first in _CLOSER:
            if stack and stack[-1] == _CLOSE and b":" not in text[last : token.start()]:
                # An object where a key is due: the one around it was never closed.
                if EVENT_START.match(text, token.start()):
                    return Span(begin, token.start(), "no_bracket")
                is_flawed = True
            stack.append(_CLOSER[first])
            if len(stack) > nesting:
                return Span(begin, _resumed(text, token.end()), "too_deep")
        else:
            if first in stack:
                while stack.pop() != first:
                    is_flawed = True
            else:
                if first == _END_OF_LIST:  # of the list around: the value was never closed
                    return Span(begin, token.start(), "no_bracket")
                is_flawed = True
            if not stack:
                return Span(begin, token.end(), "no_bracket" if is_flawed else "whole")
        last = token.end()
    return Span(begin, len(text), "cut")


def rest_of_object(text: bytes, place: int, nesting: int) -> tuple[bytes, Span]:
    """Return what stands behind a list in an object, made whole, with its end; more may follow."""
    size = _WINDOW
    while True:
        tail = NO_KEY + text[place : place + size]
        span = end_of_value(tail, 0, nesting)
        if span.end < len(tail) - _ENOUGH or place + size >= len(text):
            return tail, span
        size *= 4


#: What may follow a string at once; white space is looked through no further.
_AFTER_STRING = (b":", b",", b"}", b"]", b" ", b"\n", b"\r", b"\t", b"")


def _resumed(text: bytes, begin: int) -> int:
    found = EVENT_START.search(text, begin)
    return found.start() if found else len(text)

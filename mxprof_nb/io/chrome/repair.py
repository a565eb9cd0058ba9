"""Makes JSON of the text of one event that is none, where it can mean only one thing."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["repaired"]

_STRING = r'"(?:[^"\\]++|\\.)*+"'
_CONTROL = re.compile(r"[\x00-\x1f]")
_BAD_ESCAPE = re.compile(r'\\(?:(["\\/bfnrt]|u[0-9a-fA-F]{4})|)', re.DOTALL)
#: Outside of strings: what is no number in JSON, and commas that separate nothing.
_OUTSIDE = re.compile(
    rf"({_STRING})|([-+]?\b(?:nan|inf(?:inity)?)\b(?:\(\w*\))?)|([-+]\.?\d[\w.+-]*|\.\d[\w.+-]*)"
    r"|,(\s*)(?=[,}\]])|(?<=[{\[])(\s*),",
    re.DOTALL | re.IGNORECASE,
)
#: One field on a line of its own, as MXNet writes them, whose text holds quotation marks.
_LINE = re.compile(r'^(\s*"\w+"\s*:\s*")(.*)("\s*,?\s*)$', re.MULTILINE)
_LONE_QUOTE = re.compile(r'((?:\\.)*)"')


def repaired(text: bytes) -> tuple[Any, list[str]]:
    """Return what was meant, and the kinds of faults; the value is None where nobody can tell.

    Parameters
    ----------
    text : bytes
        From the opening bracket of the event to its closing one, which may be missing.
    """
    faults: list[str] = []
    try:
        told = text.decode("utf-8")
    except UnicodeDecodeError:
        told = text.decode("utf-8", "replace")
        faults.append("bad_utf8")
    for attempt in (_strict, _mended, _quoted):
        found = attempt(told, faults)
        if found is not None:
            return found[0], faults
    return None, faults


def _strict(text: str, faults: list[str]) -> tuple[Any] | None:
    """Decode it as it stands: halves of surrogate pairs and control characters may be in it."""
    try:
        found = json.loads(text, strict=False, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    if _has_raw_breaks(text):
        faults.append("control_character")
    return (found,)


def _has_raw_breaks(text: str) -> bool:
    return any(_CONTROL.search(string) for string in re.findall(_STRING, text, re.DOTALL))


def _mended(text: str, faults: list[str]) -> tuple[Any] | None:
    """Decode it with escapes, commas and numbers put right."""
    found: set[str] = set()
    text = _escaped(text, found)

    def outside(match: re.Match[str]) -> str:
        string, special, odd, before, after = match.groups()
        if string is not None:
            return string
        if special is not None:
            found.add("not_finite")
            kind = "NaN" if "nan" in special.lower() else "Infinity"
            return f"-{kind}" if special[0] == "-" and kind == "Infinity" else kind
        if odd is not None:
            return _number(odd)
        found.add("stray_comma")
        return before if before is not None else after

    text = _OUTSIDE.sub(outside, text)
    text = _OUTSIDE.sub(outside, text)  # the second of two commas in a row
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        closed = _closed(text)
        try:
            value = json.loads(closed, strict=False) if closed else None
        except (ValueError, RecursionError):
            return None
        if not closed:
            return None
        found.add("missing_bracket")
    if _has_raw_breaks(text):
        found.add("control_character")
    faults += sorted(found)
    return (value,)


def _escaped(text: str, found: set[str]) -> str:
    """Return it with backslashes doubled that escape nothing."""

    def put_right(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[0]
        found.add("bad_escape")
        return "\\\\"

    return _BAD_ESCAPE.sub(put_right, text)


def _number(text: str) -> str:
    """Return a number as JSON wants it: no plus, a digit before the point."""
    sign = "-" if text.startswith("-") else ""
    digits = text.lstrip("+-")
    return f"{sign}0{digits}" if digits.startswith(".") else f"{sign}{digits}"


def _closed(text: str) -> str:
    """Return it with its closing brackets, empty when none is missing."""
    stack: list[str] = []
    for token in re.finditer(rf"{_STRING}|[{{}}\[\]]", text, re.DOTALL):
        if token[0] in "{[":
            stack.append("}" if token[0] == "{" else "]")
        elif token[0] in "}]" and stack:
            stack.pop()
    return text.rstrip(" \t\r\n,") + "".join(reversed(stack)) if stack else ""


def _quoted(text: str, faults: list[str]) -> tuple[Any] | None:
    """Decode it with quotation marks escaped, where each field stands on a line of its own."""
    if not any('"' in line[2] for line in _LINE.finditer(text)):
        return None

    def escape(line: re.Match[str]) -> str:
        return f"{line[1]}{_LONE_QUOTE.sub(_with_backslash, line[2])}{line[3]}"

    inner: list[str] = []
    found = _mended(_LINE.sub(escape, text), inner)
    if found is not None:
        faults += ["bad_quote", *inner]
    return found


def _with_backslash(match: re.Match[str]) -> str:
    return f'{match[1]}\\"'


def _no_number(constant: str) -> Any:
    raise ValueError(constant)

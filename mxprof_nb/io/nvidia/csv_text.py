"""Tables of comma-separated values between the lines of a program's output, and their numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from mxprof_nb.io.limits import Limits
from mxprof_nb.io.nvidia.database import UNKNOWN

__all__ = ["Section", "cells_of", "integer", "lines_of", "quantity", "sections"]

#: Factors of units; nvprof's kilobytes are of 1,024 bytes.
UNITS: dict[str, Decimal] = {
    unit: Decimal(factor)
    for unit, factor in {
        "": 1, "ns": 1, "us": 1000, "µs": 1000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9,
        "nsecond": 1, "usecond": 1000, "msecond": 10**6, "second": 10**9,
        "B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40, "%": 1,
        "byte": 1, "Kbyte": 10**3, "Mbyte": 10**6, "Gbyte": 10**9,
    }.items()
}  # fmt: skip
_QUANTITY = re.compile(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*([^\s\d]*)")
#: A number with marks between thousands only: 5,156,128 or 2.348.544.
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
_LONGEST_NUMBER = 60


@dataclass(slots=True)
class Section:
    """One table: its header, and the rows that follow it.

    Attributes
    ----------
    header : list of str
    rows : list of list of str
        Each as long as the header, or as its producer wrote it; see `sections`.
    line : int
        Number of the header's line, from 1.
    before : list of str
        The lines of text before it, since the last table.
    """

    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    line: int = 0
    before: list[str] = field(default_factory=list)


def lines_of(content: bytes, path: str, limits: Limits) -> list[str]:
    """Return the lines of a text, whatever ends them; bytes that are no UTF-8 are replaced."""
    lines = content.decode("utf-8-sig", "replace").splitlines()
    limits.check("rows", len(lines), path)
    longest = max(map(len, lines), default=0)
    limits.check("string_bytes", longest, path)
    return lines


def cells_of(line: str) -> list[str]:
    """Return the cells of one line; [] when it is none."""
    if line.count('"') % 2:
        return []
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell beyond the size that csv takes
        return []


def sections(
    lines: Sequence[str],
    is_header: Callable[[list[str]], bool],
    is_row: Callable[[list[str], list[str]], bool],
) -> Iterator[Section]:
    """Yield the tables within some lines.

    Parameters
    ----------
    lines : sequence of str
    is_header : callable
        Says of the cells of a line whether they begin a table.
    is_row : callable
        Says of the cells of a line, and of the header before, whether they are a row of it.
    """
    section: Section | None = None
    before: list[str] = []
    for number, line in enumerate(lines, 1):
        cells = cells_of(line) if "," in line else []
        if cells and is_header(cells):
            if section:
                yield section
            section, before = Section(cells, [], number, before), []
        elif section and cells and is_row(cells, section.header):
            section.rows.append(cells)
        elif line.strip():
            before.append(line)
    if section:
        yield section


def quantity(text: str, unit: str = "") -> int:
    """Return an amount in ns, bytes, or as it is, rounded; `UNKNOWN` for what is no number.

    Parameters
    ----------
    text : str
        A number, which may bring its unit: ``"542.36ms"``.
    unit : str
        Unit of its column, used when it brings none.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST_NUMBER:
        return UNKNOWN
    found = _QUANTITY.fullmatch(text)
    factor = UNITS.get((found[2] if found else "") or unit.strip())
    if not found or factor is None:
        return UNKNOWN
    try:
        value = Decimal(plain(found[1])) * factor
        whole = int(value.to_integral_value()) if abs(value) < 2**62 else UNKNOWN
    except (ArithmeticError, ValueError):
        return UNKNOWN
    return whole


def plain(number: str) -> str:
    """Return a number without marks between thousands, with a point before its fraction."""
    if _THOUSANDS.fullmatch(number):
        is_point = number.count(".") <= 1 and "," in number and number.rfind(".") < 0
        if "," in number and (is_point or number.rfind(".") > number.rfind(",")):
            return number.replace(",", "")
        return number.replace(".", "").replace(",", ".")
    return number.replace(",", ".") if number.count(",") == 1 and "." not in number else number


def integer(text: str) -> int:
    """Return a whole number, `UNKNOWN` for what is none."""
    text = text.strip()
    digits = text[1:] if text[:1] in "+-" else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        return UNKNOWN
    return int(text)

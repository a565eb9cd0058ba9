"""Pieces of JSON that both layouts of the Chrome writer are made of: texts, times, details."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.trace import Strings, Trace

__all__ = [
    "BLOCK",
    "NAMELESS",
    "Column",
    "Details",
    "JsonTexts",
    "before_zero",
    "distinct",
    "even",
    "json_text",
    "micros",
    "micros_columns",
    "numbers",
    "padded",
    "woven",
]

#: Stands for an empty name of a process or thread, of which Perfetto complains.
NAMELESS = "(no name)"
#: Rows turned into text at a time: about 10 MB of it.
BLOCK = 50_000
_SECOND = 10**9
#: "000" to "999", as three code points each.
_THREE = np.array([f"{value:03d}" for value in range(1000)]).view(np.uint32).reshape(1000, 3)
#: A number has as many digits as there are of these up to it.
_POWERS = 10 ** np.arange(19, dtype=np.int64)
#: What `padded` makes a part of each row of.
Column: TypeAlias = "str | NDArray[Any] | tuple[NDArray[np.uint8], NDArray[Any]]"
#: Halves of surrogate pairs, for which UTF-8 has no form, and DEL, at which Perfetto gives up.
_ESCAPED = re.compile("[\x7f\ud800-\udfff]")
#: A backslash at the end of a string, after which Perfetto takes the quote for a part of it.
_LAST_BACKSLASH = re.compile(r'(?<!\\)((?:\\\\)*)\\\\(?=")')
#: Codes up to here are looked up in a table rather than sorted.
_MOST_CODES = 1_000_000
#: Whole seconds that the table of `_quick_micros` may span.
_MOST_SECONDS = 100_000


def woven(*columns: Sequence[str]) -> str:
    """Return one text: of each column the first, then of each the second, and so on."""
    parts = [""] * (len(columns) * len(columns[0]))
    for place, column in enumerate(columns):
        parts[place :: len(columns)] = column
    return "".join(parts)


def distinct(codes: I64Array) -> tuple[I64Array, NDArray[np.intp]]:
    """Return the distinct codes in order, and which of them each is; none is negative."""
    most = int(codes.max(initial=-1)) + 1
    if most > _MOST_CODES:
        return np.unique(codes, return_inverse=True)
    met = np.zeros(most, dtype=bool)
    met[codes] = True
    return np.flatnonzero(met), (np.cumsum(met) - 1)[codes]


def before_zero(trace: Trace, shift_ns: int = 0) -> int:
    """Return how far the first event or sample is before time 0, in ns.

    0 where the last one would have no time then, and where none is before.

    Parameters
    ----------
    trace : Trace
    shift_ns : int
        What will be added to all times anyway.
    """
    events, counters = trace.events, trace.counters
    first = min(int(events.start_ns.min(initial=0)), int(counters.time_ns.min(initial=0)))
    last = max(int(events.end_ns.max(initial=0)), int(counters.time_ns.max(initial=0)))
    before = max(-(first + shift_ns), 0)
    return before if last + shift_ns + before < 2**63 else 0


def json_text(value: Any) -> str:
    """Return JSON text that has a form in UTF-8 and may stand inside an HTML script element."""
    # Not in ASCII: Perfetto shows an escape as it stands there, six characters for one.
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    if "\x7f" in text or not text.isascii():
        text = _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if '\\\\"' in text:
        text = _LAST_BACKSLASH.sub(r"\1\\u005c", text)
    return text.replace("</", "<\\/")


def numbers(values: NDArray[np.float64]) -> tuple[list[str], dict[int, str]]:
    """Return values as JSON, whole ones without a point, as MXNet has its counters.

    Returns
    -------
    told : list of str
    specials : dict
        What those are, by place, for which JSON has no number; they are told as null.
    """
    with np.errstate(invalid="ignore"):
        whole = (np.abs(values) < 2**53) & (values == np.trunc(values))
    told = list(map(str, np.where(whole, values, 0).astype(np.int64).tolist()))
    specials = {}
    for place in np.flatnonzero(~whole).tolist():
        value = float(values[place])
        told[place] = repr(value)
        if not math.isfinite(value):
            told[place], specials[place] = "null", repr(value)
    return told, specials


def micros(ns: I64Array) -> list[str]:
    """Return times in ns as decimal numbers of microseconds, always with three decimals."""
    if not len(ns):
        return []
    if ns.min() < 0:
        return _signed_micros(ns)
    last = int(ns.max())
    first = int(ns.min())
    if first >= _SECOND and last // _SECOND - first // _SECOND < _MOST_SECONDS:
        digits = len(str(first // _SECOND))
        if digits == len(str(last // _SECOND)):
            return _quick_micros(ns, first // _SECOND, last // _SECOND)
    length = np.searchsorted(_POWERS, ns, side="right")
    counts = np.bincount(length).tolist()
    if max(counts) == len(ns):
        found: list[str] = _micros_of(ns, counts.index(len(ns))).tolist()
        return found
    texts = np.empty(len(ns), dtype=object)
    for digits, count in enumerate(counts):
        if count:
            rows = np.flatnonzero(length == digits)
            texts[rows] = _micros_of(ns[rows], digits)
    return texts.tolist()


def _signed_micros(ns: I64Array) -> list[str]:
    whole, rest = np.divmod(np.abs(ns), 1000)
    text = list(map("%d.%03d".__mod__, zip(whole.tolist(), rest.tolist(), strict=True)))
    for place in np.flatnonzero(ns < 0).tolist():
        text[place] = "-" + text[place]
    return text


def _micros_of(ns: I64Array, digits: int) -> NDArray[np.str_]:
    """Return the same for times in ns of so many digits, where up to three count as four."""
    digits = max(digits, 4)
    text = np.empty((len(ns), digits + 1), dtype=np.uint32)
    text[:, -4] = ord(".")
    for place in (-1, -2, -3, *range(-5, -digits - 2, -1)):
        ns, tens = ns // 10, ns
        text[:, place] = tens - ns * 10 + ord("0")
    return text.view(f"U{digits + 1}").ravel()


def _quick_micros(ns: I64Array, first: int, last: int) -> list[str]:
    """Return the same by looking digits up in threes; all times have equally many."""
    seconds, rest = np.divmod(ns, _SECOND)
    digits = len(str(first))
    heads = np.arange(first, last + 1).astype(f"U{digits}").view(np.uint32).reshape(-1, digits)
    text = np.empty((len(ns), digits + 10), dtype=np.uint32)
    text[:, :digits] = heads[seconds - first]
    text[:, digits : digits + 3] = _THREE[rest // 1_000_000]
    text[:, digits + 3 : digits + 6] = _THREE[rest // 1_000 % 1_000]
    text[:, digits + 6] = ord(".")
    text[:, digits + 7 :] = _THREE[rest % 1_000]
    found: list[str] = text.view(f"U{digits + 10}").ravel().tolist()
    return found


def micros_columns(ns: I64Array) -> list[Column]:
    """Return the same as columns for `padded`."""
    if len(ns) and ns.min() < 0:
        told = micros(ns)
        used = {text: place for place, text in enumerate(dict.fromkeys(told))}
        return [(even(list(used)), np.array([used[text] for text in told]))]
    whole, rest = np.divmod(ns, 1000)
    return [whole, ".", (_THREE.astype(np.uint8), rest)]


def padded(columns: Sequence[Column]) -> str:
    """Return one text of equally long rows, in which blanks stand before and after values.

    Parameters
    ----------
    columns : sequence
        What each row is made of: a text that stands in all; numbers, none of them negative; or
        a table of `even` texts and which of them. Blanks must be allowed around the last two.
    """
    rows = next(
        len(c[1]) if isinstance(c, tuple) else len(c) for c in columns if type(c) is not str
    )
    parts: list[NDArray[np.uint8]] = []
    for column in columns:
        if isinstance(column, str):
            parts.append(np.frombuffer(column.encode("ascii"), dtype=np.uint8)[np.newaxis])
        elif isinstance(column, tuple):
            parts.append(column[0][column[1]])
        else:
            parts.append(_digits(column))
    rows, width = max(len(part) for part in parts), sum(part.shape[1] for part in parts)
    grid = np.empty((rows, width), dtype=np.uint8)
    place = 0
    for part in parts:
        grid[:, place : place + part.shape[1]] = part
        place += part.shape[1]
    return grid.tobytes().decode("ascii")


def even(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return texts in ASCII as rows of equal length, with blanks after the shorter ones."""
    told = np.array([text.encode("ascii") for text in texts] or [b""])
    table = told.view(np.uint8).reshape(len(told), -1)
    return np.where(table, table, np.uint8(ord(" ")))


def _digits(numbers: NDArray[Any]) -> NDArray[np.uint8]:
    """Return numbers as digits, one row each, blanks before the shorter ones."""
    width = len(str(int(numbers.max(initial=0))))
    text = np.empty((len(numbers), width), dtype=np.uint8)
    rest = numbers
    for place in range(width - 1, -1, -1):
        rest, tens = rest // 10, rest
        text[:, place] = tens - rest * 10 + ord("0")
        if place < width - 1:
            text[tens == 0, place] = ord(" ")
    return text


def _optional(name: str, values: NDArray[Any]) -> list[str] | None:
    """Return ``,"name":value`` per row, empty for the null value; None when all are null."""
    if not (values >= 0).any():
        return None
    form = f',"{name}":%d'.__mod__
    return [form(value) if value >= 0 else "" for value in values.tolist()]


class JsonTexts(dict[int, str]):
    """The string table as JSON, by code; each text is made when it is first asked for.

    Most arguments of a foreign file are written as they stood there and never asked for.
    """

    def __init__(self, strings: Strings) -> None:
        self._strings = strings

    def __missing__(self, code: int) -> str:
        found = self[code] = json_text(self._strings[code])
        return found


class Details:
    """What a trace knows of its events beyond their times, as arguments in JSON.

    Parameters
    ----------
    trace : Trace
    names : JsonTexts
        The string table.
    sites : sequence of int, optional
        Numbers of the lines in the file; their rows when left out.
    first_arg : int
        Number of the first row of args that an event refers to.
    shift_ns : int
        What to add to the time of queueing.
    """

    def __init__(
        self,
        trace: Trace,
        names: JsonTexts,
        *,
        sites: Sequence[int] | None = None,
        first_arg: int = 0,
        shift_ns: int = 0,
    ) -> None:
        self._trace = trace
        self._names = names
        self._shift = shift_ns
        numbers = range(len(trace.sites)) if sites is None else sites
        self._sites = [
            f',"site":{row},"line":{json_text(line)}'
            for row, line in zip(numbers, self._lines(), strict=True)
        ] + [""]  # -1 finds the empty one
        used = np.unique(trace.events.arg)
        self._used = used[used >= 0]
        # Rows keep their order when unused ones are left out.
        self._place = np.full(len(trace.args), -1, dtype=np.int64)
        self._place[self._used] = np.arange(first_arg, first_arg + len(self._used))

    @property
    def args(self) -> int:
        """How many rows of args there are that events refer to."""
        return len(self._used)

    def of(self, rows: slice | NDArray[Any]) -> list[str]:
        """Return the arguments of events, each with a comma before it."""
        events = self._trace.events
        queued = events.queued_ns[rows]
        parts = [
            _optional("correlation", events.correlation[rows]),
            _optional("step", events.step[rows]),
            _optional("queued_ns", np.where(queued >= 0, queued + self._shift, -1)),
            _optional("earlier", events.earlier[rows]),
        ]
        site = events.site[rows]
        if (site >= 0).any():
            parts.append(list(map(self._sites.__getitem__, site.tolist())))
        arg = events.arg[rows]
        if (arg >= 0).any():
            texts = {row: self._text(row) if row >= 0 else "" for row in np.unique(arg).tolist()}
            parts.append(list(map(texts.__getitem__, arg.tolist())))
        present = [part for part in parts if part is not None]
        if not present:
            return [""] * len(site)
        return list(map("".join, zip(*present, strict=True)))

    def _lines(self) -> Iterator[str]:
        strings, sites = self._trace.strings, self._trace.sites
        for file, line, text in zip(sites.file, sites.line, sites.text, strict=True):
            yield f"{strings[int(file)]}:{line}: {strings.text(int(text))}".removesuffix(": ")

    def _text(self, row: int) -> str:
        """Return one row of args."""
        size, flops, shapes, dtype, raw = (
            int(values[row]) for _, values in self._trace.args.columns()
        )
        text = f',"arg":{self._place[row]}'
        if size >= 0:
            text += f',"bytes":{size}'
        if flops >= 0:
            text += f',"flops":{flops}'
        if shapes >= 0:
            text += f',"shapes":{self._names[shapes]}'
        if dtype >= 0:
            text += f',"dtype":{self._names[dtype]}'
        if raw >= 0:
            # As it is where it is JSON, else as one string.
            told = self._trace.strings[raw]
            plain = _is_plain_json(told)
            text += f',"details":{told}' if plain else f',"text":{self._names[raw]}'
        return text


def _is_plain_json(text: str) -> bool:
    """Whether a text is JSON that can stand inside ours and be found again, byte for byte."""
    if text != text.strip() or "\\ud" in text.lower() or _ESCAPED.search(text):
        return False
    if "</" in text or '\\\\"' in text:  # what `json_text` writes in another way
        return False
    try:
        json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_without_twins
        )
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> None:
    if not math.isfinite(float(number)):
        raise ValueError(f"{number} is more than a double holds")


def _without_twins(pairs: list[tuple[str, Any]]) -> None:
    # Of two equal keys some programs keep the first, some the last, and some give up.
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice")

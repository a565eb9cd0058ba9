"""Times of many events at once, from their text, exact to the nanosecond.

A float holds a time since 1970 to a quarter of a microsecond, and PyTorch's times to one
nanosecond. So digits are read as digits wherever a file has up to three decimals; with more
of them a float serves below 2^41 microseconds (25 days), and above that decimal arithmetic.

What a decoder has made numbers of already costs less to take: whole microseconds, and durations
as floats. Where those might have lost something it is refused, and the text has to be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import I64Array
from mxprof_nb.io.chrome.records import MISSING, NO_WHOLE

__all__ = [
    "ABSENT",
    "BAD",
    "GOOD",
    "InexactError",
    "Times",
    "times",
    "times_of_floats",
    "times_of_wholes",
]

#: How a number was found.
GOOD, ABSENT, BAD = 0, 1, 2
#: Below this many microseconds a float is exact to the nanosecond.
_SAFE = float(2**41)
#: Below this many (2 hours) it is off by less than `_NEAR` ns.
_SHORT = float(2**33)
_NEAR = 2.0**-8
_LAST = 2**63 - 1
_MOST_WHOLE = _LAST // 4000
#: As many fit 64 bits if the first is none above this.
_MOST_DIGITS, _LAST_FIRST = 19, ord("8")
_DIGIT, _POINT, _COMMA, _MINUS, _OTHER = range(5)
_CLASS = np.full(256, _OTHER, dtype=np.uint8)
_CLASS[ord("0") : ord("9") + 1] = _DIGIT
_CLASS[ord(".")], _CLASS[ord(",")], _CLASS[ord("-")] = _POINT, _COMMA, _MINUS
_POWERS = 10 ** np.arange(4, dtype=np.int64)


class InexactError(Exception):
    """Numbers as they were decoded do not tell the nanosecond; their text does."""


class Times(NamedTuple):
    """Begins and durations of events.

    Attributes
    ----------
    start, dur : ndarray of int64, shape (n,)
        In ns, 0 where there is none.
    start_state, dur_state : ndarray of int8, shape (n,)
        `GOOD`, `ABSENT` or `BAD`: no number, or none that fits 64 bits of ns.
    """

    start: I64Array
    dur: I64Array
    start_state: NDArray[np.int8]
    dur_state: NDArray[np.int8]


class _Digits(NamedTuple):
    """Numbers as whole ones with a place for the point; odd ones are 0."""

    whole: I64Array
    decimals: NDArray[Any]
    is_odd: NDArray[np.bool_]
    is_absent: NDArray[np.bool_]


def times(ts: Sequence[Any], dur: Sequence[Any]) -> Times:
    """Return the times of events.

    Parameters
    ----------
    ts, dur : sequence of bytes-like, length n
        JSON of the numbers as it stands in the file, `MISSING` where there is none; a number in
        a string counts as the number.
    """
    begin, length = _digits(ts), _digits(dur)
    exact = (begin.decimals <= 3) & (length.decimals <= 3) & ~begin.is_odd & ~length.is_odd
    start = _scaled(begin)
    last = _scaled(length)
    for part in (begin, length):
        exact &= np.abs(part.whole * 10.0 ** (3 - np.minimum(part.decimals, 3))) < _LAST // 2
    states = [np.where(part.is_absent, ABSENT, GOOD).astype(np.int8) for part in (begin, length)]
    rest = np.flatnonzero(~exact)
    if len(rest):
        _add_rest(ts, dur, rest, start, last, states)
    return Times(start, last, states[0], states[1])


def times_of_floats(ts: Sequence[Any], dur: Iterable[float]) -> Times:
    """Return the times of events whose durations are floats.

    Parameters
    ----------
    ts : sequence of bytes-like, length n
        As of `times`.
    dur : iterable of float, length n
        NaN for none.

    Raises
    ------
    InexactError
        A duration is long; or floats are too coarse for a begin with more than three decimals, or
        with a duration that lies about halfway between two nanoseconds.
    """
    begin = _digits(ts)
    length = np.fromiter(dur, np.float64, len(ts))
    dur_state = np.where(np.isnan(length), ABSENT, GOOD).astype(np.int8)
    length[dur_state == ABSENT] = 0.0
    ns = length * 1000.0
    last = np.rint(ns)
    if not (np.abs(length) < _SHORT).all():
        raise InexactError
    start, dur_ns = _scaled(begin), last.astype(np.int64)
    start_state = np.where(begin.is_absent, ABSENT, GOOD).astype(np.int8)
    is_half = np.abs(np.abs(ns - last) - 0.5) < _NEAR
    exact = (begin.decimals <= 3) & ~begin.is_odd & ~is_half
    exact &= np.abs(begin.whole * 10.0 ** (3 - np.minimum(begin.decimals, 3))) < _LAST // 2
    for row in np.flatnonzero(~exact).tolist():
        _, start_state[row], number = _number(bytes(ts[row]))
        if abs(number) >= _SAFE:
            raise InexactError
        start[row] = round(number * 1000.0)
        dur_ns[row] = round(number * 1000.0 + ns[row]) - start[row]
    return Times(start, dur_ns, start_state, dur_state)


def times_of_wholes(ts: Iterable[int], dur: Iterable[int], n: int) -> Times:
    """Return the times of events whose times are whole microseconds, `NO_WHOLE` for none.

    Raises
    ------
    InexactError
        One does not fit 64 bits of ns.
    """
    found = []
    for numbers in (ts, dur):
        try:
            whole = np.fromiter(numbers, np.int64, n)
        except OverflowError as cause:
            raise InexactError from cause
        absent = whole == NO_WHOLE
        whole[absent] = 0
        if n and not -_MOST_WHOLE < int(whole.min()) <= int(whole.max()) < _MOST_WHOLE:
            raise InexactError
        found.append((whole * 1000, np.where(absent, ABSENT, GOOD).astype(np.int8)))
    (start, start_state), (last, dur_state) = found
    return Times(start, last, start_state, dur_state)


def _scaled(digits: _Digits) -> I64Array:
    with np.errstate(over="ignore"):
        scaled: I64Array = digits.whole * _POWERS[3 - np.minimum(digits.decimals, 3)]
    return scaled


def _digits(texts: Sequence[Any]) -> _Digits:
    """Read all numbers that are written with digits, a point and a minus only."""
    n = len(texts)
    joined = b",".join(texts)
    aligned = _aligned(joined, n)
    if aligned is not None:
        return aligned
    kinds = _CLASS[np.frombuffer(joined, dtype=np.uint8)]
    commas = np.flatnonzero(kinds == _COMMA)
    is_odd = np.zeros(n, dtype=bool)
    if len(commas) != max(n - 1, 0):  # a text with commas in it
        is_odd[:] = [b"," in bytes(text) for text in texts]
        return _without_odd(texts, is_odd)
    first = np.concatenate([[0], commas + 1])[:n]
    stop = np.append(commas, len(joined))[:n]
    is_odd[np.searchsorted(commas, np.flatnonzero(kinds == _OTHER))] = True
    point = np.flatnonzero(kinds == _POINT)
    row = np.searchsorted(commas, point) if len(point) != n else np.arange(n)
    if len(point) == n and n and not ((point >= first) & (point < stop)).all():
        row = np.searchsorted(commas, point)
    decimals = np.zeros(n, dtype=np.int64)
    decimals[row] = stop[row] - point - 1
    length = stop - first
    is_odd |= length == 0
    text = np.frombuffer(joined, dtype=np.uint8)
    figures = length - (decimals > 0)
    is_odd |= figures > _MOST_DIGITS
    most = np.flatnonzero(figures == _MOST_DIGITS)
    is_odd[most] |= text[first[most]] > _LAST_FIRST
    if is_odd.any():
        return _without_odd(texts, is_odd)
    whole = np.fromstring(joined.replace(b".", b"").decode("ascii"), dtype=np.int64, sep=",")
    zeros = np.flatnonzero((length == len(MISSING)) & (whole == 0))
    is_absent = np.zeros(n, dtype=bool)
    if len(zeros):
        absent = text[first[zeros]] == MISSING[0]
        is_absent[zeros[absent]] = True
    return _Digits(whole, decimals, is_odd, is_absent)


def _aligned(joined: bytes, n: int) -> _Digits | None:
    """Read numbers of equal length whose points are in one place, as most are; None for others."""
    width, rest = divmod(len(joined) + 1, max(n, 1))
    if rest or not len(MISSING) + 1 < width <= _MOST_DIGITS + 2:
        return None
    table = np.frombuffer(joined + b",", dtype=np.uint8).reshape(n, width)
    if not (table[:, -1] == ord(",")).all():
        return None
    is_point = table[0] == ord(".")
    point = int(is_point.argmax()) if is_point.any() else width - 1
    if not (table[:, point] == table[0, point]).all():
        return None
    figures = np.delete(table, [point, width - 1], axis=1)
    if ((figures < ord("0")) | (figures > ord("9"))).any() or figures.shape[1] > _MOST_DIGITS:
        return None
    if figures.shape[1] == _MOST_DIGITS and (figures[:, 0] > _LAST_FIRST).any():
        return None
    whole = np.zeros(n, dtype=np.int64)
    for column in figures.T:
        whole = whole * 10 + (column - ord("0"))
    none = np.zeros(n, dtype=bool)
    return _Digits(whole, np.full(n, max(width - 2 - point, 0)), none, none)


def _without_odd(texts: Sequence[Any], is_odd: NDArray[np.bool_]) -> _Digits:
    plain = [b"0" if odd else text for text, odd in zip(texts, is_odd.tolist(), strict=True)]
    return _digits(plain)._replace(is_odd=is_odd)


def _add_rest(
    ts: Sequence[Any],
    dur: Sequence[Any],
    rest: NDArray[np.intp],
    start: I64Array,
    length: I64Array,
    states: list[NDArray[np.int8]],
) -> None:
    """Fill in what is not read digit by digit: begin and end are rounded to the nearest ns."""
    for row in rest.tolist():
        begin, begin_state, begin_float = _number(bytes(ts[row]))
        lasting, length_state, length_float = _number(bytes(dur[row]))
        if abs(begin_float) < _SAFE and abs(length_float) < _SAFE:
            first = round(begin_float * 1000.0)
            last = round(begin_float * 1000.0 + length_float * 1000.0)
        else:
            first, last = _rounded(begin), _rounded(begin + lasting)
        if abs(first) > _LAST // 2:
            first, last, begin_state = 0, last - first, BAD
        if abs(last - first) > _LAST or abs(last) > _LAST:
            first, last = (first, first) if begin_state != BAD else (0, 0)
            length_state = BAD
        start[row], length[row] = first, last - first
        states[0][row], states[1][row] = begin_state, length_state


def _number(text: bytes) -> tuple[Decimal, int, float]:
    """Return a number as decimal and as float, and how it was found."""
    if text == MISSING:
        return Decimal(0), ABSENT, 0.0
    if len(text) > _LONGEST:
        return Decimal(0), BAD, 0.0
    try:
        number = Decimal(text.strip(b'" ').decode("ascii"))
    except (InvalidOperation, ValueError):
        return Decimal(0), BAD, 0.0
    # The largest power of ten first: 1e999999999 as a whole number would fill the memory.
    if not number.is_finite() or number.adjusted() > 18:
        return Decimal(0), BAD, 0.0
    return number, GOOD, float(number)


#: No time is written with more characters.
_LONGEST = 400


def _rounded(microseconds: Decimal) -> int:
    return int((microseconds * 1000).to_integral_value(ROUND_HALF_EVEN))

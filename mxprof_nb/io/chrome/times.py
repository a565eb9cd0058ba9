"""Microseconds as Chrome traces write them, to whole nanoseconds, exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TypeAlias

import numpy as np

from mxprof_nb._typing import I64Array

__all__ = ["Microseconds", "thousandths", "to_ns"]

Microseconds: TypeAlias = int | float | Decimal

#: Up to here (13 days in ns) a 64-bit float holds a time in µs with three decimals so closely
#: that rounding gives the nanosecond that was written.
_EXACT_NS = float(2**50)
_LAST = 2**63 - 1


def to_ns(
    ts: Sequence[Microseconds],
    dur: Sequence[Microseconds],
    exactly: Callable[[], tuple[Sequence[Decimal], Sequence[Decimal]]],
) -> tuple[I64Array, I64Array]:
    """Return begins and durations in ns.

    Parameters
    ----------
    ts, dur : sequence of int or float, length n
        In microseconds.
    exactly : callable
        Returns the same numbers as written in the file; called only where floats are too coarse
        (times since 1970, with decimals).

    Returns
    -------
    start_ns, dur_ns : ndarray of int64, shape (n,)
        Begin and end are rounded to the nearest ns, so what was nested stays nested.

    Raises
    ------
    OverflowError
        A time does not fit 64 bits of ns; ``args[0]`` is its position.
    """
    if all(type(value) is int for value in ts) and all(type(value) is int for value in dur):
        return _of_integers(ts, dur)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            start = np.array(ts, dtype=np.float64) * 1000.0
            end = start + np.array(dur, dtype=np.float64) * 1000.0
    except OverflowError:  # an integer beyond all floats; told by place below
        return _of_decimals(*exactly())
    if max(np.abs(start).max(initial=0.0), np.abs(end).max(initial=0.0)) < _EXACT_NS:
        first = np.rint(start).astype(np.int64)
        return first, np.rint(end).astype(np.int64) - first
    return _of_decimals(*exactly())


def thousandths(json: bytes, ts: Sequence[Microseconds | None]) -> I64Array | None:
    """Return the times of a file in ns whose every ``ts`` has three decimals.

    Parameters
    ----------
    json : bytes
        The events.
    ts : sequence of int or float, length n
        The same numbers decoded.

    Returns
    -------
    ndarray of int64, shape (n,), or None
        None where they are written otherwise, or ``"ts"`` is a key elsewhere too.
    """
    found = _THOUSANDTHS.findall(json)
    if len(found) != len(ts) or not found or not all(type(value) is float for value in ts):
        return None
    text = b",".join(found).replace(b".", b"").decode()
    ns = np.fromstring(text, dtype=np.int64, sep=",")
    near = np.abs(ns / 1000 - np.array(ts, dtype=np.float64)) < 1
    return ns if len(ns) == len(ts) and near.all() else None


#: Up to 15 digits before the point stay within 64 bits of ns, with those behind it; 16 do so
#: until the year 2262.
_THOUSANDTHS = re.compile(rb'"ts":(-?[0-9]{1,16}\.[0-9]{3})[,}]')


def _of_integers(
    ts: Sequence[Microseconds], dur: Sequence[Microseconds]
) -> tuple[I64Array, I64Array]:
    most = _LAST // 1000
    for place, begin in enumerate(ts):
        length = dur[place]
        if not (-most <= begin <= most and 0 <= length <= most and begin <= most - int(length)):
            raise OverflowError(place)
    return np.array(ts, dtype=np.int64) * 1000, np.array(dur, dtype=np.int64) * 1000


def _of_decimals(ts: Sequence[Decimal], dur: Sequence[Decimal]) -> tuple[I64Array, I64Array]:
    start, length = [], []
    for place, (begin, spent) in enumerate(zip(ts, dur, strict=True)):
        first, last = begin * 1000, (begin + spent) * 1000
        if abs(first) > _LAST or abs(last) > _LAST or abs(last - first) > _LAST:
            raise OverflowError(place)
        whole = int(first.to_integral_value(ROUND_HALF_EVEN))
        start.append(whole)
        length.append(int(last.to_integral_value(ROUND_HALF_EVEN)) - whole)
    return np.array(start, dtype=np.int64), np.array(length, dtype=np.int64)

"""Numbers as a person reads them: three significant digits, and the unit that fits."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["count", "duration", "scale", "scaled", "share", "size", "time_range", "value"]

_TIMES = (("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))
_SIZES = (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12))
_MINUTE_NS = 60e9


#: From here on digits before the point say nothing, and would fill lines.
_VAST = 1e15
#: Digits after the point in a column of one unit: what is smaller says nothing beside the others.
_DECIMALS = 3


def _three(number: float) -> str:
    """Return three significant digits, without an exponent and with thousands separated.

    Numbers beyond all that is measured get an exponent.
    """
    if number == 0:
        return "0"
    if not abs(number) < _VAST:
        return f"{number:.2e}" if math.isfinite(number) else f"{number}"
    digits = 2 - math.floor(math.log10(abs(number)))
    rounded = round(number, digits)
    # 9.999 rounds to 10.0: the digits after the point follow the rounded number.
    digits = 2 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(digits, 0)}f}"


def _scaled(number: float, units: tuple[tuple[str, float], ...]) -> str:
    # The next unit takes over where three digits would show a thousand of this one.
    name, factor = next((u for u in units if abs(number) < 999.5 * u[1]), units[-1])
    exact = factor == 1 and float(number).is_integer()
    return f"{int(number)} {name}" if exact else f"{_three(number / factor)} {name}"


def duration(ns: float) -> str:
    """Return a time, given in ns.

    Examples
    --------
    >>> duration(0), duration(950), duration(12_340), duration(167_203_000)
    ('0 ns', '950 ns', '12.3 µs', '167 ms')
    >>> duration(999_700), duration(2_500_000_000), duration(5_430_000_000_000)
    ('1.00 ms', '2.50 s', '1 h 30 min')
    """
    if abs(ns) < 10 * _MINUTE_NS:
        return _scaled(ns, _TIMES)
    if not abs(ns) < _VAST * _MINUTE_NS:
        return f"{_three(ns / 1e9)} s"
    sign = "-" if ns < 0 else ""
    minutes, seconds = divmod(round(abs(ns) / 1e9), 60)
    if minutes < 60:
        return f"{sign}{minutes} min {seconds} s"
    return f"{sign}{minutes // 60:,} h {minutes % 60} min"


def size(number: float) -> str:
    """Return a number of bytes, in decimal units.

    Examples
    --------
    >>> size(0), size(36), size(32_000_000)
    ('0 B', '36 B', '32.0 MB')
    """
    return _scaled(number, _SIZES)


def value(number: float, unit: str = "") -> str:
    """Return a value in a unit of its own; bytes and nanoseconds get the unit that fits.

    Examples
    --------
    >>> value(96e6, "B"), value(1500.0), value(0.5, "GHz")
    ('96.0 MB', '1,500', '0.500 GHz')
    """
    if unit == "B":
        return size(number)
    if unit == "ns":
        return duration(number)
    whole = abs(number) < _VAST and float(number).is_integer()
    text = f"{int(number):,}" if whole else _three(number)
    return f"{text} {unit}".rstrip()


def scale(values: Iterable[float], unit: str) -> tuple[str, float]:
    """Return the unit that fits a column of values, and how much of the given unit it is.

    Parameters
    ----------
    values : iterable of float
        Those that the column shows.
    unit : str
        What they are in: "ns" and "B" have larger ones, others stay.

    Notes
    -----
    It is the unit that fits the median: most cells then have one to three digits before the
    point. A value of a million units makes it a larger one.

    Examples
    --------
    >>> scale([208e6, 171e6, 40e3], "ns"), scale([171e6, 20_400, 2_150], "ns"), scale([], "GHz")
    (('ms', 1000000.0), ('µs', 1000.0), ('GHz', 1.0))
    """
    units = {"ns": _TIMES, "B": _SIZES}.get(unit, ((unit, 1.0),))
    sizes = sorted(abs(value) for value in values if value and math.isfinite(value))
    if not sizes:
        return units[0]
    middle, largest = sizes[len(sizes) // 2], sizes[-1]
    fitting = (u for u in units if middle < 999.5 * u[1] and largest < 999_500 * u[1])
    return next(fitting, units[-1])


def scaled(number: float, factor: float = 1.0) -> str:
    """Return a number in a unit of ``factor``, for a column of that unit.

    Three significant digits, of which at most three stand behind the point.

    Examples
    --------
    >>> scaled(171_400_000, 1e6), scaled(40_000, 1e6), scaled(215, 1e6), scaled(5)
    ('171', '0.040', '<0.001', '5')
    >>> scaled(-215, 1e6)
    '>-0.001'
    """
    if factor == 1 and float(number).is_integer() and abs(number) < 1000:
        return f"{int(number)}"
    text = _three(number / factor)
    if len(text.partition(".")[2]) <= _DECIMALS or "e" in text:
        return text
    least = 10.0**-_DECIMALS
    if abs(number / factor) < least / 2:
        return f"<{least}" if number > 0 else f">-{least}"
    return f"{number / factor:,.{_DECIMALS}f}"


def count(number: int, singular: str = "", plural: str = "") -> str:
    """Return a count, with the word that fits it.

    Examples
    --------
    >>> count(1204), count(1, "event"), count(2, "event"), count(2, "entry", "entries")
    ('1,204', '1 event', '2 events', '2 entries')
    """
    if not singular:
        return f"{number:,}"
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def share(part: float) -> str:
    """Return a ratio as a whole percent.

    Examples
    --------
    >>> share(0.899), share(0.004), share(0.0), share(0.998)
    ('90 %', '<1 %', '0 %', '>99 %')
    """
    if 0 < part < 0.01:
        return "<1 %"
    if 0.99 < part < 1:
        return ">99 %"
    return f"{part * 100:.0f} %"


def time_range(begin_ns: float, end_ns: float, total_ns: float) -> str:
    """Return a part of a run in one unit, counted from its begin.

    Examples
    --------
    >>> time_range(12e6, 48.3e6, 412e6)
    '12.0 to 48.3 ms of 412 ms'
    >>> time_range(0, 412e6, 412e6)
    '0 to 412 ms of 412 ms'
    """
    largest = max(abs(begin_ns), abs(end_ns))
    name, factor = next((u for u in reversed(_TIMES) if largest >= 0.9995 * u[1]), _TIMES[0])
    begin, end = (_between(t / factor, (end_ns - begin_ns) / factor) for t in (begin_ns, end_ns))
    return f"{begin} to {end} {name} of {duration(total_ns)}"


def _between(number: float, width: float) -> str:
    """Return three digits, or as many more as tell the ends of a narrow range apart."""
    if number == 0:
        return "0"
    finer = 2 - math.floor(math.log10(width)) if width > 0 else 0
    usual = 2 - math.floor(math.log10(abs(number)))
    return f"{number:,.{max(usual, min(finer, 6), 0)}f}"

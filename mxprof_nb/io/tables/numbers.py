"""Whole numbers out of a column of anything: integers, floats, dates, texts of any country."""

from __future__ import annotations

import json
import re
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mxprof_nb._typing import BoolArray, I64Array

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SCALES", "is_date", "is_number", "texts", "whole"]

#: Nanoseconds of each unit, by the ways to write it.
SCALES = {
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1),
    **dict.fromkeys(("us", "usec", "µs", "μs", "microseconds"), 1_000),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1_000_000),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), 1_000_000_000),
}
_POWERS = frozenset(SCALES.values())
_LAST = 2**63 - 1
_ISO = re.compile(r"\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
#: What most programs write; read without `Decimal` in a quarter of its time.
_PLAIN = re.compile(r"-?[0-9]{1,18}(?:\.([0-9]{1,9}))?")
_BLANKS = dict.fromkeys(map(ord, " _'’\u00a0\u202f"), None)
#: Longer texts are no numbers; nor does Python read them in time that is bounded well.
_MOST_DIGITS = 60


def is_date(column: pd.Series[Any]) -> bool:
    """Return whether a column holds moments or lengths of time with a unit of their own."""
    if column.dtype.kind in "mM":
        return True
    if is_number(column):
        return False
    first = next((text for text in texts(column.head(100)) if text), "")
    return bool(_ISO.match(first))


def is_number(column: pd.Series[Any]) -> bool:
    """Return whether a column holds numbers rather than texts or dates."""
    return column.dtype.kind in "iufb"


def whole(
    column: pd.Series[Any], scale: int = 1, *, comma: bool = False
) -> tuple[I64Array, BoolArray]:
    """Return ``scale`` times the numbers of a column, rounded, and which there are.

    Parameters
    ----------
    column : pandas.Series, length n
        Numbers, dates (in ns, whatever the scale), or texts of either.
    scale : int
    comma : bool
        A single comma in a text stands before decimals, rather than between thousands.

    Returns
    -------
    values : ndarray of int64, shape (n,)
    valid : ndarray of bool, shape (n,)
        False where nothing stands, or no number, or one beyond 64 bits.
    """
    kind = column.dtype.kind
    if kind in "mM":
        return _dates(column)
    if kind in "iub":
        return _integers(column, scale)
    if kind == "f":
        return _floats(column.to_numpy(dtype=np.float64, na_value=np.nan), scale)
    told = texts(column)
    if is_date(column):
        import pandas as pd

        return _dates(pd.to_datetime(pd.Series(told), errors="coerce", utc=True, format="ISO8601"))
    return _read(told, scale, comma)


def texts(column: pd.Series[Any]) -> list[str | None]:
    """Return a column as texts, None where nothing stands."""
    missing = column.isna().to_numpy()
    return [
        None if lacks else value if isinstance(value, str) else _text(value)
        for value, lacks in zip(column.tolist(), missing.tolist(), strict=True)
    ]


def _text(value: Any) -> str:
    if isinstance(value, dict | list):
        try:
            return json.dumps(value, default=str, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            return str(value)
    return str(value)


def _dates(column: pd.Series[Any]) -> tuple[I64Array, BoolArray]:
    valid = column.notna().to_numpy().copy()
    unit = "timedelta64[ns]" if column.dtype.kind == "m" else "datetime64[ns]"
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert(None)
    found = column.to_numpy().astype(unit).astype(np.int64)
    return np.where(valid, found, 0), valid


def _integers(column: pd.Series[Any], scale: int) -> tuple[I64Array, BoolArray]:
    valid = column.notna().to_numpy().copy()
    values: NDArray[Any] = np.asarray(column.fillna(0))
    if values.dtype.kind == "O":
        values = values.astype(np.int64)
    if values.dtype.kind == "b":
        values = values.astype(np.int64)
    most = _LAST // scale
    fits = (values <= most) & (values >= -most if values.dtype.kind == "i" else True)
    return np.where(fits, values, 0).astype(np.int64) * scale, valid & fits


def _floats(values: NDArray[np.float64], scale: int) -> tuple[I64Array, BoolArray]:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.rint(values * scale)
        valid = np.isfinite(scaled) & (np.abs(scaled) < 2.0**63)
    return np.where(valid, scaled, 0).astype(np.int64), valid


def _read(told: list[str | None], scale: int, comma: bool) -> tuple[I64Array, BoolArray]:
    """Return what texts say, exactly."""
    try:
        values = np.array([int(text) for text in told if text is not None], dtype=np.int64)
        if np.abs(values).max(initial=0) <= _LAST // scale:
            valid = np.array([text is not None for text in told], dtype=bool)
            found = np.zeros(len(told), dtype=np.int64)
            found[valid] = values * scale
            return found, valid
    except (ValueError, OverflowError):
        pass
    digits = len(str(scale)) - 1 if scale in _POWERS else -1
    numbers = [None if text is None else _number(text, scale, digits, comma) for text in told]
    valid = np.array([number is not None for number in numbers], dtype=bool)
    return np.array([number or 0 for number in numbers], dtype=np.int64), valid


def _number(text: str, scale: int, digits: int, comma: bool) -> int | None:
    """Return ``scale`` times a number; ``digits`` is how many zeros a power of ten has, else -1."""
    if (found := _PLAIN.fullmatch(text)) and len(decimals := found[1] or "") <= digits:
        whole_part = text[: len(text) - len(decimals) - 1] if decimals else text
        value = int(whole_part + decimals.ljust(digits, "0"))
        return value if abs(value) <= _LAST else None
    plain = text.translate(_BLANKS).strip()
    if len(plain) > _MOST_DIGITS:
        return None
    if "," in plain:
        if plain.rfind(",") > plain.rfind(".") >= 0:  # 1.234,5
            plain = plain.replace(".", "").replace(",", ".")
        elif "." in plain or (not comma and _GROUPED.fullmatch(plain)):  # 1,234.5 and 1,234
            plain = plain.replace(",", "")
        else:
            plain = plain.replace(",", ".")
    try:
        exact = Decimal(plain) * scale
        if not exact.is_finite() or exact.adjusted() > 18:
            return None
        value = int(exact.to_integral_value(ROUND_HALF_EVEN))
    except (ArithmeticError, ValueError):  # Decimal has an overflow of its own
        return None
    return value if abs(value) <= _LAST else None

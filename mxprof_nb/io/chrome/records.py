"""One event of a Chrome trace as its producer wrote it, typed as the format demands.

Import it inside functions: it loads msgspec.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

import msgspec

__all__ = ["MISSING", "NO_WHOLE", "PHASES", "Everything", "InWholes", "Usual", "plain", "settled"]

#: Phases that are read.
Phase: TypeAlias = Literal[
    "X", "B", "E", "b", "e", "n", "i", "I", "C", "s", "t", "f", "M", "P", "S", "T", "p", "F", "N",
    "O", "D", "(", ")"
]  # fmt: skip
#: The same; the place is the code.
PHASES = "".join(get_args(Phase))

#: Stands for a time that is not there; no number begins with two zeros.
MISSING = b"00"
#: The same where times are whole numbers; too far from all others to be a time.
NO_WHOLE = -(2**63)
_NO_TIME = msgspec.Raw(MISSING)
_NOTHING = msgspec.Raw()


class Usual(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The fields that most events have, and no other; in the order in which PyTorch has them.

    Durations are floats, NaN for none, which are exact as long as they are short.
    """

    ph: Phase = ""  # type: ignore[assignment]
    cat: str = ""
    name: str = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: msgspec.Raw = _NO_TIME
    dur: float = math.nan
    args: msgspec.Raw = _NOTHING
    id: int | str | None = None
    bp: str = ""
    s: str = ""

    # What only few files have: class attributes, so that both kinds are read alike.
    id2 = _NOTHING
    scope = ""
    tts = tdur = _NOTHING
    bind_id = None
    flow_in = flow_out = False
    sf = None
    stack = _NOTHING


class InWholes(Usual, gc=False, forbid_unknown_fields=True):
    """The same with times in whole microseconds, as MXNet writes them; `NO_WHOLE` for none."""

    ts: int = NO_WHOLE  # type: ignore[assignment]
    dur: int = NO_WHOLE


class Everything(msgspec.Struct, gc=False):
    """All fields that are read; others are ignored."""

    ph: str = ""
    name: str = ""
    cat: str = ""
    ts: msgspec.Raw = _NO_TIME
    dur: msgspec.Raw = _NO_TIME
    pid: int | str | None = None
    tid: int | str | None = None
    args: msgspec.Raw = _NOTHING
    id: int | str | None = None
    bp: str = ""
    s: str = ""
    id2: msgspec.Raw = _NOTHING
    scope: str = ""
    tts: msgspec.Raw = _NOTHING
    tdur: msgspec.Raw = _NOTHING
    bind_id: int | str | None = None
    flow_in: bool = False
    flow_out: bool = False
    sf: int | str | None = None
    stack: msgspec.Raw = _NOTHING


_TEXTS = ("ph", "name", "cat", "bp", "s", "scope")
_IDS = ("pid", "tid", "id", "bind_id", "sf")
_RAW = ("ts", "dur", "args", "id2", "tts", "tdur", "stack")
_FLAGS = ("flow_in", "flow_out")


def settled(told: Mapping[str, Any]) -> tuple[Everything, bool]:
    """Return an event whose fields may have any type, and whether one had the wrong one.

    Parameters
    ----------
    told : Mapping
        Decoded JSON, numbers as float or int; what stays undecoded may be a `msgspec.Raw`.
    """
    event, is_odd = Everything(), False
    for field in _TEXTS:
        value = told.get(field)
        if value is not None:
            is_odd |= not isinstance(value, str)
            setattr(event, field, value if isinstance(value, str) else _text(value))
    for field in _IDS:
        value = told.get(field)
        if type(value) is int or isinstance(value, str) or value is None:
            setattr(event, field, value)
        elif isinstance(value, float) and value.is_integer():
            setattr(event, field, int(value))
        else:
            setattr(event, field, _text(value))
            is_odd = True
    for field in _RAW:
        if field in told:
            value = told[field]
            setattr(event, field, value if isinstance(value, msgspec.Raw) else _raw(value))
    for field in _FLAGS:
        setattr(event, field, bool(told.get(field)))
    return event, is_odd


def plain(told: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
    """Return the fields of an event decoded, but for those that are kept as they stand."""
    found: dict[str, Any] = {}
    for key, value in told.items():
        try:
            found[key] = value if key in _RAW else json.loads(bytes(value))
        except (ValueError, RecursionError):  # a number of thousands of digits
            found[key] = bytes(value).decode("utf-8", "replace")
    return found


def _text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (dict, list, bool)) else str(value)


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(_finite(value), separators=(",", ":")).encode())


def _finite(value: Any) -> Any:
    """Return a value in which texts stand for numbers that JSON has not."""
    if isinstance(value, float) and not -1.8e308 < value < 1.8e308:
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return value

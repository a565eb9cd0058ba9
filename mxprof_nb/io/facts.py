"""What is known about a trace as a whole, as JSON that gives back exactly what went in.

JSON knows neither tuples, bytes and numbers that are not finite, nor keys that are no texts, nor
halves of surrogate pairs. Each of these becomes an object with one key that begins with ``$``.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np

from mxprof_nb.trace import Cost, Health, HealthNote, Meta

__all__ = ["packed", "restored", "unpacked"]

_MARK = "$"


def packed(meta: Meta, health: Health) -> dict[str, Any]:
    """Return facts and health as data that JSON can hold.

    Values of other types than those above, NumPy's scalars and the plain ones of Python become
    texts.
    """
    told = {f.name: getattr(meta, f.name) for f in fields(Meta)}
    cost = meta.cost
    told["cost"] = cost and {f.name: getattr(cost, f.name) for f in fields(Cost)}
    return {
        "meta": {name: _packed(value) for name, value in told.items()},
        "health": [_packed([note.code, note.count, note.message]) for note in health.notes],
    }


def restored(told: Mapping[str, Any]) -> tuple[Meta, Health]:
    """Return the facts and health that `packed` was given.

    Facts that a later release has added are left out.

    Raises
    ------
    KeyError, TypeError, ValueError, AttributeError
        It is not what `packed` returns.
    """
    known = {f.name for f in fields(Meta)}
    facts = {name: unpacked(value) for name, value in told["meta"].items() if name in known}
    for name in ("config", "versions", "extra"):
        facts[name] = MappingProxyType(dict(facts.get(name, {})))
    cost = facts.get("cost")
    facts["cost"] = cost and Cost(cost["total_ns"], cost["records"], cost["per_record_ns"])
    meta = Meta(**facts)
    _check(meta)
    notes = tuple(HealthNote(*unpacked(note)) for note in told["health"])
    if not all(type(n.code) is type(n.message) is str and type(n.count) is int for n in notes):
        raise TypeError("a note of its health has a wrong type")
    return meta, Health(notes)


def _check(meta: Meta) -> None:
    """Refuse facts of a wrong type, which something would stumble over much later."""
    for name in ("origin_epoch_ns", "returned_ns", "pending"):
        if type(getattr(meta, name)) is not int:
            raise TypeError(f"{name!r} is no whole number")
    for name in ("title", "source", "source_file", "backend", "error"):
        if type(getattr(meta, name)) is not str:
            raise TypeError(f"{name!r} is no text")
    if meta.status not in ("ok", "error", "interrupted"):
        raise ValueError(f"there is no status {meta.status!r}")
    window = meta.window_ns
    if window is not None and not (
        type(window) is tuple and len(window) == 2 and all(type(end) is int for end in window)
    ):
        raise TypeError("'window_ns' is no pair of whole numbers")
    if type(meta.history) is not tuple or not all(type(step) is str for step in meta.history):
        raise TypeError("'history' is not a row of texts")


def _packed(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return {"$text": _base64(value.encode("utf-8", "surrogatepass"))}
        return str(value)
    if isinstance(value, bytes):
        return {"$bytes": _base64(value)}
    if isinstance(value, Mapping):
        items = [(_packed(key), _packed(item)) for key, item in value.items()]
        if all(type(key) is str and not key.startswith(_MARK) for key, _ in items):
            return dict(items)
        return {"$dict": [list(item) for item in items]}
    if isinstance(value, tuple):
        return {"$tuple": [_packed(item) for item in value]}
    if isinstance(value, list | np.ndarray):
        return [_packed(item) for item in value]
    return _packed(str(value))


def unpacked(value: Any) -> Any:
    """Return the data that JSON held."""
    if isinstance(value, list):
        return [unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    mark = next(iter(value), "")
    if not mark.startswith(_MARK):
        return {key: unpacked(item) for key, item in value.items()}
    inner = value[mark]
    if len(value) != 1 or mark not in _READ:
        raise ValueError(f"{json.dumps(value)[:80]} stands for nothing")
    return _READ[mark](inner)


_READ: dict[str, Callable[[Any], Any]] = {
    "$float": float,
    "$text": lambda told: b64decode(told, validate=True).decode("utf-8", "surrogatepass"),
    "$bytes": lambda told: b64decode(told, validate=True),
    "$tuple": lambda told: tuple(map(unpacked, told)),
    "$dict": lambda told: {unpacked(key): unpacked(item) for key, item in told},
}


def _base64(content: bytes) -> str:
    return b64encode(content).decode("ascii")

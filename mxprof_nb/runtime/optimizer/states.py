"""States of optimisers as bytes: a file of arrays that says in JSON where each belongs.

MXNet writes pickles, which run the code they hold when they are read; these bytes hold none. They
are what `nd.save` writes of a dict: the arrays under ``"0"``, ``"1"``, ..., and under
``"optimizer"`` the text of a JSON object as bytes::

    {"format": "mxprof_nb optimizer states", "version": 1,
     "states": VALUE, "optimizer": null or {"name": ..., "attributes": VALUE}}

In a VALUE numbers, strings, booleans and null stand for themselves, and ``{KIND: ...}`` for an
array (its name), a tuple, a list, a dict (its pairs) or a schedule (class and attributes).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError, EngineError
from mxprof_nb.runtime.lr_scheduler import LRScheduler
from mxprof_nb.runtime.nd import NDArray, array, files
from mxprof_nb.runtime.optimizer.base import Optimizer, named

__all__ = ["packed", "unpacked"]

FORMAT, VERSION = "mxprof_nb optimizer states", 1

#: Under which name the text stands.
TEXT = "optimizer"

#: What an optimiser does not take along: it belongs to the trainer, or is another name of a part.
LEFT_OUT = ("param_dict", "_index_update_count")

#: Marks that pickles begin with, by which MXNet's files are known.
PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


def packed(states: Mapping[Any, Any], optimizer: Optimizer | None = None) -> bytes:
    """Wait for states and return them as bytes.

    Parameters
    ----------
    states : dict
        State by number or name of the parameter: arrays, None, or tuples of them.
    optimizer : Optimizer, optional
        To be restored with them: its class by name, and its attributes.

    Raises
    ------
    ArgumentError
        Something in them is of a kind that the file does not hold.
    """
    arrays: list[NDArray] = []
    told: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    told["states"] = _written(dict(states), "states", arrays)
    told["optimizer"] = None
    if optimizer is not None:
        own = {name: value for name, value in vars(optimizer).items() if name not in LEFT_OUT}
        name = type(optimizer).__name__
        told["optimizer"] = {"name": name, "attributes": _written(own, name, arrays)}
    content = {str(place): each for place, each in enumerate(arrays)}
    text = np.frombuffer(json.dumps(told).encode(), np.uint8)
    return files.packed({TEXT: array(text, dtype=np.uint8), **content})


def _written(value: Any, place: str, arrays: list[NDArray]) -> Any:
    if isinstance(value, NDArray):
        arrays.append(value)
        return {"array": str(len(arrays) - 1)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_written(each, place, arrays) for each in value]}
    if isinstance(value, dict):
        pairs = [
            [_written(part, f"{place}.{key}", arrays) for part in (key, each)]
            for key, each in value.items()
        ]
        return {"dict": pairs}
    if isinstance(value, LRScheduler):
        own = _written(vars(value), place, arrays)
        return {"schedule": {"name": type(value).__name__, "attributes": own}}
    raise ArgumentError(
        f"{place}: a file of states holds numbers, text, arrays, lists, dicts and schedules of "
        f"mx.lr_scheduler, not {type(value).__name__} ({value!r:.60})."
    )


def unpacked(content: bytes, where: str) -> tuple[dict[Any, Any], Optimizer | None]:
    """Return states and optimiser that `packed` was given.

    Parameters
    ----------
    content : bytes
    where : str
        What holds them, for errors.

    Raises
    ------
    EngineError
        They are none, or not whole; or the optimiser is not known here.
    """
    if content.startswith(PICKLES):
        raise EngineError(
            f"{where} is a pickle, as MXNet writes states of optimisers. To read one runs the code "
            "it holds, so it is not read here: train on with new states, or save them anew here."
        )
    arrays = files.unpacked(content, where)
    try:
        if not isinstance(arrays, dict):
            raise KeyError(TEXT)
        told = json.loads(arrays[TEXT].asnumpy().tobytes())
        if told["format"] != FORMAT or told["version"] != VERSION:
            raise ValueError(f"it says {told['format']!r}, version {told['version']!r}")
        states = _read(told["states"], arrays)
        if not isinstance(states, dict):
            raise ValueError("the states are no dict")
        optimizer = told["optimizer"] and _optimizer(told["optimizer"], arrays)
    except EngineError:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise EngineError(
            f"{where} holds no states of an optimiser as save_states writes them: {error}."
        ) from error
    return states, optimizer or None


def _read(value: Any, arrays: Mapping[str, NDArray]) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    return _KINDS[kind](content, arrays)


def _schedule(told: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> LRScheduler:
    known = {each.__name__: each for each in _descendants(LRScheduler)}
    if told["name"] not in known:
        raise EngineError(
            f"The states name a schedule {told['name']!r:.60}, and there is no such class. Define "
            "it, derived from mx.lr_scheduler.LRScheduler, before loading them."
        )
    kind = known[told["name"]]
    made: LRScheduler = object.__new__(kind)
    vars(made).update(_attributes(told, arrays))
    return made


def _descendants(kind: type[LRScheduler]) -> list[type[LRScheduler]]:
    found = [kind]
    for each in kind.__subclasses__():
        found += _descendants(each)
    return found


def _optimizer(told: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> Optimizer:
    kind = named(told["name"])
    made: Optimizer = object.__new__(kind)
    made.__setstate__(_attributes(told, arrays))
    made._set_current_context(0)
    return made


def _attributes(told: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> dict[str, Any]:
    found = _read(told["attributes"], arrays)
    return {str(name): value for name, value in found.items()}


_KINDS: dict[str, Callable[[Any, Mapping[str, NDArray]], Any]] = {
    "array": lambda content, arrays: arrays[content],
    "tuple": lambda content, arrays: tuple(_read(each, arrays) for each in content),
    "list": lambda content, arrays: [_read(each, arrays) for each in content],
    "dict": lambda content, arrays: {
        _read(key, arrays): _read(each, arrays) for key, each in content
    },
    "schedule": _schedule,
}

"""The engine that arrays use: chosen when the first operator is queued."""

from __future__ import annotations

import os
import threading

from mxprof_nb.errors import EngineError, close_match
from mxprof_nb.runtime.engine.naive import NaiveEngine
from mxprof_nb.runtime.engine.threaded import ThreadedEngine

__all__ = ["ENGINE_TYPES", "default_engine", "set_engine_type"]

#: Names that ``MXNET_ENGINE_TYPE`` may have.
ENGINE_TYPES = ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine")

_engine: ThreadedEngine | NaiveEngine | None = None
_making = threading.RLock()


def default_engine() -> ThreadedEngine | NaiveEngine:
    """Return the process's engine, as the environment asks for it.

    ``MXNET_ENGINE_TYPE`` is one of `ENGINE_TYPES`, the first by default (the second is the same
    here: there is one device). ``MXNET_CPU_WORKER_NTHREADS`` is the number of workers, by default
    two, or as many as there are cores if fewer.

    Raises
    ------
    EngineError
        One of the variables has a value that is none of these.
    """
    global _engine
    if _engine is None:
        with _making:  # threads that come at once must get the same one
            if _engine is None:
                _engine = _make(os.environ.get("MXNET_ENGINE_TYPE") or ENGINE_TYPES[0])
    return _engine


def set_engine_type(name: str) -> None:
    """Finish what is queued, then go on with an engine of another type.

    Raises
    ------
    EngineError
        There is no such type.
    """
    global _engine
    with _making:
        made = _make(name)
        if _engine is not None:
            _engine.observe()
        _engine = made


def _make(name: str) -> ThreadedEngine | NaiveEngine:
    if name not in ENGINE_TYPES:
        raise EngineError(
            f"There is no engine type {name!r}.{close_match(name, ENGINE_TYPES)} "
            f"MXNET_ENGINE_TYPE is one of {', '.join(ENGINE_TYPES)}."
        )
    return NaiveEngine() if name == "NaiveEngine" else ThreadedEngine(_workers())


def _workers() -> int:
    given = os.environ.get("MXNET_CPU_WORKER_NTHREADS", "")
    if not given:
        return min(2, os.cpu_count() or 1)
    if not given.isdigit() or int(given) < 1:
        raise EngineError(
            f"MXNET_CPU_WORKER_NTHREADS={given!r} is no number of workers; "
            "set it to 1 or more, or unset it."
        )
    return int(given)

"""The engine that arrays use: chosen when the first operator is queued, or by `set_type`."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from mxprof_nb.errors import EngineError, close_match
from mxprof_nb.runtime.calls import recorded
from mxprof_nb.runtime.engine.bulk import SIZES
from mxprof_nb.runtime.engine.fork import in_child
from mxprof_nb.runtime.engine.naive import NaiveEngine
from mxprof_nb.runtime.engine.threaded import LIMIT, ThreadedEngine

__all__ = [
    "ENGINE_TYPES",
    "bulk",
    "bulked",
    "default_engine",
    "get_type",
    "set_bulk_size",
    "set_queue_limit",
    "set_type",
]

#: Names that ``MXNET_ENGINE_TYPE`` may have.
ENGINE_TYPES = ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine")

#: MXNet's name for choosing how operators go together.
SET_BULK_SIZE = "MXEngineSetBulkSize"

#: The engine in use, None until it is asked for the first time.
engine: ThreadedEngine | NaiveEngine | None = None
#: By type and workers: workers live as long as the process, so an engine is used again.
_made: dict[tuple[str, int], ThreadedEngine | NaiveEngine] = {}
_limit = LIMIT
_making = threading.RLock()


@in_child
def _renew() -> None:
    global _making
    _making = threading.RLock()  # another thread may have held it


def default_engine() -> ThreadedEngine | NaiveEngine:
    """Return the process's engine, as the environment asks for it.

    ``MXNET_ENGINE_TYPE`` is one of `ENGINE_TYPES`, the first by default.
    ``MXNET_CPU_WORKER_NTHREADS`` is the number of workers of a device, by default two, or as many
    as there are cores if fewer.

    Raises
    ------
    EngineError
        One of the variables has a value that is none of these.
    """
    global engine
    if engine is None:
        with _making:  # threads that come at once must get the same one
            if engine is None:
                engine = _make(os.environ.get("MXNET_ENGINE_TYPE") or ENGINE_TYPES[0])
    return engine


def set_type(name: str) -> None:
    """Finish what is queued, then go on with an engine of another type.

    No other thread may queue anything meanwhile: its operators would stand in the books of both.

    Parameters
    ----------
    name : {"ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine"}
        Workers for each device, workers that all devices share, or none: each operator then runs
        where it is called.

    Raises
    ------
    EngineError
        There is no such type.
    """
    global engine
    with _making:
        made = _make(name)
        if engine is not None:
            engine.observe()
        engine = made


def get_type() -> str:
    """Return the type of the engine in use, one of `ENGINE_TYPES`."""
    return default_engine().name


def _make(name: str) -> ThreadedEngine | NaiveEngine:
    if name not in ENGINE_TYPES:
        raise EngineError(
            f"There is no engine type {name!r}.{close_match(name, ENGINE_TYPES)} "
            f"MXNET_ENGINE_TYPE is one of {', '.join(ENGINE_TYPES)}."
        )
    workers = 0 if name == "NaiveEngine" else _workers()
    found = _made.get((name, workers))
    if found is None:
        found = _made[name, workers] = (
            ThreadedEngine(workers, shared=name == "ThreadedEngine") if workers else NaiveEngine()
        )
    if isinstance(found, ThreadedEngine):
        found.limit = _limit
    return found


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


def set_queue_limit(operators: int) -> int:
    """Choose how many operators may be queued before a thread that queues more is held back.

    Parameters
    ----------
    operators : int
        At least 1; 100,000 at first. A thread that is held back goes on when half of them are
        done. Functions that workers run are never held back.

    Returns
    -------
    int
        The number before.

    Raises
    ------
    ValueError
        The number is below 1.
    """
    global _limit
    operators = operator.index(operators)
    if operators < 1:
        raise ValueError(f"set_queue_limit({operators}): room for at least 1 operator is needed.")
    with _making:
        before, _limit = _limit, operators
        used = default_engine()
        if isinstance(used, ThreadedEngine):
            used.limit = _limit
    return before


@recorded(SET_BULK_SIZE)
def set_bulk_size(size: int) -> int:
    """Choose how many operators of this thread are queued and run as one.

    Parameters
    ----------
    size : int
        0 means that each goes alone, as at first. Operators are not bulked while a profile keeps
        aggregate statistics. ``NaiveEngine`` knows no other size than 0.

    Returns
    -------
    int
        The size before.

    Raises
    ------
    ValueError
        The size is negative.
    """
    return _choose(size)


def bulk(size: int) -> AbstractContextManager[None]:
    """Bulk the operators called in a ``with`` block; see `set_bulk_size`."""
    return _Scope(size)


def bulked(size: int) -> AbstractContextManager[None]:
    """Do as `bulk` does, for the runtime itself: it is no call of the program's."""
    return _Quiet(size)


def _choose(size: int) -> int:
    size = operator.index(size)
    if size < 0:
        raise ValueError(f"set_bulk_size({size}): a size is 0 or more.")
    used = default_engine()
    if isinstance(used, NaiveEngine):
        return 0
    before = SIZES.set(size)
    used.end_bulk()
    return before


def _go_back_to(size: int) -> None:
    SIZES.set(size)  # also where the engine has been changed meanwhile
    used = default_engine()
    if isinstance(used, ThreadedEngine):
        used.end_bulk()


class _Quiet:
    """A size for a ``with`` block; no generator, whose frames would hide the program's line."""

    _choose: Callable[[int], int] = staticmethod(_choose)
    _restore: Callable[[int], None] = staticmethod(_go_back_to)

    def __init__(self, size: int) -> None:
        self._size = size

    def __enter__(self) -> None:
        self._before = SIZES.of_this_thread()
        try:
            self._choose(self._size)
        except BaseException:  # Ctrl-C may have struck after it was chosen
            _go_back_to(self._before)
            raise

    def __exit__(self, *raised: object) -> None:
        self._restore(self._before)


class _Scope(_Quiet):
    """The same, recorded as calls."""

    _choose = staticmethod(set_bulk_size)
    _restore = staticmethod(recorded(SET_BULK_SIZE)(_go_back_to))

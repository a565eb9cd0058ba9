"""Engines and the end of a process, or its doubling by a fork.

A fork copies the memory and only the thread that forks. So it waits until nothing is queued, and
the child gets new workers. Where other threads never stop queueing it gives up after a while:
what was queued is then computed in the parent, and in the child it failed, with an error that
says so.
"""

from __future__ import annotations

import atexit
import gc
import os
import time
from collections.abc import Callable
from typing import Protocol
from weakref import WeakSet

from mxprof_nb.errors import EngineError
from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine.failure import Failure
from mxprof_nb.runtime.engine.state import READY, WAITING, EngineState, Operator, Variable

__all__ = ["in_child", "survive"]

#: How long a fork waits for other threads to leave the queue empty.
PATIENCE_S = 2.0


class Engine(Protocol):
    """What is needed of an engine; see `ThreadedEngine`."""

    state: EngineState

    def begin_fork(self, patience_s: float) -> None: ...
    def end_fork(self) -> None: ...
    def begun(self) -> list[Operator]: ...
    def start(self) -> None: ...
    def observe(self) -> bool: ...


_engines: WeakSet[Engine] = WeakSet()
_renewed: list[Callable[[], object]] = []


def in_child(call: Callable[[], object]) -> None:
    """Have something called in the child of a fork, e.g. to make a lock anew."""
    _renewed.append(call)


def survive(engine: Engine) -> None:
    """Have an engine finish its work at exit, and be usable on both sides of a fork."""
    _engines.add(engine)


def _at_exit() -> None:
    for engine in list(_engines):
        engine.observe()


def _before() -> None:
    deadline = time.monotonic() + PATIENCE_S
    for engine in list(_engines):
        engine.begin_fork(max(0.0, deadline - time.monotonic()))


def _in_parent() -> None:
    for engine in list(_engines):
        engine.end_fork()


def _in_child() -> None:
    RECORDER.forget()
    lost = [member for engine in list(_engines) for member in engine.begun()]
    # No list is kept of what is queued. Workers are gone; what they held is still in memory.
    lost += [thing for thing in gc.get_objects() if _is_queued(thing)]
    for engine in list(_engines):
        engine.start()
    for operator in lost:
        _give_up(operator)
    for call in _renewed:
        call()


def _is_queued(thing: object) -> bool:
    return issubclass(type(thing), Operator) and thing.state in (WAITING, READY)  # type: ignore[attr-defined]


def _give_up(operator: Operator) -> None:
    """Leave the variables of an operator that will never run free, and failed."""
    cause = EngineError(
        "It was queued when this process was forked, and is computed in the parent only. "
        "Call nd.waitall() before a fork."
    )
    failure = Failure.of(operator, cause)
    failure.told = True  # whoever needs the value hears of it
    for variable in operator.reads:
        _release(variable)
    for variable in operator.writes:
        _release(variable)
    for variable in operator.results:
        variable.failure = failure


def _release(variable: Variable) -> None:
    variable.readers, variable.writing, variable.queue = 0, False, None


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)

"""Engines and the end of a process, or its doubling by a fork.

A fork copies the memory and only the thread that forks. So it waits until nothing is queued, and
the child gets new workers. Where other threads never stop queueing it gives up after a while:
what was queued is then computed in the parent, and in the child it failed, with an error that
says so.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakSet

from mxprof_nb.errors import EngineError
from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine.failure import Failure
from mxprof_nb.runtime.engine.pace import Pace
from mxprof_nb.runtime.engine.state import READY, WAITING, Operator, Variable

__all__ = ["PATIENCE_S", "around", "in_child", "survive"]

#: How long a fork waits for other threads to leave the queue empty.
PATIENCE_S = 2.0


class Engine(Protocol):
    """What is needed of an engine; see `ThreadedEngine`."""

    lock: Any
    pace: Pace

    @property
    def pending(self) -> int: ...
    def is_worker(self) -> bool: ...
    def observe(self, timeout_s: float | None = None) -> bool: ...
    def begin_exit(self) -> None: ...
    def begun(self) -> list[Operator]: ...
    def start(self) -> None: ...


_engines: WeakSet[Engine] = WeakSet()
_renewed: list[Callable[[], object]] = []
_around: list[tuple[Callable[[], object], Callable[[], object]]] = []


def in_child(call: Callable[[], object]) -> Callable[[], object]:
    """Have something called in the child of a fork, e.g. to make a lock anew."""
    _renewed.append(call)
    return call


def around(hold: Callable[[], object], go_on: Callable[[], object]) -> None:
    """Have a thread hold still during a fork, and go on afterwards in the parent."""
    _around.append((hold, go_on))


def survive(engine: Engine) -> None:
    """Have an engine finish its work at exit, and be usable on both sides of a fork."""
    _engines.add(engine)


def _at_exit() -> None:
    for engine in list(_engines):
        engine.begin_exit()


class _Fork:
    """One fork: whose locks it holds, and whether a Ctrl-C came meanwhile.

    An exception in a hook is swallowed, and the fork goes on. So a Ctrl-C is put off.
    """

    def __init__(self) -> None:
        self._locked: list[Engine] = []
        self._handler: Any = None
        self._interrupted = False

    def begin(self) -> None:
        """Let nobody queue or finish anything."""
        if threading.current_thread() is threading.main_thread():
            self._handler = signal.getsignal(signal.SIGINT)
            if self._handler is not None:  # one that is not Python's could not be put back
                signal.signal(signal.SIGINT, self._note)
        for hold, _ in _around:
            hold()
        deadline = time.monotonic() + PATIENCE_S
        for engine in list(_engines):
            # A worker that forks would wait for itself.
            _lock(engine, 0 if engine.is_worker() else deadline)
            self._locked.append(engine)

    def _note(self, number: int, frame: object) -> None:
        self._interrupted = True

    def end(self) -> None:
        """Go on as before, in the parent."""
        while self._locked:
            self._locked.pop().lock.release()
        for _, go_on in _around:
            go_on()
        self._restore()
        if self._interrupted:
            _thread.start_new_thread(_interrupt_soon, ())

    def forget(self) -> None:
        """End it in the child, where the locks are made anew."""
        self._locked.clear()
        self._restore()

    def _restore(self) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)


def _lock(engine: Engine, deadline: float) -> None:
    """Take an engine's lock when nothing is queued, or when the time has come."""
    while True:
        if (patience := deadline - time.monotonic()) > 0:
            engine.observe(patience)
        engine.lock.acquire()
        if not engine.pending or time.monotonic() >= deadline:
            return
        engine.lock.release()


def _interrupt_soon() -> None:
    time.sleep(0.001)  # by then the hook has returned
    _thread.interrupt_main()


_forks: dict[int, _Fork] = {}  # by the thread that forks


def _before() -> None:
    fork = _forks[threading.get_ident()] = _Fork()
    fork.begin()


def _in_parent() -> None:
    _forks.pop(threading.get_ident()).end()


def _in_child() -> None:
    _forks.pop(threading.get_ident()).forget()
    _forks.clear()
    RECORDER.forget()
    lost = [member for engine in list(_engines) for member in engine.begun()]
    # No list is kept of what is queued. Workers are gone; what they held is still in memory.
    lost += [thing for thing in gc.get_objects() if _is_queued(thing)]
    for engine in list(_engines):
        engine.pace.idle()
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

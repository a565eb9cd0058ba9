"""`PythonLane`: threads for operators written in Python, which may wait for others.

- As many as are needed: an operator gets a thread that has nothing to do, else a new one.
- Of those that the program calls `LIMIT` run at a time, as in MXNet; one that waits for an array
  does not count meanwhile.
- One that an operator written in Python calls never waits for a thread: it may be waited for.
- Such an operator ends when all that it queued for its results has ended, not when its code
  returns: its thread is free before that.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine.lane import Lane
from mxprof_nb.runtime.engine.quiet import keep_quiet
from mxprof_nb.runtime.engine.state import Operator, Variable

__all__ = ["LIMIT", "PythonLane", "aside"]

#: Operators that run at a time; the default of ``MXNET_CUSTOM_OP_NUM_THREADS``.
LIMIT = 16
#: Threads from which on those that wait count, too.
MOST = 128

_now = RECORDER.clock.now


class PythonLane(Lane):
    """See the module.

    Parameters
    ----------
    device : str
        As of `Lane`.
    push, fail, finish : callable
        The engine's: queues an operator, notes why one failed, and takes the end of one, to
        return one to go on with.
    """

    def __init__(
        self,
        device: str,
        push: Callable[[Operator], int],
        fail: Callable[[Operator, BaseException], None],
        finish: Callable[[Operator, Lane], Operator | None],
    ) -> None:
        super().__init__([], device, "host", _never)
        self._push, self._fail, self._finish = push, fail, finish
        self._process = os.getpid()
        self._waiting: deque[Operator] = deque()
        # A Ctrl-C strikes where a function of ours begins, and what is in the books must not be
        # lost: handing over is one step of the interpreter. `nudge` wakes a thread, which sorts in
        # what was handed over: only the main thread is interrupted.
        self._handed: deque[Operator | None] = deque()
        # Threads that wait for an operator, and what each stands behind; open once it is called.
        self._gates: dict[int, threading.Lock] = {}
        self._aside = 0  # threads whose operator waits for an array
        # A finaliser that strikes while this thread holds it may queue an operator.
        self._lock = threading.RLock()
        self.put = self._handed.append
        self.is_empty = lambda: not (self._handed or self._waiting)

    def submit(self, operator: Operator) -> None:
        """Hand a ready operator over; priorities make no difference."""
        self.put(operator)
        self.nudge()

    def nudge(self) -> None:
        """Serve what was handed over, or waits: a Ctrl-C may have struck before that was done."""
        if self._handed or self._waiting:
            with self._lock:
                self._serve()

    def _take(self, place: int) -> Operator:
        """Wait for an operator and return it."""
        while True:
            with self._lock:
                self._gates.pop(place, None)
                self._sort_in()
                if self._waiting:
                    return self._waiting.popleft()
                gate = self._gates[place] = threading.Lock()
                gate.acquire()
            gate.acquire()

    def _sort_in(self) -> None:
        """Take in what was handed over, in a thread that no Ctrl-C strikes. The lock is held."""
        while self._handed:
            operator = self._handed.popleft()
            if operator is not None and operator.nested:
                self._waiting.appendleft(operator)
            elif operator is not None:
                self._waiting.append(operator)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let another operator run while the one of this thread waits."""
        with self._lock:
            self._aside += 1
            self._serve()
        try:
            yield
        finally:
            with self._lock:
                self._aside -= 1

    def _serve(self) -> None:
        """Call threads for what waits, the first ones first, or begin one. The lock is held."""
        if threading.current_thread() is not threading.main_thread():
            self._sort_in()
        waiting, gates = len(self._waiting) + len(self._handed), self._gates
        asleep = sorted(place for place, gate in gates.items() if gate.locked())
        called = len(gates) - len(asleep)
        for place in asleep[: max(0, waiting - called)]:
            gates[place].release()
        if waiting <= len(gates):
            return
        self.threads[:] = [thread for thread in self.threads if thread.ident is not None]
        busy = len(self.threads) - len(gates)
        first = (self._waiting or self._handed)[0]
        if (first and first.nested) or (busy - self._aside < LIMIT and busy < MOST):
            _ = RECORDER.here.buffer  # whoever calls stands above the new thread in profiles
            made = threading.Thread(target=self._work, daemon=True, name="mxprof custom operator")
            # Before it begins: after a Ctrl-C in between it has no number, and is left out above.
            self.threads.append(made)
            made.start()

    def _work(self) -> None:
        with self._lock:
            place = len(self.running)
            self.running.append(None)
            self.names.append(f"custom operator {place + 1}")
        note = RECORDER.register(self.names[place], self.role).operators.extend
        keep_quiet()
        _here.lane = self
        while True:
            operator: Operator | None = self._take(place)
            while operator is not None:
                self.running[place] = operator
                start = _now()
                try:
                    operator.run(operator)
                except BaseException as error:
                    # Whatever it was, also SystemExit: somebody waits for the end.
                    self._fail(operator, error)
                if RECORDER.on or operator.queued_ns:
                    number, label = operator.number, operator.label
                    device, taken = operator.device, operator.taken
                    note((operator.queued_ns, start, _now(), label, number, device, taken))
                if os.getpid() != self._process:
                    return  # it has forked, and this is the child
                operator = self._end(operator)
            self.running[place] = None

    def _end(self, operator: Operator) -> Operator | None:
        """End an operator once what it queued has ended; return one to go on with."""
        if all(variable.is_at_rest() for variable in operator.inner):
            self._settle(operator)
            return self._finish(operator, self)
        self._push(_Rest(operator, self._end_later))
        return None

    def _end_later(self, rest: Operator) -> None:
        operator: Any = rest.payload
        self._settle(operator)
        following = self._finish(operator, self)
        if following is not None:
            self.submit(following)

    def _settle(self, operator: Operator) -> None:
        try:
            operator.settle()
        except BaseException as error:  # else its end would never come
            self._fail(operator, error)


class _Rest(Operator):
    """Runs when what an operator written in Python has queued for its results has ended."""

    urgent = True
    bulkable = False

    def __init__(self, operator: Operator, run: Any) -> None:
        super().__init__(run, writes=operator.inner)
        self.payload = operator

    @property
    def results(self) -> Sequence[Variable]:
        """Nothing."""
        return ()


class _Here(threading.local):
    lane: PythonLane | None = None


_here = _Here()


@contextmanager
def aside() -> Iterator[None]:
    """Let another operator run if the one that waits is written in Python."""
    if _here.lane is None:
        yield
    else:
        with _here.lane.aside():
            yield


def _never(lane: Lane, place: int) -> None:
    """Stand in for the work of a worker: this lane begins without threads."""

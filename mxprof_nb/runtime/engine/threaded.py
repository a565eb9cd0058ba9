"""`ThreadedEngine`: worker threads that carry out what `EngineState` lets go.

- The front end calls `push` and returns at once; the lock is held for the bookkeeping only.
- Workers take ready operators from one queue, run them without the lock, and report the end.
- `wait_for` and `wait_all` block the caller; `observe` blocks without raising anything.
- Workers are daemons, so a program that ends is not held up; what is queued at exit is finished
  first (`atexit`). A fork waits for the queue and gets new workers in the child.
"""

from __future__ import annotations

import atexit
import os
import queue
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine.failure import Failure
from mxprof_nb.runtime.engine.state import EngineState, Operator, Variable

__all__ = ["ThreadedEngine"]

#: What the host is told it waited for when it waits for everything.
WAIT_FOR_VAR = RECORDER.labels.define("WaitForVar", "sync", "operator")
WAIT_FOR_ALL = RECORDER.labels.define("WaitForAll", "sync", "engine")

#: A worker that becomes ready waits for the interpreter lock until the holder's switch interval
#: has passed, 5 ms by default. While operators are queued it is lowered, and a thread that queues
#: without pause offers its core now and then: under a busy thread a median of 64 us was measured.
SWITCH_INTERVAL_S = 0.0005
YIELD_EVERY_NS = 300_000
_yield = getattr(os, "sched_yield", None) or (lambda: time.sleep(0))

#: How long a wait for everything watches the workers put down what they held.
REST_NS = 50_000_000

#: Numbers a worker's buffer may hold before it looks whether to pack.
FULL = 20_000

_now = RECORDER.clock.now


class ThreadedEngine:
    """Queues operators, runs them on worker threads in the order their variables allow.

    MXNet calls its counterpart ``ThreadedEnginePerDevice``.

    Parameters
    ----------
    workers : int
        Number of worker threads.
    device : str
        Device whose work they do, as profiles name it.
    """

    name = "ThreadedEnginePerDevice"

    def __init__(self, workers: int, device: str = "cpu/0") -> None:
        self.device = device
        self.workers = workers
        self._fresh()
        atexit.register(self.observe)
        os.register_at_fork(before=self.observe, after_in_child=self._after_fork)

    def _fresh(self) -> None:
        self.state = EngineState()
        self._lock = threading.Lock()
        self._ready: queue.SimpleQueue[Operator] = queue.SimpleQueue()
        self._idle_waits: list[threading.Lock] = []
        self._untold: list[Failure] = []
        self._hurried = False  # whether operators are queued, and the switch interval lowered
        self._interval_before = sys.getswitchinterval()
        self._yielded = 0
        self._idle = [True] * self.workers
        self._last_work = 0  # number of the operator that finished last
        self._threads = [
            threading.Thread(
                target=self._work,
                args=(n,),
                daemon=True,
                name=f"mxprof {self.device} worker {n + 1}",
            )
            for n in range(self.workers)
        ]
        for thread in self._threads:
            thread.start()

    def _after_fork(self) -> None:
        RECORDER.forget()
        self._fresh()

    # The front end's side

    def push(self, operator: Operator) -> int:
        """Queue an operator and return its number."""
        with self._lock:
            ready = self.state.queue(operator)
            if ready:
                # At once: a Ctrl-C in between would leave it in the books for ever.
                self._ready.put(operator)
            number = operator.number
            if not self._hurried:
                self._hurry()
        if ready and True in self._idle and _now() - self._yielded > YIELD_EVERY_NS:
            self._yielded = _now()
            _yield()
        return number

    def wait_for(self, variable: Variable, *, to_write: bool = False) -> tuple[int, int, int]:
        """Wait until all writes queued before now are done, and all reads too if ``to_write``.

        Returns
        -------
        begin, end : int
            When the wait began and ended, in ns; equal when it did not block.
        released_by : int
            Number of the operator whose end ended the wait, 0 when it did not block.
        """
        with self._lock:
            readers = variable.readers if to_write else 0
            if not (variable.writing or variable.queue or readers):
                return 0, 0, 0
            gate = threading.Lock()
            gate.acquire()
            reads, writes = ((), (variable,)) if to_write else ((variable,), ())
            waiter = Operator(_open_gate, reads, writes)
            waiter.payload, waiter.immediate = gate, True
            self.state.queue(waiter)
        begin = _now()
        gate.acquire()
        return begin, _now(), waiter.released_by

    def wait_all(self) -> tuple[int, int, int]:
        """Wait until nothing is queued; returns as `wait_for` does, and raises nothing."""
        begin = _now()
        blocked = self._wait_until_idle(None)
        return (begin, _now(), self._last_work) if blocked else (0, 0, 0)

    def observe(self, timeout_s: float | None = None) -> bool:
        """Wait until nothing is queued without raising or clearing a failure.

        Parameters
        ----------
        timeout_s : float, optional
            How long at most; for ever by default.

        Returns
        -------
        bool
            Whether the queue was empty in time.
        """
        self._wait_until_idle(timeout_s)
        return self.pending == 0

    def _wait_until_idle(self, timeout_s: float | None) -> bool:
        with self._lock:
            pending = self.state.pending
            if pending:
                gate = threading.Lock()
                gate.acquire()
                self._idle_waits.append(gate)
        if pending and not gate.acquire(timeout=-1 if timeout_s is None else timeout_s):
            return True
        if RECORDER.on:
            self._let_workers_rest()
        return pending > 0

    def _let_workers_rest(self) -> None:
        """Wait until the workers have dropped what they ran, which may give memory back.

        An operator counts as done before its worker lets go of it; the rest takes microseconds.
        """
        patience = _now() + REST_NS
        while not all(self._idle) and not self.state.pending and _now() < patience:
            time.sleep(1e-5)

    @property
    def pending(self) -> int:
        """Operators that are queued or running."""
        return self.state.pending

    def _fail(self, operator: Operator, error: BaseException) -> None:
        """Mark what the operator should have written, and keep the failure until told."""
        failure = Failure.of(operator, error)
        for variable in operator.writes:
            variable.failure = failure
        with self._lock:
            self._untold.append(failure)

    def untold(self) -> list[Failure]:
        """Return the failures nobody has been told of, in order, and count them as told."""
        with self._lock:
            untold = [failure for failure in self._untold if not failure.told]
            self._untold.clear()
        for failure in untold:
            failure.told = True
        return untold

    # The workers' side

    def _work(self, place: int) -> None:
        name = f"{self.device} worker {place + 1}"
        buffer = RECORDER.register(name, "worker", self.device)
        # log(0) is -inf here as it is in MXNet: no warning, which would come from nowhere.
        np.seterr(all="ignore")
        take, idle = self._ready.get, self._idle
        while True:
            idle[place] = True
            operator: Operator | None = take()
            idle[place] = False
            while operator is not None:
                start = _now()
                try:
                    operator.run(operator)
                except BaseException as error:
                    # Whatever it was, also SystemExit: a worker that dies leaves a hang behind.
                    self._fail(operator, error)
                if RECORDER.on and operator.label >= 0:
                    records = buffer.operators
                    records.extend(operator.record(start, _now()))
                    if len(records) > FULL:
                        RECORDER.pack_if_full(buffer)
                operator = self._finish(operator)

    def _finish(self, operator: Operator) -> Operator | None:
        """Report an end; return one operator to go on with, hand the others to the workers."""
        with self._lock:
            ready = self.state.done(operator)
            ready = self._carry_out(ready)
            self._last_work = operator.number
            if not self.state.pending:
                if self._hurried:
                    self._calm()
                for gate in self._idle_waits:
                    gate.release()
                self._idle_waits.clear()
        if not ready:
            return None
        for other in ready[1:]:
            self._ready.put(other)
        return ready[0]

    def _hurry(self) -> None:
        """Lower the switch interval while operators are queued. The lock is held."""
        self._hurried = True
        self._interval_before = sys.getswitchinterval()
        if self._interval_before > SWITCH_INTERVAL_S:
            sys.setswitchinterval(SWITCH_INTERVAL_S)

    def _calm(self) -> None:
        """Restore it, unless the program has set another meanwhile. The lock is held."""
        self._hurried = False
        if abs(sys.getswitchinterval() - SWITCH_INTERVAL_S) < 1e-9:
            sys.setswitchinterval(self._interval_before)

    def _carry_out(self, ready: list[Operator]) -> list[Operator]:
        """Carry out immediate operators on the spot; return the rest. The lock is held."""
        rest = [operator for operator in ready if not operator.immediate]
        pending: Sequence[Operator] = [operator for operator in ready if operator.immediate]
        while pending:
            further: list[Operator] = []
            for operator in pending:
                operator.run(operator)
                further += self.state.done(operator)
            rest += [operator for operator in further if not operator.immediate]
            pending = [operator for operator in further if operator.immediate]
        return rest


def _open_gate(waiter: Operator) -> None:
    gate: Any = waiter.payload
    gate.release()

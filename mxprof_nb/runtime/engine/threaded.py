"""`ThreadedEngine`: worker threads that carry out what `EngineState` lets go.

- The front end calls `push` and returns at once; the lock is held for the bookkeeping only.
- Workers take ready operators from the queue of their lane, run them without the lock, and report
  the end. Each device has a lane of workers and one for copies, opened when first used.
- Operators written in Python have a lane of their own, whose threads may wait.
- `wait_for` and `wait_all` block the caller; `observe` blocks without raising anything.
- Workers are daemons, so a program that ends is not held up; what is queued at exit is finished
  first. What a fork means is in `mxprof_nb.runtime.engine.fork`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from heapq import heappush
from typing import Any

from mxprof_nb.errors import EngineError
from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.calls import PACK_EVERY, note_wait
from mxprof_nb.runtime.engine.bulk import SIZES, Bulks
from mxprof_nb.runtime.engine.failure import Failure
from mxprof_nb.runtime.engine.fork import survive
from mxprof_nb.runtime.engine.inside import INSIDE, adopt, is_inside, must_be_outside
from mxprof_nb.runtime.engine.lane import Lane
from mxprof_nb.runtime.engine.pace import Pace
from mxprof_nb.runtime.engine.python_lane import PythonLane, aside
from mxprof_nb.runtime.engine.quiet import keep_quiet
from mxprof_nb.runtime.engine.state import PYTHON_LANE, EngineState, Operator, Variable

__all__ = ["ThreadedEngine"]

#: What the host is told it waited for: a value, everything, room in the queue.
WAIT_FOR_VAR = RECORDER.labels.define("WaitForVar", "sync", "operator")
WAIT_FOR_ALL = RECORDER.labels.define("WaitForAll", "sync", "engine")
WAIT_FOR_ROOM = RECORDER.labels.define("WaitForRoom", "sync", "engine")

#: Operators that may be queued before a thread that queues more is held back.
LIMIT = 100_000

#: How long a wait for everything watches the workers put down what they held.
REST_NS = 50_000_000

#: Failures kept before those that somebody was told of are sorted out.
MUCH_UNTOLD = 100

_now = RECORDER.clock.now


class ThreadedEngine:
    """Queues operators, runs them on worker threads in the order their variables allow.

    Parameters
    ----------
    workers : int
        Number of worker threads, of each device.
    shared : bool
        Whether one lane serves all devices and copies. MXNet calls that ``ThreadedEngine``, and
        one with lanes for each device ``ThreadedEnginePerDevice``.
    device : str
        Type of the devices, as profiles name it.
    limit : int
        Operators that may be queued at once; a thread that queues more waits for half of them.
    """

    def __init__(
        self, workers: int, *, shared: bool = False, device: str = "cpu", limit: int = LIMIT
    ) -> None:
        self.name = "ThreadedEngine" if shared else "ThreadedEnginePerDevice"
        self.device = device
        self.workers = workers
        self.shared = shared
        self.limit = limit
        self._exiting = False
        self.start()
        survive(self)

    def start(self) -> None:
        """Begin with nothing queued and new workers."""
        self.state = EngineState()
        # The same thread can come back while it holds the lock: a finaliser or a signal handler
        # strikes between any two steps. What it queues then waits until the books are in order.
        self.lock = threading.RLock()
        self._inside = False
        self._late: list[Operator] = []
        self.lanes: dict[int, Lane] = {}
        self._opening = threading.RLock()
        self._bulks = Bulks(self.state, self.fail, self._submit_bulk)
        self._idle_waits: list[threading.Lock] = []
        self._held_back: list[threading.Lock] = []
        self._untold: list[Failure] = []
        self._much_untold = MUCH_UNTOLD
        self.pace = Pace()
        self._last_work = 0  # number of the operator that finished last
        self._open(0)

    def _open(self, number: int) -> Lane:
        """Return the lane of a device (even) or of its copies (odd), with its workers."""
        with self._opening:
            found = self.lanes.get(number)
            if found is None:
                found = self.lanes[0] if self.shared and number > 0 else self._new_lane(number)
                self.lanes[number] = found
            return found

    def _new_lane(self, number: int) -> Lane:
        if number == PYTHON_LANE:
            return PythonLane(self.device, self.push, self.fail, self._finish)
        device = self.device if self.shared else f"{self.device}/{number // 2}"
        if number % 2:
            return Lane([f"{device} copy"], device, "copy", self._work)
        names = [f"{device} worker {n + 1}" for n in range(self.workers)]
        return Lane(names, device, "worker", self._work)

    # The front end's side

    def push(self, operator: Operator) -> int:
        """Queue an operator and return its number."""
        lane = self.lanes.get(operator.lane) or self._open(operator.lane)
        if INSIDE:
            adopt(operator)
        if self.state.pending >= self.limit:
            self._hold_back(operator)
        with self.lock:
            if self._inside:
                number = operator.number = self.state.reserve()
                self._late.append(operator)
                return number
            self._inside = True
            try:
                number = self._admit(operator, lane)
            finally:
                self._inside = False
            if self._late:
                self._admit_late()
        if self.pace.hurried and None in lane.running:
            self.pace.offer()
        return number

    def reserve(self) -> int:
        """Return a number that no operator has, for other work that a profile shows."""
        with self.lock:
            return self.state.reserve()

    def _admit(self, operator: Operator, lane: Lane) -> int:
        """Queue an operator, alone or in a bulk, and return its number. The lock is held."""
        if SIZES and (number := self._bulks.take(operator)):
            return number
        if self._bulks:
            self._bulks.hand_over((*operator.reads, *operator.writes))
        if self.state.queue(operator):
            # At once, without a call: a Ctrl-C would leave it in the books for ever.
            if operator.priority:
                heappush(lane.ranked, ((-operator.priority, operator.number), operator))
                lane.put(None)
            else:
                lane.put(operator)
                if operator.lane < 0:
                    lane.nudge()
        if not self.pace.hurried:
            self.pace.queued(self.state.pending)
        return operator.number

    def _admit_late(self) -> None:
        """Queue what came while the books were not in order. The lock is held."""
        while self._late:
            operator = self._late.pop(0)
            self._inside = True
            try:
                self._admit(operator, self._open(operator.lane))
            finally:
                self._inside = False

    def _submit_bulk(self, bulk: Operator) -> None:
        self.lanes[bulk.lane].put(bulk)
        if not self.pace.hurried:
            self.pace.queued(self.state.pending)

    def end_bulk(self) -> None:
        """Hand over what this thread has begun."""
        with self.lock:
            if not self._inside:
                self._bulks.hand_over(only=threading.get_ident())

    def _hold_back(self, operator: Operator) -> None:
        """Wait until half of the queue has been worked off, unless a worker asks."""
        if operator.urgent or self.is_worker():
            return  # somebody would wait for himself
        if self._exiting and threading.current_thread() is threading.main_thread():
            return  # its last wishes
        with self.lock:
            if self._inside:
                return
            self._bulks.hand_over()
            if self.state.pending < self.limit:
                return  # the workers were quicker
            gate = _closed_gate()
            self._held_back.append(gate)
        self._nudge()
        note_wait(WAIT_FOR_ROOM, lambda: self._pass(gate))

    def is_worker(self) -> bool:
        """Return whether the calling thread is one of its workers."""
        me = threading.current_thread()
        return any(me in lane.threads for lane in list(self.lanes.values()))

    def _pass(self, gate: threading.Lock) -> tuple[int, int, int]:
        begin = _now()
        gate.acquire()
        return begin, _now(), 0  # for no operator in particular

    def wait_for(self, variable: Variable, *, to_write: bool = False) -> tuple[int, int, int]:
        """Wait until all writes queued before now are done, and all reads too if ``to_write``.

        Returns
        -------
        begin, end : int
            When the wait began and ended, in ns; equal when it did not block.
        released_by : int
            Number of the operator whose end ended the wait, 0 when it did not block.

        Raises
        ------
        EngineError
            It would block a worker, or a thread that is just queueing an operator.
        """
        with self.lock:
            if self._bulks and not self._inside:
                self._bulks.hand_over((variable,))
            readers = variable.readers if to_write else 0
            if not (variable.writing or variable.queue or readers):
                return 0, 0, 0
            self._must_be_able_to_wait()
            self._inside = True
            try:
                gate = _closed_gate()
                reads, writes = ((), (variable,)) if to_write else ((variable,), ())
                waiter = Operator(_open_gate, reads, writes)
                waiter.payload, waiter.immediate = gate, True
                self.state.queue(waiter)
            finally:
                self._inside = False
            if self._late:
                self._admit_late()
        self._nudge()
        begin = _now()
        with aside():
            gate.acquire()
        self.pace.waited(begin, end := _now())
        return begin, end, waiter.released_by

    def wait_all(self) -> tuple[int, int, int]:
        """Wait until nothing is queued; returns as `wait_for` does, and raises nothing."""
        begin = _now()
        if not self._wait_until_idle(None):
            return 0, 0, 0
        self.pace.waited(begin, end := _now())
        return begin, end, self._last_work

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
        with self.lock:
            if self._bulks and not self._inside:
                self._bulks.hand_over()
            pending = self.state.pending
            if pending:
                if timeout_s is None:
                    must_be_outside()
                    self._must_be_able_to_wait()
                gate = _closed_gate()
                self._idle_waits.append(gate)
        self._nudge()
        if pending and not gate.acquire(timeout=-1 if timeout_s is None else timeout_s):
            return True
        if RECORDER.on:
            self._let_workers_rest()
        return pending > 0

    def _must_be_able_to_wait(self) -> None:
        """Refuse a wait that might never end. The lock is held."""
        if self.is_worker() and not is_inside():
            raise EngineError(
                "A function that the engine runs cannot wait for others: it keeps a worker from "
                "running them. Queue what should come after, with what it reads and writes."
            )
        if self._inside:
            raise EngineError(
                "A finaliser or signal handler waits for an array, and struck while this thread "
                "was queueing an operator, which cannot go on before it returns. Read values "
                "elsewhere; queueing operators there is possible."
            )

    def _nudge(self) -> None:
        for lane in list(self.lanes.values()):
            lane.nudge()

    def _let_workers_rest(self) -> None:
        """Wait until the workers have dropped what they ran, which may give memory back.

        An operator counts as done before its worker lets go of it; the rest takes microseconds.
        """
        patience = _now() + REST_NS
        while self._busy() and not self.state.pending and _now() < patience:
            time.sleep(1e-5)

    def _busy(self) -> bool:
        return any(any(lane.running) for lane in list(self.lanes.values()))

    @property
    def pending(self) -> int:
        """Operators that are queued or running."""
        return self.state.pending + self._bulks.members

    def begun(self) -> list[Operator]:
        """Return the operators in bulks that were not handed over."""
        return self._bulks.begun()

    def begin_exit(self) -> None:
        """Finish what is queued; hold other threads back, which might never stop queueing."""
        self._exiting, self.limit = True, 0
        self.observe()

    def fail(self, operator: Operator, error: BaseException) -> None:
        """Mark what the operator should have written, and keep the failure until told."""
        failure = Failure.of(operator, error)
        for variable in operator.results:
            variable.failure = failure
        with self.lock:
            self._untold.append(failure)
            if len(self._untold) > self._much_untold:  # told ones are kept no longer than needed
                self._untold = [kept for kept in self._untold if not kept.told]
                self._much_untold = MUCH_UNTOLD + 2 * len(self._untold)

    def untold(self) -> list[Failure]:
        """Return the failures nobody has been told of, in order, and count them as told."""
        with self.lock:
            untold = [failure for failure in self._untold if not failure.told]
            self._untold.clear()
        for failure in untold:
            failure.told = True
        return untold

    # The workers' side

    def _work(self, lane: Lane, place: int) -> None:
        note = RECORDER.register(lane.names[place], lane.role, lane.device).operators.extend
        keep_quiet()
        take, running = lane.take, lane.running
        while True:
            operator: Operator | None = take()
            while operator is not None:
                running[place] = operator
                if self.pace.offering:
                    self.pace.accept()
                start = _now()
                try:
                    operator.run(operator)
                except BaseException as error:
                    # Whatever it was, also SystemExit: a worker that dies leaves a hang behind.
                    self.fail(operator, error)
                # Also what was queued while somebody listened, who may wait for it.
                if (RECORDER.on or operator.queued_ns) and operator.label >= 0:
                    number = operator.number
                    queued, device, taken = operator.queued_ns, operator.device, operator.taken
                    note((queued, start, _now(), operator.label, number, device, taken))
                    if not number % PACK_EVERY:
                        RECORDER.pack_long()
                operator = self._finish(operator, lane)
            running[place] = None

    def _finish(self, operator: Operator, lane: Lane) -> Operator | None:
        """Report an end; return one operator to go on with, hand the others to their lanes."""
        following = None
        with self.lock:
            self._inside = True
            try:
                ready = self.state.done(operator)
                if ready:
                    following = self._let_go(ready, lane)
                self._last_work = operator.number
            finally:
                self._inside = False
            if self._late:
                self._admit_late()
            pending = self.state.pending
            if not pending:
                self.pace.idle()
                _open_all(self._idle_waits)
            if self._held_back and pending <= self.limit // 2:
                _open_all(self._held_back)
        return following

    def _let_go(self, ready: list[Operator], lane: Lane) -> Operator | None:
        """Hand operators to their lanes, but for one that this worker may go on with."""
        following = None
        for other in self._carry_out(ready):
            home = self.lanes[other.lane]
            # Not past what has been ready for longer.
            if following is None and home is lane and not other.priority and lane.is_empty():
                following = other
            else:
                home.submit(other)
        return following

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


def _closed_gate() -> threading.Lock:
    gate = threading.Lock()
    gate.acquire()
    return gate


def _open_gate(waiter: Operator) -> None:
    gate: Any = waiter.payload
    gate.release()


def _open_all(gates: list[threading.Lock]) -> None:
    for gate in gates:
        gate.release()
    gates.clear()

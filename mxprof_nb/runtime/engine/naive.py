"""`NaiveEngine`: every operator runs where it is queued, before the call returns.

For debugging: a failure is raised by the line that caused it. MXNet has it under the same name
(``src/engine/naive_engine.cc``).
"""

from __future__ import annotations

import threading

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.calls import PACK_EVERY, here
from mxprof_nb.runtime.engine.failure import Failure
from mxprof_nb.runtime.engine.fork import in_child
from mxprof_nb.runtime.engine.inside import INSIDE, adopt
from mxprof_nb.runtime.engine.quiet import quietly
from mxprof_nb.runtime.engine.state import Operator, Variable

__all__ = ["NaiveEngine"]

_now = RECORDER.clock.now


class NaiveEngine:
    """Runs operators at once, one at a time, on the thread that queues them."""

    name = "NaiveEngine"
    pending = 0

    def __init__(self) -> None:
        self._queued = 0
        self._renew()
        in_child(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()
        self._inside = False
        self._quietly = quietly()

    def push(self, operator: Operator) -> int:
        """Run an operator and return its number.

        Raises
        ------
        OperatorError
            It failed, or needs a value that could not be computed.
        """
        if INSIDE:
            adopt(operator)
        with self._lock:
            self._queued += 1
            operator.number = self._queued
            if self._inside:  # an operator queues others
                self._run(operator)
            else:
                self._inside = True
                try:
                    self._quietly(self._run, operator)
                finally:
                    self._inside = False
        for variable in operator.writes:
            if variable.failure is not None:
                raise variable.failure.error()
        return operator.number

    def reserve(self) -> int:
        """Return a number that no operator has, for other work that a profile shows."""
        with self._lock:
            self._queued += 1
            return self._queued

    def _run(self, operator: Operator) -> None:
        start = _now() if RECORDER.on else 0
        try:
            try:
                operator.run(operator)
            finally:
                operator.settle()
        except BaseException as error:
            failure = self.fail(operator, error)
            if not operator.results:
                raise failure.error() from error
        finally:
            if start and operator.label >= 0:
                number = operator.number
                queued, device, taken = operator.queued_ns, operator.device, operator.taken
                here.operator((queued, start, _now(), operator.label, number, device, taken))
                if not number % PACK_EVERY:
                    RECORDER.pack_long()

    def fail(self, operator: Operator, error: BaseException) -> Failure:
        """Mark what the operator should have written; called where the error is handled."""
        failure = Failure.of(operator, error)
        for variable in operator.results:
            variable.failure = failure
        if not isinstance(error, Exception):
            raise error  # Ctrl-C, or the end of the program: not the operator's
        return failure

    def wait_for(self, variable: Variable, *, to_write: bool = False) -> tuple[int, int, int]:
        """Return at once: nothing is ever under way."""
        return 0, 0, 0

    def wait_all(self) -> tuple[int, int, int]:
        """Return at once: nothing is ever under way."""
        return 0, 0, 0

    def observe(self, timeout_s: float | None = None) -> bool:
        """Return at once: nothing is ever under way."""
        return True

    def untold(self) -> list[Failure]:
        """Return nothing: every failure was raised where it happened."""
        return []

"""`Lane`: workers that share a queue of ready operators, and who of them is busy with what.

- Operators of equal priority are taken in the order in which they became ready.
- Those with another priority stand in a heap, and each has a token in the queue: the usual
  operator, of priority 0, costs nothing more than one test.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from heapq import heappop, heappush

from mxprof_nb.runtime.engine.state import Operator

__all__ = ["Lane"]

#: Most important first, then first come, first served.
Rank = tuple[int, int]


class Lane:
    """The workers of one device, or those that make its copies.

    Parameters
    ----------
    names : sequence of str
        Of the workers, as profiles show them; one thread each.
    device : str
        Whose work they do.
    role : str
        What profiles take the threads for, ``worker`` or ``copy``.
    work : callable
        What each thread runs; called with the lane and the worker's number.

    Attributes
    ----------
    running : list of Operator or None
        What each worker is busy with; None while it waits for work.
    """

    def __init__(
        self, names: list[str], device: str, role: str, work: Callable[[Lane, int], None]
    ) -> None:
        self.names = names
        self.device = device
        self.role = role
        self.running: list[Operator | None] = [None] * len(names)
        self._queue: queue.SimpleQueue[Operator | None] = queue.SimpleQueue()
        self.put = self._queue.put  # for an operator of priority 0
        self._get = self._queue.get
        self._ranked: list[tuple[Rank, Operator]] = []  # one token in the queue for each
        self._ranking = threading.Lock()
        self.threads = [
            threading.Thread(target=work, args=(self, n), daemon=True, name=f"mxprof {name}")
            for n, name in enumerate(names)
        ]
        for thread in self.threads:
            thread.start()

    @property
    def ranked(self) -> bool:
        """Whether priorities matter now."""
        return bool(self._ranked)

    def submit(self, operator: Operator) -> None:
        """Hand a ready operator over, of whatever priority."""
        if operator.priority:
            with self._ranking:
                heappush(self._ranked, ((-operator.priority, operator.number), operator))
                self.put(None)
        else:
            self.put(operator)

    def take(self) -> Operator:
        """Wait for an operator and return it: of those that are ready, the one to run first."""
        while True:
            operator = self._get()
            if operator is None or self._ranked:
                operator = self._first(operator)
            if operator is not None:
                return operator

    def _first(self, operator: Operator | None) -> Operator | None:
        """Return what to run first instead of what came out of the queue, None to look again."""
        with self._ranking:
            if operator is None:
                if self._ranked[0][0][0] > 0 and self._queue.qsize() >= len(self._ranked):
                    self.put(None)  # less important than all the usual ones that still wait
                    return None
            elif self._ranked and self._ranked[0][0][0] <= 0:
                # What was taken waits in the place of the more important one, or of an older.
                heappush(self._ranked, ((0, operator.number), operator))
            else:
                return operator
            return heappop(self._ranked)[1]

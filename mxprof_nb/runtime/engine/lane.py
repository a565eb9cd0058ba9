"""`Lane`: workers that share a queue of ready operators, and who of them is busy with what.

- Operators of equal priority are taken in the order in which they became ready.
- Those with another priority than 0 stand in a heap, and each has a token in the queue: the usual
  operator costs nothing more than one test.
- Handing one over is one step of the interpreter for the usual operator and two for the others. A
  Ctrl-C between those leaves a token missing, which `nudge` puts back; one too many is harmless.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush

from mxprof_nb.runtime.engine.state import Operator

__all__ = ["Lane", "ranking"]

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
    put : callable
        Hands over an operator of priority 0; see `submit`.
    is_empty : callable
        Returns whether nothing waits for a worker.
    ranked : list
        A heap of those that priorities concern.
    """

    def __init__(
        self, names: list[str], device: str, role: str, work: Callable[[Lane, int], None]
    ) -> None:
        self.names = names
        self.device = device
        self.role = role
        self.running: list[Operator | None] = [None] * len(names)
        self._queue: queue.SimpleQueue[Operator | None] = queue.SimpleQueue()
        self.put: Callable[[Operator | None], None] = self._queue.put
        self.is_empty = self._queue.empty
        self._get = self._queue.get
        self.ranked: list[tuple[Rank, Operator]] = []
        self._choosing = threading.Lock()
        self.threads = [
            threading.Thread(target=work, args=(self, n), daemon=True, name=f"mxprof {name}")
            for n, name in enumerate(names)
        ]
        for thread in self.threads:
            thread.start()

    def submit(self, operator: Operator) -> None:
        """Hand a ready operator over, of whatever priority."""
        if operator.priority:
            heappush(self.ranked, ranking(operator))
            self.put(None)
        else:
            self.put(operator)

    def nudge(self) -> None:
        """Have somebody look at what has another priority than 0, if there is anything."""
        if self.ranked:
            self.put(None)

    def take(self) -> Operator:
        """Wait for an operator and return it: of those that are ready, the one to run first."""
        while True:
            operator = self._get()
            if operator is None or self.ranked:
                operator = self._first(operator)
            if operator is not None:
                return operator

    def _first(self, operator: Operator | None) -> Operator | None:
        """Return what to run first instead of what came out of the queue, None to look again."""
        with self._choosing:
            if not self.ranked:
                return operator
            (least, _), _ = self.ranked[0]
            if least > 0:  # less important than all the usual ones
                usual = self._usual() if operator is None else operator
                if usual is not None:
                    return usual
            elif operator is not None:
                # What was taken waits in the place of the more important one, or of an older.
                heappush(self.ranked, ranking(operator))
            return heappop(self.ranked)[1]

    def _usual(self) -> Operator | None:
        """Take the next operator of priority 0 in exchange for a token, None if there is none."""
        for _ in range(self._queue.qsize()):
            with suppress(queue.Empty):
                operator = self._queue.get_nowait()
                self.put(None)
                if operator is not None:
                    return operator
        return None


def ranking(operator: Operator) -> tuple[Rank, Operator]:
    """Return an operator as an entry of a heap."""
    return (-operator.priority, operator.number), operator

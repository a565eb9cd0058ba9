"""`Workers`: threads that load batches for one `DataLoader`, and what profiles tell of them.

A batch is to these threads what an operator is to the engine's: it has a number and a time at
which it was queued, the thread that loaded it has a row of its own, and a wait for it ends when it
does. The threads begin with the first batch and end with the loader; they are daemons, so a
program that ends is not held up.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from typing import Any

from mxprof_nb.errors import LoadingTimeoutError
from mxprof_nb.record import RECORDER
from mxprof_nb.record.sites import Place, on_behalf_of
from mxprof_nb.runtime.calls import caller, here, note, note_wait
from mxprof_nb.runtime.engine import default_engine
from mxprof_nb.runtime.engine.fork import in_child

__all__ = ["BATCH", "DOMAIN", "NEXT", "Batch", "Workers"]

DOMAIN = "data loading"
#: A batch being loaded; a call that asks for the next; queueing one; waiting for one.
BATCH = RECORDER.labels.define("batch", "io", DOMAIN)
NEXT = RECORDER.labels.define("DataLoader.next", "api", DOMAIN)
_QUEUE = RECORDER.labels.define("DataLoader.queue", "api", DOMAIN)
_WAIT = RECORDER.labels.define("WaitForBatch", "sync", DOMAIN)

_now = RECORDER.clock.now
Load = Callable[[Iterable[Any]], Any]


class Batch:
    """One batch: queued, loaded by a worker, waited for.

    Parameters
    ----------
    load : callable
        Makes a batch of positions in the dataset.
    chosen : iterable
        The positions.

    Attributes
    ----------
    dropped : bool
        Whether nobody wants it any more; a worker that has not begun it never does.
    """

    __slots__ = (
        "_chosen", "_done", "_error", "_load", "_number", "_place", "_process", "_queued_ns",
        "_value", "dropped",
    )  # fmt: skip

    def __init__(self, load: Load, chosen: Iterable[Any]) -> None:
        self._load = load
        self._chosen = chosen
        self._done = threading.Lock()
        self._done.acquire()
        self._value: Any = None
        self._error: BaseException | None = None
        self._process = os.getpid()
        self._place: Place = caller(1)
        self._queued_ns = self._number = 0
        if RECORDER.on:
            self._number = default_engine().reserve()
            self._queued_ns = _now()
        self.dropped = False

    def note_queued(self) -> None:
        """Record that it was queued, for its line."""
        if self._queued_ns and RECORDER.on:
            note(_QUEUE, self._queued_ns, _now(), self._number, self._place)

    def run(self) -> None:
        """Load it, unless nobody wants it any more."""
        if self.dropped:
            return
        start = _now()
        try:
            with on_behalf_of(self._place):
                self._value = self._load(self._chosen)
        except BaseException as error:  # whatever it was: it is raised where the batch is wanted
            self._error = error
        if RECORDER.on:
            here.operator((self._queued_ns, start, _now(), BATCH, self._number, -1, 0))
        self._done.release()

    def wait(self, timeout_s: float) -> Any:
        """Return it when it is there.

        Raises
        ------
        LoadingTimeoutError
            It was not there in time.
        BaseException
            What was raised while it was loaded, with the traceback from there.
        """
        if self._process != os.getpid() and self._done.locked():
            self.run()  # after a fork: the workers are in the parent
        note_wait(_WAIT, lambda: self._block(timeout_s))
        if self._error is not None:
            error, self._error = self._error, None  # it refers to this frame
            raise error
        return self._value

    def _block(self, timeout_s: float) -> tuple[int, int, int]:
        if self._done.acquire(blocking=False):
            return 0, 0, 0
        begin = _now()
        if not self._done.acquire(timeout=min(timeout_s, threading.TIMEOUT_MAX)):
            raise LoadingTimeoutError(
                f"A worker of the DataLoader has not finished a batch after {timeout_s:g} s. "
                "Where samples take that long, give DataLoader a larger timeout=."
            )
        return begin, _now(), self._number


class Workers:
    """Threads that load batches, of one loader.

    Parameters
    ----------
    count : int
    """

    def __init__(self, count: int) -> None:
        self._count = count
        _all.add(self)
        self.renew()

    def renew(self) -> None:
        """Begin without threads."""
        self._queue: SimpleQueue[Batch | None] = SimpleQueue()
        self._started = False

    def submit(self, batch: Batch) -> None:
        """Hand a batch over."""
        if not self._started:
            self._start()
        self._queue.put(batch)
        batch.note_queued()

    def _start(self) -> None:
        # The threads know the queue alone: without the loader they end.
        end = weakref.finalize(self, _end, self._queue, self._count)
        end.atexit = False
        try:
            for _ in range(self._count):
                _start(self._queue)
        except BaseException:  # the system has no more threads, or Ctrl-C
            end()
            self.renew()
            raise
        self._started = True


#: Numbers of the threads there are, of all loaders: rows with one name would look like one.
_numbers: set[int] = set()
_numbering = threading.Lock()
_all: weakref.WeakSet[Workers] = weakref.WeakSet()


@in_child
def _renew() -> None:
    global _numbering
    _numbering = threading.Lock()
    _numbers.clear()
    for workers in list(_all):
        workers.renew()


def _start(batches: SimpleQueue[Batch | None]) -> None:
    with _numbering:
        number = next(n for n in range(1, len(_numbers) + 2) if n not in _numbers)
        _numbers.add(number)
    name = f"data worker {number}"
    thread = threading.Thread(
        target=_work, args=(batches, number, name), daemon=True, name=f"mxprof {name}"
    )
    try:
        thread.start()
    except RuntimeError:
        _numbers.discard(number)
        raise


def _end(batches: SimpleQueue[Batch | None], count: int) -> None:
    for _ in range(count):
        batches.put(None)


def _work(batches: SimpleQueue[Batch | None], number: int, name: str) -> None:
    """Load batches until there are no more."""
    RECORDER.register(name, "data")
    while (batch := batches.get()) is not None:
        batch.run()
        del batch  # else it would live until the next one comes
        RECORDER.pack_long()
    with _numbering:
        _numbers.discard(number)

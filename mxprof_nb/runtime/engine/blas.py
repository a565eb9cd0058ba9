"""How many threads a matrix product may use: the cores, shared by the products that run.

Two workers that each ask BLAS for all cores get in each other's way. The number is a setting of
the whole process, so it is changed only while a product runs and restored when the last has
ended: NumPy called by the program itself keeps its threads.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from mxprof_nb.runtime.engine.fork import in_child

__all__ = ["BLAS", "WORTH_THREADS"]


#: Products of fewer floating point operations are not worth the trouble: OpenBLAS itself runs them
#: on one thread (``interface/gemm.c``, ``SMP_THRESHOLD_MIN * GEMM_MULTITHREAD_THRESHOLD``).
WORTH_THREADS = 2 * 65_536 * 4


class BlasThreads:
    """Hands out threads to the matrix products that run.

    Each takes part under a token of its own, so that a Ctrl-C anywhere does no harm: ending is
    possible without having begun, and twice.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[object] = set()
        self._libraries: list[_Setting] = []
        self._cores = os.cpu_count() or 1

    def begin(self, token: object) -> None:
        """Let a product take part; end it with the same token, whatever happens."""
        with self._lock:
            self._running.add(token)
            if len(self._running) > 1:  # alone it has what the program has: nothing to ask or set
                self._share()

    def end(self, token: object) -> None:
        """Let the others have its threads, and the program its own when one or none is left."""
        with self._lock:
            self._running.discard(token)
            if self._libraries:
                self._share()

    def renew(self) -> None:
        """Begin again, in the child of a fork: the products that ran are the parent's."""
        self._lock = threading.Lock()
        self._running.clear()
        self._share()

    def _share(self) -> None:
        several = len(self._running)
        if several > 1 and not self._libraries:
            self._libraries = [_Setting(library) for library in _blas_libraries()]
        threads = max(1, self._cores // several) if several > 1 else None
        for setting in self._libraries:
            # Never more than the program itself would use; that many when nothing is shared.
            setting.set(setting.before if threads is None else min(threads, setting.before))
        if threads is None:
            self._libraries = []


class _Setting:
    """Threads of one library: as the program has them, and as they are now."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.before: int = library.num_threads
        self._now: int | None = self.before

    def set(self, threads: int) -> None:
        if threads != self._now:  # telling it costs a microsecond
            self._now = None  # not known, should Ctrl-C strike here
            # threadpoolctl 3.8 listens only to the thread that was first, and any
            # worker may be the one that has to set or restore. Others are left free to.
            free = getattr(self._library, "clear_controlling_thread", _nothing)
            free(force=True)
            try:
                self._library.set_num_threads(threads)
            finally:
                free(force=True)
            self._now = threads


def _nothing(*, force: bool) -> None:
    """Stand in where every thread is listened to."""


_found: list[Any] | None = None


def _blas_libraries() -> list[Any]:
    """Return the BLAS libraries loaded, found once: looking costs 0.2 ms."""
    global _found
    if _found is None:
        from threadpoolctl import ThreadpoolController

        controller = ThreadpoolController().select(user_api="blas")
        _found = list(controller.lib_controllers)
    return _found


#: The one setting of the process.
BLAS = BlasThreads()
in_child(BLAS.renew)

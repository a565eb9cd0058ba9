"""How many threads a matrix product may use: the cores, shared by the products that run.

Two workers that each ask BLAS for all cores get in each other's way. The number is a setting of
the whole process, so it is changed only while a product runs and restored when the last has
ended: NumPy called by the program itself keeps its threads.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any

from mxprof_nb.runtime.engine.fork import in_child

__all__ = ["BLAS"]


class BlasThreads:
    """Context manager around one matrix product, shared by all workers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._libraries: list[tuple[Any, int]] | None = None
        self._cores = os.cpu_count() or 1

    def __enter__(self) -> None:
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._libraries = [(lib, lib.num_threads) for lib in _blas_libraries()]
            self._share(self._cores // self._running)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._running -= 1
            if self._running:
                self._share(self._cores // self._running)
            else:
                for library, before in self._libraries or ():
                    library.set_num_threads(before)

    def renew(self) -> None:
        """Begin again, in the child of a fork: the products that ran are the parent's."""
        for library, before in self._libraries or () if self._running else ():
            library.set_num_threads(before)
        self._lock = threading.Lock()
        self._running = 0

    def _share(self, threads: int) -> None:
        for library, before in self._libraries or ():
            # Never more than the program itself would use.
            library.set_num_threads(max(1, min(threads, before)))


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

"""The engine that arrays use: made when the first operator is queued."""

from __future__ import annotations

import os
import threading

from mxprof_nb.errors import EngineError
from mxprof_nb.runtime.engine.threaded import ThreadedEngine

__all__ = ["default_engine"]


_engine: ThreadedEngine | None = None
_making = threading.RLock()


def default_engine() -> ThreadedEngine:
    """Return the process's engine: two workers, or as many as there are cores if fewer.

    ``MXNET_CPU_WORKER_NTHREADS`` overrides the number, as in MXNet.

    Raises
    ------
    EngineError
        The variable is no positive integer.
    """
    global _engine
    if _engine is None:
        with _making:  # threads that come at once must get the same one
            if _engine is None:
                _engine = _make()
    return _engine


def _make() -> ThreadedEngine:
    given = os.environ.get("MXNET_CPU_WORKER_NTHREADS", "")
    if not given:
        return ThreadedEngine(min(2, os.cpu_count() or 1))
    if not given.isdigit() or int(given) < 1:
        raise EngineError(
            f"MXNET_CPU_WORKER_NTHREADS={given!r} is no number of workers; "
            "set it to 1 or more, or unset it."
        )
    return ThreadedEngine(int(given))

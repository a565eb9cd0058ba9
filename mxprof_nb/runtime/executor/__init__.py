"""Executors: graphs tied to the arrays that they read and write (`mx.executor`)."""

from mxprof_nb.runtime.executor.binding import Binding
from mxprof_nb.runtime.executor.executor import Executor

__all__ = ["Binding", "Executor"]

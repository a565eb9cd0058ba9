"""The dependency engine: operators are queued, ordered by what they read and write, and run.

For programs: `bulk`, `set_bulk_size` as in MXNet, `Var` and `push` to queue functions of one's
own, `set_type` and `get_type`, `set_queue_limit`.
"""

from mxprof_nb.runtime.engine.default import (
    bulk,
    default_engine,
    get_type,
    set_bulk_size,
    set_queue_limit,
    set_type,
)
from mxprof_nb.runtime.engine.failure import Failure
from mxprof_nb.runtime.engine.naive import NaiveEngine
from mxprof_nb.runtime.engine.state import EngineState, Operator, Variable
from mxprof_nb.runtime.engine.task import Var, push
from mxprof_nb.runtime.engine.threaded import ThreadedEngine

__all__ = [
    "EngineState",
    "Failure",
    "NaiveEngine",
    "Operator",
    "ThreadedEngine",
    "Var",
    "Variable",
    "bulk",
    "default_engine",
    "get_type",
    "push",
    "set_bulk_size",
    "set_queue_limit",
    "set_type",
]

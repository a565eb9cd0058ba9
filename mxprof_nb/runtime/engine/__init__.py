"""The dependency engine: operators are queued, ordered by what they read and write, and run."""

from mxprof_nb.runtime.engine.default import default_engine, set_engine_type
from mxprof_nb.runtime.engine.failure import Failure
from mxprof_nb.runtime.engine.naive import NaiveEngine
from mxprof_nb.runtime.engine.state import EngineState, Operator, Variable
from mxprof_nb.runtime.engine.threaded import ThreadedEngine

__all__ = [
    "EngineState",
    "Failure",
    "NaiveEngine",
    "Operator",
    "ThreadedEngine",
    "Variable",
    "default_engine",
    "set_engine_type",
]

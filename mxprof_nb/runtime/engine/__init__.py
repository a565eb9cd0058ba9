"""The dependency engine: operators are queued, ordered by what they read and write, and run."""

from mxprof_nb.runtime.engine.default import default_engine
from mxprof_nb.runtime.engine.failure import Failure
from mxprof_nb.runtime.engine.state import EngineState, Operator, Variable
from mxprof_nb.runtime.engine.threaded import Release, ThreadedEngine

__all__ = [
    "EngineState",
    "Failure",
    "Operator",
    "Release",
    "ThreadedEngine",
    "Variable",
    "default_engine",
]

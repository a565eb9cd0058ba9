"""`mx.base`: the error that programs written for MXNet catch."""

from mxprof_nb.errors import EngineError as MXNetError

__all__ = ["MXNetError"]

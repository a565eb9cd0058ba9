"""The operators with which optimisers update weights."""

from mxprof_nb.runtime.ops.optimizer.updates import MULTI, UPDATES

__all__ = ["MULTI", "UPDATES"]

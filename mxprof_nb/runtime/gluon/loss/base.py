"""`Loss`: what all losses have in common."""

from __future__ import annotations

import numbers
from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime import symbol
from mxprof_nb.runtime.gluon.block import HybridBlock

__all__ = ["Loss"]


def _apply_weighting(F: Any, loss: Any, weight: Any = None, sample_weight: Any = None) -> Any:
    """Return a loss times the weights there are; losses that programs write import it."""
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is None:
        return loss
    if not isinstance(weight, numbers.Number):
        raise ArgumentError(f"weight={weight!r:.60} must be a number.")
    return loss * weight


def _reshape_like(F: Any, x: Any, y: Any) -> Any:
    """Return an array in the shape of another; losses that programs write import it."""
    return F.reshape_like(x, y) if F is symbol else x.reshape(y.shape)


class Loss(HybridBlock):
    """A loss, to be inherited from.

    Parameters
    ----------
    weight : float, optional
        Multiplies the loss.
    batch_axis : int
        Axis of the samples.
    **kwargs
        See `Block`.
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if weight is not None and not isinstance(weight, numbers.Number):
            raise ArgumentError(f"{type(self).__name__}: weight={weight!r} must be a number.")
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _weighted(self, F: Any, loss: Any, sample_weight: Any = None) -> Any:
        """Return the loss times the weights there are."""
        return _apply_weighting(F, loss, self._factor(), sample_weight)

    def _factor(self) -> Any:
        return self._weight

    def _mean(self, F: Any, loss: Any, sample_weight: Any = None) -> Any:
        """Return the mean over each sample of the weighted loss."""
        weighted = self._weighted(F, loss, sample_weight)
        return F.mean(weighted, axis=self._batch_axis, exclude=True)

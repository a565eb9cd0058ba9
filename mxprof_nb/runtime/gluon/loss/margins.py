"""Losses that are 0 where a result is far enough on the right side."""

from __future__ import annotations

from typing import Any

from mxprof_nb.runtime import symbol
from mxprof_nb.runtime.gluon.loss.base import Loss, _reshape_like

__all__ = ["CosineEmbeddingLoss", "HingeLoss", "SquaredHingeLoss", "TripletLoss"]


class HingeLoss(Loss):
    """What the result times the label, -1 or 1, lacks to a margin; its mean.

    Parameters
    ----------
    margin : float
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def _lacking(self, F: Any, pred: Any, label: Any) -> Any:
        return F.relu(self._margin - pred * _reshape_like(F, label, pred))

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return the loss of each sample."""
        return self._mean(F, self._lacking(F, pred, label), sample_weight)


class SquaredHingeLoss(HingeLoss):
    """The mean square of what `HingeLoss` takes the mean of."""

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return the loss of each sample."""
        return self._mean(F, F.square(self._lacking(F, pred, label)), sample_weight)


class TripletLoss(Loss):
    """How much farther a result is from a like one than from an unlike one, plus a margin.

    Parameters
    ----------
    margin : float
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any) -> Any:
        """Return the loss of each sample."""
        like, unlike = _reshape_like(F, positive, pred), _reshape_like(F, negative, pred)
        farther = F.square(like - pred) - F.square(unlike - pred)
        loss = F.relu(F.sum(farther, axis=self._batch_axis, exclude=True) + self._margin)
        return self._weighted(F, loss)


class CosineEmbeddingLoss(Loss):
    """1 minus the cosine between like vectors (label 1), the cosine between others (label -1).

    Parameters
    ----------
    weight, batch_axis, **kwargs
        See `Loss`.
    margin : float
        What is taken from the cosine between others; nothing is left below 0.
    """

    #: Keeps the quotient of vectors without length finite.
    EPSILON = 1e-12

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(
        self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None
    ) -> Any:
        """Return the loss of each pair, shape (pair, 1)."""
        first, label = _reshape_like(F, input1, input2), label.reshape((-1, 1))
        lengths = self._column(F.norm(first, axis=-1)) * self._column(F.norm(input2, axis=-1))
        product = self._column(F.sum(first * input2, axis=-1))
        cosine = product / F.broadcast_maximum(lengths, _number(F, self.EPSILON))
        unlike = F.broadcast_maximum(_number(F, 0), (label == -1) * (cosine - self._margin))
        return self._weighted(F, (1 - cosine) * (label == 1) + unlike, sample_weight)

    def _column(self, array: Any) -> Any:
        return array.reshape((-1, 1))


def _number(F: Any, number: float) -> Any:
    """Return an array of one number: as a symbol it is made anew each time."""
    return F.full((1, 1), number) if F is symbol else F.array([[number]])

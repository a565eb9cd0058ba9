"""Losses of results that are numbers."""

from __future__ import annotations

import math
from typing import Any

from mxprof_nb.runtime.gluon.loss.base import Loss, _reshape_like

__all__ = ["HuberLoss", "L1Loss", "L2Loss", "PoissonNLLLoss"]


class L2Loss(Loss):
    """Half of the mean square of the difference."""

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def _factor(self) -> Any:
        return None if self._weight is None else self._weight / 2

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return the loss of each sample."""
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.square(label - pred), sample_weight)


class L1Loss(Loss):
    """Mean absolute difference."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return the loss of each sample."""
        label = _reshape_like(F, label, pred)
        return self._mean(F, F.abs(label - pred), sample_weight)


class HuberLoss(Loss):
    """Half of the square of small differences, the absolute value of large ones; its mean.

    Parameters
    ----------
    rho : float
        From which difference on it is a straight line.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return the loss of each sample."""
        away = F.abs(_reshape_like(F, label, pred) - pred)
        line, square = away - 0.5 * self._rho, 0.5 / self._rho * F.square(away)
        return self._mean(F, F.where(away > self._rho, line, square), sample_weight)


class PoissonNLLLoss(Loss):
    """Negative logarithm of the probability of counts, whose distribution is Poisson's; its mean.

    Parameters
    ----------
    weight : float, optional
    from_logits : bool
        Whether results are logarithms of rates.
    batch_axis : int
    compute_full : bool
        Whether to add the part that depends on the counts alone, by Stirling's formula.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(
        self,
        F: Any,
        pred: Any,
        target: Any,
        sample_weight: Any = None,
        epsilon: float = 1e-8,
    ) -> Any:
        """Return the mean loss, over all samples as in MXNet."""
        target = _reshape_like(F, target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * F.log(pred + epsilon)
        if self._compute_full:
            rest = target * F.log(target) - target + 0.5 * F.log(2 * target * math.pi)
            # Of 0 the logarithm is minus infinity, and 0 times that no number.
            loss = loss + F.where(target > 1, rest, F.zeros_like(rest))
        return F.mean(self._weighted(F, loss, sample_weight))

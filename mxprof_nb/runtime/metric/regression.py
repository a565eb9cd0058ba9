"""Metrics of predicted numbers, and of losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.metric.base import (
    Array,
    EvalMetric,
    PairMetric,
    alias,
    on_host,
    pairs,
    register,
)
from mxprof_nb.runtime.nd import NDArray

__all__ = ["MAE", "MSE", "RMSE", "Loss", "PearsonCorrelation"]

Names = Sequence[str] | None


class _OfError(PairMetric):
    """A mean of the error of each batch, averaged over batches."""

    def __init__(self, name: str, output_names: Names = None, label_names: Names = None) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _measure(self, label: Any, pred: Any) -> tuple[float, float]:
        wanted, found = (_column(on_host(each)) for each in (label, pred))
        try:
            error = wanted - found
        except ValueError:
            raise ShapeError(
                f"{self.name}: labels {wanted.shape} and predictions {found.shape} do not fit."
            ) from None
        return self._of(error), 1

    def _of(self, error: Array) -> float:
        raise NotImplementedError


def _column(array: Array) -> Array:
    """Return one number for each sample as a column."""
    return array.reshape(-1, 1) if array.ndim == 1 else array


@register
class MAE(_OfError):
    """Mean absolute error."""

    def __init__(
        self, name: str = "mae", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _of(self, error: Array) -> float:
        return float(np.abs(error).mean())


@register
class MSE(_OfError):
    """Mean squared error."""

    def __init__(
        self, name: str = "mse", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _of(self, error: Array) -> float:
        return float(np.square(error).mean())


@register
class RMSE(_OfError):
    """Root of the mean squared error."""

    def __init__(
        self, name: str = "rmse", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    def _of(self, error: Array) -> float:
        return float(np.sqrt(np.square(error).mean()))


class _Moments:
    """Means, squares and product of two rows of numbers, about their means."""

    def __init__(self) -> None:
        self.count = 0
        self.means = np.zeros(2)
        self.products = np.zeros((2, 2))

    def add(self, rows: Array) -> None:
        """Take two rows more in (Chan et al. 1983)."""
        before, new = self.count, rows.shape[1]
        step = rows.mean(axis=1) - self.means
        self.count += new
        self.means += step * (new / self.count)
        inner = rows - rows.mean(axis=1, keepdims=True)
        self.products += inner @ inner.T + np.outer(step, step) * (before * new / self.count)

    @property
    def correlation(self) -> float:
        """Pearson's coefficient."""
        own, other = np.diag(self.products)
        return float(self.products[0, 1] / np.sqrt(own * other))


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """Correlation of labels and predictions.

    Parameters
    ----------
    average : {'macro', 'micro'}
        Whether it is the mean of the coefficients of batches, or that of all samples together.
    name, output_names, label_names
        As for `EvalMetric`.
    """

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Names = None,
        label_names: Names = None,
        average: str = "macro",
    ) -> None:
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=average == "macro")

    def reset_local(self) -> None:
        """Begin a stretch anew."""
        self._together = _Moments()
        super().reset_local()

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch in, whole or not at all."""
        rows = [self._rows(*pair) for pair in pairs(self.name, labels, preds)]
        for each in rows:
            batch = _Moments()
            batch.add(each)
            self._together.add(each)
            self._add(batch.correlation, 1)

    def _rows(self, label: Any, pred: Any) -> Array:
        if label.shape != pred.shape:
            raise ShapeError(f"{self.name}: labels {label.shape}, predictions {pred.shape}.")
        rows: Array = np.stack([on_host(each).ravel() for each in (label, pred)])
        return rows.astype(np.float64)

    def _figure(self, total: float, count: float) -> float:
        if count and self.average == "micro":
            return self._together.correlation
        return super()._figure(total, count)


@register
class Loss(EvalMetric):
    """Mean of all numbers given as predictions; labels do not count."""

    def __init__(
        self, name: str = "loss", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Take the losses of a batch in."""
        arrays = [preds] if isinstance(preds, NDArray) else preds
        found = [(float(nd.sum(each).asscalar()), each.size) for each in arrays]
        for total, count in found:
            self._add(total, count)

"""Metrics of predicted numbers, and of losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxprof_nb.errors import ShapeError
from mxprof_nb.runtime import nd
from mxprof_nb.runtime.metric.base import Array, EvalMetric, PairMetric, alias, on_host, register
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


@register
@alias("pearsonr")
class PearsonCorrelation(PairMetric):
    """Correlation of labels and predictions, averaged over batches."""

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _measure(self, label: Any, pred: Any) -> tuple[float, float]:
        if label.shape != pred.shape:
            raise ShapeError(f"{self.name}: labels {label.shape}, predictions {pred.shape}.")
        wanted, found = (on_host(each).ravel().astype(np.float64) for each in (label, pred))
        return float(np.corrcoef(found, wanted)[0, 1]), 1


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

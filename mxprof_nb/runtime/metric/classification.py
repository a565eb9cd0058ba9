"""Metrics of predicted classes and of their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, sqrt
from typing import Any

import numpy as np

from mxprof_nb.errors import ArgumentError, ShapeError
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

__all__ = [
    "F1",
    "MCC",
    "Accuracy",
    "CrossEntropy",
    "NegativeLogLikelihood",
    "Perplexity",
    "TopKAccuracy",
]

Names = Sequence[str] | None


@register
@alias("acc")
class Accuracy(PairMetric):
    """Share of predictions that are the label.

    Predictions in another shape than the labels are scores, and the class with the highest along
    ``axis`` is what is predicted.
    """

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def _measure(self, label: Any, pred: Any) -> tuple[float, float]:
        chosen = pred
        if pred.shape != label.shape:
            if not -pred.ndim <= self.axis < pred.ndim:
                raise ShapeError(
                    f"{self.name}: labels have shape {label.shape}, predictions {pred.shape}, "
                    f"without an axis {self.axis} of classes. Labels come first."
                )
            chosen = nd.argmax(pred, axis=self.axis)
        found = on_host(chosen).astype(np.int32).ravel()
        wanted = on_host(label).astype(np.int32).ravel()
        if found.size != wanted.size:
            raise ShapeError(
                f"{self.name}: {wanted.size:,} labels (shape {label.shape}) for {found.size:,} "
                f"predictions (shape {pred.shape}, classes along axis {self.axis})."
            )
        return int((found == wanted).sum()), found.size


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(PairMetric):
    """Share of labels that are among the ``top_k`` classes with the highest scores."""

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        if top_k <= 1:
            raise ArgumentError(f"TopKAccuracy: top_k={top_k}; with 1 it is Accuracy, use that.")
        super().__init__(
            f"{name}_{top_k}", output_names, label_names, top_k=top_k, has_global_stats=True
        )
        self.top_k = top_k

    def _measure(self, label: Any, pred: Any) -> tuple[float, float]:
        scores, wanted = on_host(pred).astype(np.float32), on_host(label).astype(np.int32)
        if scores.ndim > 2:
            raise ShapeError(f"{self.name}: scores are (sample, class), not of shape {pred.shape}.")
        if len(scores) != wanted.size or scores.shape[-1] < self.top_k:
            raise ShapeError(
                f"{self.name}: {wanted.size} labels and scores of shape {pred.shape}; needed are "
                f"scores of {self.top_k} classes or more for each label."
            )
        order = np.argpartition(scores, -self.top_k)
        if order.ndim == 1:
            return int((order == wanted.ravel()).sum()), len(order)
        best = order[:, -self.top_k :]
        return int((best == wanted.reshape(-1, 1)).sum()), len(order)


class _OfProbability(PairMetric):
    """Mean of minus the logarithm of the probability that is given to the label."""

    def __init__(self, eps: float, name: str, output_names: Names, label_names: Names) -> None:
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def _measure(self, label: Any, pred: Any) -> tuple[float, float]:
        chances, wanted = on_host(pred), on_host(label).ravel().astype(np.int64)
        if chances.ndim != 2 or len(chances) != len(wanted):
            raise ShapeError(
                f"{self.name}: {len(wanted)} labels and probabilities of shape {chances.shape}; "
                "needed are probabilities (sample, class) and a label for each sample."
            )
        if wanted.size and wanted.max() >= chances.shape[1]:
            raise ArgumentError(
                f"{self.name}: label {wanted.max()} names no class; there are {chances.shape[1]}, "
                "from 0."
            )
        chance = chances[np.arange(len(wanted)), wanted]
        return float((-np.log(chance + self.eps)).sum()), len(wanted)


@register
@alias("ce")
class CrossEntropy(_OfProbability):
    """Mean of minus the logarithm of the probability that is given to the label.

    ``eps`` is added to probabilities, so that 0 has a logarithm.
    """

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "cross-entropy",
        output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_OfProbability):
    """The same as `CrossEntropy`, under its other name."""

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "nll-loss",
        output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
class Perplexity(EvalMetric):
    """Exponential of the mean of minus the logarithm of the label's probability.

    Parameters
    ----------
    ignore_label : int or None
        Label whose samples do not count.
    axis : int
        Axis of the classes.
    name, output_names, label_names
        As for `EvalMetric`.
    """

    def __init__(
        self,
        ignore_label: int | None,
        axis: int = -1,
        name: str = "perplexity",
        output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        super().__init__(
            name, output_names, label_names, ignore_label=ignore_label, has_global_stats=True
        )
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch in, whole or not at all."""
        total, count = 0.0, 0
        for label, pred in pairs(self.name, labels, preds, wrap=False):
            if label.size * pred.shape[-1] != pred.size:
                raise ShapeError(f"{self.name}: labels {label.shape} for predictions {pred.shape}.")
            wanted = label.as_in_context(pred.context).reshape((label.size,))
            chance = on_host(nd.pick(pred, wanted, axis=self.axis))
            counts = np.ones(chance.shape, bool)
            if self.ignore_label is not None:
                counts = on_host(wanted) != self.ignore_label
            total -= float(np.log(np.maximum(1e-10, chance[counts])).sum())
            count += int(counts.sum())
        self._add(total, count)

    def _figure(self, total: float, count: float) -> float:
        return exp(total / count) if count else float("nan")


class _Confusion:
    """How often each of two classes was predicted where either was right."""

    def __init__(self) -> None:
        #: Rows are labels, columns predictions; class 1 is the positive one.
        self.counts = np.zeros((2, 2))

    @property
    def total(self) -> float:
        """How many samples there were."""
        return float(self.counts.sum())

    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 without a true positive."""
        (_, false_positive), (false_negative, true_positive) = self.counts
        if not true_positive:
            return 0.0
        return float(2 * true_positive / (2 * true_positive + false_positive + false_negative))

    def correlation(self) -> float:
        """Matthews' coefficient; a side of the table that is empty does not count."""
        if not self.total:
            return 0.0
        (true_negative, false_positive), (false_negative, true_positive) = self.counts
        sides = [*self.counts.sum(axis=0), *self.counts.sum(axis=1)]
        size = float(np.prod([each for each in sides if each]))
        return float(true_positive * true_negative - false_positive * false_negative) / sqrt(size)


class _Binary(EvalMetric):
    """A figure of the table of two classes: of each update, or of all samples together."""

    def __init__(self, name: str, output_names: Names, label_names: Names, average: str) -> None:
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of(self, table: _Confusion) -> float:
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        """Take a batch in, whole or not at all."""
        found = sum(
            (self._counted(*pair) for pair in pairs(self.name, labels, preds)), np.zeros((2, 2))
        )
        if self.average == "macro":
            table = _Confusion()
            table.counts += found
            self._add(self._of(table), 1)
            return
        self._local.counts += found
        self._global.counts += found
        self.num_inst, self.global_num_inst = self._local.total, self._global.total
        self.sum_metric = self._of(self._local) * self._local.total
        self.global_sum_metric = self._of(self._global) * self._global.total

    def _counted(self, label: Any, pred: Any) -> Array:
        wanted, scores = on_host(label).astype(np.int32).ravel(), on_host(pred)
        if scores.ndim != 2 or len(scores) != len(wanted):
            raise ShapeError(
                f"{self.name}: {len(wanted)} labels and scores of shape {scores.shape}; needed are "
                "scores (sample, class) and a label for each sample."
            )
        if len(np.unique(wanted)) > 2:
            raise ArgumentError(f"{self.name} is defined for two classes; the labels name more.")
        counts = np.zeros((2, 2))
        positive = scores.argmax(axis=1) == 1
        np.add.at(counts, ((wanted == 1).astype(int), positive.astype(int)), 1)
        return counts

    def reset(self) -> None:
        """Begin anew."""
        self._global = _Confusion()
        super().reset()

    def reset_local(self) -> None:
        """Begin a stretch anew."""
        self._local = _Confusion()
        super().reset_local()


@register
class F1(_Binary):
    """F1 score of two classes: harmonic mean of precision and recall.

    Parameters
    ----------
    average : {'macro', 'micro'}
        Whether it is the mean of the scores of updates, or the score of all samples together.
    name, output_names, label_names
        As for `EvalMetric`.
    """

    def __init__(
        self,
        name: str = "f1",
        output_names: Names = None,
        label_names: Names = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)

    def _of(self, table: _Confusion) -> float:
        return table.f1()


@register
class MCC(_Binary):
    """Matthews' correlation coefficient of two classes; parameters as for `F1`."""

    def __init__(
        self,
        name: str = "mcc",
        output_names: Names = None,
        label_names: Names = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)

    def _of(self, table: _Confusion) -> float:
        return table.correlation()

"""Losses of results that are probabilities of classes."""

from __future__ import annotations

from typing import Any

from mxprof_nb.errors import ArgumentError
from mxprof_nb.runtime.gluon.loss.base import Loss, _reshape_like

__all__ = [
    "KLDivLoss",
    "LogisticLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
]


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross-entropy of yes and no, of which the sigmoid of the result is the probability.

    Parameters
    ----------
    from_sigmoid : bool
        Whether results are probabilities already.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    #: Keeps the logarithm of probability 0 finite.
    EPSILON = 1e-12

    def __init__(
        self,
        from_sigmoid: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(
        self,
        F: Any,
        pred: Any,
        label: Any,
        sample_weight: Any = None,
        pos_weight: Any = None,
    ) -> Any:
        """Return the loss of each sample; ``pos_weight`` multiplies that of labels 1."""
        label = _reshape_like(F, label, pred)
        if self._from_sigmoid:
            yes = F.log(pred + self.EPSILON) * label
            if pos_weight is not None:
                yes = F.broadcast_mul(yes, pos_weight)
            no = F.log(1.0 - pred + self.EPSILON) * (1.0 - label)
            return self._mean(F, -(yes + no), sample_weight)
        # log(1 + exp(-|x|)) does not overflow.
        if pos_weight is None:
            loss = F.relu(pred) - pred * label + F.Activation(-F.abs(pred), act_type="softrelu")
        else:
            factor = 1 + F.broadcast_mul(pos_weight - 1, label)
            rest = F.Activation(-F.abs(pred), act_type="softrelu") + F.relu(-pred)
            loss = pred - pred * label + factor * rest
        return self._mean(F, loss, sample_weight)


class SoftmaxCrossEntropyLoss(Loss):
    """Cross-entropy of classes, of which the softmax of the results are the probabilities.

    Parameters
    ----------
    axis : int
        Axis of the classes.
    sparse_label : bool
        Whether labels are numbers of classes; if not, they are probabilities.
    from_logits : bool
        Whether results are logarithms of probabilities already.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return the loss of each sample."""
        logs = pred if self._from_logits else F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -F.pick(logs, label, axis=self._axis, keepdims=True)
        else:
            label = _reshape_like(F, label, logs)
            loss = -(logs * label).sum(axis=self._axis, keepdims=True)
        return self._mean(F, loss, sample_weight)


class KLDivLoss(Loss):
    """Divergence of Kullback and Leibler between probabilities.

    Parameters
    ----------
    from_logits : bool
        Whether results are logarithms of probabilities already.
    axis : int
        Axis of the classes.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return the loss of each sample."""
        logs = pred if self._from_logits else F.log_softmax(pred, axis=self._axis)
        loss = self._weighted(F, label * (F.log(label + 1e-12) - logs), sample_weight)
        return F.sum(loss, axis=self._batch_axis, exclude=True)


class LogisticLoss(Loss):
    """Logarithm of 1 plus the exponential of minus the result, for the class that is right.

    Parameters
    ----------
    weight, batch_axis, **kwargs
        See `Loss`.
    label_format : {'signed', 'binary'}
        Whether labels are -1 and 1, or 0 and 1.
    """

    def __init__(
        self,
        weight: float | None = None,
        batch_axis: int = 0,
        label_format: str = "signed",
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        if label_format not in ("signed", "binary"):
            raise ArgumentError(
                f"LogisticLoss: label_format={label_format!r} is neither 'signed' nor 'binary'."
            )
        self._label_format = label_format

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """Return the loss of each sample."""
        label = _reshape_like(F, label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        loss = F.relu(pred) - pred * label + F.Activation(-F.abs(pred), act_type="softrelu")
        return self._mean(F, loss, sample_weight)


#: MXNet's shorter names.
SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss
SoftmaxCELoss = SoftmaxCrossEntropyLoss

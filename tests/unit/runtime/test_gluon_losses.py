"""Each loss by its formula, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ArgumentError

nd, loss = mx.nd, mx.gluon.loss

DRAW = np.random.default_rng(5)
PRED, LABEL = DRAW.normal(size=(4, 3)), DRAW.normal(size=(4, 3))
CLASSES, YES = np.array([0, 2, 1, 1]), (LABEL > 0) * 1.0
SIGNS, WEIGHTS = np.where(LABEL > 0, 1.0, -1.0), np.array([[1.0], [0.0], [2.0], [0.5]])
SHARES = np.exp(LABEL) / np.exp(LABEL).sum(axis=1, keepdims=True)
LOGS = PRED - np.log(np.exp(PRED).sum(axis=1, keepdims=True))
SIGMOID = 1 / (1 + np.exp(-PRED))
COUNTS = np.array([[0.0, 1, 2], [3, 4, 5], [1, 1, 1], [2, 0, 7]])


def mean(values: Any) -> Any:
    return np.asarray(values).mean(axis=1)


def crossed(yes: Any, weight: Any = 1.0) -> Any:
    return mean(-(weight * YES * np.log(yes) + (1 - YES) * np.log(1 - yes)))


def stirling(counts: Any) -> Any:
    with np.errstate(all="ignore"):
        rest = counts * np.log(counts) - counts + 0.5 * np.log(2 * np.pi * counts)
    return np.where(counts > 1, rest, 0)


COSINE = (PRED * LABEL).sum(axis=1) / np.sqrt((PRED**2).sum(axis=1) * (LABEL**2).sum(axis=1))

#: The loss, what it is called with, what it gives.
LOSSES: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "L2": (loss.L2Loss(), (PRED, LABEL), mean((PRED - LABEL) ** 2) / 2),
    "L2 of another shape": (
        loss.L2Loss(weight=3.0),
        (PRED, LABEL.reshape(4, 3, 1)),
        mean((PRED - LABEL) ** 2) * 1.5,
    ),
    "L2 without weight": (loss.L2Loss(weight=None), (PRED, LABEL), mean((PRED - LABEL) ** 2)),
    "L1 of weighted samples": (
        loss.L1Loss(weight=2),
        (PRED, LABEL, WEIGHTS),
        mean(abs(PRED - LABEL) * WEIGHTS) * 2,
    ),
    "L1 along another axis": (
        loss.L1Loss(batch_axis=1),
        (PRED, LABEL),
        abs(PRED - LABEL).mean(axis=0),
    ),
    "Huber": (
        loss.HuberLoss(rho=0.5),
        (PRED, LABEL),
        mean(np.where(abs(PRED - LABEL) > 0.5, abs(PRED - LABEL) - 0.25, (PRED - LABEL) ** 2)),
    ),
    "yes and no": (loss.SigmoidBCELoss(), (PRED, YES), crossed(SIGMOID)),
    "yes and no by probability": (
        loss.SigmoidBinaryCrossEntropyLoss(from_sigmoid=True),
        (SIGMOID, YES),
        crossed(SIGMOID),
    ),
    "yes weighted": (
        loss.SigmoidBCELoss(),
        (PRED, YES, None, np.array([[2.0, 3, 4]])),
        crossed(SIGMOID, np.array([[2, 3, 4]])),
    ),
    "yes weighted, by probability": (
        loss.SigmoidBCELoss(from_sigmoid=True),
        (SIGMOID, YES, None, np.array([[2.0, 3, 4]])),
        crossed(SIGMOID, np.array([[2, 3, 4]])),
    ),
    "classes": (loss.SoftmaxCELoss(), (PRED, CLASSES), -LOGS[range(4), CLASSES]),
    "classes of weighted samples": (
        loss.SoftmaxCELoss(weight=2.0),
        (PRED, CLASSES, WEIGHTS),
        -2 * LOGS[range(4), CLASSES] * WEIGHTS[:, 0],
    ),
    "shares of classes": (
        loss.SoftmaxCrossEntropyLoss(sparse_label=False),
        (PRED, SHARES),
        -(LOGS * SHARES).sum(axis=1),
    ),
    "classes by logarithms": (
        loss.SoftmaxCELoss(from_logits=True),
        (LOGS, CLASSES),
        -LOGS[range(4), CLASSES],
    ),
    "divergence": (
        loss.KLDivLoss(from_logits=False),
        (PRED, SHARES),
        (SHARES * (np.log(SHARES) - LOGS)).sum(axis=1),
    ),
    "logistic": (
        loss.LogisticLoss(),
        (PRED, SIGNS),
        mean(np.log(1 + np.exp(-PRED * SIGNS))),
    ),
    "logistic of 0 and 1": (
        loss.LogisticLoss(label_format="binary"),
        (PRED, YES),
        mean(np.log(1 + np.exp(-PRED * SIGNS))),
    ),
    "hinge": (
        loss.HingeLoss(margin=2),
        (PRED, SIGNS),
        mean(np.maximum(0, 2 - PRED * SIGNS)),
    ),
    "squared hinge": (
        loss.SquaredHingeLoss(),
        (PRED, SIGNS),
        mean(np.maximum(0, 1 - PRED * SIGNS) ** 2),
    ),
    "triplet": (
        loss.TripletLoss(margin=0.3),
        (PRED, LABEL, YES),
        np.maximum(0, ((PRED - LABEL) ** 2 - (PRED - YES) ** 2).sum(axis=1) + 0.3),
    ),
    "Poisson": (
        loss.PoissonNLLLoss(compute_full=True),
        (PRED, COUNTS),
        (np.exp(PRED) - COUNTS * PRED + stirling(COUNTS)).mean(keepdims=True)[0],
    ),
    "Poisson of rates": (
        loss.PoissonNLLLoss(from_logits=False),
        (SIGMOID, COUNTS),
        (SIGMOID - COUNTS * np.log(SIGMOID)).mean(keepdims=True)[0],
    ),
    "cosine": (
        loss.CosineEmbeddingLoss(margin=0.1),
        (PRED, LABEL, np.array([1, -1, 1, -1])),
        np.where([1, 0, 1, 0], 1 - COSINE, np.maximum(0, COSINE - 0.1))[:, None],
    ),
}


@pytest.mark.parametrize("told", LOSSES)
def test_a_loss_is_what_its_formula_gives(told):
    made, given, expected = LOSSES[told]
    arrays = [None if each is None else nd.array(each) for each in given]
    np.testing.assert_allclose(made(*arrays).asnumpy(), expected, rtol=2e-5, atol=1e-6)


def test_a_loss_is_shown_with_its_weight():
    assert repr(loss.L2Loss()) == "L2Loss(batch_axis=0, w=1.0)"
    assert repr(loss.SoftmaxCELoss()) == "SoftmaxCrossEntropyLoss(batch_axis=0, w=None)"


def test_large_results_do_not_overflow():
    pred, label = nd.array([[1000, -1000]]), nd.array([[0, 1]])
    assert loss.SigmoidBCELoss()(pred, label).tolist() == [1000]
    assert loss.LogisticLoss(label_format="binary")(pred, label).tolist() == [1000]
    assert loss.SoftmaxCELoss()(pred, nd.array([1])).tolist() == [2000]


def test_a_label_that_does_not_fit_names_the_loss():
    with pytest.raises(
        mx.MXNetError, match=r"^l2loss\d+: L2Loss does not fit data \(2, 3\), \(5,\)"
    ):
        loss.L2Loss()(nd.ones((2, 3)), nd.ones((5,)))


def test_a_loss_that_a_program_writes_can_use_what_mxnet_s_own_use():
    from mxprof_nb.runtime.gluon.loss import Loss, _apply_weighting, _reshape_like

    class Cubed(Loss):
        def __init__(self, weight: float | None = None, batch_axis: int = 0) -> None:
            super().__init__(weight, batch_axis)

        def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
            apart = F.abs(_reshape_like(F, label, pred) - pred) ** 3
            apart = _apply_weighting(F, apart, self._weight, sample_weight)
            return F.mean(apart, axis=self._batch_axis, exclude=True)

    found = Cubed(2)(nd.array(PRED), nd.array(LABEL.reshape(-1)), nd.array(WEIGHTS))
    wanted = mean(2 * WEIGHTS * np.abs(LABEL - PRED) ** 3)
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5)
    with pytest.raises(ArgumentError, match="weight='x' must be a number"):
        _apply_weighting(nd, nd.array(PRED), "x")


def test_arguments_can_be_held_against_mxnet_s_types_of_numbers_and_text():
    numbers, texts = mx.base.numeric_types, mx.base.string_types
    assert all(isinstance(each, numbers) for each in (1, 0.5, np.float32(1), np.int64(1)))
    assert isinstance("a", texts)
    assert not isinstance("a", numbers)

"""`mx.gluon.loss`: how far results are from what they should be, one number for each sample.

All losses take a ``weight`` that multiplies them and the axis of the samples, ``batch_axis``, and
are called with results, labels and mostly ``sample_weight``, which multiplies and is broadcast.
"""

from typing import NoReturn

from mxprof_nb.runtime.gluon import absent
from mxprof_nb.runtime.gluon.loss.base import Loss
from mxprof_nb.runtime.gluon.loss.base import _apply_weighting as _apply_weighting
from mxprof_nb.runtime.gluon.loss.base import _reshape_like as _reshape_like
from mxprof_nb.runtime.gluon.loss.classes import (
    KLDivLoss,
    LogisticLoss,
    SigmoidBCELoss,
    SigmoidBinaryCrossEntropyLoss,
    SoftmaxCELoss,
    SoftmaxCrossEntropyLoss,
)
from mxprof_nb.runtime.gluon.loss.margins import (
    CosineEmbeddingLoss,
    HingeLoss,
    SquaredHingeLoss,
    TripletLoss,
)
from mxprof_nb.runtime.gluon.loss.values import HuberLoss, L1Loss, L2Loss, PoissonNLLLoss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]


def __getattr__(name: str) -> NoReturn:
    raise absent.no_such_name("gluon.loss", name, __all__)

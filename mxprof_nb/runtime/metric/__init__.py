"""`mx.metric`: figures of how good predictions are, added up over batches, by MXNet's names."""

from typing import NoReturn

from mxprof_nb.runtime.absent import no_such_part
from mxprof_nb.runtime.metric.base import EvalMetric, alias, check_label_shapes, register
from mxprof_nb.runtime.metric.classification import (
    F1,
    MCC,
    Accuracy,
    CrossEntropy,
    NegativeLogLikelihood,
    Perplexity,
    TopKAccuracy,
)
from mxprof_nb.runtime.metric.regression import MAE, MSE, RMSE, Loss, PearsonCorrelation
from mxprof_nb.runtime.metric.several import CompositeEvalMetric, CustomMetric, create, np

__all__ = [
    "F1",
    "MAE",
    "MCC",
    "MSE",
    "RMSE",
    "Accuracy",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Loss",
    "NegativeLogLikelihood",
    "PearsonCorrelation",
    "Perplexity",
    "TopKAccuracy",
    "alias",
    "check_label_shapes",
    "create",
    "np",
    "register",
]

#: What MXNet 1.9.1 has besides.
ABSENT = frozenset({"Caffe", "PCC", "Torch"})


def __getattr__(name: str) -> NoReturn:
    raise no_such_part("metric", name, ABSENT, __all__)

"""MXNet's module with all optimisers; here they are spread over several."""

from mxprof_nb.runtime.optimizer.adaptive import (
    AdaDelta,
    AdaGrad,
    Adam,
    Adamax,
    Ftrl,
    Nadam,
    RMSProp,
)
from mxprof_nb.runtime.optimizer.base import Optimizer, create, register
from mxprof_nb.runtime.optimizer.descent import NAG, SGD, Signum, ccSGD
from mxprof_nb.runtime.optimizer.updater import Updater, get_updater

__all__ = [
    "NAG",
    "SGD",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Adamax",
    "Ftrl",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "Signum",
    "Updater",
    "ccSGD",
    "create",
    "get_updater",
    "register",
]

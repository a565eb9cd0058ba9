"""`mx.optimizer`: rules by which weights change, with MXNet's names, parameters and operators."""

from typing import NoReturn

from mxprof_nb.runtime.absent import no_such_part
from mxprof_nb.runtime.optimizer import optimizer
from mxprof_nb.runtime.optimizer.optimizer import (
    NAG,
    SGD,
    AdaDelta,
    AdaGrad,
    Adam,
    Adamax,
    Ftrl,
    Nadam,
    Optimizer,
    RMSProp,
    Signum,
    Updater,
    ccSGD,
    create,
    get_updater,
    register,
)

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
    "optimizer",
    "register",
]

#: What MXNet 1.9.1 has besides.
ABSENT = frozenset({"DCASGD", "FTML", "LAMB", "LARS", "LBSGD", "SGLD", "Test", "contrib"})


def __getattr__(name: str) -> NoReturn:
    raise no_such_part("optimizer", name, ABSENT, __all__)

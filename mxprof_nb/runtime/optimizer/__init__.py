"""`mx.optimizer`: rules by which weights change, with MXNet's names, parameters and operators."""

from typing import NoReturn

from mxprof_nb.errors import close_match
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
    if name in ABSENT:
        raise AttributeError(
            f"mx.optimizer.{name}: MXNet 1.9.1 has it, the embedded runtime of mxprof_nb does not. "
            f"There are {', '.join(__all__)}."
        )
    raise AttributeError(f"mx.optimizer has no {name!r}.{close_match(name, __all__)}")

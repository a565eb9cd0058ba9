"""How many operators of a graph or a backward pass go together, as the environment has it.

| variable | meaning, default |
|---|---|
| ``MXNET_EXEC_BULK_EXEC_INFERENCE``, ``_TRAIN`` | whether they do, outside of training, in it: 1 |
| ``MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN`` | how many at most: 15 |
| ``MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD``, ``_BWD`` | the same, forward or backward only |

Each is read when it is used (MXNet: ``include/mxnet/imperative.h``, some of it once at start).
"""

from __future__ import annotations

import os

from mxprof_nb.errors import EngineError

__all__ = ["backward_size", "forward_size", "is_bulked"]

_PREFIX = "MXNET_EXEC_BULK_EXEC_"
_SWITCH = {"": True, "1": True, "true": True, "0": False, "false": False}
_DEFAULT = 15


def is_bulked(*, train: bool) -> bool:
    """Return whether operators of graphs go together.

    Raises
    ------
    EngineError
        The variable is neither 0 nor 1.
    """
    name = _PREFIX + ("TRAIN" if train else "INFERENCE")
    given = os.environ.get(name, "")
    chosen = _SWITCH.get(given.lower())
    if chosen is None:
        raise EngineError(f"{name}={given!r} is neither 0 nor 1; set it to one of them.")
    return chosen


def forward_size(*, train: bool) -> int:
    """Return how many operators of a forward pass make a bulk, 0 if each goes alone.

    Raises
    ------
    EngineError
        A variable has a value that it cannot have.
    """
    return _size("MAX_NODE_TRAIN_FWD") if is_bulked(train=train) else 0


def backward_size() -> int:
    """Return how many operators of a backward pass make a bulk, 0 if each goes alone.

    Raises
    ------
    EngineError
        A variable has a value that it cannot have.
    """
    return _size("MAX_NODE_TRAIN_BWD") if is_bulked(train=True) else 0


def _size(name: str) -> int:
    for variable in (_PREFIX + name, _PREFIX + "MAX_NODE_TRAIN"):
        if given := os.environ.get(variable, ""):
            if not given.isdecimal():
                raise EngineError(
                    f"{variable}={given!r} is no number of operators; set it to 0 or more."
                )
            return int(given)
    return _DEFAULT

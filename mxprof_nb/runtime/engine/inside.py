"""Which threads run an operator written in Python, and what profiles call what they queue.

As in MXNet (``src/profiler/custom_op_profiler.h``) an operator that ``MyOp`` queues is called
``MyOp::name`` and belongs to the domain "Custom Operator".
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from mxprof_nb.errors import EngineError
from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine.fork import in_child
from mxprof_nb.runtime.engine.state import PYTHON_LANE, Operator

__all__ = [
    "DEEPEST",
    "DOMAIN",
    "INSIDE",
    "PYTHON",
    "adopt",
    "inside",
    "is_inside",
    "label_here",
    "label_inside",
    "must_be_outside",
]

#: Domain of operators written in Python and of those that they queue.
DOMAIN = "Custom Operator"
#: Last part of the name of the Python code itself.
PYTHON = "pure_python"

#: Names of the operators that threads run, by thread. Empty in programs that have none.
INSIDE: dict[int, str] = {}

#: How deep they may be within each other: each that waits holds a thread.
DEEPEST = 128

_depths: dict[int, int] = {}
_labels: dict[tuple[str, int], int] = {}
_thread = threading.get_ident


@in_child
def _forget_others() -> None:
    mine, depth = INSIDE.get(_thread()), _depths.get(_thread(), 0)
    INSIDE.clear()
    _depths.clear()
    if mine is not None:
        INSIDE[_thread()], _depths[_thread()] = mine, depth


@contextmanager
def inside(name: str, depth: int = 0) -> Iterator[None]:
    """Say that this thread runs an operator written in Python, within so many others."""
    thread = _thread()
    before, depth_before = INSIDE.get(thread), _depths.get(thread, 0)
    INSIDE[thread], _depths[thread] = name, depth
    try:
        yield
    finally:
        if before is None:
            INSIDE.pop(thread, None)
            _depths.pop(thread, None)
        else:
            INSIDE[thread], _depths[thread] = before, depth_before


def is_inside() -> bool:
    """Return whether this thread runs one."""
    return _thread() in INSIDE


def must_be_outside() -> None:
    """Refuse a wait for everything that is queued, which includes the operator that waits.

    Raises
    ------
    EngineError
        This thread runs an operator written in Python.
    """
    if is_inside():
        raise EngineError(
            "An operator written in Python cannot wait for everything: that includes itself. "
            "Wait for an array: x.wait_to_read()."
        )


def label_here(label: int) -> int:
    """Return what a label of an operator is when this thread queues it."""
    name = INSIDE.get(_thread())
    return label if name is None else label_inside(name, label)


def adopt(operator: Operator) -> None:
    """Mark an operator that is about to be queued, if one written in Python queues it.

    Raises
    ------
    EngineError
        It is written in Python itself, and within too many others.
    """
    name = INSIDE.get(_thread())
    if name is not None:
        operator.nested = True
        operator.depth = _depths.get(_thread(), 0) + 1
        if operator.depth > DEEPEST and operator.lane == PYTHON_LANE:
            raise EngineError(
                f"Operators written in Python call each other {DEEPEST} deep. Does {name!r} call "
                "itself without end?"
            )
        if operator.label >= 0:
            operator.label = label_inside(name, operator.label)


def label_inside(name: str, label: int) -> int:
    """Return the label of an operator that the one of a name has queued."""
    found = _labels.get((name, label))
    if found is None:
        plain = RECORDER.labels[label]
        if "::" in plain.name:  # it names the one that it belongs to already
            return label
        named = replace(plain, name=f"{name}::{plain.name}", domain=DOMAIN)
        found = _labels[name, label] = RECORDER.labels.number(named)
    return found

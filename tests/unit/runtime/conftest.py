"""Every test begins and ends with an engine that has nothing to do and nothing to tell."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.runtime.engine import Operator, default_engine
from mxprof_nb.runtime.nd import NDArray
from mxprof_nb.runtime.profiler import state
from mxprof_nb.runtime.profiler.state import Profiler


@pytest.fixture(autouse=True)
def quiet_engine() -> Iterator[None]:
    yield
    default_engine().observe()
    default_engine().untold()


@pytest.fixture
def fresh_profiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`mx.profiler` as a process that has just started has it."""
    made = Profiler()
    monkeypatch.setattr(state, "PROFILER", made)
    yield
    made.stop()
    if made.backlog is not None:
        made.backlog.close()


class Gate:
    """An operator that a worker cannot finish until the test lets it."""

    def __init__(self) -> None:
        self._opened, self.entered = threading.Event(), threading.Event()

    def hold(self, *arrays: NDArray) -> None:
        """Queue an operator that writes the arrays and does not end before `open`."""
        writes = tuple({id(a.chunk): a.chunk for a in arrays}.values())
        default_engine().push(Operator(self._run, writes=writes))

    def _run(self, operator: Operator) -> None:
        self.entered.set()
        assert self._opened.wait(60)

    def open(self) -> None:
        self._opened.set()


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open()


@pytest.fixture
def failing() -> Callable[[BaseException], NDArray]:
    """Return an array whose value cannot be computed because of the given error."""

    def make(error: BaseException, *shape: int) -> NDArray:
        def run(operator: Operator) -> None:
            raise error

        array = mx.nd.empty(shape or (2,))
        default_engine().push(Operator(run, writes=(array.chunk,)))
        return array

    return make

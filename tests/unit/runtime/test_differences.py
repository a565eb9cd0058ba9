"""Each difference from MXNet that the package's docstring lists, shown on our side.

What MXNet does instead is in tests/reference, where it can be run.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import OperatorError
from mxprof_nb.record import RECORDER, freeze
from mxprof_nb.runtime.engine import default, default_engine
from mxprof_nb.trace import Meta

nd, engine = mx.nd, mx.engine

SHOWN: dict[str, Callable[[], None]] = {}


def listed() -> list[str]:
    """The lines of the docstring's list."""
    return re.findall(r"^- (.*)$", mx.__doc__ or "", re.MULTILINE)


def difference(line: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a function that shows the difference whose line begins like this."""

    def keep(show: Callable[[], None]) -> Callable[[], None]:
        assert line not in SHOWN
        SHOWN[line] = show
        return show

    return keep


def test_every_difference_has_one_line_and_is_shown():
    lines = listed()
    assert len(lines) == len(set(lines)) == len(SHOWN)
    for line in lines:
        assert line.endswith("."), line
        assert [begin for begin in SHOWN if line.startswith(begin)], f"not shown: {line}"


@pytest.mark.parametrize("line", SHOWN)
def test_the_difference_is_there(line):
    SHOWN[line]()


def recorded(program: Callable[[], Any]) -> Any:
    recording = RECORDER.start()
    try:
        program()
        default_engine().observe()
    finally:
        recording.stop()
    return freeze(recording, Meta())


def failed(shape: tuple[int, ...] = (2,)) -> Any:
    return nd.random.normal(scale=-1, shape=shape)


def raises(array: Any) -> None:
    with pytest.raises(OperatorError):
        array.asnumpy()


@pytest.fixture(autouse=True)
def several_workers():
    default_engine()


@difference("A value that could not be computed raises whenever read")
def _() -> None:
    x = failed()
    for _ in range(3):
        raises(x)


@difference("A failure in a bulk reaches what depends on it")
def _() -> None:
    with engine.bulk(4):
        x, y = failed(), nd.ones((2,)) + 1
    assert y.asnumpy().tolist() == [2, 2]
    raises(x)


@difference("A failed operator spoils nothing else")
def _() -> None:
    raises(failed())
    assert (nd.ones((2,)).sum() + 1).asnumpy().tolist() == [3]
    assert nd.random.uniform(shape=(2,)).asnumpy().shape == (2,)


@difference("A failed array that is overwritten whole (x[:] = 0) can be read")
def _() -> None:
    x = failed()
    raises(x)
    x[:] = 3
    assert x.asnumpy().tolist() == [3, 3]


@difference("Two workers for each device")
def _() -> None:
    assert default._workers() == int(
        os.environ.get("MXNET_CPU_WORKER_NTHREADS") or min(2, os.cpu_count() or 1)
    )


@difference("Copies have a lane of their own")
def _() -> None:
    trace = recorded(lambda: nd.ones((2,)).copy().wait_to_read())
    tracks, events = trace.frame("tracks"), trace.frame()
    copies = events[events.name == "CopyCPU2CPU"].track
    assert tracks.thread[copies].tolist() == ["cpu/0 copy"]


@difference("Priorities order all that is ready")
def _() -> None:
    order: list[int] = []
    workers = len(default_engine().lanes[0].threads)  # type: ignore[union-attr]
    started, gates = threading.Barrier(workers + 1), [threading.Event() for _ in range(workers)]

    def hold(gate: threading.Event) -> None:
        started.wait(60)
        gate.wait(60)

    for gate in gates:
        engine.push(partial(hold, gate))
    started.wait(60)
    for n in (0, 3, -1, 9):
        engine.push(partial(order.append, n), priority=n)
    gates[0].set()  # one worker alone takes them
    while len(order) < 4:
        time.sleep(0.001)
    for gate in gates:
        gate.set()
    assert order == [9, 3, 0, -1]


@difference("A thread is held back at 100,000 queued operators")
def _() -> None:
    before = engine.set_queue_limit(100_000)
    assert before == 100_000


@difference("A shift within one array")
def _() -> None:
    x = nd.array([1.0, 2.0, 3.0, 4.0])
    x[1:4] += x[0:3]
    assert x.asnumpy().tolist() == [1, 3, 5, 7]


@difference("Random numbers are NumPy's Philox")
def _() -> None:
    mx.random.seed(5)
    drawn = nd.random.uniform(shape=(3,)).asnumpy()
    philox = np.random.Generator(np.random.Philox(np.random.SeedSequence((5, 0))))
    assert drawn.tolist() == philox.random(3, dtype=np.float32).tolist()


@difference("WaitForVar lasts as long as the host was blocked")
def _() -> None:
    gate, var = threading.Event(), engine.Var()

    def program() -> None:
        engine.push(lambda: gate.wait(60), writes=[var])
        threading.Timer(0.02, gate.set).start()
        var.wait_to_read()

    trace = recorded(program)
    events, tracks = trace.frame(), trace.frame("tracks")
    (wait,) = events[events.name == "WaitForVar"].itertuples()
    assert tracks.role[wait.track] == "host"
    assert wait.dur_ns > 1_000_000


@difference("DeleteVariable lies where the memory was given back")
def _() -> None:
    def program() -> None:
        x = nd.ones((2,))
        x.wait_to_read()
        default_engine().observe()
        del x

    trace = recorded(program)
    events, tracks = trace.frame(), trace.frame("tracks")
    deleted = events[events.name == "DeleteVariable"].track
    assert set(tracks.role[deleted]) <= {"host", "worker"}
    assert len(deleted)


@difference("nd.array asks for shape and type once each")
def _() -> None:
    names = recorded(lambda: nd.array([1, 2])).frame().name.astype(str).tolist()
    assert names.count("MXNDArrayGetShapeEx") == 1
    assert names.count("MXNDArrayGetDType") == 1


@difference("MXNet API Calls and Concurrency count from the start of the profile")
def _() -> None:
    for _ in range(2):
        counters = recorded(lambda: nd.ones((2,)).shape).frame("counters")
        calls = counters[counters.name == "MXNet C API Calls"].value
        assert calls.tolist()[0] == 1


@difference("Times are kept in nanoseconds")
def _() -> None:
    events = recorded(lambda: [nd.ones((2,)) for _ in range(50)]).frame()
    assert (events.start_ns % 1000 != 0).any()

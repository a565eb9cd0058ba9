"""Signals that come while `mx.profiler` is at work: nothing is lost, nothing hangs."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import ProfilerError
from mxprof_nb.io.growing import GrowingFile
from mxprof_nb.io.registry import load
from mxprof_nb.record import RECORDER, Recording
from mxprof_nb.record.buffer import ThreadBuffer
from mxprof_nb.record.signals import held_back
from mxprof_nb.record.spool import Spool, SpoolReader
from mxprof_nb.runtime.profiler import backlog, state

nd, profiler = mx.nd, mx.profiler

pytestmark = pytest.mark.usefixtures("fresh_profiler")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a profiler that runs, a part of whose records is on disk."""
    made = tmp_path / "a.json"
    profiler.set_config(filename=made, aggregate_stats=True, dump_period=10_000)
    profiler.set_state("run")
    work()
    thread = state.PROFILER.continuous
    assert thread is not None
    state.PROFILER.flush(True, thread)
    state.PROFILER.catch_up()
    work()
    return made


@pytest.fixture
def alarm() -> Iterator[list[Any]]:
    """What a handler of SIGALRM does, a list that a test fills, and what came of it."""
    happened: list[Any] = []

    def handler(number: int, frame: object) -> None:
        try:
            profiler.dump(False)
            happened.append(None)
        except ProfilerError as error:
            happened.append(str(error))

    before = signal.signal(signal.SIGALRM, handler)
    yield happened
    signal.signal(signal.SIGALRM, before)


def work() -> None:
    x = nd.ones((3, 3))
    nd.dot(x, x).wait_to_read()


def strike(monkeypatch: Any, owner: Any, name: str, number: int, *, after: bool = False) -> None:
    """Have a signal come in the middle of something, the first time the main thread does it."""
    plain = getattr(owner, name)
    struck: list[bool] = []

    def stricken(*args: Any, **options: Any) -> Any:
        first = not struck and threading.current_thread() is threading.main_thread()
        if first:
            struck.append(True)
        if first and not after:
            signal.raise_signal(number)
        found = plain(*args, **options)
        if first and after:
            signal.raise_signal(number)
        return found

    monkeypatch.setattr(owner, name, stricken)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (state.Profiler, "_hand_on"),
        (ThreadBuffer, "_take_placed"),
        (Recording, "_choose"),
        (Spool, "append"),
        (SpoolReader, "next"),
        (backlog._Pieces, "of"),
        (GrowingFile, "add"),
        (GrowingFile, "finish"),
        (backlog.Backlog, "remove"),
    ],
)
@pytest.mark.parametrize("read", [profiler.dump, profiler.dumps])
def test_a_ctrl_c_loses_nothing(file, monkeypatch, owner, name, after, read):
    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        strike(patch, owner, name, signal.SIGINT, after=after)
        read()
    profiler.set_state("stop")
    profiler.dump()
    trace = load(file)
    assert [trace.strings[code] for code in trace.events.name].count("dot") == 2
    told = json.loads(profiler.dumps(format="json"))
    assert told["Time"]["operator"]["dot"]["Count"] == 2


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no such signal")
def test_a_handler_that_dumps_in_the_middle_of_a_dump_is_refused(file, monkeypatch, alarm):
    strike(monkeypatch, GrowingFile, "add", signal.SIGALRM)
    profiler.dump(False)
    (told,) = alarm
    assert "in the middle of another call" in told
    signal.raise_signal(signal.SIGALRM)
    assert alarm[1:] == [None]
    trace = load(file)
    assert [trace.strings[code] for code in trace.events.name].count("dot") == 2


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="the system has no such signal")
def test_a_handler_that_dumps_while_its_thread_packs_does_not_wait_for_itself(
    file, monkeypatch, alarm
):
    strike(monkeypatch, ThreadBuffer, "_take_placed", signal.SIGALRM)
    RECORDER.buffer().pack()
    assert alarm == [None]
    profiler.set_state("stop")
    profiler.dump()
    trace = load(file)
    assert [trace.strings[code] for code in trace.events.name].count("dot") == 2


def test_what_was_held_back_comes_in_its_order_and_all_of_it():
    happened: list[int] = []
    numbers = [signal.SIGTERM, signal.SIGINT]
    before = [
        signal.signal(each, lambda number, frame: happened.append(number)) for each in numbers
    ]
    try:
        with held_back():
            for each in numbers:
                signal.raise_signal(each)
            assert happened == []
        assert happened == numbers
    finally:
        for each, handler in zip(numbers, before, strict=True):
            signal.signal(each, handler)

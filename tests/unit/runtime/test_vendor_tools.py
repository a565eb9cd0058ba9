"""NVTX and ITT: operators and marks reach the tools of hardware vendors, and nothing is left."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import mxprof_nb.runtime as mx
from mxprof_nb.errors import BackendUnavailableError, ProfilerOptionError
from mxprof_nb.runtime import engine
from mxprof_nb.runtime.engine import NaiveEngine, ThreadedEngine, default_engine
from mxprof_nb.runtime.profiler import vendor
from tests.environment import run

nd, profiler = mx.nd, mx.profiler
Told = tuple[Any, ...]

pytestmark = pytest.mark.usefixtures("fresh_profiler")


@pytest.fixture(autouse=True)
def off_again() -> Iterator[None]:
    yield
    profiler.annotate()


class FakeDomain:
    """A domain of `nvtx`, which writes down what is asked of it."""

    def __init__(self, name: str, told: list[Told]) -> None:
        self.name, self.told = name, told

    def get_event_attributes(self, message: str) -> str:
        return message

    def _tell(self, what: str, *more: Any) -> None:
        self.told.append((what, self.name, *more, threading.current_thread().name))

    def push_range(self, attributes: str) -> None:
        self._tell("push", attributes)

    def pop_range(self) -> None:
        self._tell("pop")

    def start_range(self, attributes: str) -> int:
        self._tell("start", attributes)
        return len(self.told)

    def end_range(self, number: int) -> None:
        self._tell("end", self.told[number - 1][2])

    def mark(self, attributes: str) -> None:
        self._tell("mark", attributes)


@pytest.fixture
def nvtx(monkeypatch: pytest.MonkeyPatch) -> list[Told]:
    """What a stand-in for the package `nvtx` was told."""
    told: list[Told] = []
    module = ModuleType("nvtx")
    module.get_domain = lambda name: FakeDomain(name, told)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nvtx", module)
    return told


@pytest.fixture
def itt(monkeypatch: pytest.MonkeyPatch) -> list[Told]:
    """What a stand-in for the package `ittapi` was told."""
    told: list[Told] = []
    module: Any = ModuleType("ittapi")
    module.domain = lambda name: f"domain {name}"
    module.string_handle = lambda name: name
    module.id = lambda domain: object()
    for name in ("task_begin", "task_end", "task_begin_overlapped", "task_end_overlapped"):
        setattr(module, name, lambda *more, name=name: told.append((name, *more)))
    monkeypatch.setitem(sys.modules, "ittapi", module)
    return told


def test_an_operator_is_a_range_of_its_worker_in_the_domain_of_its_name(nvtx):
    profiler.annotate("nvtx")
    (nd.ones((2,)) * 3).wait_to_read()
    default_engine().observe()
    begun = [entry for entry in nvtx if entry[0] == "push"]
    assert [entry[1:3] for entry in begun] == [("operator", "_ones"), ("operator", "_mul_scalar")]
    assert all("worker" in entry[-1] for entry in begun)
    for thread in {entry[-1] for entry in nvtx}:
        depth = np.cumsum([{"push": 1, "pop": -1}[e[0]] for e in nvtx if e[-1] == thread])
        assert depth.min() >= 0
        assert depth[-1] == 0


def test_the_members_of_a_bulk_keep_their_names(nvtx):
    profiler.annotate("nvtx")
    x = nd.ones((2,))
    with engine.bulk(3):
        y = (x + 1) * 2 - 3
    assert y.asnumpy().tolist() == [1, 1]
    default_engine().observe()
    names = {entry[2] for entry in nvtx if entry[0] == "push"}
    assert names == {"_ones", "_plus_scalar", "_mul_scalar", "_minus_scalar"}


def test_an_operator_that_fails_ends_its_range(nvtx):
    profiler.annotate("nvtx")
    engine.push(lambda: 1 / 0, writes=[variable := engine.Var()], name="broken")
    with pytest.raises(mx.MXNetError):
        variable.wait_to_read()
    default_engine().observe()
    assert [entry[0] for entry in nvtx] == ["push", "pop"]


def test_the_naive_engine_shows_its_operators_too(nvtx):
    profiler.annotate("nvtx")
    before = engine.get_type()
    engine.set_type("NaiveEngine")
    try:
        nd.ones((2,))
    finally:
        engine.set_type(before)
    assert [entry[2] for entry in nvtx if entry[0] == "push"] == ["_ones"]


def test_what_the_program_marks_stands_in_domains_of_the_same_names(nvtx):
    profiler.annotate("nvtx")
    domain = profiler.Domain("training")
    with domain.new_task("epoch"), domain.new_frame("step"), profiler.Event("loading"):
        domain.new_marker("here").mark()
    assert [entry[:3] for entry in nvtx] == [
        ("start", "training", "epoch"),
        ("start", "training,frame", "step"),
        ("start", "event", "loading"),
        ("mark", "training,instant_marker", "here"),
        ("end", "event", "loading"),
        ("end", "training,frame", "step"),
        ("end", "training", "epoch"),
    ]


def test_a_task_that_begins_twice_leaves_no_range_open(nvtx):
    profiler.annotate("nvtx")
    task = profiler.Domain("D").new_task("t")
    task.start()
    task.start()
    task.stop()
    assert [entry[0] for entry in nvtx] == ["start", "end", "start", "end"]


def test_a_task_that_began_before_the_tool_was_switched_off_ends_for_it(nvtx):
    profiler.annotate("nvtx")
    task = profiler.Domain("D").new_task("t")
    task.start()
    profiler.annotate()
    task.stop()
    assert [entry[0] for entry in nvtx] == ["start", "end"]


def test_itt_has_tasks_of_both_kinds_and_marks_without_length(itt):
    profiler.annotate("ittapi")
    domain = profiler.Domain("D")
    with domain.new_task("t"):
        domain.new_marker("m").mark()
    engine.push(lambda: None, writes=[variable := engine.Var()], name="mine")
    variable.wait_to_read()
    default_engine().observe()
    assert [entry[:3] for entry in itt if entry[0].startswith("task_begin")] == [
        ("task_begin_overlapped", "domain D", "t"),
        ("task_begin", "domain D,instant_marker", "m"),
        ("task_begin", "domain operator", "mine"),
    ]
    begun, ended = (
        [entry[-1] for entry in itt if entry[0] == name]
        for name in ("task_begin_overlapped", "task_end_overlapped")
    )
    assert begun == ended


def test_both_tools_may_listen_at_once(nvtx, itt):
    profiler.annotate("nvtx", "ittapi")
    nd.ones((2,)).wait_to_read()
    default_engine().observe()
    assert [entry[0] for entry in nvtx] == ["push", "pop"]
    assert [entry[0] for entry in itt] == ["task_begin", "task_end"]


def test_switched_off_the_engines_are_as_they_were(nvtx):
    pushes = ThreadedEngine.push, NaiveEngine.push
    profiler.annotate("nvtx")
    assert ThreadedEngine.push is not pushes[0]
    profiler.annotate()
    assert (ThreadedEngine.push, NaiveEngine.push) == pushes
    nd.ones((2,)).wait_to_read()
    with profiler.Event("e"):
        pass
    assert nvtx == []


@pytest.mark.parametrize("name", ["half \udc80", "zero \0 byte", "日本"])
def test_any_name_reaches_the_tool_as_text_that_c_can_hold(nvtx, name):
    profiler.annotate("nvtx")
    with profiler.Event(name):
        pass
    assert "\0" not in nvtx[0][2]
    assert nvtx[0][2].encode()


def test_a_tool_that_does_not_exist_is_refused_and_changes_nothing(nvtx):
    profiler.annotate("nvtx")
    with pytest.raises(ProfilerOptionError, match="Did you mean 'nvtx'"):
        profiler.annotate("nvxt")
    assert vendor.ranges("D", "n")


def test_a_package_that_is_missing_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with pytest.raises(BackendUnavailableError, match="pip install nvtx"):
        profiler.annotate("nvtx")


def test_the_environment_switches_it_on(nvtx, monkeypatch):
    monkeypatch.setenv(vendor.ENVIRONMENT, " nvtx ,")
    vendor.annotate_as_told()
    assert vendor.ranges("D", "n")


def test_without_the_environment_nothing_is_switched_on():
    program = (
        "import mxprof_nb.runtime as mx, sys;"
        "print(mx.profiler.vendor.ranges('D', 'n'), {'nvtx', 'ittapi'} & set(sys.modules))"
    )
    assert run(sys.executable, "-c", program).strip() == "() set()"


@pytest.mark.parametrize("tool", ["nvtx", "ittapi"])
def test_the_real_package_takes_what_it_is_given(tool):
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"the package {tool} is not installed")
    profiler.annotate(tool)
    domain = profiler.Domain("training")
    with domain.new_task("epoch"), domain.new_frame("step"), profiler.Event("loading \0"):
        domain.new_marker("here").mark()
        assert (nd.ones((2,)) * 3).asnumpy().tolist() == [3, 3]

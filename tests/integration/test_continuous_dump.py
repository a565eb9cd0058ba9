"""A continuous dump in real processes: killed, failed, forked, and long."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mxprof_nb.errors import ReadError
from mxprof_nb.io.registry import load
from mxprof_nb.trace import Trace
from tests.environment import ROOT

BEGIN = """
import os, sys, time
import mxprof_nb.runtime as mx

mx.profiler.set_config(profile_all=True, filename="p.json", dump_period=0.05)
mx.profiler.set_state("run")

def work(times):
    x = mx.nd.ones((2, 2))
    for number in range(times):
        mx.nd.dot(x, x)
        if number % 100 == 0:
            mx.nd.waitall()
    mx.nd.waitall()
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts a program in a folder of its own."""
    started = []

    def begin(program: str, **environment: str) -> subprocess.Popen[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MXNET_", "MXPROF_"))}
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + textwrap.dedent(program)],
            cwd=tmp_path,
            env={**clean, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], expect: int = 0, timeout: float = 100) -> str:
    """Return what a program printed when it has ended as expected."""
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == expect, out + err
    return out + err


def dots(trace: Trace) -> int:
    return [trace.strings[code] for code in trace.events.name].count("dot")


def dots_in(file: Path) -> int:
    """Return how many a file has now; -1 while there is none that can be read."""
    try:
        return dots(load(file))
    except (OSError, ReadError):
        return -1


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def files(path: Path) -> list[str]:
    return sorted(file.name for file in path.iterdir())


def test_a_killed_process_leaves_all_that_was_flushed_in_both_forms(tmp_path, start):
    process = start("work(300)\ntime.sleep(1000)")
    both = (tmp_path / "p.json", tmp_path / "p.json.spool")
    wait_until(lambda: all(dots_in(file) == 300 for file in both), process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert files(tmp_path) == ["p.json", "p.json.spool"]
    json.loads((tmp_path / "p.json").read_text())
    for file in both:
        found = load(file)
        assert dots(found) == 300
        unfinished = file.suffix == ".json"
        assert [note.code for note in found.health.notes] == ["no_end"] * unfinished
        assert (found.where(name="dot").events.site >= 0).all()
        assert dots(found) <= len(found.flows)


def test_a_process_killed_at_work_leaves_a_beginning_without_holes(tmp_path, start):
    process = start("while True:\n    work(1000)")
    spool, file = tmp_path / "p.json.spool", tmp_path / "p.json"
    wait_until(lambda: dots_in(spool) > 3000, process)
    wait_until(lambda: dots_in(file) > 0, process)
    before = dots_in(spool)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    whole, part = load(spool), load(file)
    assert dots(whole) >= before
    assert 0 < dots(part) <= dots(whole)
    # The memory of each result is taken and given back in turn: a hole would show in the curve.
    for trace in (whole, part):
        numbers = sorted(trace.where(name="dot").events.correlation.tolist())
        assert len(set(numbers)) == len(numbers)
        missing = set(range(numbers[0], numbers[-1] + 1)) - set(trace.events.correlation.tolist())
        assert len(missing) < 0.1 * len(numbers)


@pytest.mark.parametrize(("end", "code"), [("raise SystemExit(3)", 3), ("1 / 0", 1), ("", 0)])
def test_a_process_that_ends_by_itself_leaves_one_whole_file(tmp_path, start, end, code):
    ended(start(f"work(300)\ntime.sleep(0.5)\nwork(300)\n{end}"), code)
    assert files(tmp_path) == ["p.json"]
    json.loads((tmp_path / "p.json").read_text())
    found = load(tmp_path / "p.json")
    assert dots(found) == 600
    assert found.health.ok


def test_a_process_that_ends_without_a_word_leaves_what_was_flushed(tmp_path, start):
    program = """
        from mxprof_nb.runtime.profiler.state import PROFILER

        work(300)
        while PROFILER.backlog is None or PROFILER.recording.held_bytes or PROFILER.to_write.blocks:
            time.sleep(0.01)
        os._exit(7)
    """
    ended(start(program), 7)
    assert dots(load(tmp_path / "p.json.spool")) == 300


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_the_child_of_a_fork_leaves_the_files_of_its_parent_alone(tmp_path, start):
    program = """
        work(300)
        time.sleep(0.3)
        child = os.fork()
        if child == 0:
            work(100)
            sys.exit(5)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
        work(300)
    """
    ended(start(program))
    assert files(tmp_path) == ["p.json"]
    assert dots(load(tmp_path / "p.json")) == 600


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_forks_while_the_thread_is_at_work_leave_children_that_can_profile(tmp_path, start):
    program = """
        mx.profiler.set_config(profile_all=True, filename="p.json", dump_period=0.001)
        for number in range(15):
            work(50)
            child = os.fork()
            if child == 0:
                mx.profiler.set_config(profile_all=True, filename=f"child{number}.json",
                                       dump_period=0.001)
                mx.profiler.set_state("run")
                work(50)
                mx.profiler.dump()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    """
    ended(start(program))
    assert files(tmp_path) == sorted(["p.json", *(f"child{n}.json" for n in range(15))])
    assert dots(load(tmp_path / "p.json")) == 750
    for number in range(15):
        assert dots(load(tmp_path / f"child{number}.json")) == 50


def test_records_that_cannot_be_written_are_capped_counted_and_said_once(tmp_path, start):
    program = """
        mx.profiler.set_config(profile_all=True, filename="no/where.json", dump_period=0.05)
        work(20000)
        time.sleep(0.2)
        mx.profiler.set_config(profile_all=True, filename="p.json")
    """
    said = ended(start(program, MXPROF_NB_MEMORY_LIMIT="0.25"))
    assert said.count("RuntimeWarning") == 2
    assert said.count("cannot be moved to disk") == 1
    assert said.count("records are dropped") == 1
    found = load(tmp_path / "p.json")
    (note,) = found.health.notes
    assert note.code == "dropped"
    assert note.count > 0
    assert 0 < dots(found) < 20_000


RESIDENT = """
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

mx.profiler.set_config(profile_all=True, filename="p.json", aggregate_stats=True)
x = mx.nd.ones((2, 2))

def chain(times):
    global x
    for number in range(times):
        x = x + 1
        if number % 200 == 0:
            x.wait_to_read()
    mx.nd.waitall()

chain(20000)
time.sleep(1.2)
before, highest = resident(), 0
for _ in range(ROUNDS):
    chain(10000)
    highest = max(highest, resident())
"""


def _resident(rounds: int, end: str) -> str:
    return RESIDENT.replace("ROUNDS", str(rounds)) + end


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the system does not tell the resident size"
)


@needs_proc
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_million_events_hold_the_resident_size_also_when_the_file_is_completed(tmp_path, start):
    end = "mx.profiler.dump()\nprint(before, highest, resident())\n"
    out = ended(start(_resident(23, end)), timeout=390)
    before, highest, after = map(float, out.split())
    assert highest - before < 100
    assert after - before < 150
    assert files(tmp_path) == ["p.json"]


@needs_proc
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_million_events_hold_the_resident_size(tmp_path, start):
    end = """
sys.stdout.write(f"{before} {highest}")
sys.stdout.flush()
mx.profiler.set_state("stop")
os._exit(0)
"""
    before, highest = map(float, ended(start(_resident(248, end)), timeout=890).split())
    assert highest - before < 150
    from mxprof_nb.record.spool import SpoolReader

    with open(tmp_path / "p.json.spool", "rb") as file:

        def read_at(offset: int, size: int) -> bytes:
            file.seek(offset)
            return file.read(size)

        reader, events = SpoolReader(read_at, "p.json.spool"), 0
        while (part := reader.next()) is not None:
            events += sum(len(block.calls) + len(block.operators) for block in part.blocks)
            assert part.dropped == 0
    assert events >= 10_000_000

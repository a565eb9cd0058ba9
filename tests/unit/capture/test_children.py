"""Child processes that start while somebody records are counted and named."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading

import pytest

import mxprof_nb as mp
from mxprof_nb.backends.children import ChildWatch
from mxprof_nb.trace import Health
from tests.unit.capture.fake_backend import FakeBackend

PYTHON = os.path.basename(sys.executable)


def told(watch: ChildWatch) -> list[tuple[int, str]]:
    return [(note.count, note.message) for note in watch.noted(Health()).notes]


@pytest.fixture
def watch():
    watch = ChildWatch()
    watch.start()
    yield watch
    watch.stop()


def message(count: int, names: str) -> tuple[int, str]:
    were = "1 child process was" if count == 1 else f"{count} child processes were"
    it = "it" if count == 1 else "they"
    return (
        count,
        f"{were} started and not followed: {names}. What {it} did is not in this profile.",
    )


def test_a_program_is_named_without_its_folder_and_its_arguments(watch):
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    subprocess.run(f"{sys.executable} -c pass", shell=True, check=True)
    assert told(watch) == [message(2, f"{PYTHON} (2 times)")]


def test_what_could_not_be_started_is_not_counted(watch):
    with pytest.raises(FileNotFoundError):
        subprocess.run(["/no/such/program"], check=True)
    assert told(watch) == []


def test_a_command_of_the_system_is_named(watch):
    assert os.system("true") == 0
    assert told(watch) == [message(1, "true")]


def nothing() -> None:
    """What the processes of these tests do."""


@pytest.mark.parametrize("way", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_of_multiprocessing_is_named_however_it_is_started(watch, way):
    process = multiprocessing.get_context(way).Process(target=nothing, name="reader")
    process.start()
    process.join()
    assert told(watch) == [message(1, "reader")]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_is_counted_once(watch):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    assert told(watch) == [message(1, "a fork")]


def test_a_program_started_by_a_coroutine_is_named(watch):
    async def run() -> None:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
        await process.wait()

    asyncio.run(run())
    assert told(watch) == [message(1, PYTHON)]


def test_of_many_names_some_are_told_and_the_others_counted():
    watch = ChildWatch()
    watch._started += ["a", "b", "c", "d", "e", "f", "a"]
    assert told(watch) == [message(7, "a (2 times), b, c, d, 2 more")]


def test_without_a_watch_everything_is_as_it_was():
    before = (subprocess.Popen.__init__, multiprocessing.Process.start, os.system)
    one, other = ChildWatch(), ChildWatch()
    one.start()
    other.start()
    assert subprocess.Popen.__init__ is not before[0]
    one.stop()
    assert subprocess.Popen.__init__ is not before[0], "the other still watches"
    other.stop()
    other.stop()
    assert (subprocess.Popen.__init__, multiprocessing.Process.start, os.system) == before


def test_what_somebody_else_has_wrapped_meanwhile_stays_wrapped(monkeypatch):
    before = os.system
    watch = ChildWatch()
    watch.start()
    ours = os.system
    calls = []

    def theirs(command):
        calls.append(command)
        return ours(command)

    monkeypatch.setattr(os, "system", theirs)
    watch.stop()
    assert os.system is theirs
    assert theirs("true") == 0
    again = ChildWatch()
    again.start()
    os.system("true")
    monkeypatch.undo()
    again.stop()
    assert (told(watch), told(again)) == ([], [message(1, "true")])
    assert os.system is before


def test_a_profile_tells_the_processes_of_all_threads_and_only_its_own(fake: FakeBackend):
    def work() -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)

    work()
    with mp.profile(backend="fake") as p:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    work()
    assert [(note.code, note.count) for note in p.health.notes] == [("children", 1)]
    with mp.profile(backend="fake") as after:
        pass
    assert after.health.ok


def test_a_capture_that_could_not_start_watches_nothing(fake: FakeBackend):
    before = os.system
    fake.start_raises = RuntimeError("no permission")
    with pytest.raises(RuntimeError), mp.profile(backend="fake"):
        pass
    assert os.system is before

"""`mx.profiler` and the life of its process: started by the environment, ended with a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.environment import ROOT

WORK = """
import mxprof_nb.runtime as mx

x = mx.nd.ones((3, 3))
mx.nd.dot(x, x).wait_to_read()
"""


def run(
    folder: Path, program: str, *, expect: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MXNET_PROFILER")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def kinds(file: Path) -> set[str]:
    """Return which kinds of records a file holds, as the flags of the profiler call them."""
    events = json.loads(file.read_text())["traceEvents"]
    names = {event["name"] for event in events}
    told = {"dot": "imperative", "MXNDArrayWaitToRead": "api", "Memory: cpu/0": "memory"}
    return {kind for name, kind in told.items() if name in names}


@pytest.mark.parametrize("value", ["1", "2", "true", "TRUE", "yes", "on"])
def test_the_environment_starts_it_and_the_end_of_the_program_writes_its_file(tmp_path, value):
    done = run(tmp_path, WORK, MXNET_PROFILER_AUTOSTART=value)
    assert (done.stdout, done.stderr) == ("", "")
    assert kinds(tmp_path / "profile.json") == {"imperative", "api", "memory"}


@pytest.mark.parametrize("value", ["0", "", "false", "no", "off"])
def test_it_does_not_start_when_the_environment_says_no(tmp_path, value):
    run(tmp_path, WORK, MXNET_PROFILER_AUTOSTART=value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("", {"imperative", "api", "memory"}),
        ("0", set()),
        ("1", set()),
        ("2", {"imperative"}),
        ("4", {"api"}),
        ("8", {"memory"}),
        ("15", {"imperative", "api", "memory"}),
    ],
)
def test_the_mode_is_the_sum_of_what_is_recorded(tmp_path, mode, expected):
    run(tmp_path, WORK, MXNET_PROFILER_AUTOSTART="1", MXNET_PROFILER_MODE=mode)
    assert kinds(tmp_path / "profile.json") == expected


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("AUTOSTART", "perhaps", "MXNET_PROFILER_AUTOSTART='perhaps' says neither yes nor no"),
        ("MODE", "16", "MXNET_PROFILER_MODE='16': it is the sum of"),
        ("MODE", "-1", "MXNET_PROFILER_MODE='-1'"),
        ("MODE", "all", "MXNET_PROFILER_MODE='all'"),
    ],
)
def test_what_the_environment_says_amiss_is_an_error_that_names_it(tmp_path, name, value, message):
    done = run(tmp_path, WORK, expect=1, **{f"MXNET_PROFILER_{name}": value})
    assert f"ProfilerOptionError: {message}" in done.stderr


def test_a_configuration_takes_over_from_the_environment(tmp_path):
    run(
        tmp_path,
        WORK + "mx.profiler.set_config(filename='other.json', aggregate_stats=True)\n"
        "x.exp().wait_to_read()\nprint(mx.profiler.dumps())",
        MXNET_PROFILER_AUTOSTART="1",
    )
    assert [file.name for file in tmp_path.iterdir()] == ["other.json"]
    names = {e["name"] for e in json.loads((tmp_path / "other.json").read_text())["traceEvents"]}
    assert {"dot", "exp"} <= names


def test_a_finished_dump_is_not_written_over_at_the_end(tmp_path):
    run(
        tmp_path,
        WORK + "mx.profiler.set_state('stop')\nmx.profiler.dump()\nx.exp().wait_to_read()",
        MXNET_PROFILER_AUTOSTART="1",
    )
    assert kinds(tmp_path / "profile.json") == {"imperative", "api", "memory"}


@pytest.mark.parametrize(("end", "code"), [("raise SystemExit(3)", 3), ("1 / 0", 1)])
def test_a_program_that_fails_leaves_its_file_too(tmp_path, end, code):
    run(tmp_path, WORK + end, expect=code, MXNET_PROFILER_AUTOSTART="1")
    assert kinds(tmp_path / "profile.json") == {"imperative", "api", "memory"}


def test_what_is_queued_when_the_program_ends_is_in_the_file(tmp_path):
    program = """
        import time
        import mxprof_nb.runtime as mx

        mx.profiler.set_state("run")
        x = mx.nd.ones(2)
        mx.engine.push(lambda: time.sleep(0.05), writes=[x.chunk])
        mx.nd.dot(x, x)
    """
    run(tmp_path, program)
    assert "imperative" in kinds(tmp_path / "profile.json")


def test_a_file_that_cannot_be_written_at_the_end_is_said_in_one_line(tmp_path):
    done = run(
        tmp_path,
        WORK + "mx.profiler.set_config(filename='no/where.json')",
        MXNET_PROFILER_AUTOSTART="1",
    )
    assert done.stdout == ""
    assert done.stderr.startswith("mx.profiler: the profile could not be written at exit: ")
    assert done.stderr.count("\n") == 1


def test_a_program_that_never_runs_the_profiler_leaves_no_file(tmp_path):
    run(tmp_path, WORK + "mx.profiler.Domain('D').new_counter('c', 1)")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_the_child_of_a_fork_does_not_write_the_file_of_its_parent(tmp_path):
    program = """
        import os, sys
        import mxprof_nb.runtime as mx

        x = mx.nd.ones(2)
        mx.nd.waitall()
        child = os.fork()
        if child == 0:
            os.chdir("child")
            x.exp().wait_to_read()
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        mx.nd.dot(x, x).wait_to_read()
    """
    (tmp_path / "child").mkdir()
    run(tmp_path, program, MXNET_PROFILER_AUTOSTART="1")
    assert "imperative" in kinds(tmp_path / "profile.json")
    assert list((tmp_path / "child").iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_the_child_of_a_fork_counts_on_though_a_thread_was_counting(tmp_path):
    program = """
        import os, signal, threading
        import mxprof_nb.runtime as mx
        from mxprof_nb.runtime.profiler import objects

        counter = mx.profiler.Domain("D").new_counter("c", 1)
        counting, done = threading.Event(), threading.Event()

        def count():
            with objects._changing:
                counting.set()
                done.wait()

        thread = threading.Thread(target=count)
        thread.start()
        counting.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            counter.increment()
            os._exit(int(counter._value))
        status = os.waitpid(child, 0)[1]
        done.set()
        assert os.waitstatus_to_exitcode(status) == 2, status
    """
    run(tmp_path, program)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_the_child_of_a_fork_can_dump_though_a_thread_was_in_the_middle_of_a_dump(tmp_path):
    program = """
        import os, signal, sys, threading, time
        import mxprof_nb.runtime as mx

        class Slow:  # its module takes half a second, as a first dump does that imports much
            def find_spec(self, name, path, target=None):
                if name.endswith("chrome_writer"):
                    importing.set()
                    time.sleep(0.5)

        importing = threading.Event()
        sys.meta_path.insert(0, Slow())
        mx.profiler.set_config(filename="p.json", continuous_dump=False)
        mx.profiler.set_state("run")
        mx.nd.ones(2).wait_to_read()
        thread = threading.Thread(target=mx.profiler.dump)
        thread.start()
        importing.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            mx.profiler.set_config(filename="child.json", continuous_dump=False)
            mx.profiler.set_state("run")
            mx.nd.ones(2).exp().wait_to_read()
            mx.profiler.dump()
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        thread.join()
        assert status == 0, status
    """
    run(tmp_path, program)
    assert "api" in kinds(tmp_path / "child.json")
    assert (tmp_path / "p.json").exists()


def test_a_finished_dump_of_a_program_that_never_stops_the_profiler_outlives_its_end(tmp_path):
    """The last arrays given back made a file of their own, in its place."""
    run(
        tmp_path,
        WORK + "mx.profiler.set_config(filename='p.json')\nmx.profiler.set_state('run')\n"
        "x.exp().wait_to_read()\nmx.profiler.dump()\nx.sin().wait_to_read()",
    )
    names = {
        event.get("name") for event in json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    }
    assert "exp" in names
    assert "sin" not in names
    assert not list(tmp_path.glob("*.spool"))

"""The command ``mxprof-nb`` as a person meets it: a process with streams and an exit status."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import mxprof_nb as mp
from tests.environment import ROOT

RUN = [sys.executable, "-m", "mxprof_nb", "run"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

DOT = """\
import mxprof_nb.runtime as mx
x = mx.nd.ones((300, 300))
y = mx.nd.dot(x, x)
print(y.asnumpy()[0, 0])
"""


def command(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program, and check that ``mxprof-nb`` shows nobody a traceback of its own."""
    done = subprocess.run(
        list(map(str, words)),
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert f"{os.sep}mxprof_nb{os.sep}cli{os.sep}" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr  # no colours, no bars: nobody watches
    return done


def mxprof(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return command(sys.executable, "-m", "mxprof_nb", *words, cwd=cwd)


def script(folder: Path, text: str, name: str = "program.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


# What the program sees and how it ends

PROGRAMS = {
    "sees its arguments and its folder": """
        import sys
        print(__name__, __file__, sys.argv, sys.path[0], __spec__, __package__, type(__loader__))
        """,
    "fails": """
        def inner():
            raise ValueError("inner")
        try:
            inner()
        except ValueError as error:
            raise RuntimeError("outer") from error
        """,
    "fails in the runtime": """
        import mxprof_nb.runtime as mx
        mx.nd.ones((2, 3)) + mx.nd.ones((4, 5))
        """,
    "has a syntax error": "x = = 3\n",
    "exits with a number": "import sys; print('three'); sys.exit(3)\n",
    "exits with a message": "import sys; sys.exit('no such thing')\n",
    "is interrupted": "raise KeyboardInterrupt\n",
    "has a hook for errors": """
        import sys
        sys.excepthook = lambda kind, error, traceback: print(
            "hook:", kind.__name__, error, traceback.tb_lineno, traceback.tb_next
        )
        raise ValueError("told")
        """,
    "has a hook that fails": """
        import sys
        sys.excepthook = lambda *error: 1 / 0
        raise ValueError("told twice")
        """,
    "works at exit": """
        import atexit, pickle, threading, time
        class Thing: pass
        def late():
            time.sleep(0.2)
            print("thread", type(pickle.loads(pickle.dumps(Thing()))))
        atexit.register(lambda: print("at exit", pickle.dumps(Thing())[:2]))
        threading.Thread(target=late).start()
        """,
    "forks": """
        import os, sys
        import mxprof_nb.runtime as mx
        x = mx.nd.ones((2, 2)) + 1
        print(x.asnumpy().sum(), flush=True)
        child = os.fork()
        if not child:
            print("child", (x + 1).asnumpy().sum(), flush=True)
            sys.exit(5)
        print("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
    "starts processes": """
        import multiprocessing, sys
        def double(x):
            return 2 * x
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(double, [1, 2]))
        """,
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_prints_and_ends_as_under_python_alone(text: str, tmp_path: Path):
    path = script(tmp_path, text)
    plain = command(sys.executable, path, "-o", "x", "--", "-m")
    profiled = command(*RUN, "-q", path, "-o", "x", "--", "-m")
    told = [(done.returncode, done.stdout, done.stderr) for done in (plain, profiled)]
    assert told[1] == told[0]
    assert plain.stdout or plain.stderr


def test_a_module_runs_as_python_runs_it(tmp_path: Path):
    (tmp_path / "package").mkdir()
    script(tmp_path / "package", "print('imported')\n", "__init__.py")
    text = "import sys\nprint(__name__, sys.argv, sys.path[0], __package__, __spec__.name)\n"
    script(tmp_path / "package", text, "__main__.py")
    words = ["-m", "package", "-q", "--", "-h"]
    plain = command(sys.executable, *words, cwd=tmp_path)
    profiled = command(*RUN, "-q", *words, cwd=tmp_path)
    assert (profiled.returncode, profiled.stdout) == (0, plain.stdout)
    assert "imported" in plain.stdout


def test_the_profile_of_a_program_is_told_and_written(tmp_path: Path):
    path = script(tmp_path, f"import os; os.chdir('/')\n{DOT}")
    done = mxprof("run", "-o", "kept.json", "-o", "kept.html", path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "300.0\n")
    assert re.search(r"host (never )?waited", done.stderr), done.stderr
    told = r"Line 5, print\(y.asnumpy\(\).*waited .* for dot, queued on line 4\."
    assert re.search(told, done.stderr)
    assert re.search(r"^name +count +total", done.stderr, re.MULTILINE)
    assert "dot" in set(mp.load(tmp_path / "kept.json").events.name)
    assert "y = mx.nd.dot(x, x)" in (tmp_path / "kept.html").read_text()


def test_a_program_that_fails_is_profiled_until_then(tmp_path: Path):
    path = script(tmp_path, f"{DOT}raise ValueError('too late')\n")
    done = mxprof("run", "-o", "kept.json", path, cwd=tmp_path)
    assert done.returncode == 1
    traceback, _, profile = done.stderr.partition("mxprof-nb: profile of")
    assert traceback.rstrip().endswith("ValueError: too late")
    assert "failed after" in profile
    assert mp.load(tmp_path / "kept.json").trace.meta.status == "error"


def test_a_profile_that_cannot_be_written_in_the_end_is_our_failure(tmp_path: Path):
    path = script(tmp_path, "import os; os.rename('folder', 'moved')\n")
    (tmp_path / "folder").mkdir()
    done = mxprof("run", "-q", "-o", "folder/kept.json", "-o", "kept.json", path, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("mxprof-nb: Cannot write ")
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "kept.json").exists()


def test_a_profile_that_cannot_be_written_anywhere_it_should_is_kept_elsewhere(tmp_path: Path):
    path = script(tmp_path, "import os; os.rename('folder', 'moved')\n")
    (tmp_path / "folder").mkdir()
    done = mxprof("run", "-q", "-o", "folder/kept.json", path, cwd=tmp_path)
    assert done.returncode == 1
    failed, kept = done.stderr.splitlines()
    assert failed.startswith("mxprof-nb: Cannot write ")
    assert "in memory" not in failed
    place = Path(kept.removeprefix("mxprof-nb: the profile is in "))
    assert mp.load(place).trace.meta.title == "program.py"
    place.unlink()
    place.parent.rmdir()


def test_the_profile_is_written_when_nobody_reads_what_is_told(tmp_path: Path):
    path = script(tmp_path, DOT)
    words = f"{sys.executable} -m mxprof_nb run -o kept.json {path} 2>&1 >&- | true; exit $?"
    done = command("sh", "-c", words, cwd=tmp_path)
    assert done.stderr == ""
    assert "dot" in set(mp.load(tmp_path / "kept.json").events.name)


def test_a_thread_that_goes_on_is_a_remark(tmp_path: Path):
    text = "import threading, time\nthreading.Thread(target=time.sleep, args=(1,)).start()\n"
    done = mxprof("run", script(tmp_path, text))
    assert done.returncode == 0
    assert "left 1 thread running" in " ".join(done.stderr.split())


def test_ctrl_c_ends_the_program_and_keeps_the_profile(tmp_path: Path):
    path = script(tmp_path, f"import time\n{DOT}print('here', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(
        [*RUN, "-o", str(tmp_path / "kept.json"), str(path)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while process.stdout.readline() != "here\n":
        pass
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=100)
    assert process.returncode == -signal.SIGINT  # as a shell expects of what Ctrl-C ended
    assert told.count("KeyboardInterrupt") == 1
    assert "interrupted after" in told
    assert mp.load(tmp_path / "kept.json").trace.meta.status == "interrupted"


def test_a_program_for_mxnet_runs_on_the_embedded_runtime(tmp_path: Path, monkeypatch):
    hidden = """
        import sys
        from importlib.machinery import PathFinder
        class Hiding(PathFinder):
            @classmethod
            def find_spec(cls, name, path=None, target=None):
                return None if name == "mxnet" else super().find_spec(name, path, target)
        sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
        """
    script(tmp_path, hidden, "sitecustomize.py")
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", f"{tmp_path}{os.pathsep}{ROOT}")
    path = script(tmp_path, DOT.replace("mxprof_nb.runtime", "mxnet"))
    without = mxprof("run", path)
    assert without.returncode == 1
    assert "MXNet is not installed here. --as-mxnet runs it" in without.stderr
    done = mxprof("run", "--as-mxnet", path)
    assert (done.returncode, done.stdout) == (0, "300.0\n")
    assert "for dot, queued on line 3." in done.stderr


def test_nothing_runs_when_the_profile_could_not_be_written(tmp_path: Path):
    path = script(tmp_path, "print('ran')\n")
    done = mxprof("run", "-o", "no/such/folder.json", path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mxprof-nb: Cannot write no/such/folder.json: there is no folder")
    assert done.stderr.count("\n") == 1


# Traces


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> Path:
    with mp.profile(name="three sums") as profile:
        for _ in range(3):
            (mp.runtime.nd.ones((2, 2)) + 1).wait_to_read()
    return profile.save(tmp_path_factory.mktemp("trace") / "trace.json")


def test_a_summary_is_text_for_people_and_json_for_programs(trace: Path):
    text, data = mxprof("summary", trace), mxprof("summary", "--json", trace)
    assert (text.returncode, text.stderr, data.returncode, data.stderr) == (0, "", 0, "")
    facts = json.loads(data.stdout)
    assert text.stdout.split()[:2] == facts["headline"].split()[:2]
    assert facts["wall_ns"] > facts["waited_ns"] >= 0
    (row,) = [row for row in facts["tables"]["Operators"] if "plus" in row["name"]]
    assert row["count"] == 3
    assert re.search(rf"^{row['name']} +3 ", text.stdout, re.MULTILINE)


def test_a_trace_becomes_a_page_and_other_files(trace: Path, tmp_path: Path):
    page = mxprof("report", trace, cwd=tmp_path)
    assert (page.returncode, page.stderr) == (0, "")
    assert page.stdout == "Wrote trace.html (open it in a browser)\n"
    packed = mxprof("convert", trace, tmp_path / "again.json.gz", cwd=tmp_path)
    assert (packed.returncode, packed.stderr) == (0, "")
    before, after = mp.load(trace), mp.load(tmp_path / "again.json.gz")
    assert list(after.events.name) == list(before.events.name)


def test_a_reader_that_has_seen_enough_gets_no_traceback(trace: Path):
    words = f"{sys.executable} -m mxprof_nb summary --json {trace} | head -n 1"
    done = command("sh", "-c", words)
    assert (done.stdout, done.stderr) == ("{\n", "")


# The installation


def test_the_doctor_finds_nothing_missing_here_and_lists_the_backends():
    done = mxprof("doctor")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^ok +recording +tried: \d+ operators", done.stdout, re.MULTILINE)
    assert "All that is required is there." in done.stdout
    listed = mxprof("backends")
    assert re.search(r"^embedded +yes +api, memory, operators", listed.stdout, re.MULTILINE)

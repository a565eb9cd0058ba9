"""The runtime and the life of its process: start, fork, interrupt, collector, exit."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

from tests.environment import ROOT

#: A hang must fail the test that caused it, however slow the machine.
PATIENCE_S = 90


def run(program: str, *, expect: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own; one that hangs fails."""
    with tempfile.TemporaryDirectory() as folder:  # a profiler that runs leaves a file at exit
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def test_what_is_queued_when_a_program_ends_is_finished(tmp_path: Path):
    done = run(
        f"""
        import time
        import mxprof_nb.runtime as mx
        from mxprof_nb.runtime.engine import Operator, Variable, default_engine

        variable = Variable()
        def write(operator):
            time.sleep(0.01)
            with open({str(tmp_path / "done")!r}, "a") as file:
                file.write("x")
        for _ in range(20):
            default_engine().push(Operator(write, writes=[variable]))
        assert default_engine().pending
        """
    )
    assert (tmp_path / "done").read_text() == "x" * 20
    assert done.stderr == ""


def test_a_program_that_ends_while_recording_ends_in_silence():
    done = run(
        """
        import mxprof_nb.runtime as mx
        mx.profiler.set_config(profile_all=True, aggregate_stats=True)
        mx.profiler.set_state("run")
        x = mx.nd.ones((10, 10))
        kept = [x + n for n in range(20)]
        class Cycle:
            pass
        cycle = Cycle()
        cycle.itself, cycle.array = cycle, x[0]
        failed = mx.nd.random.normal(scale=-1)
        """
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_a_program_that_ends_by_an_error_tells_that_error_alone():
    done = run(
        """
        import mxprof_nb.runtime as mx
        x = mx.nd.random.normal(scale=-1)
        raise ZeroDivisionError("mine")
        """,
        expect=1,
    )
    assert done.stderr.strip().endswith("ZeroDivisionError: mine")
    assert "OperatorError" not in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_work_is_queued_leaves_both_sides_working():
    done = run(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # fork in a process with threads
        import mxprof_nb.runtime as mx
        from mxprof_nb.record import RECORDER

        mx.random.seed(1)
        recording = RECORDER.start()
        x = mx.nd.ones((50, 50))
        for _ in range(200):
            x = x + 1
        child = os.fork()
        y = x + mx.nd.ones((50, 50))
        assert y.asnumpy()[0, 0] == 202, y
        z = mx.nd.random.uniform(shape=3)
        mx.nd.waitall()
        recording.stop()
        names = [thread.thread.name for thread in recording.blocks]
        workers = {name for name in names if "worker" in name}
        print("child" if child == 0 else "parent", len(workers) >= 1, z.asnumpy().tolist())
        sys.stdout.flush()
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    )
    told = {line.split(" ", 2)[0]: line.split(" ", 2)[1:] for line in done.stdout.splitlines()}
    assert told["parent"][0] == "True"
    assert told["child"][0] == "False"  # the recording is the parent's
    assert told["parent"][1] == told["child"][1]


def test_a_child_process_started_while_work_is_queued_is_not_held_up():
    run(
        """
        import subprocess, sys, threading
        import mxprof_nb.runtime as mx
        from mxprof_nb.runtime.engine import Operator, default_engine
        go = threading.Event()
        default_engine().push(Operator(lambda operator: go.wait(60)))
        subprocess.run([sys.executable, "-c", ""], check=True)
        assert default_engine().pending == 1
        go.set()
        """
    )


def test_random_numbers_do_not_depend_on_the_number_of_workers():
    program = """
        import mxprof_nb.runtime as mx
        mx.random.seed(11)
        arrays = []
        for n in range(30):
            arrays.append(mx.nd.random.uniform(shape=(n + 1,)))
            mx.nd.ones((20, 20)).sum()
            arrays.append(mx.nd.random.normal(shape=(2,), ctx=mx.cpu(n % 2)))
        print([array.asnumpy().tolist() for array in arrays])
        """
    told = {run(program, MXNET_CPU_WORKER_NTHREADS=workers).stdout for workers in ("1", "2", "4")}
    assert len(told) == 1
    assert told != {""}


def test_without_a_seed_each_process_draws_numbers_of_its_own():
    program = "import mxprof_nb.runtime as mx; print(mx.nd.random.uniform(shape=4).asnumpy())"
    assert run(program).stdout != run(program).stdout


def test_the_resource_manager_is_set_up_once_per_process():
    done = run(
        """
        import mxprof_nb.runtime as mx

        def profile():
            mx.profiler.set_config(profile_all=True, aggregate_stats=True)
            mx.profiler.set_state("run")
            a = mx.nd.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
            b = mx.nd.sum(mx.nd.diag(a))
            mx.nd.waitall()
            mx.profiler.set_state("stop")
            text = mx.profiler.dumps(reset=True)
            return text.count("\\nResourceParallelRandomSetSeed               1 ")

        print(profile(), profile(), profile())
        """
    )
    assert done.stdout.split() == ["1", "0", "0"]


def test_an_interrupt_at_any_moment_leaves_an_engine_that_goes_on():
    """Ctrl-C strikes between any two steps of the interpreter, also while an operator is queued."""
    done = run(
        """
        import os, random, signal, sys, threading
        import mxprof_nb.runtime as mx
        from mxprof_nb.runtime.engine import default_engine

        # Started in the background of a shell, a process inherits that the signal is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)

        # An interrupt in a finaliser is told on stderr and goes no further; that is Python's way.
        sys.unraisablehook = lambda unraisable: None
        random.seed(5)
        engine = default_engine()
        x = mx.nd.ones((2, 2))
        mx.nd.waitall()
        struck = 0
        for turn in range(120):
            delay = 0.0002 + random.random() * 0.001
            timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
            try:
                timer.start()
                for _ in range(600):
                    y = x + x
                    y += x
            except KeyboardInterrupt:
                struck += 1
            while timer.is_alive():
                try:
                    timer.join()
                except KeyboardInterrupt:
                    struck += 1
            assert engine.observe(30), (turn, engine.pending)
            assert (x + 1).asnumpy().tolist() == [[2, 2], [2, 2]]
        print(struck)
        """
    )
    assert int(done.stdout) > 20


GC_STORM = """
    import gc, sys, threading
    import mxprof_nb.runtime as mx
    from mxprof_nb.record import RECORDER, buffer
    from mxprof_nb.runtime import api
    from mxprof_nb.runtime.engine import default_engine, threaded

    # Small limits, so that finalisers meet full buffers all the time.
    buffer.PACK_AT = api._PACK_CHECK = threaded.FULL = 30
    from mxprof_nb.record import recorder
    recorder.PACK_AT = 5
    gc.set_threshold(3, 2, 2)
    sys.setswitchinterval(1e-5)

    class Cycle:
        def __init__(self, array):
            self.itself, self.array = self, array

    def storm():
        x = mx.nd.ones(4)
        for n in range(400):
            Cycle(x + n)
            Cycle(mx.nd.empty(3))
            if n % 50 == 0:
                Cycle(x[1:]).array.asnumpy()
                mx.nd.waitall()

    recording = RECORDER.start()
    threads = [threading.Thread(target=storm) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        recording.sync()
        Cycle(mx.nd.ones(2) + 1)
    for thread in threads:
        thread.join()
    for _ in range(3):  # one that runs in a worker makes another return at once
        gc.collect()
        mx.nd.waitall()
    recording.stop()
    taken = sum(int(block.memory[:, 2].sum()) for block in recording.blocks)
    taken += sum(int(block.operators[:, 6].sum()) for block in recording.blocks)
    print(sum(map(len, recording.blocks)), taken)
    """


def test_a_storm_of_finalisers_while_recording_neither_hangs_nor_loses_memory():
    """The collector runs finalisers anywhere, also while this thread holds one of our locks."""
    records, taken = map(int, run(GC_STORM).stdout.split())
    assert records > 3 * 800
    assert taken == 0


def test_importing_the_runtime_starts_no_thread_and_draws_nothing():
    done = run(
        """
        import sys, threading
        import mxprof_nb.runtime
        print(threading.active_count(), sorted({"pandas", "plotly", "IPython"} & set(sys.modules)))
        """
    )
    assert done.stdout.split(maxsplit=1) == ["1", "[]\n"]


def test_kernels_warn_nobody():
    run(
        """
        import warnings
        warnings.simplefilter("error")
        import numpy as np
        import mxprof_nb.runtime as mx
        nd = mx.nd
        x = nd.array([0, -1, np.inf, np.nan, 3e38])
        for y in (x / 0, x % 0, x * x, x + x, nd.log(x), nd.exp(x), nd.sqrt(x), nd.softmax(x),
                  nd.log_softmax(x), x.astype("int8"), x ** -0.5, nd.mean(x), nd.prod(x),
                  nd.sigmoid(x), x.astype("int32") / 0, x.astype("int32") % 0, nd.dot(x, x),
                  nd.sum(x)):
            y.wait_to_read()
        nd.waitall()
        """
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_other_threads_never_stop_queueing_leaves_both_sides_usable():
    done = run(
        """
        import os, sys, threading, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # fork in a process with threads
        import mxprof_nb.runtime as mx
        from mxprof_nb.errors import OperatorError
        from mxprof_nb.runtime.engine import fork
        fork.PATIENCE_S = 0.2

        arrays = [mx.nd.zeros((50, 50)) for _ in range(4)]
        stop = threading.Event()
        def keep_on(array):
            while not stop.is_set():
                array += 1
        threads = [threading.Thread(target=keep_on, args=(a,), daemon=True) for a in arrays]
        for thread in threads:
            thread.start()
        children = []
        for _ in range(5):
            child = os.fork()
            if child == 0:
                told = set()
                for array in arrays:  # a value or one clear error, never a hang
                    try:
                        array.asnumpy()
                    except OperatorError as error:
                        told.add("forked" in str(error))
                assert told <= {True}, told
                x = mx.nd.ones((3,)) + mx.nd.random.uniform(shape=(3,)).sum() * 0
                mx.nd.waitall()
                assert x.asnumpy().tolist() == [1, 1, 1]
                for array in arrays:
                    array[:] = 5  # what failed can be overwritten
                assert all((array == 5).asnumpy().all() for array in arrays)
                os._exit(0)
            children.append(child)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * 5
        stop.set()
        for thread in threads:
            thread.join()
        mx.nd.waitall()
        print("usable")
        """
    )
    assert done.stdout == "usable\n"


def test_an_interrupt_during_a_wait_leaves_no_thread_that_holds_the_program_up():
    run(
        """
        import os, signal, threading
        import mxprof_nb.runtime as mx
        go, var = threading.Event(), mx.engine.Var()
        mx.engine.push(lambda: go.wait(60), writes=[var])
        for wait in (var.wait_to_read, mx.nd.waitall):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                wait()
            except KeyboardInterrupt:
                pass
            else:
                raise SystemExit("not interrupted")
        go.set()
        mx.nd.waitall()
        assert all(t.daemon or t is threading.main_thread() for t in threading.enumerate()
                   if not isinstance(t, threading.Timer))
        """
    )


def test_a_program_ends_though_a_thread_never_stops_queueing():
    run(
        """
        import threading, time
        import mxprof_nb.runtime as mx
        def keep_on():
            x = mx.nd.ones((2, 2))
            while True:
                y = x * 2
        threading.Thread(target=keep_on, daemon=True).start()
        time.sleep(0.2)
        """
    )


def test_a_finaliser_may_use_arrays_whenever_the_collector_runs():
    done = run(
        """
        import gc
        import mxprof_nb.runtime as mx
        gc.set_threshold(20)
        x, made = mx.nd.ones((2,)), []
        class Cycle:
            def __init__(self):
                self.itself = self
            def __del__(self):
                made.append(x + 1)
        for _ in range(3000):
            Cycle()
            y = x * 2
        mx.nd.waitall()
        gc.collect()
        assert all(array.asnumpy().tolist() == [2, 2] for array in made[::50])
        print(len(made) > 1000)
        """
    )
    assert done.stdout == "True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_an_interrupt_around_a_fork_leaves_both_sides_usable_and_arrives():
    run(
        """
        import os, signal, threading, time, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # fork in a process with threads
        import mxprof_nb.runtime as mx
        x = mx.nd.ones((100, 100))
        arrived = 0
        for n in range(30):
            timer = threading.Timer(0.0005 * n / 10, os.kill, (os.getpid(), signal.SIGINT))
            child = None
            try:
                for _ in range(50):
                    x = x + 1
                timer.start()
                child = os.fork()
                if child == 0:
                    assert (mx.nd.ones((2,)) + 1).asnumpy().tolist() == [2, 2]
                    os._exit(0)
                time.sleep(2)  # one that came during the fork arrives a moment later
            except KeyboardInterrupt:
                arrived += 1
                if child == 0:
                    os._exit(0)
            timer.join()
            assert (x + 1).shape == (100, 100)
            mx.nd.waitall()
        assert arrived >= 25, arrived
        """
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_the_child_of_a_fork_has_a_profiler_of_its_own():
    run(
        """
        import os, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # fork in a process with threads
        import mxprof_nb.runtime as mx
        mx.profiler.set_config(profile_all=True, aggregate_stats=True)
        mx.profiler.set_state("run")
        child = os.fork()
        if child == 0:
            mx.profiler.set_config(profile_all=True, aggregate_stats=True)
            mx.profiler.set_state("run")
            mx.nd.exp(mx.nd.ones((2,))).wait_to_read()
            mx.profiler.set_state("stop")
            os._exit(0 if "exp" in mx.profiler.dumps() else 1)
        assert os.waitpid(child, 0)[1] == 0
        """
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_under_naive_engine_while_another_thread_computes_leaves_a_usable_child():
    run(
        """
        import os, threading, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # fork in a process with threads
        import mxprof_nb.runtime as mx
        inside, go = threading.Event(), threading.Event()
        def hold():
            inside.set()
            go.wait(60)
        thread = threading.Thread(target=mx.engine.push, args=(hold,))
        thread.start()
        inside.wait(60)
        child = os.fork()
        if child == 0:
            os._exit(0 if (mx.nd.ones((2,)) + 1).asnumpy().tolist() == [2, 2] else 1)
        assert os.waitpid(child, 0)[1] == 0
        go.set()
        thread.join()
        """,
        MXNET_ENGINE_TYPE="NaiveEngine",
    )

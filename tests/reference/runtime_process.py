"""A process that runs programs on MXNet, the real one or ours, and hands the values back.

Engine type, workers and threads are fixed when a runtime is imported, hence one process for each
setting. It is started once and asked often; a question takes a fraction of a millisecond.

    with RuntimeProcess(REAL, {"MXNET_ENGINE_TYPE": "NaiveEngine"}) as real:
        real.call("nd.dot", [a, b], transpose_a=True).values  # NumPy in, NumPy out
        real.run("show(mx.nd.ones(3) * 2)").values  # what the program showed

`REAL` and `OURS` are the names of the two runtimes; the other end of the pipe is `server`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from importlib.util import find_spec
from types import TracebackType
from typing import Any, BinaryIO

from tests.environment import ROOT

__all__ = ["OURS", "REAL", "Outcome", "ProcessDied", "RuntimeProcess", "why_not_real"]

REAL, OURS = "mxnet", "mxprof_nb.runtime"


#: What the package expects to find on the system, and the Debian packages that have it.
LIBRARIES = {"gomp": "libgomp1", "quadmath": "libquadmath0"}


@functools.cache
def why_not_real() -> str:
    """Return why programs cannot run on real MXNet here, empty if they can."""
    if find_spec("mxnet") is None:
        return "real MXNet is not installed: pip install --no-deps mxnet==1.9.1"
    for library, package in LIBRARIES.items():
        if find_library(library) is None:
            return f"real MXNet needs lib{library}, which Debian has in the package {package}"
    return ""


class ProcessDied(Exception):
    """The process ended, or gave no answer in time and was ended; the text is its last words."""


@dataclass(frozen=True)
class Outcome:
    """What came of a program or a call.

    Attributes
    ----------
    values : list
        What the program showed, or the results of the call; arrays as NumPy arrays.
    error : tuple of str
        Names of the class of the error raised and of its bases, nearest first, and MXNetError if
        the runtime counts it as one; empty if none.
    message : str
        Its text.
    line : int
        Line of the program that raised it, from 1.
    """

    values: list[Any]
    error: tuple[str, ...] = ()
    message: str = ""
    line: int = 0


class RuntimeProcess:
    """One process with one runtime, `REAL` or `OURS`.

    Parameters
    ----------
    runtime : str
        Module to import as ``mx``.
    environment : mapping of str to str
        Environment variables besides those of this process.
    timeout_s : float
        How long an answer may take before the process is ended.
    """

    def __init__(
        self, runtime: str, environment: Mapping[str, str] | None = None, timeout_s: float = 60
    ) -> None:
        self.runtime = runtime
        self.timeout_s = timeout_s
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # close() does
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("MXNET_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.reference.server", runtime],
            cwd=ROOT,
            # One thread for each product: the same for both, and no crowd on a small machine.
            env={
                **inherited,
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
                **(environment or {}),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )

    def __enter__(self) -> RuntimeProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether it was ended, also because it gave no answer."""
        return self._process.stdin is None or self._process.stdin.closed

    # Questions

    def call(self, function: str, inputs: Sequence[Any] = (), /, **attrs: Any) -> Outcome:
        """Call ``mx.<function>(*inputs, **attrs)``; NumPy arrays arrive as arrays of their type.

        Methods go by their class: ``call("nd.NDArray.reshape", [x], shape=(2, 3))``.
        """
        return self.calls([(function, inputs, attrs)])[0]

    def calls(self, calls: Sequence[tuple[str, Sequence[Any], dict[str, Any]]]) -> list[Outcome]:
        """Do many calls for one trip through the pipe."""
        found: list[Outcome] = self._ask("calls", list(calls))
        return found

    def run(self, program: str) -> Outcome:
        """Run a program in a namespace of its own with ``mx``, ``np`` and ``show(value)``.

        Nothing it leaves behind, queued work and errors included, meets the next program.
        """
        return self.runs([program])[0]

    def runs(self, programs: Sequence[str]) -> list[Outcome]:
        """Run programs one after the other for one trip through the pipe."""
        found: list[Outcome] = self._ask("runs", list(programs))
        return found

    def define(self, source: str) -> None:
        """Run source in the namespace of `time` and `get`, where ``mx`` and ``np`` are."""
        self._ask("define", source)

    def get(self, expression: str) -> Any:
        """Return the value of an expression in that namespace."""
        return self._ask("get", expression)

    def time(self, function: str) -> tuple[int, int]:
        """Call a function defined before; return the wall and the CPU time it took, in ns."""
        found: tuple[int, int] = self._ask("time", function)
        return found

    def _ask(self, question: str, argument: object) -> Any:
        pipe, answers = self._pipes()
        try:
            pickle.dump((question, argument), pipe, protocol=pickle.HIGHEST_PROTOCOL)
            pipe.flush()
            # Not `select.select`, which knows no file beyond the first 1,024 of a long run.
            waiting = select.poll()
            waiting.register(answers, select.POLLIN)
            if not waiting.poll(self.timeout_s * 1000):
                self._process.kill()
                raise EOFError(f"no answer within {self.timeout_s} s")
            done, answer = pickle.load(answers)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise ProcessDied(self._last_words(question, error)) from error
        if not done:
            raise RuntimeError(f"{self.runtime}, {question}:\n{answer}")
        return answer

    def _pipes(self) -> tuple[BinaryIO, BinaryIO]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None or self.closed:
            raise ProcessDied(f"the process with {self.runtime} was closed")
        return stdin, stdout  # type: ignore[return-value]  # Popen's IO[bytes] are binary files

    # The end

    def _last_words(self, question: str, error: BaseException) -> str:
        status = self.close()
        return f"{self.runtime}, {question}: {error!r}, exit status {status}\n{self._told}"

    def close(self) -> int:
        """End the process and return its exit status; does nothing the second time."""
        process = self._process
        if process.stdin and not process.stdin.closed:
            with contextlib.suppress(OSError):
                process.stdin.close()  # it ends when no more questions come
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
            if process.stdout:
                process.stdout.close()
            process.wait()
            self._stderr.seek(0)
            self._told = self._stderr.read()[-4000:].decode(errors="replace")
            self._stderr.close()
        return process.wait()

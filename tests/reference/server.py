"""The process behind `RuntimeProcess`: imports a runtime, then answers questions.

Questions and answers are pickles on the first standard input and output. What the runtime or a
program prints goes to standard error, also from C, so that it cannot get in between.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, BinaryIO

import numpy as np

from tests.reference.old_numpy import import_mxnet
from tests.reference.runtime_process import REAL, Outcome

PROGRAM = "<program>"


class Server:
    """The questions it answers, as methods; see `RuntimeProcess` for what they mean."""

    def __init__(self, runtime: str) -> None:
        self.mx = import_mxnet() if runtime == REAL else importlib.import_module(runtime)
        self.lasting: dict[str, Any] = {"mx": self.mx, "np": np}

    def calls(self, calls: Sequence[tuple[str, Sequence[Any], dict[str, Any]]]) -> list[Outcome]:
        return [self._call(*call) for call in calls]

    def _call(self, function: str, inputs: Sequence[Any], attrs: dict[str, Any]) -> Outcome:
        def work(show: Callable[[object], None]) -> None:
            given = {name: self._on_device(value) for name, value in attrs.items()}
            show(attrgetter(function)(self.mx)(*map(self._on_device, inputs), **given))

        done = self._outcome(work)
        if done.error:
            self._forget()
        return done

    def _on_device(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.mx.nd.array(value, dtype=value.dtype)
        return value

    def runs(self, programs: Sequence[str]) -> list[Outcome]:
        return [self._run(program) for program in programs]

    def _run(self, program: str) -> Outcome:
        def work(show: Callable[[object], None]) -> None:
            exec(compile(program, PROGRAM, "exec"), {"mx": self.mx, "np": np, "show": show})

        if "profiler" in program:
            # Graphs of earlier programs are in cycles; MXNet deletes their operators when Python
            # finds them, and writes that into the profile which is recorded then.
            gc.collect()
            self._forget()
        try:
            return self._outcome(work)
        finally:
            self._forget()

    def _outcome(self, work: Callable[[Callable[[object], None]], None]) -> Outcome:
        values: list[Any] = []
        try:
            work(lambda value: values.append(plain(value)))
        except Exception as error:
            kinds = tuple(kind.__name__ for kind in type(error).__mro__[:-1])
            if isinstance(error, self.mx.MXNetError):  # whatever the class itself is called
                kinds += ("MXNetError",)
            lines = [
                frame.lineno
                for frame in traceback.extract_tb(error.__traceback__)
                if frame.filename == PROGRAM
            ]
            return Outcome(values, kinds, str(error), (lines or [0])[0] or 0)
        return Outcome(values)

    def _forget(self) -> None:
        """Finish what is left queued, and let its errors be told to nobody."""
        for _ in range(100):
            try:
                self.mx.nd.waitall()
                return
            except Exception:  # each of them is told once
                pass
        raise RuntimeError("waitall raised 100 times")

    def define(self, source: str) -> None:
        exec(source, self.lasting)

    def get(self, expression: str) -> Any:
        return plain(eval(expression, self.lasting))

    def time(self, function: str) -> tuple[int, int]:
        work = self.lasting[function]
        gc.collect()
        gc.disable()  # a collection would be paid by whoever happens to run
        try:
            wall, cpu = time.perf_counter_ns(), time.process_time_ns()
            work()
            cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        finally:
            gc.enable()
        return wall, cpu


def plain(value: Any) -> Any:
    """Return a value without anything of a runtime in it."""
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, type) and issubclass(value, np.generic):
        return value.__name__
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic)):
        return value
    return str(value)


def serve(questions: BinaryIO, answers: BinaryIO, runtime: str) -> None:
    """Answer until no more questions come."""
    server: Server | None = None
    while True:
        try:
            question, argument = pickle.load(questions)
        except EOFError:
            return
        try:
            server = server or Server(runtime)
            answer = True, getattr(server, question)(argument)
        except Exception:
            answer = False, traceback.format_exc()
        pickle.dump(answer, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    with os.fdopen(os.dup(0), "rb") as questions, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        serve(questions, answers, sys.argv[1])

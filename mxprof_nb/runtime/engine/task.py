"""`Var` and `push`: the engine itself, for whoever wants to see how it orders things.

MXNet's C API has the same under ``MXEnginePushSync``; its Python front end does not show it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.calls import api_label, caller, note, note_wait, recorded
from mxprof_nb.runtime.context import Context, current_context
from mxprof_nb.runtime.engine.default import default_engine
from mxprof_nb.runtime.engine.state import Operator, Variable
from mxprof_nb.runtime.engine.threaded import WAIT_FOR_VAR

__all__ = ["Var", "push"]

_PUSH = api_label("MXEnginePushSync")
_now = RECORDER.clock.now


class Var(Variable):
    """Stands for something that pushed functions read and write: a file, a list, a number.

    Parameters
    ----------
    name : str, optional
        Shown when it is printed.
    """

    __slots__ = ("name",)

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.name = name

    def __repr__(self) -> str:
        return f"Var({self.name!r})" if self.name else "Var()"

    @recorded("MXNDArrayWaitToRead")
    def wait_to_read(self) -> None:
        """Wait for all writes queued before now.

        Raises
        ------
        OperatorError
            The last of them failed, or needed something that failed.
        """
        note_wait(WAIT_FOR_VAR, lambda: default_engine().wait_for(self))
        if self.failure is not None:
            raise self.failure.error()


class _Task(Operator):
    """A function on its way to a worker."""

    payload: Callable[[], Any]
    needs: tuple[Variable, ...] = ()


def push(
    function: Callable[[], Any],
    reads: Iterable[Variable] = (),
    writes: Iterable[Variable] = (),
    *,
    name: str | None = None,
    priority: int = 0,
    ctx: Context | None = None,
) -> None:
    """Queue a function; it runs once everything that it depends on has run.

    Parameters
    ----------
    function : callable
        Takes no arguments; what it returns is dropped. It may queue others, and must not wait for
        them: the workers are few, and one that waits runs nothing.
    reads, writes : iterable of Var
        What it reads and changes. Functions that only read the same run side by side; one that
        writes has the variable to itself. It does not run, and what it would have written fails
        with it, where something in ``reads`` could not be computed.
    name : str, optional
        As profiles show it; the function's own name by default.
    priority : int
        Of several that could run, those with a higher one run first.
    ctx : Context, optional
        Device whose workers run it; the current context by default.

    Raises
    ------
    TypeError
        ``function`` cannot be called, or something in ``reads`` or ``writes`` is no `Var`.
    OperatorError
        Only under ``NaiveEngine``, which runs it at once: it failed.
    """
    place = caller(1)
    if not callable(function):
        raise TypeError(f"push: function must be callable, not {type(function).__name__}.")
    needed, changed = _variables("reads", reads), _variables("writes", writes)
    if ctx is not None and not isinstance(ctx, Context):
        raise TypeError(f"push: ctx must be a context such as mx.cpu(1), not {ctx!r}.")
    told = name or str(getattr(function, "__name__", type(function).__name__))
    read = tuple(variable for variable in needed if variable not in changed)
    task = _Task(_run, read, changed, RECORDER.labels.define(told, "operator", "operator"))
    task.payload, task.needs = function, needed
    task.priority = operator.index(priority)
    task.place = place
    task.lane = (ctx or current_context()).lane
    if not RECORDER.on:
        default_engine().push(task)
        return
    number, start = -1, _now()
    task.queued_ns = start
    try:
        number = default_engine().push(task)
    finally:
        note(_PUSH, start, _now(), number, place)


def _variables(name: str, given: Any) -> tuple[Variable, ...]:
    """Return what was given as ``reads`` or ``writes``, each once."""
    if isinstance(given, Variable):
        raise TypeError(f"push: {name} must be a list, e.g. {name}=[var].")
    variables = tuple(dict.fromkeys(given))
    for variable in variables:
        if not isinstance(variable, Variable):
            raise TypeError(
                f"push: {name} holds engine.Var objects, not {type(variable).__name__}. A function "
                "that is pushed cannot use arrays, whose values it could not wait for; call mx.nd "
                "functions instead, or copy out first: x.asnumpy()."
            )
    return variables


def _run(task: Any) -> None:
    for variable in task.needs:
        if variable.failure is not None:
            for changed in task.writes:
                changed.failure = variable.failure
            return
    for variable in task.writes:
        variable.failure = None
    task.payload()

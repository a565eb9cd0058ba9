"""`Block`: the life of one profile around a `with` block, or around each call of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from types import TracebackType
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast

from mxprof_nb.backends.live import LiveCapture
from mxprof_nb.backends.ranges import RangeCapture
from mxprof_nb.errors import MarkError, NotRecordingError
from mxprof_nb.record.config import RecordConfig

__all__ = ["Block"]

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Profiled(Protocol[P, T_co, R]):
    """A function whose calls are profiled.

    Attributes
    ----------
    profile
        The profile of its last call; None before the first, which types do not say.
    """

    profile: R
    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T_co:
        """Call the function."""
        ...


class Block(Generic[R]):
    """A context manager that records, and a decorator that records each call.

    Parameters
    ----------
    made : callable
        Makes what ``with`` gives from the capture, which has its trace when it has ended.
    backend, config, name, wait
        As in `mxprof_nb.profile`.
    """

    def __init__(
        self,
        made: Callable[[LiveCapture | RangeCapture], R],
        *,
        backend: str,
        config: RecordConfig | None,
        name: str | None,
        wait: bool,
    ) -> None:
        self._made = made
        self._backend, self._config, self._name, self._wait = backend, config, name, wait
        self._running: dict[int, list[LiveCapture | RangeCapture]] = {}  # by thread

    def __enter__(self) -> R:
        outer = LiveCapture.running()
        capture: LiveCapture | RangeCapture
        if outer is not None and outer.backend == self._backend:
            capture = RangeCapture(outer, self._config, self._name, self._wait)
        else:
            capture = LiveCapture(self._backend, self._config, self._name, self._wait)
        capture.start()
        self._running.setdefault(get_ident(), []).append(capture)
        return self._made(capture)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        running = self._running.get(get_ident())
        if not running:
            raise NotRecordingError(
                "This profile does not run in this thread. End it once, in the thread that began "
                "it; a `with` block does both."
            )
        try:
            running.pop().stop(error)
        except KeyboardInterrupt:
            if error is None:
                raise  # with an error under way, that one goes on

    def __call__(self, function: Callable[P, T]) -> Profiled[P, T, R]:
        """Return the function, with a profile of each call; the last is its ``profile``.

        Raises
        ------
        MarkError
            It is a generator function, which runs in pieces.
        """
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise MarkError(
                f"profile() cannot decorate {function.__qualname__}, a generator: it runs in "
                "pieces, whenever somebody asks for the next value. Profile the loop over it."
            )
        name = self._name or getattr(function, "__qualname__", type(function).__name__)

        def block() -> Block[R]:
            return Block(
                self._made,
                backend=self._backend,
                config=self._config,
                name=name,
                wait=self._wait,
            )

        wrapper: Any
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def run(*args: Any, **kwargs: Any) -> Any:
                with block() as wrapper.profile:
                    return await function(*args, **kwargs)

            wrapper = run
        else:

            @wraps(function)
            def call(*args: P.args, **kwargs: P.kwargs) -> T:
                with block() as wrapper.profile:
                    return function(*args, **kwargs)

            wrapper = call
        wrapper.profile = None
        return cast("Profiled[P, T, R]", wrapper)

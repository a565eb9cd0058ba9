"""`annotate`: what the runtime does, also shown by the tools of hardware vendors.

With ``nvtx`` operators, tasks, frames, events and markers become NVTX ranges, which Nsight
Systems shows beside the kernels of a GPU; with ``ittapi`` ITT tasks, for VTune. Each stands in a
domain of the same name as in a profile, whether or not anybody records one.

- Switched on, each operator gets a wrapper as it is queued. Switched off, nothing is left of it:
  the engines' own `push` is back in its place.
- What a worker runs nests, so it is a range of that thread; what the program itself begins may
  overlap and end on another thread.

``MXPROF_NB_ANNOTATE=nvtx`` (or ``ittapi``, or both with a comma) switches it on at import.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from mxprof_nb.errors import BackendUnavailableError
from mxprof_nb.record import RECORDER
from mxprof_nb.runtime.engine import NaiveEngine, Operator, ThreadedEngine
from mxprof_nb.runtime.profiler.config import choice

__all__ = ["ENVIRONMENT", "Range", "annotate", "annotate_as_told", "ranges"]

ENVIRONMENT = "MXPROF_NB_ANNOTATE"


class Range(Protocol):
    """One name in one domain of one tool."""

    def push(self) -> None:
        """Begin a stretch of the calling thread, inside of those it has begun."""

    def pop(self) -> None:
        """End the innermost stretch of the calling thread."""

    def begin(self) -> Any:
        """Begin a stretch that may overlap others; return what `end` wants."""

    def end(self, begun: Any) -> None:
        """End a stretch, on whatever thread."""

    def mark(self) -> None:
        """Say that the program is here."""


class _Nvtx:
    """A name in a domain of NVTX; where no tool listens, the package does nothing."""

    def __init__(self, nvtx: Any, domain: str, name: str) -> None:
        self._domain = nvtx.get_domain(domain)
        self._attributes = self._domain.get_event_attributes(message=name)

    def push(self) -> None:
        self._domain.push_range(self._attributes)

    def pop(self) -> None:
        self._domain.pop_range()

    def begin(self) -> Any:
        return self._domain.start_range(self._attributes)

    def end(self, begun: Any) -> None:
        self._domain.end_range(begun)

    def mark(self) -> None:
        self._domain.mark(self._attributes)


class _Itt:
    """A name in a domain of ITT; it has no marks, so they are tasks without length."""

    def __init__(self, itt: Any, domain: str, name: str) -> None:
        self._itt = itt
        self._domain = itt.domain(domain)
        self._name = itt.string_handle(name)

    def push(self) -> None:
        self._itt.task_begin(self._domain, self._name)

    def pop(self) -> None:
        self._itt.task_end(self._domain)

    def begin(self) -> Any:
        number = self._itt.id(self._domain)
        self._itt.task_begin_overlapped(self._domain, self._name, number)
        return number

    def end(self, begun: Any) -> None:
        self._itt.task_end_overlapped(self._domain, begun)

    def mark(self) -> None:
        self.push()
        self.pop()


_MAKERS: dict[str, Callable[[Any, str, str], Range]] = {"nvtx": _Nvtx, "ittapi": _Itt}
_ENGINES: tuple[Any, ...] = (ThreadedEngine, NaiveEngine)
_PUSHES = tuple(engine.push for engine in _ENGINES)

_tools: dict[str, Any] = {}


def annotate(*tools: str) -> None:
    """Show operators, tasks, frames, events and markers to other tools as well, from now on.

    Parameters
    ----------
    *tools : {"nvtx", "ittapi"}
        The packages that take the ranges; none switches it off again. What began before ends as
        it began.

    Raises
    ------
    ProfilerOptionError
        There is no such tool.
    BackendUnavailableError
        Its package is not installed. Nothing has changed then.
    """
    chosen = {tool: _package(tool) for tool in tools}
    _tools.clear()
    _tools.update(chosen)
    _made.cache_clear()
    for engine, push in zip(_ENGINES, _PUSHES, strict=True):
        engine.push = _annotating(push) if chosen else push


def _package(tool: str) -> Any:
    choice("annotate: tool", tool, list(_MAKERS))
    try:
        return import_module(tool)
    except ImportError as error:
        raise BackendUnavailableError.because(
            tool, f"its package cannot be imported ({error}).", f"Install it: pip install {tool}"
        ) from error


def annotate_as_told() -> None:
    """Switch on what the environment asks for; raises as `annotate` does."""
    told = [tool.strip() for tool in os.environ.get(ENVIRONMENT, "").split(",")]
    if any(told):
        annotate(*filter(None, told))


def ranges(domain: str, name: str) -> tuple[Range, ...]:
    """Return a name in a domain of each tool that is switched on."""
    return _made(domain, name) if _tools else ()


@cache
def _made(domain: str, name: str) -> tuple[Range, ...]:
    texts = [_plain(domain), _plain(name)]
    return tuple(_MAKERS[tool](package, *texts) for tool, package in _tools.items())


def _plain(text: str) -> str:
    """Return a text that C can hold: no zero in it, no half of a character."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _annotating(push: Callable[[Any, Operator], int]) -> Callable[[Any, Operator], int]:
    """Return `push` of an engine that has operators run inside their ranges."""

    def annotated(engine: Any, operator: Operator) -> int:
        if operator.label >= 0:
            label = RECORDER.labels[operator.label]
            operator.run = _inside(ranges(label.domain, label.name), operator.run)
        return push(engine, operator)

    return annotated


def _inside(around: tuple[Range, ...], run: Callable[[Any], None]) -> Callable[[Any], None]:
    def ranged(operator: Any) -> None:
        for one in around:
            one.push()
        try:
            run(operator)
        finally:
            for one in reversed(around):
                one.pop()

    return ranged

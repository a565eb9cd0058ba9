"""What the program itself says in a profile: spans, marks, counters and steps.

They are recorded whenever somebody listens, whatever kinds of records were asked for, in the
thread that makes them. A span belongs to a recording if it *ends* while that listens.
"""

from __future__ import annotations

import inspect
import operator
import struct
from collections.abc import Callable
from functools import wraps
from numbers import Real
from threading import get_ident
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, cast

import numpy as np

from mxprof_nb.errors import MarkError
from mxprof_nb.record.buffer import SAMPLE
from mxprof_nb.record.recorder import RECORDER
from mxprof_nb.record.sites import Place, caller
from mxprof_nb.record.steps import STEP_DOMAIN
from mxprof_nb.trace.schema import KINDS

__all__ = ["DOMAIN", "Span", "Timed", "bits_of", "counter", "mark", "span", "step", "write"]

P = ParamSpec("P")
T = TypeVar("T")

#: Domain of what the program marks without a domain of its own.
DOMAIN = "user"
_SPAN, _INSTANT, _ASYNC = (KINDS.index(kind) for kind in ("span", "instant", "async"))
#: Numbers a buffer may hold before it looks whether to pack.
_PACK_CHECK = 20_000
_now = RECORDER.clock.now
#: Labels by name and domain: making one to look it up costs several times as much.
_labels: dict[tuple[str, str], int] = {}


def write(record: tuple[Any, ...]) -> None:
    """Append one record, with the fields that `buffer.USER_FIELDS` names, for this thread."""
    buffer = RECORDER.buffer()
    buffer.user.extend(record)
    if len(buffer.user) > _PACK_CHECK:
        RECORDER.pack_long()


def bits_of(value: float) -> int:
    """Return the bits of a number, as the record of a sample has them."""
    (bits,) = struct.unpack("=q", struct.pack("=d", value))
    return int(bits)


def _note(kind: int, name: str, domain: str, start: int, end: int, value: int = 0) -> None:
    label = _labels.get((name, domain))
    if label is None:
        label = _labels[name, domain] = RECORDER.labels.define(name, "user", domain)
    place: Place = caller(1) if RECORDER.lines else (None, -1)
    write((start, end, label, kind, value, *place))


class Timed:
    """The time of a `with` block; one object may be used again, within itself, by any thread."""

    __slots__ = ("_begun", "_domain", "_name", "_value")

    def __init__(self, name: str, domain: str, value: int = 0) -> None:
        self._name, self._domain, self._value = name, domain, value
        self._begun: dict[int, list[int]] = {}  # by thread

    def __repr__(self) -> str:
        told = self._value if self._domain == STEP_DOMAIN else repr(self._name)
        return f"{self._domain if self._domain == STEP_DOMAIN else 'span'}({told})"

    def __enter__(self) -> Self:
        begun = self._begun.get(get_ident())
        if begun is None:
            begun = self._begun[get_ident()] = []
        begun.append(_now())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        begun = self._begun[get_ident()].pop()
        if RECORDER.on:
            _note(_SPAN, self._name, self._domain, begun, _now(), self._value)


class Span(Timed):
    """What `span` returns: a context manager, and a decorator of functions."""

    __slots__ = ()

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return the function with a span around each call; of a coroutine, around its run.

        Raises
        ------
        MarkError
            It is a generator function, which runs in pieces.
        """
        name = self._name
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise MarkError(
                f"span({name!r}) cannot decorate {function.__qualname__}, a generator: it runs in "
                "pieces, whenever somebody asks for the next value. Use `with` inside it."
            )
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def run(*args: Any, **kwargs: Any) -> Any:
                begun = _now()
                try:
                    return await function(*args, **kwargs)
                finally:
                    # Others run on this thread meanwhile: what is theirs need not nest in this.
                    if RECORDER.on:
                        _note(_ASYNC, name, DOMAIN, begun, _now())

            return cast("Callable[P, T]", run)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            begun = _now()
            try:
                return function(*args, **kwargs)
            finally:
                if RECORDER.on:
                    _note(_SPAN, name, DOMAIN, begun, _now())

        return call


def span(name: str) -> Span:
    """Mark a stretch of the program, under a name of your own.

    Parameters
    ----------
    name : str
        Spans of one name share a row of the table "Spans".

    Returns
    -------
    Span
        A context manager; also a decorator of functions and coroutine functions.

    Raises
    ------
    MarkError
        The name is empty or no text.

    Notes
    -----
    Costs a microsecond or less while nobody records.

    Examples
    --------
    >>> with span("load"):
    ...     pass
    >>> @span("train")
    ... def train():
    ...     return 1
    >>> train()
    1
    """
    return Span(_named("span", name), DOMAIN)


def mark(name: str) -> None:
    """Mark this moment, under a name of your own.

    Raises
    ------
    MarkError
        The name is empty or no text.

    Examples
    --------
    >>> mark("first batch is here")
    """
    _named("mark", name)
    if RECORDER.on:
        moment = _now()
        _note(_INSTANT, name, DOMAIN, moment, moment)


def counter(name: str, value: float | np.number[Any]) -> None:
    """Say what a number of your own is from now on.

    Parameters
    ----------
    name : str
        What it counts.
    value : number
        Drawn as a line of steps and summed up in the table "Counters".

    Raises
    ------
    MarkError
        The name is empty or no text, or the value no number.

    Examples
    --------
    >>> counter("loss", 0.25)
    """
    _named("counter", name)
    if not isinstance(value, int | float | Real):  # in this order: Real takes 1 µs to ask
        raise MarkError(f"counter({name!r}, ...): {value!r} is no number; pass float(value).")
    if RECORDER.on:
        try:
            bits = bits_of(float(value))
        except OverflowError:
            raise MarkError(
                f"counter({name!r}, ...): the value is beyond what a 64-bit float holds."
            ) from None
        moment = _now()
        _note(SAMPLE, name, DOMAIN, moment, moment, bits)


def step(number: int) -> Timed:
    """Mark one step of training, or one repetition.

    Parameters
    ----------
    number : int
        From 0 to 2**31 - 1. What a thread does in the block, and what it queues there whenever
        it runs, has this number in the column ``step`` of the events; of steps within steps the
        innermost. `mxprof_nb.analysis.step_breakdown` sets the steps side by side.

    Returns
    -------
    context manager

    Raises
    ------
    MarkError
        It is no such number.

    Examples
    --------
    >>> for number in range(3):
    ...     with step(number):
    ...         pass
    """
    try:
        place = operator.index(number)
    except TypeError:
        place = -1
    if not 0 <= place < 2**31:
        raise MarkError(f"step({number!r}): a step has a whole number from 0 to 2**31 - 1.")
    return Timed("step", STEP_DOMAIN, place)


def _named(what: str, name: object) -> str:
    if not isinstance(name, str) or not name:
        raise MarkError(f"{what}({name!r}): the name is a text that is not empty.")
    return name

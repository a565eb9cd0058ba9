"""What the program itself says in a profile: tasks, frames, events, counters and markers.

They are recorded beside the runtime's own records whenever somebody listens, whatever kinds
`set_config` asks for. A span belongs to the profile if it *ends* while that is so: one that
spans a pause is there whole, one that is stopped during a pause is not.
"""

from __future__ import annotations

import json
import threading
from numbers import Real
from types import TracebackType
from typing import Any, Self

from mxprof_nb.errors import ProfilerError, ProfilerOptionError
from mxprof_nb.record import RECORDER, Label
from mxprof_nb.record.buffer import SAMPLE
from mxprof_nb.record.sites import Place, caller
from mxprof_nb.record.spans import bits_of, write
from mxprof_nb.runtime.engine.fork import in_child
from mxprof_nb.runtime.profiler import state
from mxprof_nb.runtime.profiler.config import choice
from mxprof_nb.runtime.profiler.vendor import Range, ranges
from mxprof_nb.trace.schema import KINDS

__all__ = ["Counter", "Domain", "Event", "Frame", "Marker", "Task"]

_SPAN, _INSTANT, _ASYNC = (KINDS.index(kind) for kind in ("span", "instant", "async"))
_SCOPES = ["global", "process", "thread", "task", "marker"]
_now = RECORDER.clock.now
#: Of all counters: while one changes, no other thread changes it.
_changing = threading.RLock()


@in_child
def _renew() -> None:
    global _changing
    _changing = threading.RLock()  # another thread may have held it


def _note(kind: int, label: int, start: int, end: int, value: int = 0) -> None:
    """Record one mark of the calling thread if anybody wants it."""
    profiler = state.PROFILER
    if not (RECORDER.on or profiler.keeps_early):
        return
    place: Place = caller(1)
    record = (start, end, label, kind, value, *place)
    if RECORDER.on:
        write(record)
    if profiler.keeps_early:
        profiler.mark_early(record)


def _text(what: str, name: object) -> str:
    if not isinstance(name, str):
        raise ProfilerOptionError(f"{what}({name!r}): a name is a str.")
    return name


class Domain:
    """A family of tasks, frames, counters and markers: one section of the table.

    Parameters
    ----------
    name : str
        Not empty.

    Raises
    ------
    ProfilerOptionError
        The name is empty or no text.
    """

    def __init__(self, name: str) -> None:
        if not _text("Domain", name):
            raise ProfilerOptionError("Domain(''): a domain needs a name, it heads a table.")
        self.name = name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Domain({self.name!r})"

    def new_task(self, name: str) -> Task:
        """Return a new `Task` of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """Return a new `Frame` of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: float | None = None) -> Counter:
        """Return a new `Counter` of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """Return a new `Marker` of this domain."""
        return Marker(self, name)


class _Named:
    """What all objects share: a name, and a label for their records.

    The label is a number of this process: a copy, which may be in another, gets one of its own.
    """

    def __init__(self, name: str, family: str) -> None:
        self.name = _text(type(self).__name__, name)
        self._family = family
        self._label = self._numbered()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_label"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._label = self._numbered()

    def _numbered(self, raw: str | None = None) -> int:
        return RECORDER.labels.number(Label(self.name, "user", self._family, raw=raw))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self._family!r}>"


class _Span(_Named):
    """What has a begin and an end; as a context manager it starts and stops by itself."""

    _kind = _ASYNC

    def __init__(self, name: str, family: str) -> None:
        super().__init__(name, family)
        self._begun: int | None = None
        self._shown: list[tuple[Range, Any]] = []

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_begun": None, "_shown": []}  # a copy was not started

    def start(self) -> None:
        """Begin. Begun a second time before `stop`, it begins anew: the later begin counts."""
        self._hide()
        self._shown = [(one, one.begin()) for one in ranges(self._family, self.name)]
        self._begun = _now()

    def stop(self) -> None:
        """End, and record the time since `start`.

        Raises
        ------
        ProfilerError
            It was not started, or has been stopped since.
        """
        end = _now()
        self._hide()
        begun, self._begun = self._begun, None
        if begun is None:
            raise ProfilerError(
                f"{type(self).__name__} {self.name!r} is stopped and was not started, or has been "
                "stopped already. Call start() before each stop(), or use it in a `with` block."
            )
        _note(self._kind, self._label, begun, end)

    def _hide(self) -> None:
        """End it for the tools of vendors, as it began for them."""
        shown, self._shown = self._shown, []
        for one, begun in shown:
            one.end(begun)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


class Task(_Span):
    """A piece of work, which may overlap others.

    Parameters
    ----------
    domain : Domain
    name : str

    Examples
    --------
    >>> domain = Domain("training")
    >>> with domain.new_task("epoch"):
    ...     pass
    """

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, _domain("Task", domain))


class Frame(_Span):
    """One pass of something that repeats; the table has it under ``"Domain,frame"``.

    Parameters
    ----------
    domain : Domain
    name : str
    """

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, f"{_domain('Frame', domain)},frame")


class Event(_Span):
    """A stretch of the calling thread, around what it does meanwhile; has no domain.

    Parameters
    ----------
    name : str
    """

    _kind = _SPAN

    def __init__(self, name: str) -> None:
        super().__init__(name, "event")


class Counter(_Named):
    """A number that changes; each change is a sample.

    Parameters
    ----------
    domain : Domain
    name : str
    value : number, optional
        Its first value, a sample too; without it the counter begins at 0 and is silent.
    """

    def __init__(self, domain: Domain, name: str, value: float | None = None) -> None:
        super().__init__(name, _domain("Counter", domain))
        self._value: float = 0
        if value is not None:
            self.set_value(value)

    def set_value(self, value: float) -> None:
        """Give it a value.

        Raises
        ------
        ProfilerOptionError
            The value is no number.
        """
        number = _number(self, value)
        with _changing:
            self._set(number)

    def increment(self, delta: float = 1) -> None:
        """Raise the value."""
        number = _number(self, delta)
        with _changing:
            self._set(self._value + number)

    def decrement(self, delta: float = 1) -> None:
        """Lower the value, also below 0."""
        number = _number(self, delta)
        with _changing:
            self._set(self._value - number)

    def __iadd__(self, delta: float) -> Self:
        self.increment(delta)
        return self

    def __isub__(self, delta: float) -> Self:
        self.decrement(delta)
        return self

    def _set(self, value: float) -> None:
        self._value = value
        moment = _now()
        _note(SAMPLE, self._label, moment, moment, bits_of(value))


class Marker(_Named):
    """A point in time; the table heads ``"Domain,instant_marker"``, which has no rows.

    Parameters
    ----------
    domain : Domain
    name : str
    """

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, f"{_domain('Marker', domain)},instant_marker")

    def mark(self, scope: str = "process") -> None:
        """Record that the program is here.

        Parameters
        ----------
        scope : {"global", "process", "thread", "task", "marker"}
            Whom it concerns.

        Raises
        ------
        ProfilerOptionError
            There is no such scope.
        """
        told = choice("mark: scope", scope, _SCOPES)
        label = self._numbered(json.dumps({"scope": told}))
        moment = _now()
        for one in ranges(self._family, self.name):
            one.mark()
        _note(_INSTANT, label, moment, moment)


def _domain(what: str, domain: Any) -> str:
    if not isinstance(domain, Domain):
        raise ProfilerOptionError(f"{what}({domain!r}, ...): the first argument is a Domain.")
    return domain.name


def _number(counter: Counter, value: Any) -> float:
    if not isinstance(value, Real):
        raise ProfilerOptionError(f"Counter {counter.name!r}: {value!r} is no number.")
    try:
        return float(value)
    except OverflowError:
        raise ProfilerOptionError(
            f"Counter {counter.name!r}: the value is beyond what a 64-bit float holds."
        ) from None

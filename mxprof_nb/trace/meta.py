"""What is known about a trace as a whole: clock, origin, history and how well it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Literal

__all__ = ["Cost", "Health", "HealthNote", "Meta"]

Status = Literal["ok", "error", "interrupted"]


@dataclass(frozen=True, slots=True)
class HealthNote:
    """One way in which a trace is less than perfect.

    Attributes
    ----------
    code : str
        Stable identifier, e.g. ``"capped"`` or ``"no_end"``.
    count : int
        How many events are concerned.
    message : str
        One sentence for a person.
    """

    code: str
    count: int
    message: str


@dataclass(frozen=True, slots=True)
class Health:
    """Everything that was lost, repaired or left out, so that no view hides it."""

    notes: tuple[HealthNote, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was lost, repaired or left out."""
        return not self.notes

    def __str__(self) -> str:
        return "clean" if self.ok else " ".join(note.message for note in self.notes)

    def with_note(self, code: str, count: int, message: str) -> Health:
        """Return a health with one more note."""
        return Health((*self.notes, HealthNote(code, count, message)))


@dataclass(frozen=True, slots=True)
class Cost:
    """What recording cost, from a calibration on this machine.

    Attributes
    ----------
    total_ns : int
        Estimated time added to the program, all threads together.
    records : int
        Number of records it was estimated from.
    per_record_ns : float
        Calibrated cost of one record.
    """

    total_ns: int
    records: int
    per_record_ns: float

    def of_part(self, kept: int, events: int) -> Cost:
        """Return what recording ``kept`` of ``events`` events cost."""
        if kept == events:
            return self
        total, records = (number * kept // events for number in (self.total_ns, self.records))
        return Cost(total, records, self.per_record_ns)


@dataclass(frozen=True, slots=True)
class Meta:
    """Facts about the whole trace.

    Attributes
    ----------
    origin_epoch_ns : int
        Unix time of time 0 of the trace, in ns; -1 when unknown.
    window_ns : tuple of int, or None
        Begin and end of the profiled range, counted from the origin; None: the span of its rows.
    returned_ns : int
        When the profiled code returned or raised, counted from the origin; work that it queued
        may go on until the end of the window. -1 when unknown.
    title : str
        What was profiled: the name of a cell or a file.
    source : str
        Text of the profiled cell, empty when unknown or left out.
    source_file : str
        The file name under which the cell's lines appear in the sites table.
    backend : str
        Who recorded it.
    status : {"ok", "error", "interrupted"}
        How the profiled code ended.
    error : str
        What ended it, empty when ``status`` is ``"ok"``.
    pending : int
        Operators that were still queued or running when recording stopped.
    cost : Cost or None
        What recording cost.
    config : Mapping
        What was asked to be recorded.
    versions : Mapping
        Versions of what took part.
    history : tuple of str
        How this trace came out of another one.
    extra : Mapping
        Whatever else a producer wrote about the trace as a whole.
    """

    origin_epoch_ns: int = -1
    window_ns: tuple[int, int] | None = None
    returned_ns: int = -1
    title: str = ""
    source: str = ""
    source_file: str = ""
    backend: str = ""
    status: Status = "ok"
    error: str = ""
    pending: int = 0
    cost: Cost | None = None
    config: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    versions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    history: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]:
        told = {f.name: getattr(self, f.name) for f in fields(self)}
        # A view of a dict cannot be pickled, the dict can.
        return _restored, ({k: dict(v) if isinstance(v, Mapping) else v for k, v in told.items()},)

    def then(self, step: str, **changes: Any) -> Meta:
        """Return the facts of a trace derived from this one by ``step``."""
        return replace(self, history=(*self.history, step), **changes)


def _restored(told: dict[str, Any]) -> Meta:
    """Return facts that were pickled."""
    ready: dict[str, Any] = {
        k: MappingProxyType(v) if isinstance(v, dict) else v for k, v in told.items()
    }
    return Meta(**ready)

"""`Words`: what is said about one event or one mark, on hover and inside its bar."""

from __future__ import annotations

import re
from functools import cache, cached_property
from html import escape
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from mxprof_nb._typing import I64Array
from mxprof_nb.analysis import failures, memory_scope, sync_waits
from mxprof_nb.analysis.places import shorten
from mxprof_nb.errors import MissingDataError
from mxprof_nb.lod import View
from mxprof_nb.trace import Trace
from mxprof_nb.trace.schema import CATEGORIES, ROLES
from mxprof_nb.view.glossary import DOMAINS, meaning
from mxprof_nb.view.numbers import count, duration, share, size
from mxprof_nb.view.places import place, source_line

__all__ = ["BULK", "Words", "shorten"]

SOURCE_CHARS = 60
#: A name that ends in a number is set apart from the time that follows it.
ENDS_IN_DIGIT = re.compile(r"[0-9]\Z").search
#: Name of what `mxprof_nb.step` records; its number is that of the step.
STEP = "step"
#: Domain of the operators that ran as members of a bulk.
BULK = "bulk"
#: What a name means is written in lines of at most so many characters.
MEANING_CHARS = 56


def _role(trace: Trace, row: int) -> str:
    """Return what the track of an event stands for."""
    return ROLES[trace.tracks.role[trace.events.track[row]]]


class _Wait(NamedTuple):
    api: str
    cause: str
    queued: str


class Words:
    """Texts about the events of one trace; times are counted from the begin of its window."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.begin_ns = trace.window_ns[0]
        self._meaning = cache(_meaning)

    @cached_property
    def _waits(self) -> dict[int, _Wait]:
        try:
            columns = sync_waits(self.trace).columns
        except MissingDataError:
            return {}
        return {
            int(event): _Wait(api, cause, self.place(int(by)) if by >= 0 else "")
            for event, api, cause, by in zip(
                columns["event"],
                columns["api_name"],
                columns["waited_for_name"],
                columns["waited_for"],
                strict=True,
            )
        }

    @cached_property
    def failures(self) -> dict[int, str]:
        """Why events failed, by row."""
        return failures(self.trace)

    @cached_property
    def members(self) -> I64Array:
        """How many members of a bulk lie in each event, shape (events,)."""
        events = self.trace.events
        inside = events.parent[events.domain == self.trace.strings.code(BULK)]
        found: I64Array = np.bincount(inside[inside >= 0], minlength=len(events))
        return found

    def name(self, row: int) -> str:
        """Return the name of an event."""
        return self.trace.strings.text(int(self.trace.events.name[row]))

    def place(self, row: int) -> str:
        """Return where an event came from; see `mxprof_nb.view.places.place`."""
        return place(self.trace, row)

    def source(self, row: int) -> str:
        """Return the line of the program itself, cut to fit; or nothing."""
        return shorten(source_line(self.trace, row), SOURCE_CHARS)

    def labels(self, row: int) -> tuple[str, ...]:
        """Return what may stand inside the bar of an event, the longest first."""
        name, took = self.name(row), duration(int(self.trace.events.dur_ns[row]))
        place = self.place(row)
        if row in self._waits:
            cause = self._waits[row].cause
            texts = [f"waited {took} for {cause}"] if cause else []
            if not place:
                return (*texts, f"waited {took}", "wait")
            # A bar too narrow for more still says which line it is.
            texts = [f"{place} {text}" for text in texts] + texts
            return (*texts, f"{place} waited {took}", f"waited {took}", place, "wait")
        if row in self.failures:
            return (f"{name} failed: {self.failures[row]}", f"{name} failed", "failed")
        category = CATEGORIES[self.trace.events.category[row]]
        if members := int(self.members[row]):
            within = count(members, "operator")
            return (f"{name} of {within}, {took}", f"{name} of {within}", within, str(members))
        if category == "api":
            source = self.source(row)
            texts = [f"{name}, {place}: {source}"] if place and source else []
            texts += [f"{name}, {place}"] if place else []
            return (*texts, name, place) if place else (name,)
        if _role(self.trace, row) == "line":
            source, line = self.source(row), name.removeprefix("line ")
            return (f"{line}: {source}", line) if source else (line,)
        step = int(self.trace.events.step[row])
        if _role(self.trace, row) == "mark" and step >= 0:
            return (f"{name} {step}, {took}", f"{name} {step}", str(step))
        if name == STEP and category == "user" and step >= 0:
            name = f"{name} {step}"
        comma = "," if ENDS_IN_DIGIT(name) else ""
        shorter = (f"{name}{comma} {took}", name)
        if not place:
            return shorter
        # What is queued ran elsewhere, later; what is not ran on that very line.
        verb = "queued on " if self.trace.events.queued_ns[row] >= 0 else ""
        return (f"{shorter[0]}, {verb}{place}", *shorter)

    def hover(self, row: int) -> str:
        """Return the lines shown beside the pointer, as the few tags that plotly knows."""
        trace, events = self.trace, self.trace.events
        lines = [f"<b>{escape(self.name(row), quote=False)}</b>"]
        wait = self._waits.get(row)
        if wait and wait.api:
            lines[0] += f" in {escape(wait.api, quote=False)}"
        start = duration(int(events.start_ns[row]) - self.begin_ns)
        took = int(events.dur_ns[row])
        lines.append(f"{duration(took)}, from {start}" if took else f"at {start}")
        if wait and wait.cause:
            queued = f", queued on {wait.queued}" if wait.queued else ""
            lines.append(f"waited for {escape(wait.cause, quote=False)}{queued}")
        if row in self.failures:
            told = shorten(self.failures[row], MEANING_CHARS)
            lines.append(f"<b>failed</b>: {escape(told, quote=False)}")
        if members := int(self.members[row]):
            within = count(members, "operator")
            lines.append(f"{within} in one; unfold the row to see them")
        queued_ns = int(events.queued_ns[row])
        place = self.place(row)
        if place:
            verb = "queued on " if queued_ns >= 0 else ""
            source = self.source(row)
            lines.append(escape(f"{verb}{place}{': ' if source else ''}{source}", quote=False))
        if queued_ns >= 0:
            delay = max(int(events.start_ns[row]) - queued_ns, 0)
            lines.append(f"{duration(delay)} in the queue")
        details = self.details(int(events.arg[row]))
        lines.extend(escape(line, quote=False) for line in details)
        if events.step[row] >= 0:
            lines.append(f"step {events.step[row]}")
        lines.append(escape(trace.strings[int(trace.tracks.name[events.track[row]])], quote=False))
        if trace.strings.text(int(events.domain[row])) in DOMAINS:
            lines.extend(self._meaning(self.name(row)))
        return "<br>".join(lines)

    def details(self, arg: int) -> list[str]:
        """Return the lines on a row of the table of arguments; -1 for no row."""
        if arg < 0:
            return []
        args, strings = self.trace.args, self.trace.strings
        parts = [
            size(int(args.bytes[arg])) if args.bytes[arg] >= 0 else "",
            strings.text(int(args.shapes[arg])),
            strings.text(int(args.dtype[arg])),
        ]
        told = ", ".join(shorten(part, SOURCE_CHARS) for part in parts if part)
        lines = [told] if told else []
        if scope := memory_scope(self.trace, arg):
            lines.append(f"made in the scope {shorten(scope, SOURCE_CHARS)}")
        return lines

    def hover_many(self, view: View, mark: int) -> str:
        """Return the hover text of a mark that stands for several events."""
        row = int(view.row[mark])
        begin, end = view.window_ns
        width = min(int(view.end_ns[mark]), end) - max(int(view.start_ns[mark]), begin)
        busy = int(view.busy_ns[mark])
        told = "mostly, by a sample: " if view.sampled[mark] else "mostly "
        return (
            f"<b>{count(int(view.count[mark]), 'event')}</b>, zoom in to see them<br>"
            f"busy {duration(busy)}"
            + (f" ({share(min(busy / width, 1.0))} of this stretch)" if width > 0 else "")
            + f"<br>{told}{escape(self.name(row), quote=False)}"
        )


def _meaning(name: str) -> tuple[str, ...]:
    """Return what a name means, in lines: plotly breaks none by itself."""
    lines = wrap(meaning(name), MEANING_CHARS)
    return tuple(f"<i>{escape(line, quote=False)}</i>" for line in lines)

"""What was wrong with a file, by kind: how often, where first, what was done about it."""

from __future__ import annotations

from collections.abc import Callable

from mxprof_nb.trace import HealthNote

__all__ = ["Faults", "no_events"]

#: By kind: what one is called, what several are, and what was done, which may say what to do.
_WORDS: dict[str, tuple[str, str, str]] = {
    # of the text
    "cut_off": (
        "The file ends in the middle",
        "The file ends in the middle",
        "everything before that is here. Copy it again, or let its producer finish it",
    ),
    "no_end_bracket": (
        "The closing bracket is missing",
        "The closing brackets are missing",
        "all events before the end of the file are here",
    ),
    "no_brackets": (
        "The events stand outside of any list",
        "The events stand outside of any list",
        "they were read one after another, as a piece of a longer recording",
    ),
    "joined_files": (
        "A second trace follows the first in the same file",
        "{n} traces follow the first in the same file",
        "all were read as one",
    ),
    "stray_comma": ("1 stray comma", "{n} stray commas", "ignored"),
    "missing_comma": ("1 comma is missing", "{n} commas are missing", "read as if there"),
    "missing_bracket": (
        "1 event lacks a closing bracket",
        "{n} events lack a closing bracket",
        "each was closed where the next begins",
    ),
    "bad_escape": (
        "1 event holds a backslash that escapes nothing",
        "{n} events hold a backslash that escapes nothing",
        "it was taken as a plain backslash",
    ),
    "bad_quote": (
        "1 event holds a quotation mark in a text that is not escaped",
        "{n} events hold a quotation mark in a text that is not escaped",
        "it was taken as part of the text",
    ),
    "control_character": (
        "1 event holds a raw control character in a text",
        "{n} events hold a raw control character in a text",
        "kept as it is",
    ),
    "bad_utf8": (
        "1 event holds bytes that are no UTF-8",
        "{n} events hold bytes that are no UTF-8",
        "each such byte shows as \ufffd",
    ),
    "not_finite": (
        "1 event holds inf or NaN, which JSON has no number for",
        "{n} events hold inf or NaN, which JSON has no number for",
        "kept in arguments and samples, not usable as a time",
    ),
    "damaged": (
        "1 stretch of the file is damaged beyond repair",
        "{n} stretches of the file are damaged beyond repair",
        "set aside, the events around are here",
    ),
    "too_deep": (
        "1 event is nested too deeply",
        "{n} events are nested too deeply",
        "set aside; load it with limits=Limits(nesting=...), a larger number, if you trust it",
    ),
    "too_long": (
        "1 event holds a text that is too long",
        "{n} events hold a text that is too long",
        "set aside; load it with limits=Limits(string_bytes=...), a larger number, if you trust it",
    ),
    "damaged_keys": (
        "What the file says beside its events is damaged",
        "What the file says beside its events is damaged",
        "left out",
    ),
    # of events
    "no_event": (
        "1 entry of the list is no event",
        "{n} entries of the list are no events",
        "left out",
    ),
    "no_phase": ("1 entry without a phase", "{n} entries without a phase", "left out"),
    "long_phase": (
        "1 event has a phase of several letters",
        "{n} events have a phase of several letters",
        "the first letter counts",
    ),
    "mixed_types": (
        "1 event has a field of another type than the format demands",
        "{n} events have a field of another type than the format demands",
        "its text was taken",
    ),
    "no_time": (
        "1 event has no time, or one that is no number or too large to be one",
        "{n} events have no time, or one that is no number or too large to be one",
        "set aside",
    ),
    "no_duration": (
        "1 complete event has no duration",
        "{n} complete events have no duration",
        "counted as lasting 0",
    ),
    "bad_duration": (
        "1 complete event has a duration that is no number or too large to be one",
        "{n} complete events have a duration that is no number or too large to be one",
        "set aside",
    ),
    "negative_duration": (
        "1 complete event ends before it begins",
        "{n} complete events end before they begin",
        "counted as lasting 0",
    ),
    "absurd_time": (
        "1 event lies years away from all others",
        "{n} events lie years away from all others",
        "set aside, as no clock was wrong by that much; ask its producer",
    ),
    "endless": (
        "1 event lasts longer than a century",
        "{n} events last longer than a century",
        "drawn to the end of the run, as producers write that when the end is not known",
    ),
    "no_end": (
        "1 event has no end",
        "{n} events have no end",
        "drawn to the end of the run; the recording stopped before it, or lost it",
    ),
    "no_begin": (
        "1 end has no begin",
        "{n} ends have no begin",
        "set aside; the recording started later, or lost it",
    ),
    "no_id": (
        "1 asynchronous event has no id",
        "{n} asynchronous events have no id",
        "each is paired by its name and thread",
    ),
    "no_value": (
        "1 sample of a counter is no number",
        "{n} samples of counters are no numbers",
        "set aside",
    ),
    "bad_label": (
        "1 name or place of a process or thread is none",
        "{n} names or places of processes or threads are none",
        "ignored",
    ),
    "bad_stack": (
        "1 sample refers to a stack frame that is not there",
        "{n} samples refer to stack frames that are not there",
        "shown without it",
    ),
    "loose_flow": (
        "1 flow begins or ends outside of all slices",
        "{n} flows begin or end outside of all slices",
        "left out",
    ),
    "orphan_flow": (
        "1 step or end of a flow has no begin",
        "{n} steps or ends of flows have no begin",
        "left out",
    ),
    "open_flow": ("1 flow leads nowhere", "{n} flows lead nowhere", "left out"),
}
#: Of phases that are not read.
_UNREAD = (
    "1 entry of phase {ph}, which is not read",
    "{n} entries of phase {ph}, which is not read",
    "left out",
)
#: After so many kinds, phases are no longer told apart.
_MOST_PHASES = 12


class Faults:
    """Counts what was wrong, kind by kind.

    Examples
    --------
    >>> faults = Faults()
    >>> faults.add("no_end", "event 7")
    >>> faults.add("no_end", "event 9", 2)
    >>> print(faults.notes()[0].message)
    3 events have no end, first event 7: drawn to the end of the run; the recording stopped before \
it, or lost it.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[int, str]] = {}

    def add(
        self,
        code: str,
        place: str | Callable[[], str] = "",
        count: int = 1,
        *,
        phase: str = "",
    ) -> None:
        """Take note of ``count`` faults of one kind, the first of them at ``place``.

        A place that takes time to find is given as a function, called for the first fault only.
        """
        if not count:
            return
        key = (code, phase)
        if phase and key not in self._found and len(self._found) > _MOST_PHASES:
            key = (code, "that is none of the format")
        if key in self._found:
            known, first = self._found[key]
        else:
            known, first = 0, place() if callable(place) else place
        self._found[key] = known + count, first

    def count(self, code: str) -> int:
        """Return how many of a kind there were."""
        return sum(count for (found, _), (count, _) in self._found.items() if found == code)

    def notes(self) -> list[HealthNote]:
        """Return one note per kind, in the order they were met first."""
        notes = []
        for (code, phase), (count, place) in self._found.items():
            one, many, done = _UNREAD if code == "unread_phase" else _WORDS[code]
            told = (one if count == 1 else many).format(n=f"{count:,}", ph=phase)
            where = f", first {place}" if place and count > 1 else f", {place}" if place else ""
            notes.append(HealthNote(code, count, f"{told}{where}: {done}."))
        return notes


def no_events(text: bytes, place: int) -> tuple[str, str]:
    """Return what is wrong with a text in which no event begins, and what to do."""
    remedy = "mxprof_nb.list_readers() names the formats that can be read."
    if text[place : place + 1] != b"{":
        return "nothing in it looks like an event.", remedy
    if not text[-64:].rstrip().endswith(b"}"):
        return (
            "the file ends in the middle, before its first event.",
            "Copy it again, or let its producer finish it.",
        )
    if text.find(b'"traceEvents"', place) >= 0:
        return (
            "what it keeps under the key 'traceEvents' is no list of events.",
            "Have its producer write it again.",
        )
    return (
        "the object has no key 'traceEvents', under which a Chrome trace keeps its events.",
        remedy,
    )
